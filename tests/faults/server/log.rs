//! What a server was asked, in order.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::What;
use super::http::header;
use super::stage::{Stage, broken, messages, text_of, turn};

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The stage.
    pub stage: Stage,
    /// How far the stage is, from 0.
    pub turn: usize,
    /// What the researcher is to look up, of those that know.
    pub topic: Option<&'static str>,
    /// How many requests of the same stage, turn, topic and model came before.
    pub attempt: usize,
    /// The model.
    pub model: String,
    /// The key that came with it.
    pub key: String,
    /// What was made of it, where it went wrong.
    pub fault: Option<What>,
    /// What no provider would take about its conversation.
    pub broken: Option<String>,
    /// When it came.
    pub at: Instant,
}

/// All requests of a server.
#[derive(Default)]
pub struct Log(Mutex<Vec<Asked>>);

impl Asked {
    /// A request, read.
    pub fn read(body: &Json, head: &str, topics: &[&'static str]) -> Asked {
        let stage = Stage::of(body);
        let named = |topic: &&&'static str| {
            let first = messages(body).find(|message| message["role"] == "user").map(text_of);
            let last = messages(body).next_back().map(text_of);
            let place = if stage == Stage::Compress { last } else { first };
            place.unwrap_or_default().contains(**topic)
        };
        let is_of_one = matches!(stage, Stage::Researcher | Stage::Compress);
        let key = header(head, "authorization").unwrap_or_default().trim_start_matches("Bearer ");
        Asked {
            stage,
            turn: turn(stage, body),
            topic: topics.iter().find(|topic| is_of_one && named(topic)).copied(),
            attempt: 0,
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            key: key.to_owned(),
            fault: None,
            broken: broken(body),
            at: Instant::now(),
        }
    }

    fn is_at(&self, other: &Asked) -> bool {
        let place = |asked: &Asked| (asked.stage, asked.turn, asked.topic, asked.model.clone());
        place(self) == place(other)
    }
}

impl Log {
    /// All of it, in the order in which it came.
    pub fn all(&self) -> Vec<Asked> {
        self.held().clone()
    }

    /// How many requests these are.
    pub fn count(&self, which: impl Fn(&Asked) -> bool) -> usize {
        self.held().iter().filter(|asked| which(asked)).count()
    }

    /// The shortest time between two tries at the place of each faulty request; none where nothing was tried again.
    pub fn shortest_wait(&self) -> Option<Duration> {
        let all = self.held();
        let faulty = all.iter().enumerate().filter(|(_, asked)| asked.fault.is_some());
        let waits = faulty.filter_map(|(at, asked)| {
            let next = all[at + 1..].iter().find(|next| next.is_at(asked))?;
            Some(next.at.saturating_duration_since(asked.at))
        });
        waits.min()
    }

    /// How many requests came before, from the same place as this one.
    pub fn attempts_at(&self, asked: &Asked) -> usize {
        self.held().iter().filter(|before| before.is_at(asked)).count()
    }

    /// Adds a request.
    pub fn push(&self, asked: Asked) {
        self.held().push(asked);
    }

    fn held(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
