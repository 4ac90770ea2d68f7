//! Search engines of the web: several are asked at once, and their answers become one.
//!
//! | file | holds |
//! |---|---|
//! | `engine`, `settings`, `fees` | the engines that are known, how they are set, what they cost |
//! | `query` | what is searched for, checked and in one form |
//! | `service`, `caller`, `pace`, `memory` | one engine: asking it, how fast, and never the same twice |
//! | `refusal`, `failed` | what is no answer, whatever its status; what a search fails with |
//! | `engines` | each one's request and answer |
//! | `fit`, `fuse` | what is filtered here; one ranking of all |

mod answer;
mod caller;
mod dates;
mod engine;
mod engines;
mod failed;
mod fees;
mod fit;
mod fuse;
mod memory;
mod pace;
mod query;
mod refusal;
mod service;
mod settings;
mod sites;
#[cfg(test)]
mod tests;
mod text;

use deepgraph_protocol::{ErrorKind, Fee, StepError};
use jiff::civil::Date;

use self::query::Asked;
use self::service::{Brought, Service};
use super::error::WebError;

pub use self::answer::{EngineFailure, SearchAnswer};
pub use self::engine::Engine;
pub use self::fees::PRICES_AS_OF;
pub use self::query::{SearchQuery, TimeRange};
pub use self::settings::{CallFee, EngineSettings, SearchSettings, Unknown};

/// The engines that are asked.
pub struct Search {
    settings: SearchSettings,
    services: Vec<Service>,
    /// Whether they were named: then they are asked whether they fit or not.
    is_named: bool,
}

/// An engine that is asked, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The engine.
    pub engine: Engine,
    /// Why it is asked.
    pub why: String,
}

impl Search {
    /// The engines of the settings, or where they name none, those that need no key and those whose key or address is
    /// set. `key` gives the variables of the environment.
    ///
    /// # Errors
    ///
    /// What of the settings can not be used; what an engine lacks that they name.
    pub fn new(settings: &SearchSettings, key: &dyn Fn(&str) -> Option<String>) -> Result<Search, WebError> {
        let problem = |problem: String| WebError::Search { problem };
        let sample = SearchQuery { text: "sample".to_owned(), ..SearchQuery::default() };
        Asked::of(&sample, settings, today()).map_err(|error| problem(error.message))?;
        let is_named = !settings.engines.is_empty();
        let (mut services, mut unable): (Vec<Service>, Vec<String>) = Default::default();
        for engine in if is_named { settings.engines.as_slice() } else { Engine::ALL.as_slice() } {
            let service = Service::new(*engine, settings, key).map_err(problem)?;
            if let Some(lacks) = service.lacks().filter(|_| is_named) {
                unable.push(format!("{engine} is named and can not be asked: {lacks}"));
            }
            // What Crossref knows OpenAlex knows as well, with more abstracts.
            let is_wanted = is_named || (service.lacks().is_none() && *engine != Engine::Crossref);
            let is_new = services.iter().all(|known| known.engine != *engine);
            if is_wanted && is_new {
                services.push(service);
            }
        }
        if !unable.is_empty() {
            return Err(problem(unable.join("; ")));
        }
        Ok(Search { settings: settings.clone(), services, is_named })
    }

    /// The engines that are asked, each with the reason.
    pub fn engines(&self) -> Vec<Chosen> {
        let why = |service: &Service| match service.is_set_by() {
            _ if self.is_named => "it is named in the settings".to_owned(),
            Some(variable) => format!("{variable} is set"),
            None if service.engine == Engine::Searxng => "its address is set".to_owned(),
            None => "it needs no key".to_owned(),
        };
        self.services.iter().map(|service| Chosen { engine: service.engine, why: why(service) }).collect()
    }

    /// What a search costs at most, as it is known before it: nothing for an engine that was asked the same a short time
    /// ago. A query that can not be asked costs nothing.
    pub fn fee(&self, query: &SearchQuery) -> Fee {
        let mut sum = Fee::NONE;
        if let Ok((asked, _)) = Asked::of(query, &self.settings, today()) {
            self.fitting(&asked).0.into_iter().for_each(|service| sum += service.fee(&asked));
        }
        sum
    }

    /// Asks all engines that fit, at the same time, and makes one answer of theirs.
    ///
    /// # Errors
    ///
    /// `invalid_input` for a query that can not be asked; where no engine answered, what [`EngineFailure`]s come to.
    pub async fn search(&self, query: &SearchQuery) -> Result<SearchAnswer, StepError> {
        let (asked, is_cut) = Asked::of(query, &self.settings, today())?;
        let (services, mut notes) = self.fitting(&asked);
        if is_cut {
            notes.push(format!("the query was cut to its first {} characters", asked.text.chars().count()));
        }
        if services.is_empty() {
            return Err(StepError::new(ErrorKind::NotFound, self.nobody(&notes)).unsent());
        }
        let all = futures::future::join_all(services.iter().map(|service| service.ask(&asked))).await;
        let mut answer = SearchAnswer { notes, ..SearchAnswer::default() };
        let mut answers = Vec::new();
        for Brought { engine, asked, outcome, fee } in all {
            answer.fee += fee;
            match outcome {
                Err(error) => answer.failed.push(EngineFailure { engine, error }),
                Ok(answered) => {
                    let (found, notes) = fit::filtered(engine, &asked, answered);
                    answer.notes.extend(notes);
                    answers.push((engine, found));
                }
            }
        }
        if answers.is_empty() {
            return Err(failed::of_all(&answer.failed));
        }
        answer.hits = fuse::fuse(&answers, asked.limit);
        Ok(answer)
    }

    /// The engines that are asked this, and what is to be said of the others.
    fn fitting(&self, asked: &Asked) -> (Vec<&Service>, Vec<String>) {
        let (mut services, mut notes) = (Vec::new(), Vec::new());
        for service in &self.services {
            match fit::misfit(service.engine, asked).filter(|_| !self.is_named) {
                Some(why) => notes.push(format!("not asked: {why}")),
                None => services.push(service),
            }
        }
        (services, notes)
    }

    fn nobody(&self, notes: &[String]) -> String {
        let keys: Vec<&str> = Engine::ALL
            .into_iter()
            .filter(|engine| matches!(engine, Engine::Tavily | Engine::Brave | Engine::Exa | Engine::Serper))
            .filter_map(Engine::variable)
            .collect();
        format!(
            "no search engine fits the query ({}); one that searches the whole web needs its key in {}",
            notes.join("; "),
            keys.join(", ")
        )
    }
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.services.iter().map(|service| service.engine)).finish()
    }
}

/// The day it is, in UTC.
fn today() -> Date {
    jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date()
}
