//! A good run: what each stage answers.

use serde_json::{Value as Json, json};

use super::log::Asked;
use super::stage::{Stage, messages, text_of};

/// The height of a tower of the documents, in metres.
fn height(topic: &str) -> usize {
    100 + 3 * usize::from(topic.as_bytes()[0]) + topic.len()
}

/// What its document says about a tower.
pub fn sentence(topic: &str) -> String {
    format!("The {topic} tower is {} metres high.", height(topic))
}

/// A good reply: the `message` of a choice.
pub fn reply(asked: &Asked, body: &Json, topics: &[&'static str]) -> Json {
    match (asked.stage, asked.turn) {
        (Stage::Clarify, _) => {
            says(r#"{"need_clarification": false, "question": "", "verification": "Starting."}"#)
        }
        (Stage::Brief, _) => says(r#"{"research_brief": "Find the height of each of the towers."}"#),
        (Stage::Supervisor, 0) => calls(topics.iter().map(|topic| {
            let objective = format!("How high is the {topic} tower?");
            ("ConductResearch", json!({"research_topic": objective}))
        })),
        (Stage::Supervisor, _) => calls([("ResearchComplete", json!({}))].into_iter()),
        (Stage::Researcher, 0) => {
            let query = format!("{} tower height", asked.topic.unwrap_or_default());
            calls([("search", json!({"query": query}))].into_iter())
        }
        (Stage::Researcher, 1) => {
            let source = known(body, asked.topic.unwrap_or_default()).unwrap_or_default();
            calls([("read", json!({"source": source}))].into_iter())
        }
        (Stage::Researcher, _) => says("I have what I need."),
        (Stage::Compress, _) => says(&found(body, asked.topic.as_slice())),
        (Stage::Report, _) => says(&format!("# The towers\n\n{}", found(body, topics))),
    }
}

/// A message that says something.
pub fn says(text: &str) -> Json {
    json!({"role": "assistant", "content": text})
}

/// A message that calls tools, with ids that no other turn of the run has.
pub fn calls<'c>(calls: impl Iterator<Item = (&'c str, Json)>) -> Json {
    let calls = calls.enumerate().map(|(i, (name, arguments))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": format!("call_{name}_{i}"), "type": "function", "function": function})
    });
    json!({"role": "assistant", "content": "", "tool_calls": calls.collect::<Vec<_>>()})
}

/// What a request knows of these towers, each with its source.
fn found(body: &Json, topics: &[&'static str]) -> String {
    let lines: Vec<String> = topics
        .iter()
        .filter_map(|topic| Some(format!("{} [{}]", sentence(topic), known(body, topic)?)))
        .collect();
    if lines.is_empty() { "Nothing was found.".to_owned() } else { lines.join("\n") }
}

/// The source that a request names for the height of a tower: the id right behind the sentence, as in a handoff, or the last
/// one before it, as in a passage.
fn known(body: &Json, topic: &str) -> Option<String> {
    let sentence = sentence(topic);
    messages(body).rev().map(text_of).find_map(|text| {
        let at = text.find(&sentence)?;
        let behind = text[at + sentence.len()..].strip_prefix(" [").and_then(|rest| rest.split(']').next());
        let before = || {
            text[..at]
                .rmatch_indices('[')
                .filter_map(|(from, _)| text[from + 1..].split(']').next())
                .find(|id| is_id(id))
        };
        behind.filter(|id| is_id(id)).or_else(before).map(str::to_owned)
    })
}

/// Whether a text is the id of a source: that of its document, and the number of its passage.
fn is_id(text: &str) -> bool {
    let is_of = |part: &str, kind: fn(&u8) -> bool| !part.is_empty() && part.bytes().all(|b| kind(&b));
    text.rsplit_once('-').is_some_and(|(document, passage)| {
        is_of(document, u8::is_ascii_alphanumeric) && is_of(passage, u8::is_ascii_digit)
    })
}
