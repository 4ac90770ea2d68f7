//! The inputs of ops that only graphs give, such as what is known when a document is read.
//!
//! They come from the state and grow with it, so that all of them together grow with its square. Like the channels behind
//! a request they can be made again from the journal, and what a trace or a recording holds of each is its size and the
//! beginning of its hash.

use std::collections::BTreeMap;

use deepgraph_protocol::{Map, Value};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

/// What JSON holds of a value.
#[derive(Serialize)]
struct Shown {
    /// Items of a list, or keys of a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<usize>,
    /// Length of its JSON.
    bytes: usize,
    /// [`digest`] of its JSON.
    sha256: String,
}

impl Shown {
    fn of(value: &Value) -> Shown {
        let json = value.to_json_text();
        let items = match value {
            Value::List(items) => Some(items.len()),
            Value::Map(fields) => Some(fields.len()),
            _ => None,
        };
        Shown { items, bytes: json.len(), sha256: digest(&json) }
    }
}

/// The values in JSON: each by size and hash.
pub(crate) fn as_digests<S: Serializer>(given: &Map, out: S) -> Result<S::Ok, S::Error> {
    let shown: BTreeMap<&str, Shown> =
        given.iter().map(|(name, value)| (&**name, Shown::of(value))).collect();
    shown.serialize(out)
}

/// A value in a few words, by size and hash.
pub(crate) fn told(value: &Value) -> String {
    let Shown { items, bytes, sha256 } = Shown::of(value);
    let items = items.map_or(String::new(), |items| format!("{items} items, "));
    format!("({items}{bytes} bytes, sha256 {sha256})")
}

/// The first 16 hexadecimal digits of the SHA-256.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|b| format!("{b:02x}")).collect()
}
