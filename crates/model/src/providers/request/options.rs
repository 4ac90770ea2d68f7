//! The options of a request, each as the protocol spells it.
//!
//! `temperature`, `top_p`, `seed`, `stop`, `max_tokens` (also `max_completion_tokens`) and `reasoning_effort` are meant
//! alike everywhere, so that a node can fall back from one provider to another: they are put as each protocol has them,
//! and left out where it has no such thing. All other options go into the body as they stand.

use deepgraph_protocol::{ErrorKind, ModelRequest, Role, StepError, Value};
use genai::chat::{CacheControl, ChatOptions, ReasoningEffort};
use serde_json::{Map, Value as Json, json};

use super::super::connection::Connection;
use super::{Asked, record, shape};
use crate::settings::{CacheMarks, ModelFacts, Protocol};

/// Options that the request itself decides.
const RESERVED: [&str; 14] = [
    "model",
    "messages",
    "input",
    "contents",
    "system",
    "systemInstruction",
    "tools",
    "functions",
    "stream",
    "stream_options",
    "response_format",
    "format",
    "n",
    "max_output",
];

/// The names that servers have for the upper bound of a reply.
const BOUNDS: [&str; 5] =
    ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict"];

/// What stands at the top of a request to Gemini; all other options are of the generation.
const GEMINI_TOP: [&str; 5] = ["generationConfig", "safetySettings", "toolConfig", "cachedContent", "labels"];

/// What stands at the top of a request to Ollama; all other options are of the model.
const OLLAMA_TOP: [&str; 6] = ["options", "think", "keep_alive", "truncate", "shift", "logprobs"];

/// The fields that the options set in the body, and the options for which `genai` knows the place.
pub(super) fn render(asked: &Asked<'_>) -> Result<(Map<String, Json>, ChatOptions), StepError> {
    let Asked { request, name, connection, mode, facts } = *asked;
    let protocol = connection.endpoint.protocol;
    let mut writer = Writer { request, protocol, body: Map::new(), effort: None };
    for (key, value) in &request.options {
        writer.option(key, value)?;
    }
    let Writer { mut body, effort, .. } = writer;
    let mut options = ChatOptions::default().with_capture_raw_body(true);
    // Mistral refuses the option by which others are asked for the usage of a stream, and reports it anyway.
    options = options.with_capture_usage(!connection.endpoint.is_mistral());
    // `genai` reads an effort into the end of a name (`-max`, `-low` and so on) unless it is given one: `Budget` is not
    // sent by the first two protocols, `Zero` by the others, but for models that think unless they are told not to.
    options = options.with_reasoning_effort(effort.unwrap_or(match protocol {
        Protocol::OpenAi | Protocol::OpenAiResp => ReasoningEffort::Budget(0),
        Protocol::Anthropic | Protocol::Gemini | Protocol::Ollama => ReasoningEffort::Zero,
    }));
    options = cached(request, connection, options);
    options = bound(request, protocol, facts, &mut body, options);
    options = shape::put(request, mode, protocol, &mut body, options);
    if matches!(protocol, Protocol::OpenAi | Protocol::OpenAiResp | Protocol::Anthropic) {
        body.insert("model".into(), Json::from(name));
    }
    Ok((body, options))
}

struct Writer<'a> {
    request: &'a ModelRequest,
    protocol: Protocol,
    body: Map<String, Json>,
    effort: Option<ReasoningEffort>,
}

impl Writer<'_> {
    fn option(&mut self, key: &str, value: &Value) -> Result<(), StepError> {
        let model = &self.request.model;
        if RESERVED.contains(&key) {
            let problem = format!(
                "the option \"{key}\" of {model} can not be set: the node decides it (prompts, tools, returns, \
                 max_output); remove it from the node's options"
            );
            return Err(StepError::new(ErrorKind::InvalidRequest, problem));
        }
        if key == "thinking" && self.protocol == Protocol::Anthropic && self.has_calls() && is_on(value) {
            let problem = format!(
                "{model} can not think and call tools in one conversation here: its signed thoughts would have to go \
                 back with the calls, and they are not kept; remove the option \"thinking\" from the node's options"
            );
            return Err(StepError::new(ErrorKind::InvalidRequest, problem));
        }
        let json = value.to_json();
        match (self.protocol, key) {
            (Protocol::OpenAi, _) => self.put(key, json),
            (_, key) if BOUNDS.contains(&key) => self.put(key, json),
            (Protocol::OpenAiResp, "reasoning_effort") => {
                let mut reasoning = record(self.body.remove("reasoning"));
                reasoning.insert("effort".to_owned(), json);
                self.put("reasoning", Json::Object(reasoning));
            }
            (Protocol::OpenAiResp, "seed" | "stop") | (Protocol::Anthropic, "seed") => {}
            (Protocol::OpenAiResp, _) => self.put(key, json),
            (Protocol::Ollama, "reasoning_effort") => self.put("think", thinking(json)),
            (_, "reasoning_effort") => {
                // With calls it would make Anthropic's models think; see above.
                let is_possible = self.protocol != Protocol::Anthropic || !self.has_calls();
                let effort = value.as_str().and_then(ReasoningEffort::from_keyword);
                self.effort = effort.filter(|_| is_possible);
            }
            (Protocol::Anthropic, "stop") => self.put("stop_sequences", list(json)),
            (Protocol::Anthropic, _) => self.put(key, json),
            (Protocol::Gemini, key) if GEMINI_TOP.contains(&key) => self.merge(key, json),
            (Protocol::Gemini, "stop") => self.put_in("generationConfig", "stopSequences", list(json)),
            (Protocol::Gemini, key) => self.put_in("generationConfig", &camel(key), json),
            (Protocol::Ollama, key) if OLLAMA_TOP.contains(&key) => self.merge(key, json),
            (Protocol::Ollama, "stop") => self.put_in("options", "stop", list(json)),
            (Protocol::Ollama, key) => self.put_in("options", key, json),
        }
        Ok(())
    }

    fn put(&mut self, key: &str, value: Json) {
        self.body.insert(key.to_owned(), value);
    }

    fn put_in(&mut self, record_key: &str, key: &str, value: Json) {
        let mut fields = record(self.body.remove(record_key));
        fields.insert(key.to_owned(), value);
        self.put(record_key, Json::Object(fields));
    }

    /// Puts a value; the fields of a record are added to those that are there.
    fn merge(&mut self, key: &str, value: Json) {
        match (self.body.remove(key), value) {
            (Some(Json::Object(mut there)), Json::Object(more)) => {
                there.extend(more);
                self.put(key, Json::Object(there));
            }
            (_, value) => self.put(key, value),
        }
    }

    /// Whether tools can be called or have been.
    fn has_calls(&self) -> bool {
        let was_called = |role: Role| role == Role::Tool;
        !self.request.tools.is_empty() || self.request.messages.iter().any(|m| was_called(m.role))
    }
}

/// Newer models of OpenAI put prompts into their cache by themselves, for a surcharge, and `genai` turns that off unless it
/// is told of a wish to cache. It is left on where the conversation will come back, as with other protocols' marks. This
/// wish is itself not sent.
fn cached(request: &ModelRequest, connection: &Connection, options: ChatOptions) -> ChatOptions {
    let endpoint = &connection.endpoint;
    let speaks_openai = matches!(endpoint.protocol, Protocol::OpenAi | Protocol::OpenAiResp);
    let comes_back = endpoint.cache == CacheMarks::Ephemeral && !request.tools.is_empty();
    // Other servers do not know the switch.
    if speaks_openai && (comes_back || !endpoint.is_own_server) {
        return options.with_cache_control(CacheControl::Ephemeral5m);
    }
    options
}

/// Sets the upper bound of the reply: the one that was reserved, the option's and the model's own, whichever is lowest.
fn bound(
    request: &ModelRequest,
    protocol: Protocol,
    facts: &ModelFacts,
    body: &mut Map<String, Json>,
    options: ChatOptions,
) -> ChatOptions {
    let most = [request.max_output, facts.max_output.filter(|_| request.max_output.is_some())];
    let most = most.into_iter().flatten().min();
    let keys = BOUNDS.iter().filter(|key| body.contains_key(**key)).copied().collect::<Vec<_>>();
    if protocol == Protocol::OpenAi {
        // Such servers have two names for it: the one that was given is kept.
        for key in &keys {
            let given = body.get(*key).and_then(Json::as_u64);
            if let (Some(given), Some(most)) = (given, most) {
                body.insert((*key).to_owned(), Json::from(given.min(most)));
            }
        }
        return match most.filter(|_| keys.is_empty()) {
            Some(most) => options.with_max_tokens(u32::try_from(most).unwrap_or(u32::MAX)),
            None => options,
        };
    }
    let given = keys.iter().filter_map(|key| body.remove(*key)?.as_u64()).min();
    let most = match (given, most) {
        (Some(given), Some(most)) => Some(given.min(most)),
        (given, most) => given.or(most),
    };
    // Anthropic has to be told one.
    let most = most.or(facts.max_output.filter(|_| protocol == Protocol::Anthropic));
    let Some(most) = most.map(|most| u32::try_from(most).unwrap_or(u32::MAX)) else { return options };
    let (holder, name) = match protocol {
        Protocol::OpenAi | Protocol::OpenAiResp | Protocol::Anthropic => {
            return options.with_max_tokens(most);
        }
        Protocol::Gemini => ("generationConfig", "maxOutputTokens"),
        Protocol::Ollama => ("options", "num_predict"),
    };
    let mut fields = record(body.remove(holder));
    fields.insert(name.to_owned(), Json::from(most));
    body.insert(holder.to_owned(), Json::Object(fields));
    options
}

/// Whether an option that is a switch or a record with a `type` turns something on.
fn is_on(value: &Value) -> bool {
    !value.is_null() && value.text("type") != "disabled"
}

/// An effort as Ollama spells it.
fn thinking(effort: Json) -> Json {
    match effort.as_str() {
        Some("none" | "zero") => json!(false),
        Some("minimal") => json!("low"),
        Some("xhigh") => json!("max"),
        _ => effort,
    }
}

/// One or several as several.
fn list(value: Json) -> Json {
    if value.is_array() { value } else { json!([value]) }
}

/// `top_p` as Gemini spells it: `topP`.
fn camel(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    let mut is_next_upper = false;
    for c in key.chars() {
        match c {
            '_' => is_next_upper = true,
            c if is_next_upper => {
                name.push(c.to_ascii_uppercase());
                is_next_upper = false;
            }
            c => name.push(c),
        }
    }
    name
}
