//! What the state that a request's templates read holds to work from.

use deepgraph_protocol::{Hit, ModelRequest, Source, Value};
use deepgraph_research::marks::marks_of_any_source;
use deepgraph_research::passage::{Passage, parse};

use super::history::last_user_text;

/// Channels that hold the question, the plainest first.
const QUESTIONS: &[&str] = &["objective", "question", "brief", "task", "topic", "goal", "query", "motion"];

/// Passages and notes.
#[derive(Clone, Debug, Default)]
pub(super) struct Material {
    /// Passages with the ids of their sources; "" where they have none.
    pub passages: Vec<Passage>,
    /// Texts that cite sources themselves.
    pub notes: Vec<String>,
}

/// The question or objective in the state; none where no channel of a known name holds text.
pub(super) fn question(request: &ModelRequest) -> Option<&str> {
    QUESTIONS
        .iter()
        .filter_map(|name| request.context.get(*name)?.as_str())
        .find(|text| !text.trim().is_empty())
}

/// The question or objective in the state; where no channel has such a name, what the last user message says. A
/// channel that is there and empty means that nothing was asked: a prompt around it is no question.
pub(super) fn asked(request: &ModelRequest) -> &str {
    let has_channel = QUESTIONS.iter().any(|name| request.context.contains_key(*name));
    question(request).unwrap_or(if has_channel { "" } else { last_user_text(request) })
}

/// A channel that holds text; "" where it does not.
pub(super) fn text<'a>(request: &'a ModelRequest, name: &str) -> &'a str {
    request.context.get(name).and_then(Value::as_str).unwrap_or("")
}

/// Passages and notes in the state; none where there are none.
pub(super) fn material(request: &ModelRequest) -> Option<Material> {
    let mut material = Material::default();
    let is_question = |name: &str| QUESTIONS.contains(&name) || name == "answers";
    for (_, value) in request.context.iter().filter(|(name, _)| !is_question(name)) {
        collect(value, &mut material);
    }
    let is_empty = material.passages.is_empty() && material.notes.is_empty();
    (!is_empty).then_some(material)
}

fn collect(value: &Value, material: &mut Material) {
    match value {
        Value::List(items) => items.iter().for_each(|item| collect_item(item, material)),
        Value::Map(fields) if passage(value).is_none() => {
            fields
                .values()
                .filter(|v| matches!(v, Value::Map(_)))
                .for_each(|item| collect_item(item, material));
            collect_text(value.text("text"), material);
        }
        Value::Map(_) => material.passages.extend(passage(value)),
        _ => {}
    }
}

fn collect_item(item: &Value, material: &mut Material) {
    match item {
        Value::Text(text) => collect_text(text, material),
        Value::List(items) => items.iter().for_each(|item| collect_item(item, material)),
        _ => material.passages.extend(passage(item)),
    }
}

/// A text that cites sources is a note, one of passage blocks is those, any other a passage without source.
fn collect_text(text: &str, material: &mut Material) {
    if text.trim().is_empty() {
        return;
    }
    let blocks = parse(text);
    if !blocks.is_empty() {
        material.passages.extend(blocks);
    } else if !marks_of_any_source(text).is_empty() {
        material.notes.push(text.to_owned());
    } else {
        material.passages.push(Passage { text: text.to_owned(), ..Passage::default() });
    }
}

/// A record as a passage: a source, a hit, or anything with a text and a title or id.
fn passage(value: &Value) -> Option<Passage> {
    value.get("text")?.as_str()?;
    if let Ok(source) = value.to::<Source>() {
        return Some(Passage::from(&source));
    }
    if let Ok(hit) = value.to::<Hit>() {
        return Some(Passage { date: None, ..Passage::from(&hit) });
    }
    let is_document = value.get("title").is_some() || value.get("id").is_some();
    let of = |name: &str| value.text(name).to_owned();
    is_document.then(|| Passage { id: of("id"), title: of("title"), text: of("text"), ..Passage::default() })
}
