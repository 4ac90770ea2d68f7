//! What the texts of servers read as `secret.NAME`, and that it stays out of all that is kept.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use deepgraph_graph::Bundle;
#[cfg(feature = "mcp")]
use deepgraph_graph::{Context, Names};
#[cfg(feature = "mcp")]
use deepgraph_protocol::{Map, Value};

use crate::RunError;

/// Shorter values are not looked for in texts: to take them out would garble every text.
#[cfg(feature = "mcp")]
const SHORTEST: usize = 6;
/// What stands where a secret stood.
#[cfg(feature = "mcp")]
const HIDDEN: &str = "***";

/// The secrets of a graph's servers, by name. Clones share them.
#[derive(Clone, Default)]
pub struct Secrets(Arc<BTreeMap<Arc<str>, String>>);

/// Names only.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secrets").field(&self.0.keys()).finish()
    }
}

impl Secrets {
    /// Looks up what the servers of a graph need. An empty text is none.
    ///
    /// # Errors
    ///
    /// [`RunError::NoSecret`] for each secret of each server that is not there.
    pub fn read(bundle: &Bundle, lookup: impl Fn(&str) -> Option<String>) -> Result<Secrets, Vec<RunError>> {
        let mut found = BTreeMap::new();
        let mut missing = Vec::new();
        for server in &bundle.servers {
            for name in &server.secrets {
                match lookup(name).filter(|value| !value.trim().is_empty()) {
                    Some(value) => drop(found.insert(name.clone(), value)),
                    None => missing.push(RunError::NoSecret {
                        server: server.name.to_string(),
                        secret: name.to_string(),
                    }),
                }
            }
        }
        if missing.is_empty() { Ok(Secrets(Arc::new(found))) } else { Err(missing) }
    }
}

#[cfg(feature = "mcp")]
impl Secrets {
    /// What the texts of servers can read.
    pub(super) fn names(&self) -> Context {
        Context::of(self.clone())
    }

    /// A text with every secret taken out.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut secrets: Vec<&str> = self.0.values().map(|value| value.trim()).collect();
        secrets.retain(|value| value.len() >= SHORTEST && text.contains(value));
        // The longest first, so that no rest of one is left where it holds another.
        secrets.sort_by_key(|value| std::cmp::Reverse(value.len()));
        secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    /// A value with every secret taken out of its texts.
    pub(super) fn hide_in(&self, value: &Value) -> Value {
        match value {
            _ if self.0.is_empty() => value.clone(),
            Value::Text(text) => Value::from(self.hide(text)),
            Value::List(items) => items.iter().map(|item| self.hide_in(item)).collect::<Vec<_>>().into(),
            Value::Map(fields) => {
                let hidden =
                    |(name, field): (&Arc<str>, &Value)| (self.hide(name).into(), self.hide_in(field));
                Value::from(fields.iter().map(hidden).collect::<Map>())
            }
            plain => plain.clone(),
        }
    }
}

#[cfg(feature = "mcp")]
impl Names for Secrets {
    fn lookup(&self, name: &str) -> Option<Value> {
        let record = || Value::record(self.0.iter().map(|(k, v)| (k.clone(), Value::from(v.as_str()))));
        (name == "secret").then(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "mcp")]
    fn secrets(pairs: &[(&str, &str)]) -> Secrets {
        Secrets(Arc::new(pairs.iter().map(|(k, v)| ((*k).into(), (*v).to_owned())).collect()))
    }

    #[cfg(feature = "mcp")]
    #[test]
    fn secrets_are_taken_out_of_texts_and_values() {
        let secrets = secrets(&[("A", "abcdefgh\n"), ("B", "abcdefgh-ijkl"), ("C", "blue")]);
        assert_eq!(secrets.hide("abcdefgh-ijkl and abcdefgh, in blue"), "*** and ***, in blue");
        let said = r#"{"abcdefgh":[1,"x abcdefgh y",null],"b":{"c":true}}"#;
        let said: Value = serde_json::from_str(said).unwrap();
        assert_eq!(secrets.hide_in(&said).to_json_text(), r#"{"***":[1,"x *** y",null],"b":{"c":true}}"#);
        assert_eq!(format!("{secrets:?}"), r#"Secrets(["A", "B", "C"])"#);
    }

    fn served() -> Bundle {
        let text = "deepgraph: 1\nstate: {q: string}\ninput: [q]\nstart: a\nnodes:\n  \
                    a: {call: crm.find, input: {q: q}, update: {q: result.text}}\n\
                    mcp: {crm: {url: 'https://{{ secret.HOST }}/mcp', headers: {A: '{{ secret.KEY }}'}}}\n";
        let files = BTreeMap::from([("graph.yaml".to_owned(), text.to_owned())]);
        deepgraph_graph::load("graph.yaml", &files, &deepgraph_graph::OpTable::stock()).unwrap().bundle
    }

    #[test]
    fn every_secret_that_is_not_there_is_named_with_its_server() {
        let lookup = |name: &str| (name == "HOST").then(|| "crm.example.com".to_owned());
        assert!(Secrets::read(&served(), |_| Some("there".to_owned())).is_ok());
        let missing = Secrets::read(&served(), lookup).unwrap_err();
        let [missing] = &missing[..] else { panic!("{missing:?}") };
        let said = missing.to_string();
        assert!(said.contains("\"crm\"") && said.contains("environment variable KEY"), "{said}");
        assert_eq!(Secrets::read(&served(), |_| Some(" ".to_owned())).unwrap_err().len(), 2);
    }
}
