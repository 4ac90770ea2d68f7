//! The words of a clause with what the grammar needs to know of each.

use crate::text::figures::month;
use crate::text::words::{fold, is_stop, words};

/// A word of a clause.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    /// As written, without a possessive ending.
    pub text: &'a str,
    /// Lower case, without accents.
    pub folded: String,
    /// First byte in the clause.
    pub at: usize,
    /// Whether a mark that separates (`,` `;` `:` `(` `)` `/`) stands between it and the word before.
    pub is_apart: bool,
    /// Whether that mark is a parenthesis that opens or closes right between the two.
    pub is_bracketed: bool,
    /// Whether that mark is a colon.
    pub after_colon: bool,
    /// Whether it ends in a possessive `'s` or `'`.
    pub is_possessive: bool,
    /// Whether it stands between two things that are compared: "differs FROM THAT of".
    pub is_joint: bool,
}

impl Token<'_> {
    /// The byte after the last.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// Whether it begins with a capital letter and is no month, weekday or function word.
    pub fn is_capital(&self) -> bool {
        // "d'Ivoire" is written as a name too.
        let behind = self.text.split_once(['\'', '’']).map_or("", |(_, behind)| behind);
        (self.text.starts_with(char::is_uppercase) || behind.starts_with(char::is_uppercase))
            && month(self.text).is_none()
            && !WEEKDAYS.contains(&self.folded.as_str())
            && (!is_stop(self.text) || self.text == "US")
    }

    /// Whether it is all capitals, two or more.
    pub fn is_acronym(&self) -> bool {
        let letters = || self.text.chars().filter(|c| c.is_alphabetic());
        letters().count() >= 2 && letters().all(char::is_uppercase)
    }

    /// Whether it joins two things of one kind.
    pub fn is_coordinator(&self) -> bool {
        self.is_joint
            || matches!(self.folded.as_str(), "and" | "or" | "than" | "versus" | "vs" | "plus" | "compared")
    }

    /// Whether something of which a thing is said follows: "population OF Chile".
    pub fn is_preposition(&self) -> bool {
        PREPOSITIONS.contains(&self.folded.as_str())
    }

    /// Whether it asks.
    pub fn is_question_word(&self) -> bool {
        QUESTION_WORDS.contains(&self.folded.as_str())
    }

    /// Whether it is a form of be, do, have or a modal verb.
    pub fn is_auxiliary(&self) -> bool {
        AUXILIARIES.contains(&self.folded.as_str())
    }

    /// Whether it tells the reader what to do: `compare`, `list`.
    pub fn is_imperative(&self) -> bool {
        IMPERATIVES.contains(&self.folded.as_str())
    }

    /// Whether it is an article or the like, before a common noun.
    pub fn is_determiner(&self) -> bool {
        DETERMINERS.contains(&self.folded.as_str())
    }
}

/// The words of a clause.
pub(super) fn tokens(clause: &str) -> Vec<Token<'_>> {
    let mut end = 0;
    let mut found = Vec::new();
    for (at, word) in words(clause) {
        let gap = clause.get(end..at).unwrap_or("");
        end = at + word.len();
        let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        let behind = clause.get(end..).unwrap_or("");
        let plural = word.ends_with('s') && behind.starts_with(['\'', '’']);
        found.push(Token {
            text: bare,
            folded: fold(bare),
            at,
            is_apart: gap.contains([',', ';', ':', '(', ')', '/', '\n', '&', '–', '—', '，', '、']),
            is_bracketed: matches!(gap.trim(), "(" | ")"),
            after_colon: gap.contains(':'),
            is_possessive: bare.len() < word.len() || plural,
            is_joint: false,
        });
    }
    mark_joints(&mut found);
    found
}

/// "differ FROM Peru", "compare Chile TO Peru", "larger THAN THAT of Peru": words that put a second thing beside a
/// first.
fn mark_joints(tokens: &mut [Token]) {
    let mut is_compared = false;
    for i in 0..tokens.len() {
        let word = |at: usize| tokens.get(at).map_or("", |t: &Token| t.folded.as_str());
        let is_link = matches!(word(i), "from" | "with" | "to" | "against");
        let is_other = is_link || tokens[i].is_coordinator();
        let stands_for =
            matches!(word(i + 1), "that" | "those") && matches!(word(i + 2), "of" | "in" | "for");
        if is_other && stands_for {
            tokens[i].is_joint = true;
            tokens[i + 1].is_joint = true;
        } else if is_link && is_compared && i > 1 {
            let is_route = tokens[..i].iter().any(|t| t.folded == "from");
            let is_origin = tokens[0].is_imperative() && word(i) == "from";
            tokens[i].is_joint = !is_route && !is_origin;
        }
        let folded = tokens[i].folded.as_str();
        is_compared |=
            matches!(folded, "compare" | "compares" | "compared" | "differ" | "differs" | "different");
    }
}

const WEEKDAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const PREPOSITIONS: &[&str] = &[
    "of",
    "in",
    "for",
    "at",
    "from",
    "by",
    "about",
    "between",
    "on",
    "to",
    "with",
    "within",
    "across",
    "among",
    "regarding",
    "concerning",
    "de",
    "du",
    "da",
    "do",
    "del",
    "von",
    "für",
    "fur",
    "en",
    "em",
];

pub(super) const QUESTION_WORDS: &[&str] =
    &["who", "what", "when", "where", "why", "how", "which", "whose", "whom"];

const AUXILIARIES: &[&str] = &[
    "is", "are", "was", "were", "be", "been", "do", "does", "did", "has", "have", "had", "can", "could",
    "will", "would", "should", "may", "might", "must",
];

const DETERMINERS: &[&str] =
    &["the", "a", "an", "our", "my", "your", "this", "that", "these", "those", "their", "its"];

const IMPERATIVES: &[&str] = &[
    "analyse",
    "analyze",
    "calculate",
    "compare",
    "contrast",
    "describe",
    "determine",
    "discuss",
    "explain",
    "find",
    "gather",
    "get",
    "give",
    "identify",
    "investigate",
    "list",
    "look",
    "name",
    "outline",
    "provide",
    "report",
    "research",
    "say",
    "show",
    "state",
    "summarise",
    "summarize",
    "tell",
];
