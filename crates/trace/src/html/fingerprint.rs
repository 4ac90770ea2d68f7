//! Fingerprints of values: what equals what, and how large it is, without comparing or printing it again and again.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{Map, Value};
use sha2::{Digest, Sha256};

/// The identity of a text or value: equal ones have equal prints.
pub(super) type Print = [u8; 16];

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) print: Print,
    /// About as many bytes as its JSON has.
    pub(super) bytes: usize,
}

/// The fingerprints of lists and maps that were seen, by where they lie in memory. The values outlive this (`'a`), so
/// that a place holds one value only; nothing but the time that it takes depends on it.
#[derive(Debug, Default)]
pub(super) struct Fingerprints<'a> {
    known: BTreeMap<usize, Mark>,
    values: std::marker::PhantomData<&'a Value>,
}

impl<'a> Fingerprints<'a> {
    /// The mark of a value.
    pub(super) fn of(&mut self, value: &'a Value) -> Mark {
        match value {
            Value::List(items) => match self.known.get(&place(items)) {
                Some(mark) => *mark,
                None => {
                    let marks = items.iter().map(|item| self.of(item));
                    let mark = combine(b"list", marks);
                    self.keep(place(items), mark)
                }
            },
            Value::Map(fields) => match self.known.get(&place(fields)) {
                Some(mark) => *mark,
                None => {
                    let mark = self.of_map(fields);
                    self.keep(place(fields), mark)
                }
            },
            Value::Text(text) => Mark { print: of_text(text), bytes: text.len() + 2 },
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                let json = value.to_json_text();
                Mark { print: print(b"plain", &[json.as_bytes()]), bytes: json.len() }
            }
        }
    }

    /// The mark of a map's fields.
    pub(super) fn of_map(&mut self, fields: &'a Map) -> Mark {
        let marks = fields
            .iter()
            .flat_map(|(key, value)| [Mark { print: of_text(key), bytes: key.len() + 3 }, self.of(value)]);
        combine(b"map", marks)
    }

    fn keep(&mut self, place: usize, mark: Mark) -> Mark {
        self.known.insert(place, mark);
        mark
    }
}

/// The print of a text.
pub(super) fn of_text(text: &str) -> Print {
    print(b"text", &[text.as_bytes()])
}

fn place<T>(shared: &Arc<T>) -> usize {
    Arc::as_ptr(shared).cast::<()>() as usize
}

fn combine(kind: &[u8], marks: impl Iterator<Item = Mark>) -> Mark {
    let mut hasher = Sha256::new_with_prefix(kind);
    let mut bytes = 2;
    for mark in marks {
        hasher.update(mark.print);
        bytes += mark.bytes + 1;
    }
    Mark { print: shorten(&hasher.finalize()), bytes }
}

fn print(kind: &[u8], parts: &[&[u8]]) -> Print {
    let mut hasher = Sha256::new_with_prefix(kind);
    parts.iter().for_each(|part| hasher.update(part));
    shorten(&hasher.finalize())
}

fn shorten(hash: &[u8]) -> Print {
    let mut print = Print::default();
    print.iter_mut().zip(hash).for_each(|(to, from)| *to = *from);
    print
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_prints_wherever_they_lie() {
        let make = || Value::record([("a", Value::from(vec![Value::Int(1), Value::from("x")]))]);
        let (one, two) = (make(), make());
        let other = Value::record([("a", Value::from(vec![Value::from("1"), Value::from("x")]))]);
        let mut prints = Fingerprints::default();
        assert_eq!(prints.of(&one), prints.of(&two));
        assert_ne!(prints.of(&one), prints.of(&other), "1 is not \"1\"");
        let (list, map) = (Value::empty_list(), Value::empty_map());
        assert_ne!(prints.of(&list), prints.of(&map));
        assert_eq!(prints.of(&one), prints.of(&one));
    }
}
