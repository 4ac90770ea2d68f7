//! What can go wrong, and where.

use std::fmt;

use serde_json::{Value as Json, json};

use super::answer::Answer;
use super::log::Asked;
use super::script::{calls, reply, says};
use super::stage::Stage;

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The key is refused, and repeated in the words of the refusal.
    Unauthorized,
    /// The key may not use the model.
    Forbidden,
    /// There is no such model.
    NoModel,
    /// The request is taken for wrong.
    BadRequest,
    /// HTTP 408.
    RequestTimeout,
    /// HTTP 429, with a time to wait.
    SlowDownFor,
    /// HTTP 429 without one.
    SlowDown,
    /// HTTP 500.
    Broken,
    /// HTTP 529.
    Overloaded,
    /// The connection is torn down.
    Reset,
    /// No answer.
    Hang,
    /// Half of an answer.
    Cut,
    /// HTTP 200 with a page in place of JSON.
    NoJson,
    /// A reply in words where structured output or a call was to come.
    Words,
    /// Arguments of calls that are no JSON.
    BadArguments,
    /// The request is longer than the model's window.
    Overflow,
    /// A reply without text and calls.
    Empty,
    /// The field `refusal`.
    Refusal,
    /// The filter of the provider withholds the reply.
    Filtered,
    /// A good reply behind its reasoning.
    Think,
    /// A good reply that does not find its end.
    Repeats,
}

/// The time that [`What::SlowDownFor`] asks to wait, in milliseconds.
pub const SLOW_DOWN_MS: u64 = 150;

/// What stands between the marks of [`What::Think`].
pub const REASONING: &str = "Only between us: I make it up.";

/// What [`What::Repeats`] says again and again.
pub const REPEATED: &str = "That is the end of the document. ";

impl What {
    /// Everything.
    pub const ALL: [What; 21] = {
        use What::*;
        [
            Unauthorized,
            Forbidden,
            NoModel,
            BadRequest,
            RequestTimeout,
            SlowDownFor,
            SlowDown,
            Broken,
            Overloaded,
            Reset,
            Hang,
            Cut,
            NoJson,
            Words,
            BadArguments,
            Overflow,
            Empty,
            Refusal,
            Filtered,
            Think,
            Repeats,
        ]
    };

    /// Whether it can happen to a stage at all: structured output and calls go wrong where there are some.
    pub fn fits(self, stage: Stage, turn: usize) -> bool {
        let calls = match stage {
            Stage::Supervisor => true,
            Stage::Researcher => turn < 2,
            _ => false,
        };
        match self {
            What::BadArguments => calls,
            What::Words => calls || matches!(stage, Stage::Clarify | Stage::Brief),
            _ => true,
        }
    }

    /// What comes of a request.
    pub fn answer(self, asked: &Asked, body: &Json, topics: &[&'static str]) -> Answer {
        let good = || reply(asked, body, topics);
        match self {
            What::Unauthorized => {
                let said = format!("Incorrect API key provided: {}. Be off.", asked.key);
                Answer::error(401, &[], "invalid_api_key", &said)
            }
            What::Forbidden => Answer::error(403, &[], "forbidden", "Your project has no access to this."),
            What::NoModel => Answer::error(404, &[], "model_not_found", "There is no such model."),
            What::BadRequest => Answer::error(400, &[], "invalid_value", "This is not how it is done."),
            What::RequestTimeout => Answer::error(408, &[], "timeout", "That took too long."),
            What::SlowDownFor => {
                let wait = format!("{:.3}", SLOW_DOWN_MS as f64 / 1000.0);
                Answer::error(429, &[("Retry-After", &wait)], "rate_limit_exceeded", "Not so fast.")
            }
            What::SlowDown => Answer::error(429, &[], "rate_limit_exceeded", "Not so fast."),
            What::Broken => Answer::error(500, &[], "server_error", "Something broke."),
            What::Overloaded => Answer::error(529, &[], "overloaded_error", "Overloaded."),
            What::Reset => Answer::Reset,
            What::Hang => Answer::Hang,
            What::Cut => Answer::Cut(good()),
            What::NoJson => Answer::page("<html><h1>Welcome to nginx!</h1></html>"),
            What::Words => Answer::Reply(says("I would rather tell you in words what comes to my mind.")),
            What::BadArguments => Answer::Reply(unfinished(good())),
            What::Overflow => Answer::error(
                400,
                &[],
                "context_length_exceeded",
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            ),
            What::Empty => Answer::Reply(says("")),
            What::Refusal => Answer::Reply(
                json!({"role": "assistant", "content": null, "refusal": "I can not help with that."}),
            ),
            What::Filtered => Answer::Filtered,
            What::Think => {
                Answer::Reply(with_text(good(), |text| format!("<think>\n{REASONING}\n</think>\n\n{text}")))
            }
            What::Repeats => {
                Answer::Endless(with_text(good(), |text| format!("{text}\n{}", REPEATED.repeat(2000))))
            }
        }
    }
}

/// The same reply with another text.
fn with_text(mut reply: Json, change: impl Fn(&str) -> String) -> Json {
    let text = reply["content"].as_str().unwrap_or_default();
    reply["content"] = Json::from(change(text));
    reply
}

/// The same calls with arguments that break off.
fn unfinished(mut reply: Json) -> Json {
    for call in reply["tool_calls"].as_array_mut().into_iter().flatten() {
        call["function"]["arguments"] = Json::from(r#"{"research_topic": unfinished"#);
    }
    if reply["tool_calls"].is_null() {
        return calls([("search", json!({}))].into_iter());
    }
    reply
}

/// Which requests go wrong, and how.
pub struct Fault {
    /// What goes wrong.
    pub what: What,
    hits: Box<dyn Fn(&Asked) -> bool + Send + Sync>,
}

impl Fault {
    /// All requests that this holds for.
    pub fn at(what: What, hits: impl Fn(&Asked) -> bool + Send + Sync + 'static) -> Fault {
        Fault { what, hits: Box::new(hits) }
    }

    /// Whether a request is among them.
    pub fn hits(&self, asked: &Asked) -> bool {
        (self.hits)(asked)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            What::Unauthorized => "401",
            What::Forbidden => "403",
            What::NoModel => "404 model",
            What::BadRequest => "400",
            What::RequestTimeout => "408",
            What::SlowDownFor => "429 retry-after",
            What::SlowDown => "429",
            What::Broken => "500",
            What::Overloaded => "529",
            What::Reset => "reset",
            What::Hang => "hang",
            What::Cut => "cut",
            What::NoJson => "no JSON",
            What::Words => "words",
            What::BadArguments => "bad arguments",
            What::Overflow => "overflow",
            What::Empty => "empty",
            What::Refusal => "refusal",
            What::Filtered => "filtered",
            What::Think => "think",
            What::Repeats => "repeats",
        })
    }
}
