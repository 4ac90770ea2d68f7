//! A model call's request and reply: messages by role, tools that were offered, what came back.
//!
//! A conversation grows from turn to turn. The messages that were the same in the request before are not shown again
//! but referred to, so that the page grows with what was said and not with turns × messages.

use std::borrow::Cow;

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::{Message, ModelReply, ModelRequest, Role, StepId, ToolCall, ToolSpec};

use super::amount::{cost, counted, number};
use super::index::{Index, Link};
use super::pool::Pool;
use super::text::Text;
use super::value::{Parts, Shown};

/// The last request of an instance.
pub(super) type Last<'a> = Option<(StepId, &'a ModelRequest)>;

/// A request as the page shows it.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r##"
<p class="facts"><span>model <b dir="auto">{{ model }}</b></span>
{% if let Some(most) = most %}<span>at most {{ most }} of output</span>{% endif %}
<span title="estimated: bytes / 4">about {{ estimate }}</span>
{% if let Some(hash) = hash %}<span title="SHA-256 of the request as it was sent">sent as <code>{{ hash }}</code></span>{% endif %}
</p>
<ol class="messages" id="r{{ step }}">
{% for row in rows %}{{ row }}{% endfor %}
</ol>
{% if let Some(tools) = tools %}{{ tools }}{% endif %}
{% if let Some((name, schema)) = output %}
  <div class="aside"><span class="label">returns</span> <b dir="auto">{{ name }}</b> {{ schema }}</div>
{% endif %}
{% if !options.is_empty() %}<div class="aside"><span class="label">options</span>{{ options }}</div>{% endif %}
{% if !context.is_empty() %}
  <details class="aside"><summary title="not sent to language models; the extractive model works from them">Channels that the templates read</summary>{{ context }}</details>
{% endif %}
"##
)]
pub(super) struct Request<'a> {
    step: usize,
    model: &'a str,
    most: Option<String>,
    estimate: String,
    hash: Option<String>,
    rows: Vec<Row<'a>>,
    tools: Option<Tools<'a>>,
    output: Option<(&'a str, Shown<'a>)>,
    options: Parts<'a>,
    context: Parts<'a>,
}

/// A row of a conversation.
#[derive(Debug, Template)]
enum Row<'a> {
    #[template(
        ext = "html",
        source = r#"<li class="m {{ role }}" data-n="{{ n }}"><span class="role">{{ role }}</span>{% if let Some(name) = name %} <b dir="auto">{{ name }}</b>{% endif %} {% if let Some(text) = text %}{{ text }}{% endif %}{% for call in calls %}{{ call }}{% endfor %}</li>"#
    )]
    Message {
        n: usize,
        role: &'static str,
        name: Option<&'a str>,
        text: Option<Text<'a>>,
        calls: Vec<Call<'a>>,
    },
    /// Messages that stand in another request.
    #[template(
        ext = "html",
        source = r##"<li class="same"><a class="again" href="#r{{ step }}" data-from="{{ from }}" data-to="{{ to }}" data-shift="{{ shift }}">{{ what }} as in {{ place.label }}</a></li>"##
    )]
    Same { step: usize, from: usize, to: usize, shift: isize, what: String, place: Link },
}

/// A call as the model wrote it.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    source = r#"<div class="call"><span class="label">calls</span> <b dir="auto">{{ name }}</b> {{ arguments }}</div>"#
)]
struct Call<'a> {
    name: &'a str,
    arguments: Text<'a>,
}

/// The tools that were offered.
#[derive(Debug, Template)]
enum Tools<'a> {
    #[template(
        ext = "html",
        source = r#"<details class="aside tools"><summary>{{ count }} offered: <span dir="auto">{{ names }}</span></summary><dl class="fields">{% for (name, description, parameters) in tools %}<div><dt dir="auto">{{ name }}</dt><dd>{{ description }}{{ parameters }}</dd></div>{% endfor %}</dl></details>"#
    )]
    Here { count: String, names: String, tools: Vec<(&'a str, Text<'a>, Shown<'a>)> },
    #[template(
        ext = "html",
        source = r#"<p class="aside">{{ count }} offered, as in {{ place }}: <span dir="auto">{{ names }}</span></p>"#
    )]
    There { count: String, names: String, place: Link },
}

/// A reply as the page shows it.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r#"
<p class="facts"><span>finish <b>{{ finish }}</b></span><span>{{ tokens }}</span><span>cost {{ cost }}</span>
<span>answered by <b dir="auto">{{ model }}</b></span></p>
{% if !data.is_empty() %}{{ data }}{% endif %}
{% if let Some(text) = text %}{{ text }}{% endif %}
{% for call in calls %}{{ call }}{% endfor %}
{% if !guess.is_empty() %}<p class="aside">guess at what it means:</p>{{ guess }}{% endif %}
{% if let Some(mended) = mended %}<p class="aside">mended: <span dir="auto">{{ mended }}</span></p>{% endif %}
"#
)]
pub(super) struct Reply<'a> {
    finish: &'static str,
    tokens: String,
    cost: String,
    model: &'a str,
    data: Parts<'a>,
    text: Option<Text<'a>>,
    calls: Vec<Call<'a>>,
    /// What it is taken for by guessing; empty: nothing.
    guess: Parts<'a>,
    mended: Option<String>,
}

impl HtmlSafe for Request<'_> {}
impl HtmlSafe for Row<'_> {}
impl HtmlSafe for Call<'_> {}
impl HtmlSafe for Tools<'_> {}
impl HtmlSafe for Reply<'_> {}

impl<'a> Request<'a> {
    pub(super) fn of(
        pool: &mut Pool<'a>,
        index: &Index,
        step: &StepId,
        request: &'a ModelRequest,
        hash: Option<&'a str>,
        last: &Last<'a>,
    ) -> Request<'a> {
        let rows = rows(pool, index, &request.messages, last);
        let tools = (!request.tools.is_empty()).then(|| Tools::of(pool, &request.tools));
        let output = request.output.as_ref().map(|o| (&*o.name, Shown::of(pool, "schema", &o.schema, 0)));
        Request {
            step: index.step_number(step),
            model: &request.model,
            most: request.max_output.map(|most| counted(most, "token", "tokens")),
            estimate: counted(request.estimate_tokens(), "token", "tokens"),
            hash: hash.map(|hash| hash.chars().take(12).collect()),
            rows,
            tools,
            output,
            options: Parts::of_fields(pool, &request.options),
            context: Parts::of_set_fields(pool, &request.context),
        }
    }
}

/// The rows of a conversation. Message `i` of this request is compared with message `i - shift` of the last one,
/// counted from behind the system message, which may be in one of them only.
fn rows<'a>(pool: &mut Pool<'a>, index: &Index, messages: &'a [Message], last: &Last<'a>) -> Vec<Row<'a>> {
    let has_system = |messages: &[Message]| messages.first().is_some_and(|m| m.role == Role::System);
    let known = last.as_ref().map_or(&[][..], |(_, request)| request.messages.as_slice());
    let shift = isize::from(has_system(messages)) - isize::from(has_system(known));
    let other = |i: usize| i.checked_add_signed(-shift).and_then(|k| known.get(k));
    let mut rows = Vec::new();
    let mut i = 0;
    while i < messages.len() {
        let equal = messages[i..].iter().zip(i..).take_while(|(m, k)| other(*k) == Some(*m)).count();
        match last {
            Some((step, _)) if equal > 0 => {
                let (from, to) = (i + 1, i + equal);
                let what = match equal {
                    1 => format!("message {from}"),
                    _ => format!("messages {from} to {to}"),
                };
                let (number, place) = (index.step_number(step), index.to_step(step));
                rows.push(Row::Same { step: number, from, to, shift, what, place });
                i = to;
            }
            _ => {
                rows.push(row(pool, i + 1, &messages[i]));
                i += 1;
            }
        }
    }
    rows
}

fn row<'a>(pool: &mut Pool<'a>, n: usize, message: &'a Message) -> Row<'a> {
    Row::Message {
        n,
        role: message.role.name(),
        name: message.name.as_deref(),
        // Beside calls there is mostly no text.
        text: (!message.content.is_empty() || message.tool_calls.is_empty())
            .then(|| Text::of(pool, &*message.content)),
        calls: message.tool_calls.iter().map(|call| Call::of(pool, call)).collect(),
    }
}

impl<'a> Call<'a> {
    fn of(pool: &mut Pool<'a>, call: &'a ToolCall) -> Call<'a> {
        Call { name: &call.name, arguments: Text::of(pool, Cow::Borrowed(&*call.arguments)) }
    }
}

impl<'a> Tools<'a> {
    fn of(pool: &mut Pool<'a>, tools: &'a [ToolSpec]) -> Tools<'a> {
        let count = counted(tools.len() as u64, "tool", "tools");
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let names = names.join(", ");
        if let Some(place) = pool.tools(tools) {
            return Tools::There { count, names, place };
        }
        let describe = |tool: &'a ToolSpec| {
            let description = Text::of(pool, &*tool.description);
            (&*tool.name, description, Shown::of(pool, "parameters", &tool.parameters, 0))
        };
        Tools::Here { count, names, tools: tools.iter().map(describe).collect() }
    }
}

impl<'a> Reply<'a> {
    pub(super) fn of(pool: &mut Pool<'a>, reply: &'a ModelReply) -> Reply<'a> {
        let usage = &reply.usage;
        let mut tokens = format!(
            "{} in, {} out",
            counted(usage.input_tokens, "token", "tokens"),
            number(usage.output_tokens)
        );
        let more = [(usage.cached_tokens, "cached"), (usage.reasoning_tokens, "of reasoning")];
        for (n, what) in more.into_iter().filter(|(n, _)| *n > 0) {
            tokens.push_str(&format!(", {} {what}", number(n)));
        }
        if usage.estimated {
            tokens.push_str(" (estimated)");
        }
        let price = deepgraph_protocol::Spent {
            cost_micro_usd: reply.cost_micro_usd.unwrap_or(0),
            cost_unknown: u64::from(reply.cost_micro_usd.is_none()),
            ..Default::default()
        };
        let data =
            if reply.data.is_null() { Parts::none() } else { Parts::of_value(pool, "data", &reply.data) };
        let guess =
            if reply.guess.is_null() { Parts::none() } else { Parts::of_value(pool, "guess", &reply.guess) };
        Reply {
            finish: reply.finish.name(),
            tokens,
            cost: cost(&price),
            model: &reply.model,
            data,
            text: (!reply.text.is_empty()).then(|| Text::of(pool, &*reply.text)),
            calls: reply.tool_calls.iter().map(|call| Call::of(pool, call)).collect(),
            guess,
            mended: (!reply.mended.is_empty()).then(|| reply.mended.join("; ")),
        }
    }
}
