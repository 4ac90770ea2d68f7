use std::sync::Arc;

use deepgraph_protocol::Value;

use super::*;
use crate::types::builtin::built_in;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn of(ty: Type) -> Field {
    Field::of(ty)
}

fn record(fields: Vec<(&str, Field)>) -> Field {
    let fields = fields.into_iter().map(|(n, f)| (n.into(), f)).collect();
    of(Type::Record(Arc::new(RecordType { name: Some("plan".into()), fields, open: false })))
}

/// The value that a check gives, or what it says.
fn checked(field: &Field, value: &str) -> String {
    match field.check(&json(value)) {
        Ok(value) => value.to_json_text(),
        Err(mismatch) => format!("! {mismatch}"),
    }
}

#[test]
fn plain_types_take_their_own_values_only() {
    let table = [
        (Type::String, r#""a""#, r#""a""#),
        (Type::String, "1", "! must be a string, is 1"),
        (Type::Integer, "6", "6"),
        (Type::Integer, "6.0", "6"),
        (Type::Integer, "6.5", "! must be an integer, is 6.5"),
        (Type::Integer, r#""6""#, r#"! must be an integer, is "6""#),
        (Type::Number, "6", "6"),
        (Type::Number, "6.5", "6.5"),
        (Type::Number, r#""6""#, r#"! must be a number, is "6""#),
        (Type::Boolean, "true", "true"),
        (Type::Boolean, "1", "! must be true or false, is 1"),
        (Type::Boolean, r#""yes""#, r#"! must be true or false, is "yes""#),
        (Type::Duration, "90", "90"),
        (Type::Duration, "0.5", "0.5"),
        (Type::Duration, "-1", "! must be a duration such as 30s, 10m or 1h, is -1"),
        (Type::Duration, r#""30m""#, "1800"),
        (Type::Duration, r#""soon""#, r#"! must be a duration such as 30s, 10m or 1h, is "soon""#),
        (Type::Any, "null", "null"),
        (Type::Any, r#"{"a": [1]}"#, r#"{"a":[1]}"#),
        (Type::String, "null", "! must be a string, is null"),
        (Type::List(Box::new(Type::String)), "{}", "! must be a list, is a record"),
        (Type::List(Box::new(Type::String)), "[1]", "! [0]: must be a string, is 1"),
        (Type::Map(Box::new(Type::Integer)), r#"{"a": 1.0}"#, r#"{"a":1}"#),
        (Type::Map(Box::new(Type::Integer)), r#"{"a": "b"}"#, r#"! a: must be an integer, is "b""#),
    ];
    for (ty, value, wanted) in table {
        assert_eq!(checked(&of(ty.clone()), value), wanted, "{value} as {ty}");
    }
}

#[test]
fn durations_as_text() {
    let table = [
        ("500ms", "0.5"),
        ("90s", "90"),
        ("30m", "1800"),
        ("1h", "3600"),
        ("2d", "172800"),
        ("1w", "604800"),
        ("1h30m", "5400"),
        ("1.5h", "5400"),
        (" 10m ", "600"),
        ("1min", "60"),
        ("0s", "0"),
    ];
    for (text, seconds) in table {
        assert_eq!(duration::parse(text).map(|v| v.to_json_text()).as_deref(), Some(seconds), "{text}");
    }
    for text in
        ["", "m", "10", "10 m", "-1s", "1x", "1..5s", "1e3s", "99999999999999999999999d", "1m!", "１m"]
    {
        assert_eq!(duration::parse(text), None, "{text}");
    }
}

#[test]
fn bounds_and_options() {
    let at_least = Field { minimum: Some(1.0), ..of(Type::Integer) };
    assert_eq!(checked(&at_least, "0"), "! must be an integer of at least 1, is 0");
    assert_eq!(checked(&at_least, "-1"), "! must be an integer of at least 1, is -1");
    let text = |text: &str| at_least.parse_text(text).unwrap_err().message;
    assert_eq!(
        text("99999999999999999999"),
        "must be an integer of at least 1, is \"99999999999999999999\", which is too large: integers end at \
         9223372036854775807"
    );
    assert!(text("-1e30").contains("which is too small"), "{}", text("-1e30"));
    assert!(checked(&at_least, "99999999999999999999").contains("which is too large"));
    assert!(!text("six").contains("too") && !text("1.5").contains("too"));
    assert_eq!(checked(&at_least, r#""six""#), r#"! must be an integer of at least 1, is "six""#);
    assert_eq!(checked(&at_least, "1"), "1");
    let between = Field { minimum: Some(0.5), maximum: Some(2.0), ..of(Type::Number) };
    assert_eq!(checked(&between, "3"), "! must be a number from 0.5 to 2, is 3");
    let options = Field { options: vec!["never".into(), "auto".into()], ..of(Type::String) };
    assert_eq!(checked(&options, r#""auto""#), r#""auto""#);
    assert_eq!(checked(&options, r#""always""#), r#"! must be one of never, auto, is "always""#);
    let few = Field { max_items: Some(1), ..of(Type::List(Box::new(Type::Integer))) };
    assert_eq!(checked(&few, "[1, 2]"), "! must be a list of at most 1 items, is a list of 2");
}

#[test]
fn records_are_completed_and_their_fields_named() {
    let plan = record(vec![
        ("objective", of(Type::String)),
        ("status", Field { default: Some("open".into()), ..of(Type::String) }),
        ("period", Field { optional: true, ..of(Type::String) }),
        ("sub_questions", of(Type::List(Box::new(Type::String)))),
    ]);
    let table = [
        (
            r#"{"objective":"o","sub_questions":[]}"#,
            r#"{"objective":"o","status":"open","sub_questions":[]}"#,
        ),
        (
            r#"{"objective":"o","status":null,"period":null,"sub_questions":["a"]}"#,
            r#"{"objective":"o","period":null,"status":"open","sub_questions":["a"]}"#,
        ),
        (r#"{"sub_questions":[]}"#, "! objective: is missing"),
        (r#"{"objective":"o","sub_questions":["a",2]}"#, "! sub_questions[1]: must be a string, is 2"),
        (
            r#"{"objective":"o","sub_question":[],"sub_questions":[]}"#,
            r#"! sub_question: is no field of plan (did you mean "sub_questions"?)"#,
        ),
        ("[]", "! must be a record of type plan, is a list of 0"),
    ];
    for (value, wanted) in table {
        assert_eq!(checked(&plan, value), wanted);
    }
    let outer = of(Type::List(Box::new(plan.ty)));
    assert_eq!(checked(&outer, r#"[{"objective":1}]"#), "! [0].objective: must be a string, is 1");
}

#[test]
fn built_in_records_let_more_fields_through() {
    let hit = of(built_in("hit").unwrap());
    let value = r#"{"document":"d","extra":1,"score":1.0,"source":"s","text":"t","title":"u"}"#;
    assert_eq!(checked(&hit, value), value);
    assert_eq!(checked(&hit, r#"{"source":"s"}"#), "! document: is missing");
}

#[test]
fn short_messages_become_messages() {
    let messages = of(built_in("messages").unwrap());
    assert_eq!(checked(&messages, r#"[{"user":"hi"}]"#), r#"[{"content":"hi","role":"user"}]"#);
    let long = r#"[{"content":"hi","id":"1","role":"user"}]"#;
    assert_eq!(checked(&messages, long), long);
    assert!(checked(&messages, r#"[{"usr":"hi"}]"#).starts_with("! [0]: must be a message"));
}

#[test]
fn what_fits_is_not_copied() {
    let value = json(r#"{"objective":"o","n":1}"#);
    let field = record(vec![("objective", of(Type::String)), ("n", of(Type::Integer))]);
    let (Value::Map(before), Value::Map(after)) = (&value, &field.check(&value).unwrap()) else { panic!() };
    assert!(Arc::ptr_eq(before, after));
}

#[test]
fn texts_are_read_by_type() {
    let list = of(Type::List(Box::new(Type::String)));
    let table = [
        (of(Type::Integer), "6", "6"),
        (of(Type::Integer), " 6 ", "6"),
        (of(Type::Integer), "6.0", "6"),
        (of(Type::Integer), "six", r#"! must be an integer, is "six""#),
        (of(Type::Integer), "", r#"! must be an integer, is """#),
        (of(Type::Number), "0.5", "0.5"),
        (of(Type::Number), "NaN", r#"! must be a number, is "NaN""#),
        (of(Type::Boolean), "true", "true"),
        (of(Type::Boolean), "yes", r#"! must be true or false, is "yes""#),
        (of(Type::Duration), "30m", "1800"),
        (of(Type::Duration), "90", "90.0"),
        (of(Type::String), "6", r#""6""#),
        (of(Type::String), "", r#""""#),
        (list.clone(), "[a, b]", r#"["a","b"]"#),
        (list.clone(), r#"["a"]"#, r#"["a"]"#),
        (list.clone(), "a", r#"! must be a list, is "a""#),
        (of(Type::Map(Box::new(Type::Integer))), "{a: 1}", r#"{"a":1}"#),
        (of(Type::Any), "[1, {a: b}]", r#"[1,{"a":"b"}]"#),
    ];
    for (field, text, wanted) in table {
        let found = match field.parse_text(text) {
            Ok(value) => value.to_json_text(),
            Err(mismatch) => format!("! {mismatch}"),
        };
        assert_eq!(found, wanted, "{text} as {}", field.ty);
    }
    assert!(list.parse_text("[a").is_err());
    assert!(list.parse_text("{a: 1, a: 2}").is_err());
}

#[test]
fn schemas_are_closed_objects() {
    let field = record(vec![
        ("a", Field { description: "first".into(), ..of(Type::String) }),
        ("b", Field { optional: true, minimum: Some(1.0), maximum: Some(2.5), ..of(Type::Integer) }),
        ("c", Field { options: vec!["x".into()], default: Some("x".into()), ..of(Type::String) }),
        ("d", Field { max_items: Some(3), ..of(Type::List(Box::new(Type::Map(Box::new(Type::Any))))) }),
    ]);
    let wanted = json(
        r#"{"type": "object", "additionalProperties": false, "required": ["a", "d"], "properties": {
            "a": {"type": "string", "description": "first"},
            "b": {"type": "integer", "minimum": 1, "maximum": 2.5},
            "c": {"type": "string", "enum": ["x"], "default": "x"},
            "d": {"type": "array", "maxItems": 3, "items": {"type": "object", "additionalProperties": {}}}}}"#,
    );
    assert_eq!(field.json_schema(), wanted);
}

#[test]
fn types_are_shown_as_files_write_them() {
    let ty = Type::Map(Box::new(Type::List(Box::new(built_in("source").unwrap()))));
    assert_eq!(ty.to_string(), "{string: [source]}");
}

#[test]
fn built_in_records_match_the_protocol() {
    use deepgraph_protocol::*;
    let span = Span { page: Some(1), ..Span::default() };
    let some = || Some("s".to_owned());
    let source = Source {
        section: "s".into(),
        date: Some("d".into()),
        pieces: vec![Piece { span, ..Piece::default() }],
        span,
        url: some(),
        asked: some(),
        author: some(),
        fetched: some(),
        hash: some(),
        found: some(),
        ..Source::default()
    };
    let hit = Hit { url: some(), date: some(), found: some(), ..Hit::default() };
    let call = ToolCall { id: "1".into(), name: "n".into(), arguments: "{}".into() };
    let answer = Message { id: Some("m".into()), ..Message::tool(&call, "ok") };
    let message = Message { tool_calls: vec![call.clone()], ..answer };
    let error = StepError { retry_after_ms: Some(1), ..StepError::new(ErrorKind::Tool, "m") };
    let samples = [
        ("source", Value::of(&source)),
        ("hit", Value::of(&hit)),
        ("fact", Value::of(&Fact { about: "a".into(), ..Fact::default() })),
        ("handoff", Value::of(&Handoff { facts: vec!["f".into()], ..Handoff::default() })),
        ("citation", Value::of(&Citation { url: some(), ..Citation::default() })),
        ("tool_call", Value::of(&call)),
        ("message", Value::of(&message)),
        ("error", Value::of(&error)),
    ];
    for (name, sample) in samples {
        let Some(Type::Record(record)) = built_in(name) else { panic!("{name}") };
        let declared: std::collections::BTreeSet<&str> = record.fields.iter().map(|(n, _)| &**n).collect();
        let real: std::collections::BTreeSet<&str> = sample.as_map().unwrap().keys().map(|k| &**k).collect();
        assert_eq!(declared, real, "{name}");
        assert_eq!(Field::of(Type::Record(record)).check(&sample), Ok(sample), "{name}");
    }
}
