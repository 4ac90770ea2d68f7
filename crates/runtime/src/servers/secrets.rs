//! What the texts of servers read as `secret.NAME`, and that it stays out of all that is kept.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use deepgraph_graph::Bundle;
#[cfg(feature = "mcp")]
use deepgraph_graph::{Context, Names};
use deepgraph_protocol::Hidden;
#[cfg(feature = "mcp")]
use deepgraph_protocol::Value;

use crate::RunError;

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

    /// Their values, to be taken out of texts.
    pub fn hidden(&self) -> Hidden {
        Hidden::new(self.0.values().cloned())
    }
}

#[cfg(feature = "mcp")]
impl Secrets {
    /// What the texts of servers can read.
    pub(super) fn names(&self) -> Context {
        Context::of(self.clone())
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
