//! The beginning of the page: what was asked, how it ended, what it took.

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::{Millis, Value};

use super::amount::{cost, counted, duration, head, moment, number};
use super::badge::{Badge, Standing, class_name};
use super::exits::Meters;
use super::index::{Index, Link};
use super::value::Parts;
use super::walk::Walk;
use crate::tree::{NodeKind, ScopeTrace, Trace};

/// Characters of the question that the title shows.
const QUESTION: usize = 400;

/// The beginning of the page.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r#"
<header>
<p class="kicker">deepgraph trace · graph <b dir="auto">{{ graph }}</b>{% if let Some(run) = run %} · run <code>{{ run }}</code>{% endif %}</p>
<h1 dir="auto">{{ question }}</h1>
<dl class="summary">
<div><dt>status</dt><dd>{{ status }}</dd></div>
<div class="wide"><dt>research ended by</dt><dd>{{ exit }}{% if let Some(how) = how %} <span class="how" dir="auto">{{ how }}</span>{% endif %}</dd></div>
<div><dt>report</dt><dd>{% if let Some(report) = report %}{{ report }}{% else %}<span class="none">{{ no_report }}</span>{% endif %}</dd></div>
{% for (name, figure) in figures %}<div><dt>{{ name }}</dt><dd class="figure">{{ figure }}</dd></div>{% endfor %}
</dl>
{% if let Some(detail) = detail %}<p class="detail" dir="auto">{{ detail }}</p>{% endif %}
{% for (step, question) in open %}<p class="waits" dir="auto">waits for an answer to {{ step }}: {{ question }}</p>{% endfor %}
<details class="aside"><summary>Configuration</summary>
<p class="note">bundle <code>{{ bundle }}</code></p>{{ config }}</details>
</header>
"#
)]
pub(super) struct Head<'a> {
    pub(super) question: String,
    graph: &'a str,
    run: Option<&'a str>,
    bundle: &'a str,
    status: Badge,
    exit: Badge,
    how: Option<String>,
    report: Option<Badge>,
    no_report: &'static str,
    figures: Vec<(&'static str, String)>,
    detail: Option<String>,
    /// Questions that nobody has answered.
    open: Vec<(Link, String)>,
    config: Parts<'a>,
}

impl HtmlSafe for Head<'_> {}

impl<'a> Head<'a> {
    pub(super) fn of(walk: &mut Walk<'a>, trace: &'a Trace) -> Head<'a> {
        let root = &trace.root;
        let exit = root.exit.as_ref();
        let how = exit.map(|exit| {
            let mut how = vec![format!("class {}", class_name(exit.class))];
            if let Some(hit) = &exit.limit {
                how.insert(0, format!("limit {}", Meters::of(root).told(root, hit)));
            }
            how.extend(exit.also.iter().map(|reason| format!("also {reason}")));
            how.join(" · ")
        });
        Head {
            question: question(root),
            graph: &root.graph,
            run: trace.run.as_deref(),
            bundle: &trace.bundle,
            status: Badge::of_status(trace.status),
            exit: exit.map_or_else(|| Badge::of_status(None), Badge::of_exit),
            how,
            report: root.report.map(Badge::of_report),
            no_report: if exit.is_some() { "no such stage" } else { "not yet" },
            figures: figures(walk, trace),
            detail: exit.and_then(|exit| exit.detail.as_deref()).map(|detail| head(detail, 600)),
            open: open_questions(&walk.index, root),
            config: Parts::of_fields(&mut walk.pool, &trace.config),
        }
    }
}

/// The question, else the first text of the input, else the graph's name.
fn question(root: &ScopeTrace) -> String {
    let texts = || root.input.values().filter_map(Value::as_str).filter(|text| !text.trim().is_empty());
    let asked = root.input.get("question").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    head(asked.or_else(|| texts().next()).unwrap_or(&root.graph), QUESTION)
}

fn figures(walk: &Walk<'_>, trace: &Trace) -> Vec<(&'static str, String)> {
    let root = &trace.root;
    let used = &root.settled;
    let mut figures = Vec::new();
    if let Some(exit) = &root.exit {
        figures.push(("tokens", number(used.tokens)));
        figures.push(("cost", cost(used)));
        figures.push(("model calls", number(used.model_calls)));
        figures.push(("tool calls", number(used.tool_calls)));
        if let Some(findings) = exit.findings {
            figures.push(("findings", number(findings)));
        }
        figures.push(("attempt", exit.attempt.to_string()));
    } else if let Some(last) = trace.ledger.last() {
        figures.push(("tokens so far", number(last.used.tokens)));
        figures.push(("cost so far", cost(&last.used)));
    }
    figures.push(("steps", number(walk.index.steps() as u64)));
    figures.push(("instances", number(walk.index.scopes() as u64)));
    if let Some((begun, ended)) = root.time {
        figures.push(("started", moment(begun)));
        let name = if root.exit.is_some() { "time" } else { "time so far" };
        figures.push((name, duration(ended - begun)));
        let asked = waited(root, ended);
        if asked > 0 {
            figures.push(("of it with a question open", duration(asked)));
        }
    }
    figures
}

fn open_questions(index: &Index, root: &ScopeTrace) -> Vec<(Link, String)> {
    let mut open = Vec::new();
    for scope in root.instances() {
        for node in scope.steps() {
            if let NodeKind::Ask { question } = &node.kind
                && Standing::of(node, scope.exit.is_some()) == Standing::Waiting
            {
                open.push((index.to_step(&node.step), head(question, QUESTION)));
            }
        }
    }
    open
}

/// How long at least one question to a person was open.
fn waited(root: &ScopeTrace, until: Millis) -> Millis {
    let mut open: Vec<(Millis, Millis)> = Vec::new();
    for scope in root.instances() {
        for node in scope.steps() {
            if let (NodeKind::Ask { .. }, Some((begun, ended))) = (&node.kind, node.time) {
                open.push((begun, if node.outcome.is_some() { ended } else { until }));
            }
        }
    }
    open.sort_unstable();
    let mut sum = 0;
    let mut seen = Millis::MIN;
    for (begun, ended) in open {
        sum += (ended - begun.max(seen)).max(0);
        seen = seen.max(ended);
    }
    sum
}

/// "12 steps in 3 instances".
pub(super) fn extent(walk: &Walk<'_>) -> String {
    let steps = counted(walk.index.steps() as u64, "step", "steps");
    format!("{steps} in {}", counted(walk.index.scopes() as u64, "instance", "instances"))
}
