//! The report in what a run handed up.

use deepgraph_graph::{Bundle, Graph};
use deepgraph_protocol::{Citation, Map, Message, Role, Span, Value};

/// The text for the person: the output `report`; in graphs without it the only text, else the last answer of a
/// conversation, else all outputs as JSON. None where there is nothing to show.
pub fn text(bundle: &Bundle, output: &Map) -> Option<String> {
    let graph = bundle.root();
    let value = if is_output(graph, "report") { output.get("report").cloned() } else { best(graph, output) };
    let text = match value? {
        Value::Null => return None,
        Value::Text(text) => text.to_string(),
        other => serde_json::to_string_pretty(&other).unwrap_or_default(),
    };
    (!text.trim().is_empty()).then_some(text)
}

fn is_output(graph: &Graph, name: &str) -> bool {
    graph.channel(name).is_some_and(|ix| graph.output.contains(&ix))
}

fn best(graph: &Graph, output: &Map) -> Option<Value> {
    let channels = graph.output.iter().filter_map(|ix| graph.channels.get(ix.0));
    let values: Vec<&Value> = channels.filter_map(|c| output.get(&c.name)).filter(|v| v.is_true()).collect();
    let texts: Vec<&Value> = values.iter().copied().filter(|v| v.as_str().is_some()).collect();
    if let [text] = texts[..] {
        return Some(text.clone());
    }
    let answer = values.iter().filter_map(|v| v.as_list()).find_map(last_answer);
    answer.or_else(|| (!values.is_empty()).then(|| Value::from(output.clone())))
}

fn last_answer(messages: &[Value]) -> Option<Value> {
    let messages = messages.iter().rev().filter_map(|m| Message::from_value(m).ok());
    let mut answers = messages.filter(|m| m.role == Role::Assistant && !m.content.is_empty());
    answers.next().map(|m| Value::Text(m.content))
}

/// The citations that a run handed up, in order.
pub fn citations(output: &Map) -> Vec<Citation> {
    let all = output.get("citations").and_then(Value::as_list).unwrap_or_default();
    all.iter().filter_map(|citation| citation.to().ok()).collect()
}

/// A place in a document: `line 4, bytes 120 to 180`, `page 2, line 1`.
pub fn place(span: &Span) -> String {
    match span.page {
        Some(page) => format!("page {page}, line {}", span.line),
        None => format!("line {}, bytes {} to {}", span.line, span.start, span.end),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use deepgraph_graph::{OpTable, load};

    use super::*;

    fn found(outputs: &str, output: serde_json::Value) -> Option<String> {
        let text = format!(
            "deepgraph: 1\nstate: {{question: string, report: string, a: string, b: string, n: integer, \
             messages: messages}}\ninput: [question]\noutput: [{outputs}]\nstart: s\n\
             nodes: {{s: {{update: {{report: '\"\"', a: '\"\"', b: '\"\"', n: '1', messages: [{{user: question}}]}}}}}}\n"
        );
        let files = BTreeMap::from([("g.yaml".to_owned(), text)]);
        let loaded = load("g.yaml", &files, &OpTable::stock()).unwrap_or_else(|m| panic!("{m}"));
        let output = Value::from_json(&output).as_map().cloned().unwrap();
        super::text(&loaded.bundle, &output)
    }

    #[test]
    fn the_report_is_found() {
        use serde_json::json;
        assert_eq!(found("report, a", json!({"report": "R", "a": "A"})).as_deref(), Some("R"));
        assert_eq!(found("report, a", json!({"report": null, "a": "A"})), None);
        assert_eq!(found("report", json!({"report": " \n"})), None);
        assert_eq!(found("a, n", json!({"a": "A", "n": 1})).as_deref(), Some("A"));
        let messages = json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": "said"}]);
        assert_eq!(found("messages, n", json!({"messages": messages, "n": 1})).as_deref(), Some("said"));
        assert!(found("a, b", json!({"a": "A", "b": "B"})).unwrap().contains("\"b\": \"B\""));
        assert_eq!(found("a, b", json!({})), None);
    }

    #[test]
    fn places_name_what_can_be_looked_up() {
        let span = Span { start: 120, end: 180, line: 4, page: None };
        assert_eq!(place(&span), "line 4, bytes 120 to 180");
        assert_eq!(place(&Span { page: Some(2), line: 1, ..span }), "page 2, line 1");
    }
}
