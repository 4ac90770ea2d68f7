//! The ops that this crate gives to graphs: pure functions over records, by name.

use deepgraph_protocol::{Citation, ErrorKind, Fact, Handoff, Map, Source, StepError, Value};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use crate::assemble;
use crate::cite::cite;
use crate::handoff::{self, Sources};

/// An op.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Its name in a graph file.
    pub name: &'static str,
    /// What it does, for a model that is offered it as a tool.
    pub description: &'static str,
    /// The fields of its input as a JSON Schema object.
    pub parameters: fn() -> Json,
    /// The fields of its result: name and type in the graph language.
    pub result: &'static [(&'static str, &'static str)],
    /// Carries it out.
    ///
    /// # Errors
    ///
    /// `invalid_input` for a missing field or one of the wrong type.
    pub run: fn(&Map) -> Result<Value, StepError>,
}

/// All ops of this crate.
pub const OPS: &[Op] = &[
    Op {
        name: "think",
        description: "Write down what is known, what is missing and what to do next. Finds nothing new.",
        parameters: think_parameters,
        result: &[("text", "string")],
        run: think,
    },
    Op {
        name: "handoff",
        description: "Checks a researcher's findings against its sources and makes the handoff of them.",
        parameters: handoff_parameters,
        result: &[("text", "string"), ("handoff", "handoff")],
        run: handoff_op,
    },
    Op {
        name: "extract_handoff",
        description: "Makes a handoff of facts alone: those nearest to the objective.",
        parameters: extract_parameters,
        result: &[("text", "string"), ("handoff", "handoff")],
        run: extract_op,
    },
    Op {
        name: "assemble",
        description: "Makes a report draft of handoffs without a model.",
        parameters: assemble_parameters,
        result: &[("text", "string")],
        run: assemble_op,
    },
    Op {
        name: "cite",
        description: "Checks each citation of a draft against its source, numbers them and lists the sources.",
        parameters: cite_parameters,
        result: &[("text", "string"), ("citations", "[citation]")],
        run: cite_op,
    },
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
    Ok(Value::record([("text", Value::from(report.text)), ("citations", citations)]))
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

fn object(properties: Json, required: &[&str]) -> Json {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn string(description: &str) -> Json {
    json!({"type": "string", "description": description})
}

fn records(description: &str) -> Json {
    json!({"type": "array", "items": {"type": "object"}, "description": description})
}

fn sources_schema() -> Json {
    json!({"type": "object", "additionalProperties": {"type": "object"}, "description": "The sources, by id."})
}

fn think_parameters() -> Json {
    object(json!({"reflection": string("What is known, what is missing, what to do next.")}), &["reflection"])
}

fn handoff_parameters() -> Json {
    object(
        json!({
            "objective": string("What the researcher was to find out."),
            "text": string("The findings, each sentence with its source ids in brackets; \"Not found: …\" lines for gaps. Empty: they are made from the facts."),
            "facts": records("The facts that were read."),
            "sources": sources_schema(),
        }),
        &["objective"],
    )
}

fn extract_parameters() -> Json {
    object(
        json!({
            "objective": string("What the researcher was to find out."),
            "facts": records("The facts that were read."),
            "sources": sources_schema(),
        }),
        &["objective"],
    )
}

fn assemble_parameters() -> Json {
    object(
        json!({
            "question": string("The question that the report answers."),
            "handoffs": records("The researchers' handoffs."),
            "sources": sources_schema(),
        }),
        &["question"],
    )
}

fn cite_parameters() -> Json {
    object(
        json!({"text": string("The draft, with source ids in brackets."), "sources": sources_schema()}),
        &["text"],
    )
}

#[cfg(test)]
mod tests {
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
        ] {
            let error = run(name, input).expect_err(name);
            assert_eq!(error.kind, ErrorKind::InvalidInput);
            assert!(error.message.contains(field), "{error}");
        }
        assert!(op("nothing").is_none());
    }

    #[test]
    fn schemas_list_their_required_fields() {
        for op in OPS {
            let schema = (op.parameters)();
            let required = schema["required"].as_array().expect("required");
            assert!(
                required.iter().all(|r| schema["properties"].get(r.as_str().unwrap_or("")).is_some()),
                "{}",
                op.name
            );
        }
        assert_eq!(
            run("think", json!({"reflection": "Hm."})).map(|v| v.text("text").to_owned()),
            Ok("Hm.".to_owned())
        );
    }
}
