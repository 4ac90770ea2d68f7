//! Tool calls that a model wrote into its text.
//!
//! Two kinds are taken for calls. *Marked* ones: `<tool_call>{...}</tool_call>` (Hermes, Qwen),
//! `<function=NAME>{...}</function>` with JSON or `<parameter=K>` inside and `<|python_tag|>{...}` (Llama, Qwen),
//! `[TOOL_CALLS][...]` and `[TOOL_CALLS]NAME[ARGS]{...}` (Mistral). A name that is not offered goes through too, to be
//! answered as unknown. They are text where they are shown to a reader: in backticks or a fence, on a line of a quotation
//! (`> `), and amid more than [`LONGEST_PREAMBLE`] bytes of words, or behind more than [`LONGEST_WAY_TO_CALL`]: what a page
//! says is no call of whoever quotes it. *Bare* ones, `{"name": NAME,
//! "arguments": {...}}` and its kin, a list of such, or `NAME({...})`, only where all names are offered and where the reply
//! is nothing else: it is the whole text, or the end of it behind at most [`LONGEST_PREAMBLE`] bytes of words, in a fence or
//! on lines of its own. So an answer that shows such JSON among its prose stays an answer.

use std::sync::Arc;

use deepgraph_protocol::{ToolSpec, Value};

use super::json;

/// The longest text before a bare call, in bytes.
const LONGEST_PREAMBLE: usize = 200;

/// The longest text before a marked call with nothing behind it, in bytes: thoughts on the way to it.
const LONGEST_WAY_TO_CALL: usize = 1000;

/// The most calls that are taken from one text.
const MOST_CALLS: usize = 64;

/// The fields in which the name of a tool is looked for, and those for its arguments.
const NAMES: [&str; 5] = ["name", "tool", "function", "tool_name", "action"];
const ARGUMENTS: [&str; 7] =
    ["arguments", "parameters", "args", "input", "tool_input", "action_input", "with"];

/// A call that was written as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// The name: the tool's own, where it is offered.
    pub(crate) name: Arc<str>,
    /// The arguments as text.
    pub(crate) arguments: String,
}

/// The calls in a text and what is left of the text; none where there are none.
pub(crate) fn find(text: &str, offered: &[ToolSpec]) -> Option<(Vec<Written>, String)> {
    let offered = Offered(offered);
    marked(text, &offered).or_else(|| bare(text, &offered))
}

/// The tools that can be called.
struct Offered<'t>(&'t [ToolSpec]);

impl Offered<'_> {
    /// The tool of a name, also as it is spelt on the wire: with `_` for what is no letter, digit, `_` or `-`.
    fn name(&self, name: &str) -> Option<Arc<str>> {
        let name = name.trim();
        let on_wire = |tool: &str| {
            tool.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).eq(name.chars())
        };
        let exact = self.0.iter().find(|tool| *tool.name == *name);
        exact.or_else(|| self.0.iter().find(|tool| on_wire(&tool.name))).map(|tool| tool.name.clone())
    }
}

/// The markup of a call.
struct Mark {
    /// Where it begins.
    open: &'static str,
    /// What ends it.
    ends: &'static [&'static str],
    /// How what is between is read.
    read: fn(&str) -> Vec<Loose>,
}

const MARKS: [Mark; 5] = [
    Mark { open: "<tool_call>", ends: &["</tool_call>"], read: in_tag },
    Mark { open: "<function_call>", ends: &["</function_call>"], read: in_tag },
    Mark { open: "<function=", ends: &["</function>"], read: function },
    Mark { open: "<|python_tag|>", ends: &["<|eom_id|>", "<|eot_id|>"], read: in_tag },
    Mark { open: "[TOOL_CALLS]", ends: &["[TOOL_CALLS]", "</s>"], read: mistral },
];

/// A call as it was read, whether it is offered or not.
struct Loose {
    name: String,
    arguments: String,
    /// Whether it says what its arguments are.
    has_arguments: bool,
}

fn marked(text: &str, offered: &Offered<'_>) -> Option<(Vec<Written>, String)> {
    let text = out_of_its_fence(text);
    let mut calls = Vec::new();
    let mut left = String::new();
    let mut rest = text;
    for _ in 0..MOST_CALLS {
        let first =
            MARKS.iter().filter_map(|mark| Some((rest.find(mark.open)?, mark))).min_by_key(|(at, _)| *at);
        let Some((at, Mark { open, ends, read })) = first else { break };
        let before = rest.get(..at).unwrap_or_default();
        let inside = rest.get(at + open.len()..).unwrap_or_default();
        let close = ends.iter().filter_map(|end| Some((inside.find(end)?, *end))).min();
        let (body, behind) = match close {
            // The next call begins where this one ends.
            Some((end, close)) if close == *open => (inside.get(..end), inside.get(end..)),
            Some((end, close)) => (inside.get(..end), inside.get(end + close.len()..)),
            None => (Some(inside), None),
        };
        let is_shown = is_quoted(text.get(..text.len() - inside.len() - open.len()).unwrap_or_default());
        let read = if is_shown { Vec::new() } else { read(body.unwrap_or_default()) };
        left.push_str(before);
        if read.is_empty() {
            left.push_str(open);
            rest = inside;
            continue;
        }
        rest = behind.unwrap_or_default();
        calls.extend(read.into_iter().map(|call| Written {
            name: offered.name(&call.name).unwrap_or_else(|| call.name.trim().into()),
            arguments: call.arguments,
        }));
    }
    let most = if rest.trim().is_empty() { LONGEST_WAY_TO_CALL } else { LONGEST_PREAMBLE };
    left.push_str(rest);
    let left = left.trim();
    // Amid an answer it is part of the answer: an example, or what a page said.
    (!calls.is_empty() && left.len() <= most).then(|| (calls, without_empty_fences(left)))
}

/// Whether what stands behind a text is shown to a reader: in a fence, on a line of a quotation, or in backticks.
fn is_quoted(before: &str) -> bool {
    let is_fence = |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let line = before.rsplit('\n').next().unwrap_or_default();
    before.ends_with('`')
        || line.trim_start().starts_with('>')
        || before.lines().filter(is_fence).count() % 2 == 1
}

/// The inside of a text that is one fence and nothing else: that is no example, as nobody says of what.
fn out_of_its_fence(text: &str) -> &str {
    if text.matches("```").count() > 2 {
        return text;
    }
    let trimmed = text.trim();
    let is_whole =
        trimmed.starts_with("```") && (trimmed.ends_with("```") || trimmed.matches("```").count() == 1);
    if is_whole { inner(trimmed) } else { text }
}

/// JSON of one call, or of several, one behind the other or in a list; or a call in Qwen's other form.
fn in_tag(body: &str) -> Vec<Loose> {
    let body = inner(body);
    if let Some(named) = body.strip_prefix("<function=") {
        return function(named.split("</function>").next().unwrap_or(named));
    }
    let mut calls = Vec::new();
    let mut rest = body;
    while let Some(reading) = json::read(rest).filter(|_| calls.len() < MOST_CALLS) {
        let whole = rest.get(..reading.bytes).unwrap_or_default();
        match (loose(&reading.value), reading.guessed.is_empty()) {
            (Some(read), true) => calls.extend(read),
            // What had to be guessed is no arguments: they go on as they stand, to be called malformed.
            (Some(read), false) => {
                calls.extend(read.into_iter().map(|call| Loose { arguments: broken(whole), ..call }));
            }
            (None, _) => break,
        }
        rest = rest.get(reading.bytes..).unwrap_or_default().trim_start_matches([';', ',', ' ', '\n', '\r']);
    }
    if calls.is_empty() { applied(body).into_iter().collect() } else { calls }
}

/// What stands between `<function=` and `</function>`: `NAME>{...}`, or `NAME>` and parameters one by one.
fn function(body: &str) -> Vec<Loose> {
    let Some((name, arguments)) = body.split_once('>') else { return Vec::new() };
    let name = name.trim().trim_matches(['"', '\'']);
    if name.is_empty() || name.len() > 128 || name.contains(['\n', '<', '{']) {
        return Vec::new();
    }
    let arguments = if arguments.contains("<parameter=") {
        parameters(arguments)
    } else {
        read_arguments(inner(arguments))
    };
    vec![Loose { name: name.to_owned(), arguments, has_arguments: true }]
}

/// `<parameter=K>V</parameter>`, each: values that are JSON as such, others as texts.
fn parameters(text: &str) -> String {
    let parameters = text.split("<parameter=").skip(1).filter_map(|one| {
        let (name, value) = one.split_once('>')?;
        let value = value.split("</parameter>").next().unwrap_or(value).trim();
        let read = serde_json::from_str::<Value>(value).unwrap_or_else(|_| Value::from(value));
        Some((name.trim().to_owned(), read))
    });
    Value::record(parameters).to_json_text()
}

/// What stands behind `[TOOL_CALLS]`: a list of calls, or `NAME[ARGS]{...}`, or `NAME{...}`.
fn mistral(body: &str) -> Vec<Loose> {
    let body = body.trim();
    if body.starts_with(['[', '{']) {
        return in_tag(body);
    }
    let Some((name, _)) = body.split_once(['[', '{']) else { return Vec::new() };
    let arguments = body.get(name.len()..).unwrap_or_default();
    let arguments = arguments.strip_prefix("[ARGS]").unwrap_or(arguments);
    let is_name = !name.is_empty() && name.len() <= 128 && !name.contains(char::is_whitespace);
    let call = || Loose { name: name.to_owned(), arguments: read_arguments(arguments), has_arguments: true };
    is_name.then(call).into_iter().collect()
}

fn bare(text: &str, offered: &Offered<'_>) -> Option<(Vec<Written>, String)> {
    let text = text.trim();
    let (before, body) = split(text)?;
    let read = match json::read(body).filter(|_| body.starts_with(['{', '['])) {
        Some(reading) if reading.guessed.is_empty() && body.get(reading.bytes..)?.trim().is_empty() => {
            loose(&reading.value)?
        }
        Some(_) => return None,
        None => match applied(body) {
            Some(one) => vec![one],
            None => {
                let lines = body.lines().filter(|line| !line.trim().is_empty());
                lines.map(applied).collect::<Option<_>>()?
            }
        },
    };
    // Behind words a call has to say what its arguments are: a record with a name is easily something else.
    let is_clear = before.is_empty() || read.iter().all(|call| call.has_arguments);
    let named = read
        .into_iter()
        .map(|call| Some(Written { name: offered.name(&call.name)?, arguments: call.arguments }));
    let calls: Vec<Written> = named.collect::<Option<_>>()?;
    (is_clear && !calls.is_empty() && calls.len() <= MOST_CALLS).then(|| (calls, before.trim().to_owned()))
}

/// What may be a bare call at the end of a text, and the words before it.
fn split(text: &str) -> Option<(&str, &str)> {
    if let Some(body) = text.strip_suffix("```") {
        let (before, body) = body.split_once("```")?;
        let body = body.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').trim();
        return (before.len() <= LONGEST_PREAMBLE).then_some((before, body));
    }
    let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let at = starts
        .find(|at| text.get(*at..).is_some_and(|rest| rest.trim_start_matches(' ').starts_with(['{', '['])));
    match at {
        Some(at) if at <= LONGEST_PREAMBLE => Some((text.get(..at)?, text.get(at..)?.trim())),
        _ => Some(("", text)),
    }
}

/// `NAME({...})` or `NAME()`.
fn applied(text: &str) -> Option<Loose> {
    let (name, arguments) = text.trim().trim_end_matches(';').strip_suffix(')')?.split_once('(')?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let arguments = arguments.trim();
    let is_record = |text: &str| {
        let read = json::read(text).filter(|_| text.starts_with('{'));
        read.is_some_and(|read| text.get(read.bytes..).is_some_and(|rest| rest.trim().is_empty()))
    };
    if !is_name || name.is_empty() || !(arguments.is_empty() || is_record(arguments)) {
        return None;
    }
    let arguments = if arguments.is_empty() { "{}".to_owned() } else { read_arguments(arguments) };
    Some(Loose { name: name.to_owned(), arguments, has_arguments: true })
}

/// The calls that a value stands for; none where it stands for none.
fn loose(value: &Value) -> Option<Vec<Loose>> {
    if let Some(items) = value.as_list() {
        let calls: Option<Vec<Vec<Loose>>> = items.iter().map(loose).collect();
        return calls.map(|calls| calls.into_iter().flatten().collect());
    }
    let fields = value.as_map()?;
    if let Some(calls) = value.get("tool_calls").filter(|calls| calls.as_list().is_some()) {
        return loose(calls);
    }
    // OpenAI's own: `{"type": "function", "function": {...}}`.
    if let Some(function) = value.get("function").filter(|function| function.as_map().is_some()) {
        return loose(function);
    }
    let key = NAMES.iter().find(|key| value.get(key).is_some_and(|name| name.as_str().is_some()))?;
    let name = value.text(key).to_owned();
    let arguments = ARGUMENTS.iter().find_map(|key| value.get(key));
    let arguments = match (arguments, fields.len()) {
        (Some(Value::Text(text)), _) => read_arguments(text),
        (Some(Value::Null), _) => "{}".to_owned(),
        (Some(other), _) => other.to_json_text(),
        (None, 1) => return Some(vec![Loose { name, arguments: "{}".into(), has_arguments: false }]),
        // `{"tool": NAME, ...}` with the arguments beside the name.
        (None, _) if *key == "tool" => {
            let beside = fields.iter().filter(|(name, _)| &***name != "tool");
            Value::record(beside.map(|(name, value)| (name.clone(), value.clone()))).to_json_text()
        }
        (None, _) => return None,
    };
    Some(vec![Loose { name, arguments, has_arguments: true }])
}

/// Arguments as JSON text, mended where what is meant is clear; else as they stand.
pub(super) fn read_arguments(text: &str) -> String {
    mended_arguments(text).map_or_else(|| text.trim().to_owned(), |(mended, _)| mended)
}

/// Arguments that are no JSON record, mended, and what was mended; none where they need or allow none.
pub(super) fn mended_arguments(text: &str) -> Option<(String, String)> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Map(_)) => return None,
        // A record in a text: encoded twice.
        Ok(Value::Text(inner)) => {
            let value: Value = serde_json::from_str(&inner).ok()?;
            return value.as_map().map(|_| (value.to_json_text(), "encoded twice".to_owned()));
        }
        Ok(_) => return None,
        Err(_) => {}
    }
    let body = inner(text);
    let reading = json::read(body).filter(|reading| reading.value.as_map().is_some())?;
    let is_whole = body.get(reading.bytes..).is_some_and(|rest| rest.trim().is_empty());
    let words: Vec<&str> = reading.mended.iter().copied().collect();
    let words = if words.is_empty() { "a fence".to_owned() } else { words.join(", ") };
    (is_whole && reading.guessed.is_empty()).then(|| (reading.value.to_json_text(), words))
}

/// Arguments that can not be read, as they stand; never such that they can be read as something else.
fn broken(whole: &str) -> String {
    let at = ARGUMENTS.iter().find_map(|key| whole.find(&format!("\"{key}\"")).map(|at| at + key.len() + 2));
    let arguments = at.and_then(|at| whole.get(at..)).unwrap_or(whole);
    let arguments = arguments.trim_start().trim_start_matches(':').trim();
    if serde_json::from_str::<Value>(arguments).is_ok() {
        whole.trim().to_owned()
    } else {
        arguments.to_owned()
    }
}

/// What stands in a fence, where a text is one.
fn inner(text: &str) -> &str {
    let text = text.trim();
    let Some(body) = text.strip_prefix("```") else { return text };
    let body = body.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    body.strip_suffix("```").unwrap_or(body).trim()
}

/// What is left of a text, without fences that held nothing but calls.
fn without_empty_fences(text: &str) -> String {
    let text = text.trim();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let is_fence = |line: &str| line.trim_start().starts_with("```");
        let ends = line.trim() == "```";
        let last = if ends { lines.iter().rposition(|line| !line.trim().is_empty()) } else { None };
        match last.filter(|last| lines.get(*last).is_some_and(|line| is_fence(line))) {
            Some(opened) => lines.truncate(opened),
            None => lines.push(line),
        }
    }
    lines.join("\n").trim().to_owned()
}
