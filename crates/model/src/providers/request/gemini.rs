//! The body of a request to `generateContent`: <https://ai.google.dev/api/generate-content>. The model stands in the
//! address, and whether the reply is streamed, too.

use serde_json::{Map, Value as Json, json};

use super::messages::{Answer, Call, Turn};
use super::{Asked, put};

/// Newer models want a signature of their thoughts back with the first call of a turn; this stands for one that was not
/// kept: <https://ai.google.dev/gemini-api/docs/thought-signatures>.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The body, made of the fields that the options have set.
pub(super) fn body(
    asked: &Asked<'_>,
    turns: Vec<Turn>,
    tools: Option<Json>,
    mut body: Map<String, Json>,
) -> Map<String, Json> {
    if let Some(tools) = tools {
        put(&mut body, "tools", tools);
    }
    let mut system = Vec::new();
    let mut contents = Vec::new();
    for turn in turns {
        let (role, parts) = match turn {
            Turn::System(text) => {
                system.push(json!({"text": text}));
                continue;
            }
            Turn::User(text) => ("user", vec![json!({"text": text})]),
            Turn::Model(text, calls) => ("model", said(asked.name, &text, calls)),
            Turn::Answers(answers) => ("user", answers.into_iter().map(result).collect()),
        };
        contents.push(json!({"role": role, "parts": parts}));
    }
    if !system.is_empty() {
        put(&mut body, "systemInstruction", json!({"parts": system}));
    }
    put(&mut body, "contents", contents);
    body
}

fn said(model: &str, text: &str, calls: Vec<Call>) -> Vec<Json> {
    let text = (!text.is_empty()).then(|| json!({"text": text}));
    let calls = calls.into_iter().enumerate().map(|(at, call)| {
        let call = json!({"id": call.id, "name": call.name, "args": call.arguments});
        if at == 0 && !is_before_signatures(model) {
            json!({"functionCall": call, "thoughtSignature": NO_SIGNATURE})
        } else {
            json!({"functionCall": call})
        }
    });
    text.into_iter().chain(calls).collect()
}

/// An answer that belongs to no call of the conversation has the id in the place of the name, and none itself.
fn result(answer: Answer) -> Json {
    match answer.name {
        Some(name) => json!({"functionResponse": {
            "id": answer.id, "name": name, "response": {"name": name, "content": answer.text},
        }}),
        None => json!({"functionResponse": {
            "name": answer.id, "response": {"name": answer.id, "content": answer.text},
        }}),
    }
}

/// Whether a model is older than the signatures.
fn is_before_signatures(model: &str) -> bool {
    ["gemini-1", "gemini-2", "gemma"].iter().any(|old| model.starts_with(old))
}
