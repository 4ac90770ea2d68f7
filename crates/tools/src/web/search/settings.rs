//! Which engines are asked and how: `services.search` of the configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::engine::Engine;

/// Which engines are asked and how. Every field has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// The engines, in the order in which equals are ranked. Empty: those without a key that fit the query, and those
    /// whose key or address is set.
    pub engines: Vec<Engine>,
    /// Results that each engine is asked for.
    pub results: usize,
    /// The language of queries that name none: its code, `en`, `de`, `pt-br`. None: any; Wikipedia is asked in English.
    pub language: Option<String>,
    /// Only pages of these sites: hosts, with all below them. For queries that name none.
    pub include_sites: Vec<String>,
    /// No pages of these sites: hosts, with all below them. They come to those of the query.
    pub exclude_sites: Vec<String>,
    /// Longest time for the answer of an engine, in seconds. Time in which it is left in peace is not counted.
    pub timeout: u64,
    /// A mail address under which the operators of engines without a key can reach you; some serve such askers better.
    pub contact: Option<String>,
    /// What is otherwise for single engines, by name.
    pub options: BTreeMap<Engine, EngineSettings>,
}

/// What is otherwise for one engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineSettings {
    /// Where it is asked, without the path of its API: a proxy, or one's own server.
    pub base_url: Option<String>,
    /// The variable of the environment with its key.
    pub key_env: Option<String>,
    /// What a call costs, in US dollars, or `unknown`.
    pub fee: Option<CallFee>,
    /// Results that it is asked for.
    pub results: Option<usize>,
    /// Longest time for its answer, in seconds.
    pub timeout: Option<u64>,
    /// Least time between two requests, in milliseconds.
    pub gap: Option<u64>,
}

/// What a call of an engine costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CallFee {
    /// US dollars.
    Usd(f64),
    /// It costs something, and it is not known how much.
    Unknown(Unknown),
}

/// The word `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// The word.
    Unknown,
}

impl Default for SearchSettings {
    fn default() -> SearchSettings {
        SearchSettings {
            engines: Vec::new(),
            results: 10,
            language: None,
            include_sites: Vec::new(),
            exclude_sites: Vec::new(),
            timeout: 20,
            contact: None,
            options: BTreeMap::new(),
        }
    }
}

impl SearchSettings {
    pub(super) fn of(&self, engine: Engine) -> EngineSettings {
        self.options.get(&engine).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_misspelt_ones_refused() {
        let settings: SearchSettings = serde_json::from_str(
            r#"{"engines": ["tavily", "wikipedia"], "options": {"tavily": {"fee": 0.005}, "exa": {"fee": "unknown"}}}"#,
        )
        .unwrap();
        assert_eq!(settings.engines, [Engine::Tavily, Engine::Wikipedia]);
        assert_eq!(settings.of(Engine::Tavily).fee, Some(CallFee::Usd(0.005)));
        assert_eq!(settings.of(Engine::Exa).fee, Some(CallFee::Unknown(Unknown::Unknown)));
        assert_eq!((settings.results, settings.timeout), (10, 20));
        for wrong in [
            r#"{"engine": []}"#,
            r#"{"engines": ["altavista"]}"#,
            r#"{"options": {"tavily": {"key": "x"}}}"#,
            r#"{"options": {"tavily": {"fee": "cheap"}}}"#,
        ] {
            assert!(serde_json::from_str::<SearchSettings>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_engine_has_its_name() {
        for engine in Engine::ALL {
            assert_eq!(Engine::parse(engine.name()), Some(engine));
            assert_eq!(serde_json::to_string(&engine).unwrap(), format!("\"{engine}\""));
        }
        assert_eq!(Engine::parse("altavista"), None);
    }
}
