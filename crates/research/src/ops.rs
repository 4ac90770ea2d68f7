//! The ops that this crate gives to graphs: pure functions over records, by name.

use deepgraph_protocol::{Citation, ErrorKind, Fact, Handoff, Map, Source, StepError, Value};
use serde::de::DeserializeOwned;

use crate::assemble;
use crate::cite::cite;
use crate::handoff::{self, Sources};
use crate::join::{Section, join};

/// An op.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Its name in a graph file.
    pub name: &'static str,
    /// Carries it out: the record of its result from that of its input.
    ///
    /// # Errors
    ///
    /// `invalid_input` for a missing field or one of the wrong type.
    pub run: fn(&Map) -> Result<Value, StepError>,
}

/// All ops of this crate. What each takes and gives is declared with the graph language.
pub const OPS: &[Op] = &[
    Op { name: "think", run: think },
    Op { name: "handoff", run: handoff_op },
    Op { name: "extract_handoff", run: extract_op },
    Op { name: "assemble", run: assemble_op },
    Op { name: "cite", run: cite_op },
    Op { name: "join", run: join_op },
];

/// The op of a name.
pub fn op(name: &str) -> Option<&'static Op> {
    OPS.iter().find(|op| op.name == name)
}

/// Stands in drafts that the op `assemble` makes.
const ASSEMBLED: &str = "This report was assembled from the researchers' findings: its sentences were not written by a language model.";

fn think(input: &Map) -> Result<Value, StepError> {
    let reflection = text(input, "reflection")?;
    Ok(Value::record([("text", Value::from(reflection))]))
}

fn handoff_op(input: &Map) -> Result<Value, StepError> {
    let (facts, sources) = (optional::<Vec<Fact>>(input, "facts")?, sources(input)?);
    let findings = optional::<String>(input, "text")?;
    Ok(handed_up(&handoff::handoff(&text(input, "objective")?, &findings, &facts, &sources)))
}

fn extract_op(input: &Map) -> Result<Value, StepError> {
    let facts = optional::<Vec<Fact>>(input, "facts")?;
    Ok(handed_up(&handoff::extract(&text(input, "objective")?, &facts, &sources(input)?)))
}

fn handed_up(handoff: &Handoff) -> Value {
    Value::record([("text", Value::from(handoff.text.as_str())), ("handoff", Value::of(handoff))])
}

fn assemble_op(input: &Map) -> Result<Value, StepError> {
    let handoffs = optional::<Vec<Handoff>>(input, "handoffs")?;
    let draft = assemble::draft(&text(input, "question")?, ASSEMBLED, &handoffs, &sources(input)?);
    Ok(Value::record([("text", Value::from(draft))]))
}

fn cite_op(input: &Map) -> Result<Value, StepError> {
    let report = cite(&text(input, "text")?, &sources(input)?);
    let citations = report.citations.iter().map(|c: &Citation| Value::of(c)).collect();
    let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    Ok(Value::record([
        ("text", Value::from(report.text)),
        ("citations", citations),
        ("superseded", count(report.superseded)),
        ("unsourced", count(report.unsourced)),
        (
            "checked",
            Value::record([
                ("total", count(report.checked.total)),
                ("verified", count(report.checked.verified)),
                ("removed", count(report.checked.removed)),
            ]),
        ),
    ]))
}

fn join_op(input: &Map) -> Result<Value, StepError> {
    let sections = optional::<Vec<Section>>(input, "sections")?;
    Ok(Value::record([("text", Value::from(join(&sections)))]))
}

fn text(input: &Map, name: &str) -> Result<String, StepError> {
    let missing = || StepError::new(ErrorKind::InvalidInput, format!("the field \"{name}\" is missing"));
    let value = input.get(name).filter(|value| !value.is_null()).ok_or_else(missing)?;
    read(name, value)
}

/// A field, or its type's empty value where it is missing or null.
fn optional<T: DeserializeOwned + Default>(input: &Map, name: &str) -> Result<T, StepError> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => read(name, value),
    }
}

fn sources(input: &Map) -> Result<Sources, StepError> {
    let mut sources: Sources = optional(input, "sources")?;
    // A source is known by its key; a record without id, or with another, takes it.
    sources.iter_mut().for_each(|(id, source): (&String, &mut Source)| source.id.clone_from(id));
    Ok(sources)
}

fn read<T: DeserializeOwned>(name: &str, value: &Value) -> Result<T, StepError> {
    let wrong =
        |e| StepError::new(ErrorKind::InvalidInput, format!("the field \"{name}\" can not be read: {e}"));
    value.to().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn run(name: &str, input: Json) -> Result<Value, StepError> {
        let input = Value::from_json(&input);
        (op(name).expect("known op").run)(input.as_map().expect("a record"))
    }

    fn sources() -> Json {
        json!({"uy-1": {"id": "", "document": "uy.json", "title": "Uruguay", "span": {"start": 10, "end": 31, "line": 2}, "text": "Population: 3,449,444"}})
    }

    #[test]
    fn from_findings_to_a_cited_report() {
        let handed = run("handoff", json!({"objective": "Uruguay: population", "text": "Uruguay — Population: 3,449,444. [uy-1]", "sources": sources()})).expect("handoff");
        assert_eq!(handed.get("handoff").and_then(|h| h.get("findings")).and_then(Value::as_int), Some(1));
        let handoff = handed.get("handoff").map(Value::to_json);
        let draft = run(
            "assemble",
            json!({"question": "Population of Uruguay", "handoffs": [handoff], "sources": sources()}),
        )
        .expect("draft");
        let report = run("cite", json!({"text": draft.text("text"), "sources": sources()})).expect("report");
        assert!(report.text("text").contains("Uruguay — Population: 3,449,444. [1]"), "{report}");
        assert!(
            report
                .text("text")
                .contains("[1] Uruguay — uy.json, line 2, bytes 10–31: \"Population: 3,449,444\""),
            "{report}"
        );
        assert_eq!(report.get("citations").and_then(Value::as_list).map(<[Value]>::len), Some(1));
    }

    #[test]
    fn wrong_input_is_told_by_field() {
        for (name, input, field) in [
            ("think", json!({}), "reflection"),
            ("handoff", json!({"objective": 5}), "objective"),
            ("cite", json!({"text": "x", "sources": [1]}), "sources"),
            ("assemble", json!({"question": "x", "handoffs": {}}), "handoffs"),
            ("join", json!({"sections": [{"title": "x"}]}), "sections"),
        ] {
            let error = run(name, input).expect_err(name);
            assert_eq!(error.kind, ErrorKind::InvalidInput);
            assert!(error.message.contains(field), "{error}");
        }
        assert!(op("nothing").is_none());
    }

    #[test]
    fn sections_are_joined() {
        let joined = run("join", json!({"sections": [{"title": "A", "text": "a"}, {"text": "b"}]}));
        assert_eq!(joined.map(|v| v.text("text").to_owned()), Ok("## A\n\na\n\nb".to_owned()));
    }

    #[test]
    fn think_gives_back_what_was_thought() {
        let thought = run("think", json!({"reflection": "Hm."}));
        assert_eq!(thought.map(|v| v.text("text").to_owned()), Ok("Hm.".to_owned()));
    }
}
