//! The input of a run.

use deepgraph_protocol::{Map, Message, Value};

use crate::{Bundle, Channel, Mismatch, Reducer, Type, nearest};

impl Bundle {
    /// The input of the root: what is given by name, and the question where there is one, checked against the input
    /// channels and completed as their types say. Everything that does not fit is reported: values and what is missing
    /// with the name of the input as their path, names that the graph does not have and a question without a place
    /// with none.
    ///
    /// The question goes to the input that [`Bundle::question_input`] would name if those that are given were not
    /// there. Null counts as not given where an input may be left out and does not take it.
    pub fn input_of(&self, question: Option<&str>, given: &Map) -> Result<Map, Vec<Mismatch>> {
        let inputs = self.inputs();
        let mut wrong = Vec::new();
        let mut input = Map::new();
        for (name, value) in given {
            let Some(channel) = inputs.iter().find(|channel| channel.name == *name) else {
                let help = nearest::hint(name, inputs.iter().map(|channel| &*channel.name));
                let help = help.unwrap_or_else(|| "it takes none".to_owned());
                let name = nearest::shortened(name);
                wrong.push(Mismatch::here(format!("the graph has no input `{name}`; {help}")));
                continue;
            };
            match channel.field.check(value) {
                Ok(value) => drop(input.insert(name.clone(), value)),
                Err(_) if value.is_null() && !channel.is_required() => {}
                Err(mismatch) => wrong.push(mismatch.at_field(name)),
            }
        }
        let open: Vec<&Channel> =
            inputs.iter().copied().filter(|channel| !given.contains_key(&channel.name)).collect();
        let place = question.and_then(|question| Some((place(&open)?, question)));
        match place {
            Some((channel, question)) => {
                input.insert(channel.name.clone(), asked(channel, question));
            }
            None if question.is_some() => wrong.push(no_place(&inputs)),
            None => {}
        }
        let is_missing = |channel: &&&Channel| channel.is_required() && !input.contains_key(&channel.name);
        wrong.extend(open.iter().filter(is_missing).map(|channel| {
            Mismatch::here(format!("needs a value: {}", channel.field.phrase())).at_field(&channel.name)
        }));
        if wrong.is_empty() { Ok(input) } else { Err(wrong) }
    }

    /// The input that a question is for: the text `question`, else the sole text that has to be given, else the first
    /// conversation; none where that is not clear.
    pub fn question_input(&self) -> Option<&Channel> {
        place(&self.inputs())
    }

    fn inputs(&self) -> Vec<&Channel> {
        let root = self.root();
        root.input.iter().filter_map(|ix| root.channels.get(ix.0)).collect()
    }
}

fn place<'a>(inputs: &[&'a Channel]) -> Option<&'a Channel> {
    let is_text = |channel: &Channel| channel.field.ty == Type::String;
    let texts: Vec<&Channel> = inputs.iter().copied().filter(|c| is_text(c) && c.is_required()).collect();
    let named = inputs.iter().copied().find(|c| &*c.name == "question" && is_text(c));
    let sole = || if let [sole] = texts[..] { Some(sole) } else { None };
    let messages = || inputs.iter().copied().find(|c| c.reducer == Reducer::Messages);
    named.or_else(sole).or_else(messages)
}

/// The question as its input takes it: the text, or the one message of a conversation.
fn asked(channel: &Channel, question: &str) -> Value {
    match channel.reducer {
        Reducer::Messages => Value::from(vec![Message::user(question).to_value()]),
        _ => Value::from(question),
    }
}

fn no_place(inputs: &[&Channel]) -> Mismatch {
    let names = nearest::listed(inputs.iter().map(|channel| &*channel.name));
    let has = if names.is_empty() { "no input at all".to_owned() } else { format!("the inputs {names}") };
    Mismatch::here(format!(
        "the graph has {has}, and which of them the question is for is not clear; give it by the name of its input"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{OpTable, load};

    fn input_of(
        state: &str,
        inputs: &str,
        question: Option<&str>,
        given: serde_json::Value,
    ) -> Result<String, Vec<String>> {
        let text = format!(
            "deepgraph: 1\nstate: {{{state}, out: string}}\ninput: [{inputs}]\noutput: [out]\nstart: a\n\
             nodes: {{a: {{update: {{out: '\"done\"'}}}}}}\n"
        );
        let files = BTreeMap::from([("g.yaml".to_owned(), text)]);
        let bundle = load("g.yaml", &files, &OpTable::stock()).unwrap_or_else(|m| panic!("{m}")).bundle;
        let given = Value::from_json(&given).as_map().cloned().unwrap_or_default();
        bundle
            .input_of(question, &given)
            .map(|input| Value::from(input).to_json_text())
            .map_err(|wrong| wrong.iter().map(ToString::to_string).collect())
    }

    const NOTHING: serde_json::Value = serde_json::Value::Null;

    #[test]
    fn the_question_finds_its_input() {
        let texts = "question: string, topic: string, note: {type: string, optional: true}";
        let why = |state, inputs| input_of(state, inputs, Some("why?"), NOTHING).unwrap();
        assert_eq!(why(texts, "question, note"), r#"{"question":"why?"}"#);
        assert_eq!(why(texts, "topic, note"), r#"{"topic":"why?"}"#);
        assert_eq!(
            why("messages: messages", "messages"),
            r#"{"messages":[{"content":"why?","role":"user"}]}"#
        );
        let given = serde_json::json!({"question": "how?"});
        let both = input_of(texts, "question, topic", Some("why?"), given).unwrap();
        assert_eq!(both, r#"{"question":"how?","topic":"why?"}"#, "the one that is not given");
    }

    #[test]
    fn a_question_without_a_place_is_told_with_all_that_is_missing() {
        let wrong = input_of("a: string, b: string", "a, b", Some("why?"), NOTHING).unwrap_err();
        assert!(wrong[0].contains("the inputs a, b") && wrong[0].contains("is not clear"), "{wrong:?}");
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        let wrong = input_of("a: string", "", Some("why?"), NOTHING).unwrap_err();
        assert!(wrong[0].contains("no input at all"), "{wrong:?}");
    }

    #[test]
    fn all_that_does_not_fit_is_told_at_once() {
        let state = "topic: string, n: integer, note: {type: string, optional: true}, region: string";
        let given = serde_json::json!({"n": "many", "tropic": "x", "note": 3});
        let wrong = input_of(state, "topic, n, note, region", None, given).unwrap_err();
        let starts = [
            "n: must be an integer",
            "note: must be",
            "the graph has no input `tropic`; did you mean \"topic\"?",
            "topic: needs a value: ",
            "region: needs a value: ",
        ];
        assert_eq!(wrong.len(), starts.len(), "{wrong:?}");
        for (wrong, start) in wrong.iter().zip(starts) {
            assert!(wrong.starts_with(start), "{start}: {wrong}");
        }
    }

    #[test]
    fn values_are_completed_and_null_is_none() {
        let state = "note: {type: string, optional: true}, n: {type: integer, default: 3}, seen: {type: [string], \
                     reduce: append}";
        let given = serde_json::json!({"note": null, "n": 6.0, "seen": null});
        assert_eq!(input_of(state, "note, n, seen", None, given).unwrap(), r#"{"n":6,"note":null}"#);
    }
}
