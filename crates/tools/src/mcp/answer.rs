//! What a tool brings back, as a record.

use deepgraph_protocol::Value;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};

use super::words::size;

/// The record `{text, data}` of a result. `text` is for a model to read: all texts, and for all that is no text a line
/// that names it with its size. `data` is the structured content, or null; where it is all that there is, `text` is
/// its JSON. Where the result is the text of one resource, its URI is in `resource`.
pub(super) fn record(result: &CallToolResult) -> Value {
    let data = result.structured_content.as_ref().map(Value::from_json).unwrap_or_default();
    let text = match text(result) {
        text if text.is_empty() && !data.is_null() => data.to_json_text(),
        text => text,
    };
    let resource = only_resource(result).map(|uri| ("resource", Value::from(uri)));
    Value::record([("text", Value::from(text)), ("data", data)].into_iter().chain(resource))
}

/// The URI of the resource whose text is all that there is.
fn only_resource(result: &CallToolResult) -> Option<&str> {
    match result.content.as_slice() {
        [ContentBlock::Resource(embedded)] => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, .. } => Some(uri),
            _ => None,
        },
        _ => None,
    }
}

/// All texts of a result, one below the other.
pub(super) fn text(result: &CallToolResult) -> String {
    let parts: Vec<String> = result.content.iter().map(part).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn part(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => placeholder("image", [&image.mime_type], decoded(&image.data)),
        ContentBlock::Audio(audio) => placeholder("audio", [&audio.mime_type], decoded(&audio.data)),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        ContentBlock::ResourceLink(link) => self::link(link),
        // The protocol may learn more kinds.
        _ => "[content of a kind that is not known here]".to_owned(),
    }
}

fn resource(resource: &ResourceContents) -> String {
    match resource {
        ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            let head = placeholder(
                "resource",
                [uri.as_str()].into_iter().chain(mime_type.as_deref()),
                text.len() as u64,
            );
            format!("{head}\n{text}")
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            placeholder("resource", [uri.as_str()].into_iter().chain(mime_type.as_deref()), decoded(blob))
        }
        _ => "[a resource of a kind that is not known here]".to_owned(),
    }
}

fn link(link: &Resource) -> String {
    let title = link.title.as_deref().unwrap_or(&link.name);
    let words = [title, link.uri.as_str()].into_iter().chain(link.mime_type.as_deref());
    match link.size {
        Some(size) => placeholder("link", words, size),
        None => format!("[{}]", joined("link", words)),
    }
}

fn placeholder<S: AsRef<str>>(kind: &str, words: impl IntoIterator<Item = S>, bytes: u64) -> String {
    format!("[{}, {}]", joined(kind, words), size(bytes))
}

fn joined<S: AsRef<str>>(kind: &str, words: impl IntoIterator<Item = S>) -> String {
    words.into_iter().fold(kind.to_owned(), |text, word| format!("{text} {}", word.as_ref()))
}

/// The bytes that a base64 text stands for.
fn decoded(base64: &str) -> u64 {
    let signs = base64.trim_end_matches('=').bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    (signs * 3 / 4) as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record_of(result: serde_json::Value) -> Value {
        record(&serde_json::from_value(result).unwrap())
    }

    #[test]
    fn texts_stand_one_below_the_other() {
        let result = record_of(json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "text", "text": ""},
            {"type": "text", "text": "two — ü 漢\nthree"},
        ]}));
        assert_eq!(result.text("text"), "one\ntwo — ü 漢\nthree");
        assert_eq!(result.get("data"), Some(&Value::Null));
    }

    #[test]
    fn what_is_no_text_is_named_with_its_size() {
        let blob = "A".repeat(4 * 1024 * 1024);
        let result = record_of(json!({"content": [
            {"type": "text", "text": "chart:"},
            {"type": "image", "mimeType": "image/png", "data": "QUJDRA=="},
            {"type": "audio", "mimeType": "audio/wav", "data": "QUJD".repeat(1000)},
            {"type": "resource", "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": blob}},
            {"type": "resource", "resource": {"uri": "file:///a.md", "mimeType": "text/markdown", "text": "# A\n"}},
            {"type": "resource_link", "uri": "file:///b.csv", "name": "b", "title": "Table B", "size": 2048},
            {"type": "resource_link", "uri": "file:///c.csv", "name": "c", "mimeType": "text/csv"},
        ]}));
        let expected = "chart:\n[image image/png, 4 bytes]\n[audio audio/wav, 2.9 KiB]\n\
                        [resource file:///a.pdf application/pdf, 3 MiB]\n\
                        [resource file:///a.md text/markdown, 4 bytes]\n# A\n\n\
                        [link Table B file:///b.csv, 2 KiB]\n[link c file:///c.csv text/csv]";
        assert_eq!(result.text("text"), expected);
    }

    #[test]
    fn a_resource_alone_names_the_answer() {
        let resource = json!({"type": "resource", "resource": {"uri": "file:///a.md", "text": "A"}});
        let result = record_of(json!({"content": [resource]}));
        assert_eq!(result.text("resource"), "file:///a.md");
        let two = record_of(json!({"content": [resource, {"type": "text", "text": "and more"}]}));
        assert_eq!(two.get("resource"), None);
    }

    #[test]
    fn structured_content_is_data_and_at_need_the_text() {
        let with_text =
            json!({"content": [{"type": "text", "text": "2 rows"}], "structuredContent": {"rows": [1, 2]}});
        assert_eq!(record_of(with_text).to_json_text(), r#"{"data":{"rows":[1,2]},"text":"2 rows"}"#);
        let alone = json!({"content": [], "structuredContent": {"b": 1, "a": 0.5}});
        let expected = r#"{"data":{"a":0.5,"b":1},"text":"{\"a\":0.5,\"b\":1}"}"#;
        assert_eq!(record_of(alone).to_json_text(), expected);
        assert_eq!(record_of(json!({"content": []})).to_json_text(), r#"{"data":null,"text":""}"#);
    }
}
