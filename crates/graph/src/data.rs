//! Plain data from YAML or JSON, read by the rules of graph files: configuration files are no different dialect.

use deepgraph_protocol::Value;

use crate::Diagnostics;
use crate::diagnostic::{Sink, code};
use crate::source::{self, FileText};

/// The data of a YAML or JSON text; null where it is empty. `name` is shown in messages.
pub fn read_data(name: &str, text: &str) -> Result<Value, Diagnostics> {
    let file = FileText::new(name, text);
    let parsed = source::parse(text);
    let mut out = Sink::default();
    out.unread(&file, parsed.errors.into_iter().filter(|e| e.code != code::EMPTY));
    if out.has_errors() {
        return Err(out.finish(&file));
    }
    Ok(parsed.node.map_or(Value::Null, |root| root.to_value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_read_by_the_rules_of_graph_files() {
        let read = |text: &str| read_data("c.yaml", text).map(|v| v.to_json_text()).map_err(|e| e.0[0].code);
        assert_eq!(read("a: [1, yes]\n").as_deref(), Ok(r#"{"a":[1,"yes"]}"#));
        assert_eq!(read("# nothing\n").as_deref(), Ok("null"));
        assert_eq!(read("").as_deref(), Ok("null"));
        assert_eq!(read("a: 1\na: 2\n"), Err("DG0002"));
        assert_eq!(read("a: &b 1\n"), Err("DG0004"));
        assert_eq!(read("a: ["), Err("DG0001"));
    }
}
