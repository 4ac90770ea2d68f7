//! Whether values of one type can be values of another. Only what can not be is told.

use std::sync::Arc;

use crate::nearest;
use crate::{Field, RecordType, Type};

/// Whether values of a field can fit another; else what they are.
pub(crate) fn field_fits(from: &Field, want: &Field) -> Result<(), String> {
    type_fits(&from.ty, &want.ty)?;
    if !want.options.is_empty() && !from.options.is_empty() {
        let outside = from.options.iter().find(|v| !want.options.contains(v));
        if let Some(outside) = outside {
            return Err(format!("can be {}", outside.to_json_text()));
        }
    }
    Ok(())
}

/// Whether values of a type can be values of another; else what they are.
pub(crate) fn type_fits(from: &Type, want: &Type) -> Result<(), String> {
    use Type::*;
    let fits = match (from, want) {
        (Any, _) | (_, Any) => true,
        (List(a), List(b)) | (Map(a), Map(b)) => {
            // What is wrong with a record says more than the name of its list.
            return type_fits(a, b).map_err(|why| match **a {
                Record(_) => format!("has an item that {why}"),
                _ => format!("is {from}"),
            });
        }
        (Record(a), Record(b)) => return record_fits(a, b),
        // A record can stand for a map where its fields fit, and a map for a record where its keys happen to.
        (Record(a), Map(b)) => a.fields.iter().all(|(_, f)| type_fits(&f.ty, b).is_ok()),
        (Map(_), Record(_)) => true,
        // 6.0 is an integer; a duration is a number of seconds or a text.
        (Integer | Number, Integer | Number | Duration) | (Duration, Number | Duration | Integer) => true,
        (String, Duration) => true,
        (a, b) => a == b,
    };
    if fits { Ok(()) } else { Err(format!("is {from}")) }
}

fn record_fits(from: &Arc<RecordType>, want: &Arc<RecordType>) -> Result<(), String> {
    if Arc::ptr_eq(from, want) {
        return Ok(());
    }
    let named = |r: &RecordType| r.name.clone().unwrap_or_else(|| "a record".into());
    if want.is_message() && !from.open {
        return message_fits(from);
    }
    let mut wrong: Vec<String> = Vec::new();
    for (name, field) in &want.fields {
        match from.field(name) {
            Some(given) => {
                let misfit = field_fits(given, field).err();
                wrong.extend(misfit.map(|why| format!("has a field \"{name}\" that {why}")));
            }
            None if field.optional || field.default.is_some() => {}
            None if from.open => return Err(format!("is {}", named(from))),
            None => wrong.push(format!("is {} without the field \"{name}\"", named(from))),
        }
    }
    let names = || want.fields.iter().map(|(n, _)| &**n);
    for (name, _) in from.fields.iter().filter(|_| !want.open) {
        if want.field(name).is_none() {
            let help = nearest::nearest(name, names())
                .map(|n| format!("; did you mean \"{n}\"?"))
                .unwrap_or_default();
            wrong.push(format!("has a field \"{name}\" that {} has not{help}", want.title()));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join(", and ")) }
}

/// The short forms of messages and the long one.
fn message_fits(from: &RecordType) -> Result<(), String> {
    let speakers = ["user", "assistant", "system"];
    let short = from.fields.len() == 1 && from.fields.iter().all(|(n, _)| speakers.contains(&&**n));
    let long = from.field("role").is_some();
    if short || long {
        return Ok(());
    }
    let first = from.fields.first().map_or("", |(n, _)| &**n);
    let help =
        nearest::nearest(first, speakers).map(|n| format!("; did you mean \"{n}\"?")).unwrap_or_default();
    Err(format!("is no message: {{user: ...}}, {{assistant: ...}} or {{system: ...}}{help}"))
}
