//! Inputs of a graph beside the question: `--input NAME=VALUE`.

use std::fs;

use deepgraph_graph::{Channel, Graph, Type, read_data};
use deepgraph_protocol::{Map, Value};

use crate::error::CliError;

/// The inputs that are given, by name: each a text, or a value as YAML or JSON, or `@FILE` with either in it.
///
/// # Errors
///
/// What is no input of the graph, can not be read, or does not fit; all of it at once.
pub fn given(graph: &Graph, texts: &[String]) -> Result<Map, CliError> {
    let mut given = Map::new();
    let mut wrong = Vec::new();
    for text in texts {
        match one(graph, text) {
            Ok((name, value)) => drop(given.insert(name.into(), value)),
            Err(problem) => wrong.push(problem),
        }
    }
    if wrong.is_empty() { Ok(given) } else { Err(CliError::Input { graph: graph.name.to_string(), wrong }) }
}

fn one(graph: &Graph, text: &str) -> Result<(String, Value), String> {
    let Some((name, value)) = text.split_once('=').map(|(name, value)| (name.trim(), value)) else {
        return Err(format!("\"{text}\": write --input NAME=VALUE"));
    };
    let channel = channel(graph, name)?;
    let value = read(channel, value).map_err(|why| format!("{name}: {why}"))?;
    let fitted = channel.field.check(&value).map_err(|mismatch| format!("{name} {mismatch}"))?;
    Ok((name.to_owned(), fitted))
}

fn channel<'g>(graph: &'g Graph, name: &str) -> Result<&'g Channel, String> {
    let inputs = || graph.input.iter().filter_map(|ix| graph.channels.get(ix.0));
    inputs().find(|channel| &*channel.name == name).ok_or_else(|| {
        let names: Vec<&str> = inputs().map(|channel| &*channel.name).collect();
        format!("there is no input \"{name}\"; the inputs are: {}", names.join(", "))
    })
}

/// A text as it stands where the channel holds a text, else data.
fn read(channel: &Channel, value: &str) -> Result<Value, String> {
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
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        given(graph().root(), &texts).map(|m| Value::from(m).to_json_text()).map_err(|e| e.to_string())
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
        let read = read_all(&[&format!("docs=@{}", docs.display()), &format!("topic=@{}", topic.display())]);
        assert_eq!(read.unwrap(), r#"{"docs":[{"id":"1","text":"ü"}],"topic":"ferries: now"}"#);
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let error = read_all(&["topic", "tropic=x", "n=many", "docs=@/no/such/file"]).unwrap_err();
        for part in
            ["NAME=VALUE", "the inputs are: topic, n, docs", "n must be an integer", "can not be read"]
        {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
