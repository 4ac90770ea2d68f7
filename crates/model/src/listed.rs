//! Providers and models as lists for people.

use std::collections::BTreeSet;

use crate::endpoint::{Endpoint, known_names};
use crate::settings::ModelFacts;
use crate::{Models, facts};

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedProvider {
    /// What stands before `::`.
    pub name: String,
    /// The address of its server.
    pub base_url: String,
    /// The environment variables whose contents are sent to it, as far as they are set or have to be.
    pub variables: Vec<String>,
    /// Those of them that have to be set, and are not.
    pub missing: Vec<String>,
}

/// A model of which something is known.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedModel {
    /// Its full name, `PROVIDER::MODEL`.
    pub name: String,
    /// What is known.
    pub facts: ModelFacts,
    /// The day as of which the built-in table says so; none: the settings say something of it.
    pub as_of: Option<&'static str>,
}

impl Models {
    /// The providers, those that are built in and those of the settings, by name. One whose settings can not work is
    /// left out: [`Models::check`] tells what is wrong.
    pub fn listed_providers(&self) -> Vec<ListedProvider> {
        let own = self.settings().providers.keys().cloned();
        let names: BTreeSet<String> = known_names().map(str::to_owned).chain(own).collect();
        let listed = names.into_iter().filter_map(|name| {
            let endpoint = Endpoint::of(self.settings(), &name).ok().flatten()?;
            let any = format!("{name}::any");
            Some(ListedProvider {
                name,
                base_url: endpoint.base_url.clone(),
                variables: self.variables(&any),
                missing: self.missing_variables(&any),
            })
        });
        listed.collect()
    }

    /// The models of the built-in table and of the settings, by name.
    pub fn listed_models(&self) -> Vec<ListedModel> {
        let known = facts::lines().map(|(name, _, as_of)| (name.to_owned(), Some(as_of)));
        let set = self.settings().models.keys().map(|name| (name.clone(), None));
        let mut names: Vec<(String, Option<&'static str>)> = set.chain(known).collect();
        // Stable: what the settings say of a model goes before the table.
        names.sort_by(|one, other| one.0.cmp(&other.0));
        names.dedup_by(|next, first| next.0 == first.0);
        let listed =
            names.into_iter().map(|(name, as_of)| ListedModel { facts: self.facts(&name), name, as_of });
        listed.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{ModelSettings, ProviderSettings};

    #[test]
    fn built_in_and_own_ones_are_listed_once() {
        let url = "http://127.0.0.1:8000/v1".to_owned();
        let mine = ProviderSettings { base_url: Some(url.clone()), ..ProviderSettings::default() };
        let facts = ModelFacts { context_window: Some(1000), ..ModelFacts::default() };
        let models = Models::new(ModelSettings {
            providers: BTreeMap::from([("mine".to_owned(), mine)]),
            models: BTreeMap::from([("mine::x".to_owned(), facts), ("openai::gpt-4.1".to_owned(), facts)]),
            ..ModelSettings::default()
        });
        let providers = models.listed_providers();
        let own = providers.iter().find(|provider| provider.name == "mine").unwrap();
        assert_eq!((&own.base_url, own.missing.len()), (&url, 0));
        assert!(providers.iter().any(|provider| provider.name == "anthropic"));
        let listed = models.listed_models();
        let of = |name: &str| listed.iter().filter(|model| model.name == name).collect::<Vec<_>>();
        assert_eq!((of("mine::x").len(), of("openai::gpt-4.1").len()), (1, 1));
        let changed = of("openai::gpt-4.1")[0];
        assert_eq!((changed.facts.context_window, changed.as_of), (Some(1000), None));
        assert!(changed.facts.price.is_some(), "what the settings do not say is from the table");
        assert!(of("anthropic::claude-haiku-4-5")[0].as_of.is_some());
    }
}
