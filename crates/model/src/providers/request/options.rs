//! The options of a request, each as the protocol spells it.
//!
//! `temperature`, `top_p`, `seed`, `stop`, `max_tokens` (also `max_completion_tokens`) and `reasoning_effort` are meant
//! alike everywhere, so that a node can fall back from one provider to another: they are put as each protocol has them,
//! and left out where it has no such thing. All other options go into the body as they stand.

use deepgraph_protocol::{ErrorKind, ModelRequest, Role, StepError, Value};
use serde_json::{Map, Value as Json, json};

use super::{Asked, effort, put, record, shape};
use crate::bound::BOUNDS;
use crate::endpoint::Endpoint;
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

/// What stands at the top of a request to Gemini; all other options are of the generation.
const GEMINI_TOP: [&str; 5] = ["generationConfig", "safetySettings", "toolConfig", "cachedContent", "labels"];

/// What stands at the top of a request to Ollama; all other options are of the model.
const OLLAMA_TOP: [&str; 6] = ["options", "think", "keep_alive", "truncate", "shift", "logprobs"];

/// The longest reply of a model of Anthropic for which no other bound is known: that server has to be told one, and all
/// models since the fourth generation write as much.
const ANTHROPIC_BOUND: u64 = 32_000;

/// The fields that the options set in the body.
pub(super) fn render(asked: &Asked<'_>) -> Result<Map<String, Json>, StepError> {
    let Asked { request, name, connection, mode, facts } = *asked;
    let protocol = connection.endpoint.protocol;
    let mut writer = Writer { request, protocol, body: Map::new(), effort: None };
    for (key, value) in &request.options {
        writer.option(key, value)?;
    }
    let Writer { mut body, effort, .. } = writer;
    match (protocol, effort) {
        (Protocol::Anthropic, effort) => effort::anthropic(name, &mut body, effort),
        (Protocol::Gemini, Some(effort)) => effort::gemini(name, &mut body, effort),
        _ => {}
    }
    keep_out_of_cache(request, name, &connection.endpoint, &mut body);
    bound(request, name, protocol, facts, &mut body);
    shape::set(request, mode, protocol, &mut body);
    Ok(body)
}

struct Writer<'a> {
    request: &'a ModelRequest,
    protocol: Protocol,
    body: Map<String, Json>,
    /// How much it is to think, where that depends on the model.
    effort: Option<&'a str>,
}

impl<'a> Writer<'a> {
    fn option(&mut self, key: &str, value: &'a Value) -> Result<(), StepError> {
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
            (Protocol::Ollama, "reasoning_effort") => effort::ollama(&mut self.body, json),
            (_, "reasoning_effort") => {
                // With calls it would make Anthropic's models think; see above.
                let is_possible = self.protocol != Protocol::Anthropic || !self.has_calls();
                self.effort = value.as_str().filter(|_| is_possible);
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
        put(&mut self.body, key, value);
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

/// Newer models of OpenAI put prompts into their cache by themselves, for a surcharge. They are told not to where the
/// conversation will not come back: <https://platform.openai.com/docs/guides/prompt-caching>.
fn keep_out_of_cache(request: &ModelRequest, name: &str, endpoint: &Endpoint, body: &mut Map<String, Json>) {
    let comes_back = endpoint.cache == CacheMarks::Ephemeral && !request.tools.is_empty();
    // Other servers do not know the switch.
    let is_openai = endpoint.is_own_server && matches!(endpoint.provider.as_str(), "openai" | "openai_resp");
    if is_openai && !comes_back && caches_by_itself(name) {
        body.entry("prompt_cache_options").or_insert(json!({"mode": "explicit"}));
    }
}

/// Whether a model of OpenAI is `gpt-5.6` or newer.
fn caches_by_itself(name: &str) -> bool {
    let Some(version) = name.strip_prefix("gpt-").and_then(|rest| rest.split('-').next()) else {
        return false;
    };
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), minor) => (major, minor.unwrap_or(0)) >= (5, 6),
        (None, _) => false,
    }
}

/// Sets the upper bound of the reply: the one that was reserved, the option's and the model's own, whichever is lowest.
fn bound(
    request: &ModelRequest,
    name: &str,
    protocol: Protocol,
    facts: &ModelFacts,
    body: &mut Map<String, Json>,
) {
    let most = [request.max_output, facts.max_output.filter(|_| request.max_output.is_some())];
    let most = most.into_iter().flatten().min();
    let keys = BOUNDS.iter().filter(|key| body.contains_key(**key)).copied().collect::<Vec<_>>();
    // Some servers read the number as 32 bits.
    let number = |most: u64| Json::from(u32::try_from(most).unwrap_or(u32::MAX));
    if protocol == Protocol::OpenAi {
        // Such servers have two names for it: the one that was given is kept.
        for key in &keys {
            let given = body.get(*key).and_then(Json::as_u64);
            if let (Some(given), Some(most)) = (given, most) {
                put(body, key, given.min(most));
            }
        }
        if let Some(most) = most.filter(|_| keys.is_empty()) {
            // OpenAI's reasoning models take no other.
            let is_newer = ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|newer| name.starts_with(newer));
            put(body, if is_newer { "max_completion_tokens" } else { "max_tokens" }, number(most));
        }
        return;
    }
    let given = keys.iter().filter_map(|key| body.remove(*key)?.as_u64()).min();
    let most = match (given, most) {
        (Some(given), Some(most)) => Some(given.min(most)),
        (given, most) => given.or(most),
    };
    let (holder, key) = match protocol {
        Protocol::Anthropic => {
            let most = most.or(facts.max_output).unwrap_or(ANTHROPIC_BOUND);
            return put(body, "max_tokens", number(most));
        }
        Protocol::OpenAi | Protocol::OpenAiResp => (None, "max_output_tokens"),
        Protocol::Gemini => (Some("generationConfig"), "maxOutputTokens"),
        Protocol::Ollama => (Some("options"), "num_predict"),
    };
    let Some(most) = most.map(number) else { return };
    match holder {
        None => put(body, key, most),
        Some(holder) => {
            let mut fields = record(body.remove(holder));
            put(&mut fields, key, most);
            put(body, holder, fields);
        }
    }
}

/// Whether an option that is a switch or a record with a `type` turns something on.
fn is_on(value: &Value) -> bool {
    !value.is_null() && value.text("type") != "disabled"
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
