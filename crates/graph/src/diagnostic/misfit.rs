//! Which mistake it is when a fixed value does not fit.

use deepgraph_protocol::Value;

use super::code;
use crate::types::duration;
use crate::{Field, Type};

/// The code of a fixed value that does not fit a field: a word for a boolean, a number out of its range, or what the
/// caller says.
pub(crate) fn misfit(value: &Value, want: &Field, otherwise: &'static str) -> &'static str {
    if want.ty == Type::Boolean && value.as_str().is_some_and(|text| boolean_word(text).is_some()) {
        return code::NOT_BOOLEAN;
    }
    if is_out_of_range(value, want) { code::OUT_OF_RANGE } else { otherwise }
}

/// The boolean that another word stands for elsewhere: `yes`, `NO`, `off`, a quoted `true`.
pub(crate) fn boolean_word(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "yes" | "on" | "y" | "true" => Some(true),
        "no" | "off" | "n" | "false" => Some(false),
        _ => None,
    }
}

/// Whether a value is a number of the wanted kind and only too small or too large.
fn is_out_of_range(value: &Value, want: &Field) -> bool {
    if !want.options.is_empty() {
        return false;
    }
    match (&want.ty, value) {
        // No length of time is below nothing.
        (Type::Duration, Value::Int(_) | Value::Float(_)) => true,
        (Type::Duration, Value::Text(text)) => duration::parse(text.trim().trim_start_matches('-')).is_some(),
        // Greater than any integer.
        (Type::Integer, Value::Float(number)) => number.fract() == 0.0,
        (Type::Integer, Value::Int(_)) | (Type::Number, Value::Int(_) | Value::Float(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_told_from_a_type() {
        let at_least_one = |ty| Field { minimum: Some(1.0), ..Field::of(ty) };
        let listed = Field { options: vec![Value::Int(1)], ..Field::of(Type::Integer) };
        let cases = [
            (Value::Int(0), at_least_one(Type::Integer), code::OUT_OF_RANGE),
            (Value::Float(1e30), at_least_one(Type::Integer), code::OUT_OF_RANGE),
            (Value::Float(1.5), at_least_one(Type::Integer), code::BAD_VALUE),
            (Value::from("0"), at_least_one(Type::Integer), code::BAD_VALUE),
            (Value::Float(0.5), at_least_one(Type::Number), code::OUT_OF_RANGE),
            (Value::Int(-3), Field::of(Type::Duration), code::OUT_OF_RANGE),
            (Value::from("-3s"), Field::of(Type::Duration), code::OUT_OF_RANGE),
            (Value::from("soon"), Field::of(Type::Duration), code::BAD_VALUE),
            (Value::Int(2), listed, code::BAD_VALUE),
            (Value::from("NO"), Field::of(Type::Boolean), code::NOT_BOOLEAN),
            (Value::from("perhaps"), Field::of(Type::Boolean), code::BAD_VALUE),
            (Value::Int(1), Field::of(Type::Boolean), code::BAD_VALUE),
            (Value::from("yes"), Field::of(Type::Integer), code::BAD_VALUE),
        ];
        for (value, want, wanted) in cases {
            assert!(want.check(&value).is_err(), "{value:?}");
            assert_eq!(misfit(&value, &want, code::BAD_VALUE), wanted, "{value:?}");
        }
    }
}
