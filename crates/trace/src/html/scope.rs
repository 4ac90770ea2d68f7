//! One graph instance: its input, super-steps and output.

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::Grant;

use super::amount::{clock, cost, counted, duration, in_base_units, money, number, of_limit};
use super::badge::Badge;
use super::step::Step;
use super::value::Parts;
use super::walk::Walk;
use crate::tree::{LimitInForce, ScopeTrace};

/// An instance as the page shows it.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r#"
<details class="scope" id="c{{ number }}"{% if is_open %} open{% endif %}>
<summary><span class="name" title="{{ path }}">{{ graph }}</span> {{ exit }}{% if let Some(report) = report %} <span class="label">finally</span> {{ report }}{% endif %} <span class="gist"></span> <span class="amounts">{% for amount in amounts %}<span>{{ amount }}</span>{% endfor %}</span></summary>
<div class="own">
{% if !input.is_empty() %}<section><h4>Input</h4>{{ input }}</section>{% endif %}
{% if !limits.is_empty() %}
  <details class="aside"><summary>Limits{% if !grant.is_empty() %} and grant{% endif %}</summary>
  <dl class="fields">
  {% for (name, bound) in limits %}<div><dt>{{ name }}</dt><dd>{{ bound }}</dd></div>{% endfor %}
  {% for (name, bound) in grant %}<div><dt>granted {{ name }}</dt><dd>{{ bound }}</dd></div>{% endfor %}
  </dl></details>
{% endif %}
</div>
<ol class="supersteps">
{% for s in super_steps %}
  {% if let Some(begins) = s.begins %}<li class="note">{{ begins }}</li>{% endif %}
  <li class="superstep{% if s.in_finally %} finally{% endif %}"><span class="count" title="super-step {{ s.number }}{% if s.in_finally %}, in the finally stage{% endif %}">{{ s.number }}</span><ul class="steps">{% for step in s.steps %}{{ step }}{% endfor %}</ul></li>
{% endfor %}
</ol>
{% if !output.is_empty() %}<div class="own" id="o{{ number }}"><section><h4>Output</h4>{{ output }}</section></div>{% endif %}
</details>
"#
)]
pub(super) struct Scope<'a> {
    number: usize,
    graph: &'a str,
    path: &'a str,
    exit: Badge,
    report: Option<Badge>,
    amounts: Vec<String>,
    is_open: bool,
    input: Parts<'a>,
    limits: Vec<(&'a str, String)>,
    grant: Vec<(&'static str, String)>,
    super_steps: Vec<SuperStep<'a>>,
    output: Parts<'a>,
}

#[derive(Debug)]
struct SuperStep<'a> {
    /// Which attempt begins with it, where one does.
    begins: Option<String>,
    number: u64,
    in_finally: bool,
    steps: Vec<Step<'a>>,
}

impl HtmlSafe for Scope<'_> {}

impl<'a> Scope<'a> {
    pub(super) fn of(walk: &mut Walk<'a>, scope: &'a ScopeTrace) -> Scope<'a> {
        let outer = walk.enter(scope);
        let input = Parts::of_fields(&mut walk.pool, &scope.input);
        let is_over = scope.exit.is_some();
        let mut super_steps = Vec::with_capacity(scope.super_steps.len());
        for (index, super_step) in scope.super_steps.iter().enumerate() {
            let steps = super_step.nodes.iter().map(|node| Step::of(walk, node, is_over)).collect();
            super_steps.push(SuperStep {
                begins: begins(scope, index),
                number: super_step.number,
                in_finally: super_step.in_finally,
                steps,
            });
        }
        walk.come_back_to(scope);
        let output = Parts::of_fields(&mut walk.pool, &scope.output);
        walk.leave(outer);
        Scope {
            number: walk.index.scope_number(&scope.scope),
            graph: &scope.graph,
            path: if scope.scope.is_root() { "(root)" } else { scope.scope.as_str() },
            exit: scope.exit.as_ref().map_or_else(|| Badge::of_status(None), Badge::of_exit),
            report: scope.report.map(Badge::of_report),
            amounts: amounts(scope),
            is_open: walk.opens_steps() || scope.scope.is_root(),
            input,
            limits: scope.limits.iter().filter_map(bound).collect(),
            grant: scope.grant.as_ref().map(granted).unwrap_or_default(),
            super_steps,
            output,
        }
    }
}

/// Which attempt goes on with a super-step, by its place.
fn begins(scope: &ScopeTrace, index: usize) -> Option<String> {
    let earlier = scope.earlier.iter().rfind(|earlier| earlier.super_steps == index)?;
    let (ended, next) = (&earlier.exit, earlier.exit.attempt + 1);
    Some(format!(
        "attempt {} ended by {}; attempt {next}: {}",
        ended.attempt,
        ended.reason,
        earlier.then_from.name()
    ))
}

/// A limit with what it allows; none where it is off.
fn bound(limit: &LimitInForce) -> Option<(&str, String)> {
    let shown = |n: f64| of_limit(limit.meter, in_base_units(limit.meter, n));
    let mut text = shown(limit.max?);
    if let Some(meter) = limit.meter {
        text.push_str(&format!(" ({})", meter.name()));
    }
    if limit.kept > 0.0 {
        text.push_str(&format!(", {} of it kept for the finally stage", shown(limit.kept)));
    }
    Some((&limit.name, text))
}

fn granted(grant: &Grant) -> Vec<(&'static str, String)> {
    let figures = [
        ("tokens", grant.tokens.map(number)),
        ("money", grant.cost_micro_usd.map(money)),
        ("model calls", grant.model_calls.map(number)),
        ("tool calls", grant.tool_calls.map(number)),
        ("time until", grant.deadline.map(|at| format!("{} UTC", clock(at)))),
    ];
    figures.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
}

/// What it and all below it used.
fn amounts(scope: &ScopeTrace) -> Vec<String> {
    let used = &scope.settled;
    let mut amounts = Vec::new();
    if scope.exit.is_some() {
        amounts.push(counted(used.model_calls, "model call", "model calls"));
        amounts.push(counted(used.tool_calls, "tool call", "tool calls"));
    }
    if used.tokens > 0 {
        amounts.push(format!("{} tok", number(used.tokens)));
    }
    if used.cost_unknown > 0 || used.cost_micro_usd > 0 {
        amounts.push(format!("cost {}", cost(used)));
    }
    if let Some((begun, ended)) = scope.time.filter(|(begun, ended)| ended > begun) {
        amounts.push(duration(ended - begun));
    }
    amounts
}
