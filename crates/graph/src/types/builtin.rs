//! The record types that every graph file knows.

use std::sync::{Arc, OnceLock};

use super::{Field, RecordType, Type};

/// The plain types.
pub const PLAIN: [(&str, Type); 6] = [
    ("string", Type::String),
    ("integer", Type::Integer),
    ("number", Type::Number),
    ("boolean", Type::Boolean),
    ("duration", Type::Duration),
    ("any", Type::Any),
];

/// Names of the built-in records, and `messages`.
pub const RECORDS: [&str; 11] = [
    "messages",
    "message",
    "tool_call",
    "source",
    "fact",
    "hit",
    "claim",
    "handoff",
    "citation",
    "publication",
    "error",
];

/// The type of a built-in name; none where it is none.
pub fn built_in(name: &str) -> Option<Type> {
    if let Some((_, plain)) = PLAIN.iter().find(|(n, _)| *n == name) {
        return Some(plain.clone());
    }
    let records = records();
    let find = |wanted: &str| {
        records.iter().find(|r| r.name.as_deref() == Some(wanted)).map(|r| Type::Record(r.clone()))
    };
    match name {
        "messages" => find("message").map(|m| Type::List(Box::new(m))),
        // Parts of the others; not for files.
        "span" | "piece" => None,
        _ => find(name),
    }
}

/// The record behind the name `message`, which has short forms.
pub(crate) const MESSAGE: &str = "message";

fn records() -> &'static [Arc<RecordType>] {
    static RECORDS: OnceLock<Vec<Arc<RecordType>>> = OnceLock::new();
    RECORDS.get_or_init(build)
}

fn build() -> Vec<Arc<RecordType>> {
    let text = || Field::of(Type::String);
    let whole = || Field::of(Type::Integer);
    let list = |t: Type| Field::of(Type::List(Box::new(t)));
    let span = record(
        "span",
        vec![("start", whole()), ("end", whole()), ("line", whole()), ("page", optional(whole()))],
    );
    let piece = record("piece", vec![("at", whole()), ("len", whole()), ("span", of(&span))]);
    let tool_call = record("tool_call", vec![("id", text()), ("name", text()), ("arguments", text())]);
    let message = record(
        MESSAGE,
        vec![
            ("id", optional(text())),
            ("role", text()),
            ("content", optional(text())),
            ("tool_calls", optional(list(Type::Record(tool_call.clone())))),
            ("tool_call_id", optional(text())),
            ("name", optional(text())),
        ],
    );
    let source = record(
        "source",
        vec![
            ("id", text()),
            ("document", text()),
            ("title", text()),
            ("section", optional(text())),
            ("span", of(&span)),
            ("text", text()),
            ("pieces", optional(list(Type::Record(piece.clone())))),
            ("date", optional(text())),
            ("url", optional(text())),
            ("asked", optional(text())),
            ("author", optional(text())),
            ("fetched", optional(text())),
            ("hash", optional(text())),
            ("found", optional(text())),
        ],
    );
    let hit = record(
        "hit",
        vec![
            ("source", text()),
            ("document", text()),
            ("title", text()),
            ("text", text()),
            ("score", Field::of(Type::Number)),
            ("url", optional(text())),
            ("date", optional(text())),
            ("found", optional(text())),
        ],
    );
    let fact = record(
        "fact",
        vec![
            ("key", text()),
            ("text", text()),
            ("source", text()),
            ("span", of(&span)),
            ("about", optional(text())),
        ],
    );
    let claim = record("claim", vec![("text", text()), ("sources", optional(list(Type::String)))]);
    let handoff = record(
        "handoff",
        vec![
            ("objective", text()),
            ("text", text()),
            ("findings", whole()),
            ("sources", optional(list(Type::String))),
            ("unknowns", optional(list(Type::String))),
            ("dates", optional(list(Type::String))),
            ("facts", optional(list(Type::String))),
        ],
    );
    let citation = record(
        "citation",
        vec![
            ("number", whole()),
            ("source", text()),
            ("document", text()),
            ("title", text()),
            ("span", of(&span)),
            ("quote", text()),
            ("url", optional(text())),
        ],
    );
    let publication = record(
        "publication",
        vec![
            ("block", text()),
            ("text", text()),
            ("revision", optional(whole())),
            ("sources", optional(list(Type::String))),
        ],
    );
    let error =
        record("error", vec![("kind", text()), ("message", text()), ("retry_after_ms", optional(whole()))]);
    vec![span, piece, tool_call, message, source, hit, fact, claim, handoff, citation, publication, error]
}

fn record(name: &str, fields: Vec<(&str, Field)>) -> Arc<RecordType> {
    Arc::new(RecordType {
        name: Some(name.into()),
        fields: fields.into_iter().map(|(n, f)| (n.into(), f)).collect(),
        open: true,
    })
}

fn of(record: &Arc<RecordType>) -> Field {
    Field::of(Type::Record(record.clone()))
}

fn optional(field: Field) -> Field {
    Field { optional: true, ..field }
}
