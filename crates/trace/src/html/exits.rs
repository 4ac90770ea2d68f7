//! The table of exits: how every instance ended, each parent before its children, in delegation order.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::{Exit, LimitHit, Meter, ReportOutcome, StepError};

use super::amount::{cost, number, of_limit};
use super::badge::{Badge, class_name};
use super::index::Link;
use super::text::Text;
use super::walk::Walk;
use crate::tree::{Earlier, ScopeTrace};

/// The table as the page shows it.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r#"
<div class="scroll" tabindex="0" role="region" aria-label="Exits"><table>
<thead><tr><th>instance</th><th>graph</th><th>ended by</th><th>limit</th><th>counters</th><th>findings</th><th>finally</th><th>tokens</th><th>cost</th><th>last step</th></tr></thead>
<tbody>
{% for row in rows %}
  <tr><th scope="row" title="{{ row.path }}">{{ row.scope }}</th><td>{{ row.graph }}</td><td>{{ row.reason }}{% if !row.class.is_empty() %} <span class="note">class {{ row.class }}</span>{% endif %}{% if let Some(attempt) = row.attempt %} <span class="note">attempt {{ attempt }}</span>{% endif %}{% for also in row.also %} <span class="note">also {{ also }}</span>{% endfor %}</td><td>{{ row.limit }}</td><td>{{ row.counters }}</td><td class="n">{{ row.findings }}</td><td>{% if let Some(report) = row.report %}{{ report }}{% endif %}</td><td class="n">{{ row.tokens }}</td><td class="n">{{ row.cost }}</td><td>{% if let Some(step) = row.last_step %}{{ step }}{% endif %}</td></tr>
  {% if row.detail.is_some() || row.report_error.is_some() || !row.writes.is_empty() %}<tr class="beneath"><td colspan="10">{% if let Some(detail) = row.detail %}{{ detail }}{% endif %}{% if let Some(error) = row.report_error %}<div class="error"><b>finally</b> {{ error }}</div>{% endif %}{% for write in row.writes %}<div class="error"><b>{{ write.0 }}</b> {{ write.1 }}</div>{% endfor %}</td></tr>{% endif %}
{% endfor %}
</tbody></table></div>
"#
)]
pub(super) struct Exits<'a> {
    rows: Vec<Row<'a>>,
}

#[derive(Debug)]
struct Row<'a> {
    scope: Link,
    path: &'a str,
    graph: &'a str,
    /// The attempt, where it is not the first.
    attempt: Option<u32>,
    reason: Badge,
    class: &'static str,
    limit: String,
    counters: String,
    findings: String,
    report: Option<Badge>,
    tokens: String,
    cost: String,
    also: Vec<&'a str>,
    last_step: Option<Link>,
    detail: Option<Text<'a>>,
    /// What was not undone, and calls of which it is not known whether they were done.
    writes: Vec<(&'static str, String)>,
    report_error: Option<Text<'a>>,
}

impl HtmlSafe for Exits<'_> {}

impl<'a> Exits<'a> {
    pub(super) fn of(walk: &mut Walk<'a>, root: &'a ScopeTrace) -> Exits<'a> {
        let meters = Meters::of(root);
        walk.pool.go_to(Link { anchor: "exits".to_owned(), label: "the exits".to_owned() }, 0);
        let mut rows = Vec::new();
        for scope in root.instances() {
            rows.extend(scope.earlier.iter().map(|earlier| Row::of_earlier(walk, scope, earlier, &meters)));
            rows.push(Row::of(walk, scope, &meters));
        }
        Exits { rows }
    }
}

impl<'a> Row<'a> {
    fn of(walk: &mut Walk<'a>, scope: &'a ScopeTrace, meters: &Meters) -> Row<'a> {
        let over = scope.exit.is_some();
        Row {
            tokens: if over { number(scope.settled.tokens) } else { String::new() },
            cost: if over { cost(&scope.settled) } else { String::new() },
            ..Row::of_attempt(
                walk,
                scope,
                scope.exit.as_ref(),
                meters,
                (scope.report, scope.report_error.as_ref()),
            )
        }
    }

    /// An attempt that was over before the instance went on. What it had used is part of what the last one has.
    fn of_earlier(
        walk: &mut Walk<'a>,
        scope: &'a ScopeTrace,
        earlier: &'a Earlier,
        meters: &Meters,
    ) -> Row<'a> {
        let report = (earlier.report, earlier.report_error.as_ref());
        Row {
            attempt: Some(earlier.exit.attempt),
            ..Row::of_attempt(walk, scope, Some(&earlier.exit), meters, report)
        }
    }

    fn of_attempt(
        walk: &mut Walk<'a>,
        scope: &'a ScopeTrace,
        exit: Option<&'a Exit>,
        meters: &Meters,
        (report, report_error): (Option<ReportOutcome>, Option<&'a StepError>),
    ) -> Row<'a> {
        let counters = |exit: &Exit| {
            let all = exit.counters.iter().map(|(name, n)| format!("{name}\u{a0}{}", number(*n)));
            all.collect::<Vec<_>>().join(", ")
        };
        Row {
            scope: walk.index.to_scope(&scope.scope),
            path: scope.scope.as_str(),
            graph: scope.graph.rsplit('/').next().unwrap_or_default(),
            attempt: exit.map(|exit| exit.attempt).filter(|attempt| *attempt > 1),
            reason: exit.map_or_else(|| Badge::of_status(None), Badge::of_exit),
            class: exit.map_or("", |exit| class_name(exit.class)),
            limit: exit.and_then(|e| e.limit.as_ref()).map(|hit| meters.told(scope, hit)).unwrap_or_default(),
            counters: exit.map(counters).unwrap_or_default(),
            findings: exit.and_then(|exit| exit.findings).map(number).unwrap_or_default(),
            report: report.map(Badge::of_report),
            tokens: String::new(),
            cost: String::new(),
            also: exit.map(|exit| exit.also.iter().map(|r| r.name()).collect()).unwrap_or_default(),
            last_step: exit.and_then(|exit| exit.last_step.as_ref()).map(|step| walk.index.to_step(step)),
            writes: exit.map(writes_of).unwrap_or_default(),
            detail: exit.and_then(|e| e.detail.as_deref()).map(|d| Text::of(&mut walk.pool, d)),
            report_error: report_error.map(|error| Text::of(&mut walk.pool, error.to_string())),
        }
    }
}

/// What was changed outside and is to be told, each with its name.
fn writes_of(exit: &Exit) -> Vec<(&'static str, String)> {
    let unknown = exit.unknown_writes.iter().map(|step| ("not known whether it was done", step.to_string()));
    let left = exit.not_undone.iter();
    let left = left.map(|left| ("not undone", format!("{} ({}): {}", left.step, left.op, left.why)));
    unknown.chain(left).collect()
}

/// What each limit of a run measures, by its name.
#[derive(Debug)]
pub(super) struct Meters(BTreeMap<Arc<str>, Option<Meter>>);

impl Meters {
    pub(super) fn of(root: &ScopeTrace) -> Meters {
        let all = root.instances().into_iter().flat_map(|scope| &scope.limits);
        Meters(all.map(|limit| (limit.name.clone(), limit.meter)).collect())
    }

    /// A limit that fired, as `turns: 12 of 12`. An exit that was inherited names a limit of a graph below.
    pub(super) fn told(&self, scope: &ScopeTrace, hit: &LimitHit) -> String {
        let own = scope.limits.iter().find(|limit| limit.name == hit.name).map(|limit| limit.meter);
        let meter = own.or_else(|| self.0.get(&hit.name).copied()).flatten();
        format!("{}: {} of {}", hit.name, of_limit(meter, hit.value), of_limit(meter, hit.bound))
    }
}
