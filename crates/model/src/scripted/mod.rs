//! A model that answers from a script, for tests.
//!
//! The same request gets the same answer, in whatever order requests come: the turn is read from the request,
//! and nothing is remembered but how often rules with `times` have answered a request.

mod script;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_protocol::{ErrorKind, FinishReason, ModelReply, ModelRequest, StepError, ToolCall, Value};
use sha2::{Digest, Sha256};

pub use self::script::{Answer, Call, Rule, Script, When};
use crate::estimate::estimated_usage;
use crate::structured::{self, Structured};
use crate::{ChatModel, ModelError, Preview};

/// How many rules an error names, and how much it quotes.
const NEAREST: usize = 3;
const QUOTE: usize = 80;

/// A model that answers from a [`Script`].
pub struct Scripted {
    script: Script,
    /// How often a rule with `times` has answered a request, by rule and the request's hash.
    answered: Mutex<BTreeMap<(usize, [u8; 32]), u64>>,
}

impl Scripted {
    /// A model that follows a script.
    ///
    /// # Errors
    ///
    /// [`ModelError::Script`] for a rule that has no answer, or two.
    pub fn new(script: Script) -> Result<Scripted, ModelError> {
        script.check()?;
        Ok(Scripted { script, answered: Mutex::default() })
    }

    /// The first rule that fits and has not answered this request too often.
    fn choose(&self, request: &ModelRequest) -> Option<&Rule> {
        let mut hash = None;
        self.script.rules.iter().enumerate().find_map(|(position, rule)| {
            let fits = rule.when.unmet(request).is_empty();
            let free = fits
                && rule.times.is_none_or(|times| {
                    self.count(position, *hash.get_or_insert_with(|| content_hash(request)), times)
                });
            free.then_some(rule)
        })
    }

    /// Counts one more answer of a rule with `times`, if there is one left.
    fn count(&self, position: usize, hash: [u8; 32], times: u64) -> bool {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let count = answered.entry((position, hash)).or_default();
        if *count >= times {
            return false;
        }
        *count += 1;
        true
    }

    /// Says what was asked and which rules came nearest, with the conditions that failed.
    fn no_rule(&self, request: &ModelRequest) -> StepError {
        let mut missed: Vec<(Vec<String>, usize)> = self
            .script
            .rules
            .iter()
            .enumerate()
            .map(|(position, rule)| (rule.when.unmet(request), position + 1))
            .collect();
        missed.sort_by_key(|(unmet, number)| (unmet.len(), *number));
        let nearest: Vec<String> = missed
            .iter()
            .take(NEAREST)
            .map(|(unmet, number)| match unmet.as_slice() {
                [] => format!("rule {number} has answered this request as often as its times allow"),
                unmet => format!("rule {number} wants {}", unmet.join(", ")),
            })
            .collect();
        let nearest =
            if nearest.is_empty() { "the script has no rules".to_owned() } else { nearest.join("; ") };
        let problem = format!("no rule of the script fits {}; {nearest}; add a rule", asked(request));
        StepError::new(ErrorKind::InvalidRequest, problem)
    }
}

#[async_trait]
impl ChatModel for Scripted {
    async fn reply(&self, request: &ModelRequest, preview: Preview<'_>) -> Result<ModelReply, StepError> {
        let rule = self.choose(request).ok_or_else(|| self.no_rule(request))?;
        let latency = rule.latency_ms.unwrap_or(self.script.latency_ms);
        if latency > 0 {
            tokio::time::sleep(Duration::from_millis(latency)).await;
        }
        match (&rule.reply, &rule.error) {
            (Some(answer), _) => {
                let reply = written(answer, request);
                if !reply.text.is_empty() {
                    preview(&reply.text);
                }
                Ok(reply)
            }
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Err(self.no_rule(request)),
        }
    }
}

/// The reply that an answer means for a request.
fn written(answer: &Answer, request: &ModelRequest) -> ModelReply {
    let text: Arc<str> = match &answer.text {
        Some(text) => text.as_str().into(),
        None if answer.data.is_null() => "".into(),
        None => answer.data.to_json_text().into(),
    };
    let Structured { data, guess, mended } = match &request.output {
        Some(shape) if answer.data.is_null() && !text.is_empty() => structured::read(&text, shape),
        _ => Structured { data: answer.data.clone(), ..Structured::default() },
    };
    let tool_calls = calls(answer, request);
    let finish = if tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    let bytes =
        text.len() + tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>();
    ModelReply {
        text,
        tool_calls,
        data,
        finish: answer.finish.unwrap_or(finish),
        usage: answer.usage.unwrap_or_else(|| estimated_usage(request, bytes)),
        cost_micro_usd: Some(0),
        model: request.model.clone(),
        mended: mended.into_iter().collect(),
        guess,
    }
}

/// The calls, with ids that say turn and position and are new to the conversation.
fn calls(answer: &Answer, request: &ModelRequest) -> Vec<ToolCall> {
    let mut taken: BTreeSet<Arc<str>> =
        request.messages.iter().flat_map(|m| m.tool_calls.iter().map(|call| call.id.clone())).collect();
    let turn = script::turn(request);
    let mut calls = Vec::with_capacity(answer.calls.len());
    for (position, call) in answer.calls.iter().enumerate() {
        let mut id: Arc<str> = call.id.clone().unwrap_or_else(|| format!("call_{turn}_{position}")).into();
        while call.id.is_none() && !taken.insert(id.clone()) {
            id = format!("{id}x").into();
        }
        let arguments = match &call.arguments {
            Value::Text(raw) => raw.clone(),
            Value::Null => "{}".into(),
            other => other.to_json_text().into(),
        };
        calls.push(ToolCall { id, name: call.name.as_str().into(), arguments });
    }
    calls
}

/// A request in a few words.
fn asked(request: &ModelRequest) -> String {
    let quote = |text: &str| -> String {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut: String = text.chars().take(QUOTE).collect();
        if cut.len() < text.len() { format!("\"{cut}...\"") } else { format!("\"{cut}\"") }
    };
    let tools: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
    let mut asked = format!("turn {} of {}", script::turn(request), request.model);
    if let Some(system) = request.messages.first().filter(|m| m.role == deepgraph_protocol::Role::System) {
        asked.push_str(&format!(", system {}", quote(&system.content)));
    }
    if let Some(user) = script::last_user(request) {
        asked.push_str(&format!(", user {}", quote(&user.content)));
    }
    asked.push_str(&format!(", tools [{}]", tools.join(", ")));
    if let Some(output) = &request.output {
        asked.push_str(&format!(", output {}", output.name));
    }
    asked
}

fn content_hash(request: &ModelRequest) -> [u8; 32] {
    Sha256::digest(serde_json::to_vec(request).unwrap_or_default()).into()
}
