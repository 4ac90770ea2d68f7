//! The input of a run: the question, and what is given by `--input NAME=VALUE`.

use std::fs;

use deepgraph_graph::{Bundle, Channel, Type, read_data};
use deepgraph_protocol::{Map, Value};

use crate::error::CliError;

/// The input of a run: the question where there is one, and what is given by name, each a text, or a value as YAML or
/// JSON, or `@FILE` with either in it. `recorded` is what a recorded run was given: it counts where nothing else is given.
///
/// # Errors
///
/// What can not be read and what does not fit the graph; all of it at once.
pub fn read(
    bundle: &Bundle,
    question: Option<&str>,
    texts: &[String],
    recorded: Map,
) -> Result<Map, CliError> {
    let mut input = recorded;
    if let Some(place) = question.and_then(|_| bundle.question_input()) {
        input.remove(&place.name);
    }
    let mut wrong = Vec::new();
    let mut unreadable = Vec::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=').map(|(name, value)| (name.trim(), value)) else {
            wrong.push(format!("\"{text}\": write --input NAME=VALUE"));
            continue;
        };
        match value_of(channel(bundle, name), value) {
            Ok(value) => drop(input.insert(name.into(), value)),
            Err(why) => {
                wrong.push(format!("{name}: {why}"));
                unreadable.push(name);
                // It is given, and so not missing.
                input.insert(name.into(), Value::Null);
            }
        }
    }
    match bundle.input_of(question, &input) {
        Ok(input) if wrong.is_empty() => return Ok(input),
        Ok(_) => {}
        Err(mismatches) => {
            let told = mismatches.iter().filter(|mismatch| !unreadable.contains(&mismatch.path.as_str()));
            wrong.extend(told.map(ToString::to_string));
        }
    }
    Err(CliError::Input { graph: bundle.root().name.to_string(), wrong })
}

/// The input of a name; none where the graph has no such input.
fn channel<'b>(bundle: &'b Bundle, name: &str) -> Option<&'b Channel> {
    let root = bundle.root();
    let mut inputs = root.input.iter().filter_map(|ix| root.channels.get(ix.0));
    inputs.find(|channel| &*channel.name == name)
}

/// A text as it stands where the channel holds a text, else data.
///
/// # Errors
///
/// It can not be read.
pub fn value_of(channel: Option<&Channel>, value: &str) -> Result<Value, String> {
    // What it is to hold does not matter where there is no place for it: that is told.
    let Some(channel) = channel else { return Ok(Value::Null) };
    let (source, text) = match value.strip_prefix('@') {
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|e| format!("{path} can not be read: {e}"))?;
            (path, text)
        }
        None => ("the value", value.to_owned()),
    };
    match channel.field.ty {
        Type::String => Ok(Value::from(text)),
        _ => read_data(source, &text).map_err(|mistakes| mistakes.to_string().trim_end().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use deepgraph_graph::{Bundle, OpTable, load};

    use super::*;

    fn graph() -> Bundle {
        let text = "deepgraph: 1\nname: g\ntypes: {doc: {id: string, text: string}}\nstate: {topic: string, n: integer, docs: \
                    [doc], out: string}\ninput: [topic, n, docs]\noutput: [out]\nstart: a\nnodes: {a: {update: {out: \
                    topic}}}\n";
        let files = BTreeMap::from([("g.yaml".to_owned(), text.to_owned())]);
        load("g.yaml", &files, &OpTable::stock()).unwrap_or_else(|m| panic!("{m}")).bundle
    }

    fn read_all(texts: &[&str]) -> Result<String, String> {
        read_with(None, texts, serde_json::json!({}))
    }

    fn read_with(
        question: Option<&str>,
        texts: &[&str],
        recorded: serde_json::Value,
    ) -> Result<String, String> {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        let recorded = Value::from_json(&recorded).as_map().cloned().unwrap_or_default();
        read(&graph(), question, &texts, recorded)
            .map(|m| Value::from(m).to_json_text())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn texts_stand_as_they_are_and_data_is_read() {
        let read = read_all(&["topic=a = b", "n=3", "docs=[{id: x, text: 'y'}]"]).unwrap();
        assert_eq!(read, r#"{"docs":[{"id":"x","text":"y"}],"n":3,"topic":"a = b"}"#);
    }

    #[test]
    fn a_file_holds_a_value() {
        let folder = tempfile::tempdir().unwrap();
        let docs = folder.path().join("docs.json");
        fs::write(&docs, r#"[{"id": "1", "text": "ü"}]"#).unwrap();
        let topic = folder.path().join("topic.txt");
        fs::write(&topic, "ferries: now").unwrap();
        let (docs, topic) = (format!("docs=@{}", docs.display()), format!("topic=@{}", topic.display()));
        let read = read_all(&[&docs, &topic, "n=3"]);
        assert_eq!(read.unwrap(), r#"{"docs":[{"id":"1","text":"ü"}],"n":3,"topic":"ferries: now"}"#);
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let error = read_all(&["topic", "tropic=x", "n=many", "docs=@/no/such/file"]).unwrap_err();
        for part in [
            "\"topic\": write --input NAME=VALUE",
            "no input `tropic`; did you mean \"topic\"?",
            "topic: needs a value",
            "n: must be an integer",
            "docs: /no/such/file can not be read",
            "--input NAME=VALUE gives an input",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert_eq!(error.matches("docs").count(), 1, "what can not be read is told once: {error}");
    }

    #[test]
    fn the_question_and_what_is_given_go_before_what_was_recorded() {
        let recorded = serde_json::json!({"topic": "old", "n": 1, "docs": []});
        let read = read_with(Some("new"), &["n=2"], recorded.clone()).unwrap();
        assert_eq!(read, r#"{"docs":[],"n":2,"topic":"new"}"#);
        assert_eq!(read_with(None, &[], recorded).unwrap(), r#"{"docs":[],"n":1,"topic":"old"}"#);
    }
}
