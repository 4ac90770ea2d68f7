//! From the question to the input of a graph.

use std::io::Read;

use deepgraph_graph::{Channel, Graph, Reducer, Type};
use deepgraph_protocol::{Map, Message, Value};

use crate::error::CliError;

/// The question: the argument, or standard input for `-`.
///
/// # Errors
///
/// It is empty, or standard input is no text.
pub fn read(argument: &str) -> Result<String, CliError> {
    let text = if argument == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(CliError::Stdin)?;
        text
    } else {
        argument.to_owned()
    };
    let text = text.trim();
    if text.is_empty() { Err(CliError::EmptyQuestion) } else { Ok(text.to_owned()) }
}

/// The input of a graph: what is given by name, and the question as the input `question`, else as the sole required
/// text, else as the one message of a `messages` input.
///
/// # Errors
///
/// The graph has no such input, or needs others beside it.
pub fn input(graph: &Graph, question: Option<&str>, given: Map) -> Result<Map, CliError> {
    let inputs: Vec<&Channel> = graph.input.iter().filter_map(|ix| graph.channels.get(ix.0)).collect();
    let open: Vec<&Channel> = inputs.iter().copied().filter(|c| !given.contains_key(&c.name)).collect();
    let mut input = given;
    if let Some(question) = question {
        let Some(place) = place(&open) else { return Err(no_place(graph, &inputs)) };
        let value = if place.reducer == Reducer::Messages {
            Value::from(vec![Message::user(question).to_value()])
        } else {
            Value::from(question)
        };
        input.insert(place.name.clone(), value);
    }
    let missing: Vec<&str> =
        open.iter().filter(|c| !input.contains_key(&c.name) && c.is_required()).map(|c| &*c.name).collect();
    if !missing.is_empty() {
        let problem = format!(
            "it needs the input {} as well: --input {}=VALUE",
            missing.join(", "),
            missing.first().copied().unwrap_or("NAME")
        );
        return Err(CliError::NoQuestionInput { graph: graph.name.to_string(), problem });
    }
    Ok(input)
}

/// The input that a question is for; none where that is not clear.
pub fn channel(graph: &Graph) -> Option<&Channel> {
    let inputs: Vec<&Channel> = graph.input.iter().filter_map(|ix| graph.channels.get(ix.0)).collect();
    place(&inputs)
}

fn place<'a>(inputs: &[&'a Channel]) -> Option<&'a Channel> {
    let is_text = |c: &Channel| c.field.ty == Type::String;
    let texts: Vec<&Channel> = inputs.iter().copied().filter(|c| is_text(c) && c.is_required()).collect();
    let named = inputs.iter().copied().find(|c| &*c.name == "question" && is_text(c));
    let sole = || if let [sole] = texts[..] { Some(sole) } else { None };
    let messages = || inputs.iter().copied().find(|c| c.reducer == Reducer::Messages);
    named.or_else(sole).or_else(messages)
}

fn no_place(graph: &Graph, inputs: &[&Channel]) -> CliError {
    let names: Vec<&str> = inputs.iter().map(|c| &*c.name).collect();
    let has = if names.is_empty() {
        "no input at all".to_owned()
    } else {
        format!("the inputs {}", names.join(", "))
    };
    let problem = format!(
        "it has {has}, and which of them the question is for is not clear: give them by --input NAME=VALUE"
    );
    CliError::NoQuestionInput { graph: graph.name.to_string(), problem }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use deepgraph_graph::{OpTable, load};

    use super::*;

    fn input_of(state: &str, inputs: &str) -> Result<String, String> {
        let text = format!(
            "deepgraph: 1\nstate: {{{state}, out: string}}\ninput: [{inputs}]\noutput: [out]\nstart: a\n\
             nodes: {{a: {{update: {{out: '\"done\"'}}}}}}\n"
        );
        let files = BTreeMap::from([("g.yaml".to_owned(), text)]);
        let loaded = load("g.yaml", &files, &OpTable::stock()).unwrap_or_else(|m| panic!("{m}"));
        input(loaded.bundle.root(), Some("why?"), Map::new())
            .map(|map| Value::from(map).to_json_text())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn the_question_finds_its_input() {
        let texts = "question: string, topic: string, note: {type: string, optional: true}";
        assert_eq!(input_of(texts, "question, note").unwrap(), r#"{"question":"why?"}"#);
        assert_eq!(input_of(texts, "topic, note").unwrap(), r#"{"topic":"why?"}"#);
        let messages = input_of("messages: messages", "messages").unwrap();
        assert_eq!(messages, r#"{"messages":[{"content":"why?","role":"user"}]}"#);
    }

    #[test]
    fn graphs_without_a_place_for_it_are_refused() {
        let error = input_of("a: string, b: string", "a, b").unwrap_err();
        assert!(error.contains("the inputs a, b") && error.contains("--input NAME=VALUE"), "{error}");
        let error = input_of("question: string, region: string", "question, region").unwrap_err();
        assert!(error.contains("needs the input region") && error.contains("--input region="), "{error}");
    }

    #[test]
    fn an_empty_question_is_none() {
        assert!(matches!(read(" \n\t"), Err(CliError::EmptyQuestion)));
        assert_eq!(read("  why? ").unwrap(), "why?");
    }
}
