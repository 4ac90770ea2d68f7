//! One engine as it is set up: where it is asked, with which key, how often, for how much.

use std::time::Duration;

use deepgraph_protocol::{Fee, Hidden, StepError};
use url::Url;

use super::answer::Answered;
use super::caller::{Caller, client};
use super::engine::{Engine, Needs};
use super::engines;
use super::fees::Price;
use super::memory::Memory;
use super::pace::Pace;
use super::query::Asked;
use super::refusal::Who;
use super::settings::SearchSettings;
use super::text::cut_at_word;

/// An engine that can be asked.
pub(super) struct Service {
    pub(super) engine: Engine,
    caller: Caller,
    price: Price,
    results: usize,
    memory: Memory,
    /// What it lacks to be asked.
    lacks: Option<String>,
}

/// What one engine brought to a search.
pub(super) struct Brought {
    pub(super) engine: Engine,
    pub(super) asked: Asked,
    pub(super) outcome: Result<Answered, StepError>,
    pub(super) fee: Fee,
}

impl Service {
    /// An engine of the settings. `key` gives the variables of the environment.
    ///
    /// # Errors
    ///
    /// What of the settings can not be used, and what would do.
    pub(super) fn new(
        engine: Engine,
        settings: &SearchSettings,
        key: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Service, String> {
        let own = settings.of(engine);
        let traits = engine.traits();
        let variable =
            |name: &str| key(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let (key_env, must_have_key, address) = match traits.needs {
            Needs::Nothing => (own.key_env, false, None),
            Needs::KeyForMore(name) => (Some(own.key_env.unwrap_or_else(|| name.to_owned())), false, None),
            Needs::Key(name) => (Some(own.key_env.unwrap_or_else(|| name.to_owned())), true, None),
            Needs::Address(name) => (own.key_env, false, Some(name)),
        };
        let key = key_env.as_deref().and_then(variable);
        let base_url =
            own.base_url.or_else(|| address.and_then(variable)).unwrap_or_else(|| traits.base_url.to_owned());
        let lacks = match (&key, &key_env, address) {
            (None, Some(name), _) if must_have_key => {
                Some(format!("it has no key: put it into the variable {name}"))
            }
            (_, _, Some(name)) if base_url.is_empty() => {
                Some(format!("it has no address: put it into the variable {name}, or into its base_url"))
            }
            _ => None,
        };
        if !base_url.is_empty() {
            check_address(engine, &base_url)?;
        }
        let gap = own.gap.map_or(traits.gap, Duration::from_millis);
        let price = Price::of(engine, own.fee)?;
        let results = own.results.unwrap_or(settings.results).clamp(1, traits.most_results);
        let hidden = Hidden::new(key.iter().cloned());
        let client = client(&base_url, settings.contact.as_deref());
        let timeout = Duration::from_secs(own.timeout.unwrap_or(settings.timeout).max(1));
        let who = Who { engine, key_env, hidden };
        let contact = settings.contact.clone();
        let pace = Pace::new(engine, gap);
        let caller = Caller { who, base_url, key, contact, timeout, pace, client };
        Ok(Service { engine, caller, price, results, memory: Memory::default(), lacks })
    }

    /// What it lacks to be asked.
    pub(super) fn lacks(&self) -> Option<&str> {
        self.lacks.as_deref()
    }

    /// The variable with its key or address, where that is set.
    pub(super) fn is_set_by(&self) -> Option<&str> {
        self.caller.key.as_ref().and(self.caller.who.key_env.as_deref())
    }

    /// What this query costs at most: nothing where its answer is there.
    pub(super) fn fee(&self, asked: &Asked) -> Fee {
        let asked = self.fitted(asked).0;
        let is_free = self.memory.has(&asked.key());
        if is_free { Fee::NONE } else { self.price.before(asked.count) }
    }

    /// Asks it, if it was not asked the same before.
    pub(super) async fn ask(&self, asked: &Asked) -> Brought {
        let (asked, is_cut) = self.fitted(asked);
        let came = self.memory.once(asked.key(), engines::ask(self.engine, &self.caller, &asked)).await;
        let mut fee = Fee::NONE;
        let outcome = came.outcome.map(|mut answered| {
            if came.was_asked {
                fee = self.price.after(asked.count, answered.told);
            }
            if is_cut {
                let most = asked.text.chars().count();
                answered
                    .notes
                    .push(format!("{}: the query was cut to its first {most} characters", self.engine));
            }
            answered
        });
        Brought { engine: self.engine, asked, outcome, fee }
    }

    /// The query as this engine takes it, and whether its words were cut.
    fn fitted(&self, asked: &Asked) -> (Asked, bool) {
        let traits = self.engine.traits();
        let (text, is_cut) = cut_at_word(&asked.text, traits.most_chars);
        let count = self.results.max(asked.limit).min(traits.most_results);
        (Asked { text, count, ..asked.clone() }, is_cut)
    }
}

fn check_address(engine: Engine, base_url: &str) -> Result<(), String> {
    let wrong = |what: &str| {
        Err(format!(
            "the address of {engine} is \"{base_url}\": {what}; it must be like https://search.example.org"
        ))
    };
    match Url::parse(&base_url.replace("{language}", "en")) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => wrong("it is neither http nor https"),
        Ok(url) if url.query().is_some() || url.fragment().is_some() => wrong("it has a query or a fragment"),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            Err(format!("the address of {engine} holds a user name or a password; leave them out"))
        }
        Ok(_) => Ok(()),
        Err(error) => wrong(&error.to_string()),
    }
}
