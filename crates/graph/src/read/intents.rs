//! `intents`: classes of questions, each with the values that the configuration has for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{IntentClass, QuestionKind, Value};

use super::Reader;
use super::declare::{Decls, Named, named};
use super::fields::boolean_help;
use super::keys::Keys;
use crate::diagnostic::{code, misfit};
use crate::nearest::{self, shortened};
use crate::source::{Key, Kind, Node, Place};
use crate::{Intent, vocabulary};

/// What no class may be called: the command line says by it that there is none.
const NONE: &str = "none";

/// What the classes before have taken.
#[derive(Default)]
struct TakenSoFar {
    /// Phrases as they are compared, with their class.
    phrases: BTreeMap<String, Arc<str>>,
    kinds: BTreeMap<QuestionKind, Arc<str>>,
}

impl Reader<'_> {
    /// The classes of the first file. Those of the others hold where they are run themselves.
    pub(crate) fn intents(&mut self, decls: &Decls<'_>) -> Vec<Intent> {
        let mut intents = Vec::new();
        for root in decls.graphs.iter().filter(|g| g.parent.is_none()).rev() {
            self.enter(decls.files, root.file);
            let mut taken = TakenSoFar::default();
            let classes = named(self, root.node, "intents", "an intent");
            intents = classes.into_iter().map(|one| self.intent(one, decls, &mut taken)).collect();
        }
        intents
    }

    fn intent(&mut self, class: Named<'_>, decls: &Decls<'_>, taken: &mut TakenSoFar) -> Intent {
        let Named { key, node } = class;
        let what = format!("intent \"{}\"", shortened(&key.name));
        if &*key.name == NONE {
            self.error(code::RESERVED, key.place, "no intent can be called \"none\"")
                .help("`--intent none` says that a question is of no class");
        }
        let mut class = IntentClass { name: key.name.clone(), ..IntentClass::default() };
        if !self.check_keys(node, Keys::of(&what, &vocabulary::INTENT)) {
            return Intent { class, set: BTreeMap::new() };
        }
        class.description = self.description(node);
        class.when = self.phrases(node, &key.name, taken);
        class.kind = self.question_kind(node, &key.name, taken);
        let set = self.intent_values(node, key, decls);
        Intent { class, set }
    }

    fn phrases(&mut self, node: &Node, class: &Arc<str>, taken: &mut TakenSoFar) -> Vec<Arc<str>> {
        let Some(list) = node.get("when") else { return Vec::new() };
        let Kind::List(items) = &list.kind else {
            let message = format!("`when` must be a list of phrases, is {}", list.kind_name());
            self.error(code::WRONG_KIND, list.place, message)
                .hint(list.text().map(|t| format!("write [{}]", shortened(t))));
            return Vec::new();
        };
        let mut phrases = Vec::new();
        for item in items {
            let Some(phrase) = self.plain_text(item, "a phrase") else { continue };
            if !phrase.chars().any(char::is_alphanumeric) {
                self.error(code::BAD_VALUE, item.place, "a phrase without a word fits every question").help(
                    "write words that stand in such questions; * stands for at most two words between them",
                );
                continue;
            }
            let compared = phrase.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            match taken.phrases.get(&compared) {
                Some(other) => {
                    let other = other.clone();
                    self.phrase_taken(&phrase, &other, item.place);
                }
                None => {
                    taken.phrases.insert(compared, class.clone());
                    phrases.push(phrase);
                }
            }
        }
        phrases
    }

    fn phrase_taken(&mut self, phrase: &str, other: &str, at: Place) {
        let message =
            format!("the phrase \"{}\" stands in the intent \"{other}\" already", shortened(phrase));
        self.error(code::TAKEN, at, message).help("a phrase decides for one class");
    }

    fn question_kind(
        &mut self,
        node: &Node,
        class: &Arc<str>,
        taken: &mut TakenSoFar,
    ) -> Option<QuestionKind> {
        let node = node.get("kind")?;
        let name = self.plain_text(node, "`kind`")?;
        let names = || QuestionKind::ALL.iter().map(|(name, _)| *name);
        let Some(kind) = QuestionKind::parse(&name) else {
            let message = format!("`kind` is one of {}", nearest::listed(names()));
            self.error(code::BAD_VALUE, node.place, message).hint(nearest::hint(&name, names()));
            return None;
        };
        if let Some(other) = taken.kinds.get(&kind) {
            let message = format!("{kind} questions belong to the intent \"{other}\" already");
            self.error(code::TAKEN, node.place, message).help("a kind decides for one class");
            return None;
        }
        taken.kinds.insert(kind, class.clone());
        Some(kind)
    }

    /// The values that the class sets.
    fn intent_values(&mut self, node: &Node, of: &Key, decls: &Decls<'_>) -> BTreeMap<Arc<str>, Value> {
        let mut values = BTreeMap::new();
        let Some(set) = node.get("set") else { return values };
        if !self.mapping(set, "`set`") {
            return values;
        }
        for (key, value) in set.entries() {
            let Some(field) = decls.config.get(&key.name) else {
                self.no_key_to_set(key, of, decls);
                continue;
            };
            match field.check(&value.to_value()) {
                Ok(value) => {
                    values.insert(key.name.clone(), value);
                }
                Err(mismatch) => {
                    let message = format!("the config key \"{}\" {mismatch}", key.name);
                    let help = boolean_help(value, &field.ty);
                    let code = misfit(&value.to_value(), field, code::MISMATCH);
                    self.error(code, value.place, message).hint(help);
                }
            }
        }
        self.check_set(set, &values);
        values
    }

    fn no_key_to_set(&mut self, key: &Key, of: &Key, decls: &Decls<'_>) {
        let lost = || decls.graphs.iter().flat_map(|graph| graph.config_lost.iter());
        if lost().any(|lost| *lost == key.name) {
            return;
        }
        let name = shortened(&key.name);
        let message =
            format!("the intent \"{}\" sets \"{name}\", which is no config key", shortened(&of.name));
        let help = nearest::hint(&key.name, decls.config.keys().chain(lost()).map(|key| &**key));
        self.error(code::UNKNOWN_CONFIG, key.place, message).hint(help);
    }

    /// What settings can not have a value: a key may be declared wider than what reads it.
    fn check_set(&mut self, set: &Node, values: &BTreeMap<Arc<str>, Value>) {
        let misfits: Vec<(Place, String)> = set
            .entries()
            .iter()
            .filter_map(|(key, node)| {
                let value = values.get(&key.name)?;
                let uses = self.config_uses.iter().filter(|of| of.key == key.name);
                let mismatch = uses.filter_map(|of| of.mismatch(value)).next()?;
                Some((node.place, mismatch.to_string()))
            })
            .collect();
        for (place, message) in misfits {
            self.error(code::MISMATCH, place, message);
        }
    }
}
