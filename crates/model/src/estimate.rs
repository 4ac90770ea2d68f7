//! How long a request is, guessed from its bytes.

use deepgraph_protocol::{ModelRequest, Usage};

/// Bytes of UTF-8 that stand for one token. English prose has about four to a token; other scripts and code
/// have fewer, so the estimate can be off by a factor of two either way.
const BYTES_PER_TOKEN: u64 = 4;

/// The tokens of a request: an estimate, bytes / 4 rounded up over all messages, calls, tools and the output's
/// schema. It is made without a tokenizer, so that it is the same everywhere and costs nothing.
pub fn estimate_tokens(request: &ModelRequest) -> u64 {
    let mut bytes = 0;
    for message in &request.messages {
        bytes += message.content.len();
        for call in &message.tool_calls {
            bytes += call.id.len() + call.name.len() + call.arguments.len();
        }
        bytes += message.tool_call_id.as_ref().map_or(0, |id| id.len());
    }
    for tool in &request.tools {
        bytes += tool.name.len() + tool.description.len() + tool.parameters.to_json_text().len();
    }
    if let Some(output) = &request.output {
        bytes += output.name.len() + output.schema.to_json_text().len();
    }
    tokens_of(bytes)
}

/// The tokens of so many bytes of text.
pub(crate) fn tokens_of(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// The usage of a call for which nobody reported one.
pub(crate) fn estimated_usage(request: &ModelRequest, reply_bytes: usize) -> Usage {
    Usage {
        input_tokens: estimate_tokens(request),
        output_tokens: tokens_of(reply_bytes),
        estimated: true,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::{Map, Message, OutputShape, ToolRole, ToolSpec, Value};

    use super::*;

    fn request(messages: Vec<Message>) -> ModelRequest {
        ModelRequest {
            model: "m".into(),
            messages,
            tools: Vec::new(),
            output: None,
            max_output: None,
            options: Map::new(),
            context: Map::new(),
        }
    }

    #[test]
    fn bytes_are_rounded_up_to_whole_tokens() {
        assert_eq!(estimate_tokens(&request(vec![])), 0);
        assert_eq!(estimate_tokens(&request(vec![Message::user("a")])), 1);
        assert_eq!(estimate_tokens(&request(vec![Message::user("abcd")])), 1);
        assert_eq!(estimate_tokens(&request(vec![Message::user("abcde")])), 2);
        assert_eq!(estimate_tokens(&request(vec![Message::user("日本")])), 2);
    }

    #[test]
    fn tools_and_output_count_as_they_are_sent_too() {
        let mut with = request(vec![Message::user("abcd")]);
        with.tools.push(ToolSpec {
            name: "find".into(),
            description: "looks".into(),
            parameters: Value::empty_map(),
            role: ToolRole::State,
        });
        assert_eq!(estimate_tokens(&with), 4);
        with.output = Some(OutputShape { name: "Plan".into(), schema: Value::empty_map() });
        assert_eq!(estimate_tokens(&with), 6);
    }
}
