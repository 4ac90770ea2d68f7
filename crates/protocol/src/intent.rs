//! Classes of questions: what a graph tells apart to set its configuration by.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What kind of answer a question wants, as far as its wording says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// One fact: how many, when, who.
    Narrow,
    /// An overview, a comparison, an explanation.
    Broad,
    /// All there is, none left out.
    Exhaustive,
}

/// A class of questions, as a classifier is shown it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentClass {
    /// Its name.
    pub name: Arc<str>,
    /// What belongs to it, in words.
    pub description: Arc<str>,
    /// Phrases of which one at least stands in its questions; `*` stands for at most two words.
    pub when: Vec<Arc<str>>,
    /// The kind of question that belongs to it where no phrase of any class decides.
    pub kind: Option<QuestionKind>,
}

/// The class that a question was found to be of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentChoice {
    /// The name of the class.
    pub name: Arc<str>,
    /// Why, for people.
    pub why: String,
}

impl QuestionKind {
    /// All kinds, with their names in a graph file.
    pub const ALL: [(&'static str, QuestionKind); 3] = [
        ("narrow", QuestionKind::Narrow),
        ("broad", QuestionKind::Broad),
        ("exhaustive", QuestionKind::Exhaustive),
    ];

    /// The kind of a name.
    pub fn parse(name: &str) -> Option<QuestionKind> {
        QuestionKind::ALL.iter().find(|(n, _)| *n == name).map(|(_, kind)| *kind)
    }

    /// The name in a graph file.
    pub fn name(self) -> &'static str {
        QuestionKind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(n, _)| n)
    }
}

impl fmt::Display for QuestionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
