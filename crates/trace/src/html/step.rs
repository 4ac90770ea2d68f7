//! One step: what went in, what came out, what it cost.

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::{Millis, StepError};

use super::amount::{clock, cost, counted, duration, head, number};
use super::badge::{Badge, Standing};
use super::request::{Reply, Request};
use super::scope::Scope;
use super::text::Text;
use super::value::{Parts, beginning};
use super::walk::Walk;
use crate::given;
use crate::tree::{Attempt, Node, NodeKind, Outcome, Sending};

/// Characters of what a step did that its line shows.
const GIST: usize = 110;

/// A step as the page shows it.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r#"
<li class="step"><details id="s{{ number }}"{% if is_open %} open{% endif %}>
<summary><span class="name">{{ name }}</span> {{ kind }}{% if let Some(state) = state %} {{ state }}{% endif %}{% if let Some(tries) = tries %} <span class="badge warn">{{ tries }}</span>{% endif %} <span class="gist" dir="auto">{{ gist }}</span> <span class="amounts">{% for amount in amounts %}<span>{{ amount }}</span>{% endfor %}</span></summary>
<div class="own">
{% for (title, part) in parts %}<section><h4>{{ title }}</h4>{{ part }}</section>{% endfor %}
<p class="note when"><code>{{ path }}</code>{% if let Some(when) = when %} · {{ when }}{% endif %}</p>
</div>
{% if !calls.is_empty() %}<ul class="steps">{% for call in calls %}{{ call }}{% endfor %}</ul>{% endif %}
{% if let Some(child) = child %}{{ child }}{% endif %}
</details></li>
"#
)]
pub(super) struct Step<'a> {
    number: usize,
    name: &'a str,
    path: &'a str,
    kind: Badge,
    state: Option<Badge>,
    tries: Option<String>,
    gist: String,
    amounts: Vec<String>,
    is_open: bool,
    parts: Vec<(&'static str, Part<'a>)>,
    when: Option<String>,
    calls: Vec<Step<'a>>,
    child: Option<Box<Scope<'a>>>,
}

/// Something that went in or came out.
#[derive(Debug, Template)]
enum Part<'a> {
    #[template(ext = "html", source = "{{ request }}")]
    Request { request: Box<Request<'a>> },
    #[template(ext = "html", source = "{{ reply }}")]
    Reply { reply: Box<Reply<'a>> },
    #[template(ext = "html", source = "{{ fields }}")]
    Fields { fields: Parts<'a> },
    #[template(ext = "html", source = "{{ text }}")]
    Text { text: Text<'a> },
    #[template(ext = "html", source = r#"<div class="error"><b>{{ kind }}</b> {{ text }}</div>"#)]
    Error { kind: String, text: Text<'a> },
}

impl HtmlSafe for Step<'_> {}
impl HtmlSafe for Part<'_> {}

impl<'a> Step<'a> {
    /// `is_over`: whether the step's instance has ended.
    pub(super) fn of(walk: &mut Walk<'a>, node: &'a Node, is_over: bool) -> Step<'a> {
        walk.go_to_step(node);
        let mut parts = Vec::new();
        inputs(walk, node, &mut parts);
        outputs(walk, node, &mut parts);
        let attempts = attempts(node, is_over);
        let calls = node.calls.iter().map(|call| Step::of(walk, call, is_over)).collect::<Vec<_>>();
        let child = node.child.as_ref().map(|child| Box::new(Scope::of(walk, child)));
        Step {
            number: walk.index.step_number(&node.step),
            name: node.step.last(),
            path: node.step.as_str(),
            kind: Badge::of_kind(node),
            state: Badge::of_state(node, is_over),
            tries: (attempts > 1).then(|| counted(attempts, "attempt", "attempts")),
            gist: gist(node),
            amounts: amounts(node),
            is_open: walk.opens_steps() && (child.is_some() || !calls.is_empty()),
            parts,
            when: node.time.map(|time| when(time, walk.began)),
            calls,
            child,
        }
    }
}

/// How often a step was tried.
fn attempts(node: &Node, is_over: bool) -> u64 {
    let failed = node.failed_attempts.len() as u64;
    match Standing::of(node, is_over) {
        Standing::Refused | Standing::Malformed | Standing::Queued => failed,
        Standing::Done | Standing::Failed(_) | Standing::GivenUp | Standing::Waiting | Standing::Open => {
            failed + 1
        }
    }
}

fn inputs<'a>(walk: &mut Walk<'a>, node: &'a Node, parts: &mut Vec<(&'static str, Part<'a>)>) {
    let input = match &node.kind {
        NodeKind::Model(request) => {
            let hash = node.request_hash.as_deref();
            let shown = Request::of(&mut walk.pool, &walk.index, &node.step, request, hash, &walk.last);
            walk.last = Some((node.step.clone(), request));
            parts.push(("Request", Part::Request { request: Box::new(shown) }));
            None
        }
        NodeKind::Op { input, given, .. } => Some((input, given)),
        NodeKind::Ask { question } => {
            parts.push(("Question", Part::Text { text: Text::of(&mut walk.pool, &**question) }));
            None
        }
        NodeKind::Plain | NodeKind::Graph => None,
    };
    if let Some(args) = node.args.as_ref().filter(|args| args.is_true()) {
        let fields = Parts::of_value(&mut walk.pool, "arguments", args);
        parts.push(("Arguments", Part::Fields { fields }));
    }
    // Mostly a tool's input is its arguments by name.
    let is_told = |input| node.args.as_ref().and_then(|args| args.as_map()) == Some(input);
    let Some((input, given)) = input else { return };
    if !input.is_empty() && !is_told(input) {
        parts.push(("Input", Part::Fields { fields: Parts::of_fields(&mut walk.pool, input) }));
    }
    if !given.is_empty() {
        let told = given.iter().map(|(name, value)| format!("{name}: {}", given::told(value)));
        let text = told.collect::<Vec<_>>().join("\n");
        parts.push(("Given by the graph", Part::Text { text: Text::of(&mut walk.pool, text) }));
    }
}

fn outputs<'a>(walk: &mut Walk<'a>, node: &'a Node, parts: &mut Vec<(&'static str, Part<'a>)>) {
    for attempt in &node.failed_attempts {
        parts.push(("Attempt that failed", error(walk, &attempt.error, Some(attempt))));
        sending(walk, &attempt.sent, parts);
    }
    sending(walk, &node.sent, parts);
    let pool = &mut walk.pool;
    parts.push(match &node.outcome {
        None | Some(Outcome::Done) => return,
        Some(Outcome::Reply(reply)) => ("Reply", Part::Reply { reply: Box::new(Reply::of(pool, reply)) }),
        Some(Outcome::Value(value)) => {
            let title = if matches!(node.kind, NodeKind::Ask { .. }) { "Answer" } else { "Result" };
            (title, Part::Fields { fields: Parts::of_value(pool, "result", value) })
        }
        Some(Outcome::Refused(reason)) => ("Refused", Part::Text { text: Text::of(pool, &**reason) }),
        Some(Outcome::Malformed(reason)) => ("Malformed", Part::Text { text: Text::of(pool, &**reason) }),
        Some(Outcome::Failed(why)) => ("Failed", error(walk, why, None)),
    });
}

/// Which model was asked, where it is not the configured one, and what was cut from the request.
fn sending<'a>(walk: &mut Walk<'a>, sent: &'a Sending, parts: &mut Vec<(&'static str, Part<'a>)>) {
    if let Some(model) = &sent.model {
        parts.push(("Asked", Part::Text { text: Text::of(&mut walk.pool, &**model) }));
    }
    if let Some(told) = sent.cut_told() {
        parts.push(("Request", Part::Text { text: Text::of(&mut walk.pool, told) }));
    }
}

fn error<'a>(walk: &mut Walk<'a>, error: &'a StepError, attempt: Option<&Attempt>) -> Part<'a> {
    let mut kind = match attempt {
        Some(attempt) => format!("Attempt {}: {}", number(u64::from(attempt.number)), error.kind),
        None => error.kind.to_string(),
    };
    if attempt.is_some_and(|attempt| attempt.fail_over) {
        kind.push_str(" (then the next model was asked)");
    }
    if let Some((failed, next)) = attempt.and_then(|attempt| attempt.time).filter(|(a, b)| a < b) {
        kind.push_str(&format!(" (then waited {})", duration(next - failed)));
    }
    Part::Error { kind, text: Text::of(&mut walk.pool, error.message.as_str()) }
}

/// What a step did, in a few words.
pub(super) fn gist(node: &Node) -> String {
    let said = match &node.outcome {
        Some(Outcome::Refused(reason) | Outcome::Malformed(reason)) => reason.to_string(),
        Some(Outcome::Failed(error)) => error.message.clone(),
        Some(Outcome::Reply(reply)) if !reply.tool_calls.is_empty() => {
            let names: Vec<&str> = reply.tool_calls.iter().map(|call| &*call.name).collect();
            format!("calls {}", names.join(", "))
        }
        Some(Outcome::Reply(reply)) => head(&reply.text, GIST),
        Some(Outcome::Value(_) | Outcome::Done) | None => match (&node.args, &node.kind) {
            (Some(args), _) if args.is_true() => beginning(args),
            (_, NodeKind::Ask { question }) => question.to_string(),
            (_, NodeKind::Op { input, .. }) => {
                let names: Vec<&str> = input.keys().map(|name| &**name).collect();
                names.join(", ")
            }
            (_, NodeKind::Plain | NodeKind::Graph | NodeKind::Model(_)) => String::new(),
        },
    };
    head(&said, GIST)
}

/// Tokens, cost and duration, as far as they are known and not nothing.
fn amounts(node: &Node) -> Vec<String> {
    let mut amounts = Vec::new();
    let spent = &node.charged;
    if spent.tokens > 0 {
        amounts.push(format!("{} tok", number(spent.tokens)));
    }
    if spent.cost_unknown > 0 || spent.cost_micro_usd > 0 {
        amounts.push(match spent.cost_unknown {
            0 => cost(spent),
            _ => format!("cost {}", cost(spent)),
        });
    }
    if let Some((begun, ended)) = hull(node).filter(|(begun, ended)| ended > begun) {
        amounts.push(duration(ended - begun));
    }
    amounts
}

/// When a step began and ended; for a turn, from the first of its calls to the last.
fn hull(node: &Node) -> Option<(Millis, Millis)> {
    let calls = node.calls.iter().filter_map(|call| call.time);
    calls.chain(node.time).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn when((begun, ended): (Millis, Millis), start: Millis) -> String {
    let after = |at: Millis| format!("{} (+{})", clock(at), duration(at - start));
    if begun == ended {
        format!("at {}", after(begun))
    } else {
        format!("{} to {}", after(begun), after(ended))
    }
}
