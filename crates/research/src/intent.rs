//! Which class a question belongs to: by the phrases that the classes name, else by the kind of question.
//!
//! The rules are few, so that a person can foresee them; docs/graphs.md tells them under "Classes of questions". A
//! program with better ones puts its own [`IntentClassifier`] in their place.

mod kind;
mod phrase;
#[cfg(test)]
mod tests;

use deepgraph_protocol::{IntentChoice, IntentClass, QuestionKind};

use self::phrase::{Phrase, tokens};

pub use self::kind::kind_of;
use self::kind::wants_more;

/// The most of a question that is looked at, in characters.
const LONGEST: usize = 20_000;

/// Finds the class of a question.
pub trait IntentClassifier: Send + Sync {
    /// The class that the question belongs to, by its name, and why; none where it belongs to none of them.
    fn classify(&self, question: &str, classes: &[IntentClass]) -> Option<IntentChoice>;
}

/// The classifier that needs no model: phrases first, then the kind of question.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleClassifier;

impl IntentClassifier for RuleClassifier {
    fn classify(&self, question: &str, classes: &[IntentClass]) -> Option<IntentChoice> {
        let question: String = question.chars().take(LONGEST).collect();
        let by_phrase = by_phrase(&question, classes);
        // A phrase of one fact in a question that wants more than one: only the wider kind may decide.
        let is_narrow = |choice: &IntentChoice| {
            classes.iter().any(|class| class.name == choice.name && class.kind == Some(QuestionKind::Narrow))
        };
        if by_phrase.as_ref().is_some_and(is_narrow) && wants_more(&question) {
            return by_kind(&question, classes).filter(|choice| !is_narrow(choice));
        }
        by_phrase.or_else(|| by_kind(&question, classes))
    }
}

/// The class with the phrase of most words that stands in the question; of equals, the first.
fn by_phrase(question: &str, classes: &[IntentClass]) -> Option<IntentChoice> {
    let words = tokens(question);
    let mut best: Option<(usize, &IntentClass, &str)> = None;
    for class in classes {
        for text in &class.when {
            let phrase = Phrase::read(text);
            let is_longer = best.is_none_or(|(length, _, _)| phrase.length() > length);
            if is_longer && phrase.stands_in(&words) {
                best = Some((phrase.length(), class, text));
            }
        }
    }
    let (_, class, text) = best?;
    Some(IntentChoice { name: class.name.clone(), why: format!("the question has the phrase \"{text}\"") })
}

fn by_kind(question: &str, classes: &[IntentClass]) -> Option<IntentChoice> {
    let (kind, why) = kind_of(question)?;
    let class = classes.iter().find(|class| class.kind == Some(kind))?;
    Some(IntentChoice { name: class.name.clone(), why: format!("the question is {kind}: {why}") })
}
