//! Tools for models that know none: offered in words, called by structured output.
//!
//! The request says in the system message what tools there are, and asks for one JSON object: `{"tool": NAME,
//! "with": {...}}`, with the arguments in the tool's shape, or `{"answer": ...}`. (Names are sent in the order of the
//! alphabet, and a grammar makes the model write them in that order: first which tool, then with what.) A server that holds a model to a
//! JSON Schema so makes it call a tool rightly, however small it is; of the schema only what a grammar needs is sent. The
//! calls of earlier turns are written as the model wrote them, and what came of them as messages of the user. The reply is
//! read back as calls, so the graph sees no difference.

use std::sync::Arc;

use deepgraph_protocol::{
    FinishReason, Message, ModelReply, ModelRequest, OutputShape, Role, ToolCall, ToolSpec, Value,
};

use super::mend;

/// The fields of the object that is asked for.
const TOOL: &str = "tool";
const ARGUMENTS: &str = "with";
const ANSWER: &str = "answer";

/// Deepest nesting of a schema that is sent.
const DEEPEST: usize = 16;

/// What of a schema a grammar is made from.
const KEPT: [&str; 9] =
    ["type", "properties", "required", "items", "enum", "const", "anyOf", "additionalProperties", "maxItems"];

/// The request with its tools in words and in the shape of its output. One that offers none stays as it is.
pub(crate) fn ask(request: &ModelRequest) -> ModelRequest {
    if request.tools.is_empty() {
        return request.clone();
    }
    let mut messages: Vec<Message> = Vec::with_capacity(request.messages.len() + 1);
    let mut rest = request.messages.iter().peekable();
    let own = rest.next_if(|message| message.role == Role::System);
    let words = in_words(request);
    messages.push(Message::system(match own {
        Some(system) => format!("{}\n\n{words}", system.content),
        None => words,
    }));
    for message in rest {
        let said = in_text(message);
        match messages.last_mut() {
            // Many chat templates want the two sides to take turns.
            Some(last) if last.role == Role::User && said.role == Role::User => {
                last.content = format!("{}\n\n{}", last.content, said.content).into();
            }
            _ => messages.push(said),
        }
    }
    let output = OutputShape { name: "reply".into(), schema: schema(request) };
    ModelRequest { messages, tools: Vec::new(), output: Some(output), ..request.clone() }
}

/// The reply to [`ask`] as a reply to the request itself. What is neither a call nor an answer stays the text that it is.
pub(crate) fn read(mut reply: ModelReply, request: &ModelRequest) -> ModelReply {
    if request.tools.is_empty() || !reply.tool_calls.is_empty() {
        return reply;
    }
    let said = std::mem::take(&mut reply.data);
    reply.guess = Value::Null;
    if let Some(name) = said.get(TOOL).and_then(Value::as_str) {
        let arguments = match said.get(ARGUMENTS).or_else(|| said.get("arguments")) {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::Text(text)) => text.to_string(),
            Some(other) => other.to_json_text(),
        };
        let turn = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let is_free =
            |id: &String| !request.messages.iter().flat_map(|m| &m.tool_calls).any(|call| *call.id == **id);
        let id = (0..=request.messages.len()).map(|nth| format!("call_{turn}_{nth}")).find(is_free);
        let name =
            request.tools.iter().find(|tool| *tool.name == *name).map_or(name.into(), |t| t.name.clone());
        reply.tool_calls =
            vec![ToolCall { id: id.unwrap_or_default().into(), name, arguments: arguments.into() }];
        reply.text = "".into();
        reply.finish = FinishReason::ToolCalls;
    } else if let Some(answer) = said.get(ANSWER) {
        reply.text = match answer {
            Value::Text(text) => text.clone(),
            other => other.to_json_text().into(),
        };
        if request.output.is_some() {
            reply.data = answer.clone();
        }
    }
    // What the model wrote in other words than it was told is looked for too.
    mend(reply, request)
}

/// What the model is told.
fn in_words(request: &ModelRequest) -> String {
    let mut words = String::from(
        "You can use tools. Reply with one JSON object and nothing else, one of these two:\n\
         {\"tool\": NAME, \"with\": {...}} to use a tool; you are told its result and can go on then.\n\
         {\"answer\": ...} to answer without one.\n\nThe tools:",
    );
    for tool in &request.tools {
        let parameters = plain(&tool.parameters, DEEPEST, true).to_json_text();
        words.push_str(&format!("\n- {}: {}\n  with: {parameters}", tool.name, tool.description.trim()));
    }
    words
}

/// The shape of a reply: a call of one of the tools, or an answer.
fn schema(request: &ModelRequest) -> Value {
    let text = Value::record([("type", "string")].map(|(k, v)| (k, Value::from(v))));
    let answer = request.output.as_ref().map_or(text, |shape| plain(&shape.schema, DEEPEST, false));
    let calls = request.tools.iter().map(call);
    let branches: Value = calls.chain([object(vec![(ANSWER.into(), answer)])]).collect();
    Value::record([("type", Value::from("object")), ("anyOf", branches)])
}

fn call(tool: &ToolSpec) -> Value {
    let name = Value::record([("const", Value::Text(tool.name.clone()))]);
    let arguments = match plain(&tool.parameters, DEEPEST, false) {
        Value::Map(fields) if !fields.is_empty() => Value::Map(fields),
        _ => Value::record([("type", Value::from("object"))]),
    };
    object(vec![(TOOL.into(), name), (ARGUMENTS.into(), arguments)])
}

/// A closed object that needs all of these fields.
fn object(fields: Vec<(Arc<str>, Value)>) -> Value {
    let names: Value = fields.iter().map(|(name, _)| Value::Text(name.clone())).collect();
    Value::record([
        ("type", Value::from("object")),
        ("properties", Value::record(fields)),
        ("required", names),
        ("additionalProperties", Value::Bool(false)),
    ])
}

/// A schema with only what says its shape, and with descriptions where they are wanted.
fn plain(schema: &Value, depth: usize, described: bool) -> Value {
    let (Some(fields), Some(depth)) = (schema.as_map(), depth.checked_sub(1)) else { return schema.clone() };
    let kept =
        fields.iter().filter(|(key, _)| KEPT.contains(&&***key) || (described && &***key == "description"));
    Value::record(kept.map(|(key, value)| {
        let value = match (&**key, value) {
            ("properties", Value::Map(properties)) => Value::record(
                properties.iter().map(|(name, field)| (name.clone(), plain(field, depth, described))),
            ),
            ("anyOf", Value::List(branches)) => {
                branches.iter().map(|branch| plain(branch, depth, described)).collect()
            }
            ("items" | "additionalProperties", inner) => plain(inner, depth, described),
            (_, value) => value.clone(),
        };
        (key.clone(), value)
    }))
}

/// A message without calls: those that it makes as the model wrote them, the answer to one as said by the user.
fn in_text(message: &Message) -> Message {
    match message.role {
        Role::Assistant if !message.tool_calls.is_empty() => {
            let calls = message.tool_calls.iter().map(|call| {
                let arguments: Value = serde_json::from_str(&call.arguments)
                    .unwrap_or_else(|_| Value::Text(call.arguments.clone()));
                let name = Value::Text(call.name.clone()).to_json_text();
                format!("{{\"tool\": {name}, \"with\": {}}}", arguments.to_json_text())
            });
            let said = message.content.trim();
            let lines: Vec<String> =
                (!said.is_empty()).then(|| said.to_owned()).into_iter().chain(calls).collect();
            Message::assistant(lines.join("\n"), Vec::new())
        }
        Role::Tool => {
            let name = message.name.as_deref().unwrap_or("the tool");
            Message::user(format!("Result of {name}:\n{}", message.content))
        }
        role => Message::new(role, message.content.clone()),
    }
}
