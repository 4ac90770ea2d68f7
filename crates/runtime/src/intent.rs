//! The class of a question, and the configuration that it brings.

use std::collections::BTreeMap;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{IntentChoice, Value};
use deepgraph_research::intent::IntentClassifier;

use crate::RunError;

/// How the class of a run's question is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Intended {
    /// By the classifier.
    #[default]
    Classified,
    /// It is this one.
    Named(String),
    /// It has none.
    None,
}

impl Intended {
    /// The class of a question; none where it belongs to none of the graph's.
    ///
    /// # Errors
    ///
    /// [`RunError::UnknownIntent`]: the graph has no such class. A classifier that names a class that is not there has
    /// found none.
    pub fn choose(
        &self,
        classifier: &dyn IntentClassifier,
        bundle: &Bundle,
        question: &str,
    ) -> Result<Option<IntentChoice>, RunError> {
        match self {
            Intended::None => Ok(None),
            Intended::Named(name) => match bundle.intent(name) {
                Some(intent) => {
                    let name = intent.class.name.clone();
                    Ok(Some(IntentChoice { name, why: "it was chosen by hand".to_owned() }))
                }
                None => Err(RunError::UnknownIntent {
                    graph: bundle.root().name.to_string(),
                    name: name.clone(),
                    known: bundle.intents.iter().map(|one| one.class.name.to_string()).collect(),
                }),
            },
            Intended::Classified if bundle.intents.is_empty() => Ok(None),
            Intended::Classified => {
                let found = classifier.classify(question, &bundle.intent_classes());
                Ok(found.filter(|choice| bundle.intent(&choice.name).is_some()))
            }
        }
    }
}

/// Values for the configuration with those of a class behind them: what is given by hand goes before.
pub fn with_intent(
    bundle: &Bundle,
    choice: Option<&IntentChoice>,
    mut given: BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    let intent = choice.and_then(|choice| bundle.intent(&choice.name));
    for (key, value) in intent.iter().flat_map(|intent| &intent.set) {
        // As LangGraph clients write it.
        if !given.contains_key(&format!("configurable.{key}")) {
            given.entry(key.to_string()).or_insert_with(|| value.clone());
        }
    }
    given
}

#[cfg(test)]
mod tests;
