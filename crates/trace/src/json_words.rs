//! What is wrong with JSON, in the words of whoever reads the file: not in those of the program's types.

/// What is wrong, with line and column before it.
pub(crate) fn with_place(error: &serde_json::Error) -> String {
    format!("line {}, column {}: {}", error.line(), error.column(), of(error))
}

/// What is wrong, without the place.
pub(crate) fn of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    // The place stands at the end; what is before it may hold anything.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    if let Some(what) = text.strip_prefix("EOF while parsing ") {
        return format!("the file ends here, in the middle of {}", article(what));
    }
    if let Some(field) = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        return format!("the key \"{field}\" is missing in the object that ends here");
    }
    let invalid = text.strip_prefix("invalid type: ").or_else(|| text.strip_prefix("invalid value: "));
    if let Some((found, wanted)) = invalid.and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("{} is expected, not {}", expected(wanted), found_there(found));
    }
    if let Some(rest) = text.strip_prefix("unknown variant ") {
        return rest.replacen(", expected ", " is not known here; expected is ", 1).replace('`', "\"");
    }
    if let Some(rest) = text.strip_prefix("unknown field ") {
        return format!("unknown key {}", rest.replace('`', "\""));
    }
    match text {
        "expected value" => "another value is expected here".to_owned(),
        other => other.to_owned(),
    }
}

fn article(what: &str) -> String {
    match what {
        "a list" | "a string" | "a value" | "an object" => what.to_owned(),
        other => format!("a {other}"),
    }
}

/// What should stand there.
fn expected(wanted: &str) -> &str {
    let first = wanted.split(' ').find(|word| !matches!(*word, "a" | "an")).unwrap_or_default();
    match first {
        "struct" | "map" | "internally" => "an object",
        "sequence" | "tuple" => "a list",
        "string" | "borrowed" => "a text",
        "boolean" => "true or false",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "enum" | "variant" | "externally" | "adjacently" => "an object with one key",
        _ => wanted,
    }
}

/// What stands there.
fn found_there(found: &str) -> String {
    let (kind, rest) = found.split_once(' ').unwrap_or((found, ""));
    match kind {
        "integer" | "floating" => {
            format!("the number {}", rest.trim_start_matches("point ").replace('`', ""))
        }
        "string" => "a text".to_owned(),
        "boolean" => rest.replace('`', ""),
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        "unit" => "null".to_owned(),
        _ => found.to_owned(),
    }
}
