//! Classes of questions with their configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{IntentClass, Value};

use super::Bundle;

/// A class of questions, and what the configuration is for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    /// The class, as a classifier is shown it.
    pub class: IntentClass,
    /// Values of config keys, checked against their declarations. What a user says goes before them.
    pub set: BTreeMap<Arc<str>, Value>,
}

impl Bundle {
    /// The class of questions of a name.
    pub fn intent(&self, name: &str) -> Option<&Intent> {
        self.intents.iter().find(|intent| &*intent.class.name == name)
    }

    /// The classes of questions, as a classifier is shown them.
    pub fn intent_classes(&self) -> Vec<IntentClass> {
        self.intents.iter().map(|intent| intent.class.clone()).collect()
    }
}
