//! Scripts as data.

use deepgraph_protocol::{FinishReason, Message, ModelRequest, Role, StepError, Usage, Value};
use serde::{Deserialize, Serialize};

use crate::ModelError;

/// What a scripted model answers: the first rule that fits a request gives the answer.
///
/// ```yaml
/// rules:
///   - when: {output: ClarifyWithUser}
///     reply: {data: {need_clarification: false}}
///   - when: {tools: [ConductResearch], turn: 0}
///     reply: {calls: [{name: ConductResearch, arguments: {research_topic: tides}}]}
///   - when: {user: tides}
///     times: 2
///     error: {kind: unavailable, message: down for maintenance}
///   - reply: {text: All is known.}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The rules, in the order in which they are tried.
    pub rules: Vec<Rule>,
    /// How long each answer takes, in milliseconds.
    #[serde(default)]
    pub latency_ms: u64,
}

/// An answer and the requests that get it. It has either a reply or an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The requests that it fits; all, if nothing is said.
    #[serde(default)]
    pub when: When,
    /// How many times it answers one and the same request; then later rules do. Equal requests are counted
    /// together, whoever makes them; different ones apart. None: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// How long this answer takes, in milliseconds, instead of the script's `latency_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// The reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Answer>,
    /// The failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
}

/// Conditions on a request. All that are given must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The configured model has this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A system message contains this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The last user message contains this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Any message contains this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// All of these tools are offered; the empty list: no tool is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Structured output of this name is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The request has so many assistant messages: 0 in the first turn of a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}

/// A reply as a script writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The text. None beside `data`: the data as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// The structured output. Null where output is asked for: read from the text, as of any model.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// Why it stopped. None: `tool_calls` beside calls, else `stop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// What it used. None: the estimate, marked as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// A call as a script writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool's name, offered or not.
    pub name: String,
    /// The arguments: a record, or a text that is given to the graph as it is, JSON or not. Null: no arguments.
    #[serde(default)]
    pub arguments: Value,
    /// The call's id. None: `call_TURN_POSITION`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl Script {
    /// A script of these rules.
    pub fn of(rules: impl IntoIterator<Item = Rule>) -> Script {
        Script { rules: rules.into_iter().collect(), latency_ms: 0 }
    }

    /// Refuses rules without an answer, or with two.
    pub(super) fn check(&self) -> Result<(), ModelError> {
        for (position, rule) in self.rules.iter().enumerate() {
            let problem = match (&rule.reply, &rule.error) {
                (None, None) => "has no answer: give it a reply or an error",
                (Some(_), Some(_)) => "has a reply and an error: keep one of them",
                _ => continue,
            };
            return Err(ModelError::Script { rule: position + 1, problem });
        }
        Ok(())
    }
}

impl Rule {
    /// A rule that answers with a text.
    pub fn text(text: impl Into<String>) -> Rule {
        Rule::reply(Answer { text: Some(text.into()), ..Answer::default() })
    }

    /// A rule that answers with structured output.
    pub fn data(data: Value) -> Rule {
        Rule::reply(Answer { data, ..Answer::default() })
    }

    /// A rule that answers with calls: names and arguments.
    pub fn calls<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Rule {
        let calls =
            calls.into_iter().map(|(name, arguments)| Call { name: name.into(), arguments, id: None });
        Rule::reply(Answer { calls: calls.collect(), ..Answer::default() })
    }

    /// A rule that answers with a reply.
    pub fn reply(reply: Answer) -> Rule {
        Rule { reply: Some(reply), ..Rule::default() }
    }

    /// A rule that answers with a failure.
    pub fn error(error: StepError) -> Rule {
        Rule { error: Some(error), ..Rule::default() }
    }

    /// The same rule for the requests that these conditions fit.
    pub fn when(self, when: When) -> Rule {
        Rule { when, ..self }
    }

    /// The same rule for the first so many times that the same request comes.
    pub fn times(self, times: u64) -> Rule {
        Rule { times: Some(times), ..self }
    }
}

impl When {
    /// The conditions that a request does not meet, each as `name: wanted`.
    pub(super) fn unmet(&self, request: &ModelRequest) -> Vec<String> {
        let mut unmet = Vec::new();
        let mut need = |holds: bool, name: &str, wanted: &dyn std::fmt::Display| {
            if !holds {
                unmet.push(format!("{name}: {wanted}"));
            }
        };
        let said = |role: Role, text: &str| {
            request.messages.iter().any(|m| m.role == role && m.content.contains(text))
        };
        if let Some(model) = &self.model {
            need(request.model == *model, "model", model);
        }
        if let Some(text) = &self.system {
            need(said(Role::System, text), "system", text);
        }
        if let Some(text) = &self.user {
            need(last_user(request).is_some_and(|m| m.content.contains(text.as_str())), "user", text);
        }
        if let Some(text) = &self.text {
            need(request.messages.iter().any(|m| m.content.contains(text.as_str())), "text", text);
        }
        if let Some(names) = &self.tools {
            let offered = |name: &String| request.tools.iter().any(|tool| *tool.name == **name);
            let holds = if names.is_empty() { request.tools.is_empty() } else { names.iter().all(offered) };
            need(holds, "tools", &format!("[{}]", names.join(", ")));
        }
        if let Some(name) = &self.output {
            need(request.output.as_ref().is_some_and(|output| *output.name == **name), "output", name);
        }
        if let Some(wanted) = &self.turn {
            need(turn(request) == *wanted, "turn", wanted);
        }
        unmet
    }
}

/// The number of assistant messages in a request.
pub(super) fn turn(request: &ModelRequest) -> u64 {
    request.messages.iter().filter(|m| m.role == Role::Assistant).count() as u64
}

/// The last user message of a request.
pub(super) fn last_user(request: &ModelRequest) -> Option<&Message> {
    request.messages.iter().rev().find(|m| m.role == Role::User)
}
