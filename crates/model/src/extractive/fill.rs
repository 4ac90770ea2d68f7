//! Structured output: a value that satisfies a JSON Schema, filled with what the question itself says.
//!
//! Names decide what goes where (`sub_questions`, `learnings`, `objective`); what a schema requires and no name
//! explains gets the smallest value that fits. Judgements are never made up: booleans are false.

use std::cell::Cell;

use deepgraph_protocol::{ModelRequest, OutputShape};
use deepgraph_research::handoff::findings;
use deepgraph_research::question::{Question, urls};
use deepgraph_research::select::select;
use serde_json::{Map, Value as Json};

use super::supervise::sub_questions;
use super::{answer, material};

/// How deep schemas may be nested.
const DEEPEST: usize = 12;
/// The most values that one output is made of; what a schema asks for beyond is null.
const MOST_VALUES: usize = 10_000;
/// Parts of names of lists that hold what is to be looked into.
const QUESTIONS: &[&str] =
    &["question", "quer", "follow", "topic", "task", "todo", "section", "step", "search", "title"];
/// Parts of names of lists that hold what was found.
const FINDINGS: &[&str] =
    &["learning", "finding", "fact", "note", "answer", "result", "claim", "point", "key"];

/// The output for a request.
pub(super) fn fill(shape: &OutputShape, request: &ModelRequest) -> Json {
    fill_with(shape, request, &answer::brief(request))
}

/// The output for a request, `text` in its text fields.
pub(super) fn fill_with(shape: &OutputShape, request: &ModelRequest, text: &str) -> Json {
    let root = shape.schema.to_json();
    let filler = Filler {
        root: &root,
        text,
        found: found(request),
        has_question: has_question(request),
        made: Cell::new(0),
    };
    filler.value(&root, &shape.name, text, 0)
}

/// The names that an object schema requires.
pub(super) fn required(schema: &Json) -> Vec<String> {
    let names = schema.get("required").and_then(Json::as_array).into_iter().flatten();
    names.filter_map(Json::as_str).map(str::to_owned).collect()
}

/// A value for one parameter of a tool.
pub(super) fn parameter(schema: &Json, name: &str, request: &ModelRequest, text: &str) -> Json {
    let property = schema.get("properties").and_then(|p| p.get(name)).unwrap_or(&Json::Null);
    let filler = Filler {
        root: schema,
        text,
        found: Vec::new(),
        has_question: has_question(request),
        made: Cell::new(0),
    };
    filler.value(property, name, text, 0)
}

/// The findings in the state's passages, a line each.
fn found(request: &ModelRequest) -> Vec<String> {
    let Some(material) = material::material(request) else { return Vec::new() };
    let asked = material::asked(request);
    let question = Question::analyse(asked);
    let mut selection = select(&question, &material.passages);
    selection.missing.clear();
    let text = findings(&question, &selection).replace(" []", "");
    let notes = material.notes.iter().flat_map(|note| note.lines());
    text.lines().chain(notes).filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// Whether anything was asked at all.
fn has_question(request: &ModelRequest) -> bool {
    let brief = answer::brief(request);
    !Question::analyse(&brief).parts.is_empty() || !urls(&brief).is_empty()
}

struct Filler<'a> {
    root: &'a Json,
    text: &'a str,
    found: Vec<String>,
    has_question: bool,
    /// Values made so far.
    made: Cell<usize>,
}

impl Filler<'_> {
    fn value(&self, schema: &Json, name: &str, text: &str, depth: usize) -> Json {
        let schema = self.resolved(schema);
        if let Some(value) = schema.get("const").or_else(|| schema.get("default")) {
            return value.clone();
        }
        if let Some(first) = schema.get("enum").and_then(|e| e.get(0)) {
            return first.clone();
        }
        self.made.set(self.made.get() + 1);
        if depth > DEEPEST || self.made.get() > MOST_VALUES {
            return Json::Null;
        }
        match kind(schema) {
            "object" => self.object(schema, text, depth),
            "array" => self.array(schema, name, depth),
            "boolean" => Json::Bool(!self.has_question && name.contains("need")),
            "integer" => number(schema).map_or(Json::from(0), |n| Json::from(n.ceil() as i64)),
            "number" => number(schema).map_or(Json::from(0), Json::from),
            "null" => Json::Null,
            _ => Json::from(self.string(schema, name, text)),
        }
    }

    /// The schema that a reference or a choice leads to: of a choice the first that is not null.
    fn resolved<'s>(&'s self, schema: &'s Json) -> &'s Json {
        let mut schema = schema;
        for _ in 0..DEEPEST {
            let reference = schema.get("$ref").and_then(Json::as_str).and_then(|r| r.strip_prefix('#'));
            let target = reference.and_then(|pointer| self.root.pointer(pointer));
            let choices = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array());
            let choice = choices.and_then(|c| c.iter().find(|s| kind(s) != "null"));
            match target.or(choice) {
                Some(next) => schema = next,
                None => break,
            }
        }
        schema
    }

    /// The required fields, and optional ones that the question has something for.
    fn object(&self, schema: &Json, text: &str, depth: usize) -> Json {
        let mut fields = Map::new();
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&empty);
        let required = required(schema);
        // A record that says whether to ask back has its question for the person.
        let asks_back = properties.keys().any(|k| k.starts_with("need"));
        for (name, property) in properties {
            let wants = required.contains(name) || (asks_back && !self.has_question && name == "question");
            if wants {
                let text = match (asks_back && name == "question", self.has_question) {
                    (true, true) => "",
                    (true, false) => "What would you like to know?",
                    _ => text,
                };
                fields.insert(name.clone(), self.value(property, name, text, depth + 1));
            }
        }
        for name in required.into_iter().filter(|name| !properties.contains_key(name)) {
            fields.insert(name, Json::from(text));
        }
        Json::Object(fields)
    }

    /// One item for each sub-question or finding; the fewest that are allowed where the name says neither.
    fn array(&self, schema: &Json, name: &str, depth: usize) -> Json {
        let name = name.to_lowercase();
        let bound = |key: &str| schema.get(key).and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
        let items = schema.get("items").unwrap_or(&Json::Null);
        let is_record = kind(self.resolved(items)) == "object";
        let says = |names: &[&str]| names.iter().any(|part| name.contains(part));
        let mut texts = if says(QUESTIONS) {
            sub_questions(self.text)
        } else if says(FINDINGS) {
            self.found.clone()
        } else if is_record {
            sub_questions(self.text)
        } else {
            Vec::new()
        };
        texts.truncate(bound("maxItems").unwrap_or(usize::MAX));
        while texts.len() < bound("minItems").unwrap_or(0).min(64) {
            texts.push(self.text.to_owned());
        }
        texts.iter().map(|text| self.value(items, &singular(&name), text, depth + 1)).collect()
    }

    fn string(&self, schema: &Json, name: &str, text: &str) -> String {
        let longest = schema.get("maxLength").and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
        let text = if name == "verification" && self.has_question {
            format!("I will look into this: {text}")
        } else {
            text.to_owned()
        };
        text.chars().take(longest.unwrap_or(usize::MAX)).collect()
    }
}

/// The type of a schema; of several the first that is not null.
fn kind(schema: &Json) -> &str {
    match schema.get("type") {
        Some(Json::String(kind)) => kind,
        Some(Json::Array(kinds)) => {
            kinds.iter().filter_map(Json::as_str).find(|k| *k != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "string",
    }
}

/// The least number that a schema allows, 0 where it may be that.
fn number(schema: &Json) -> Option<f64> {
    let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|n| n + 1.0)).unwrap_or(f64::MIN);
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|n| n - 1.0)).unwrap_or(f64::MAX);
    Some(0.0f64.max(least).min(most))
}

fn singular(name: &str) -> String {
    name.strip_suffix('s').unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests;
