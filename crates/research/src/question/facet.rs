//! What is asked of a subject.

use super::measure::measure;
use super::tokens::{Token, tokens};
use crate::text::words::{Stems, content_stems, fold, is_number, is_qualifier, is_stop, stem, words};

/// One thing that is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facet {
    /// In the words of the question: `real GDP per capita`, `how large`.
    pub text: String,
    /// Its words.
    pub stems: Stems,
    /// The word that the others describe: `gdp`. None where the facet is no noun ("how large").
    pub head: Option<String>,
    /// Years that it names.
    pub years: Vec<u32>,
    /// What kind of answer is wanted.
    pub asks: Asks,
    /// The words to search for, where they are not those of `text`: `area size` for "how large".
    pub terms: String,
}

/// The kind of answer that a question wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asks {
    /// Any.
    #[default]
    Anything,
    /// A number.
    Number,
    /// A date.
    Date,
    /// A person or organisation.
    Name,
    /// A reason.
    Reason,
    /// A list of things.
    List,
    /// What there is to say of something: "what did the trials show".
    Outcome,
}

impl Facet {
    /// A facet in the words of a question; none where the text says nothing of its own ("the difference between").
    pub fn new(text: &str) -> Option<Facet> {
        let tokens = tokens(text);
        let kept = cleaned(&tokens);
        let text = join(text, &kept);
        // "GDP per capita (PPP)": what stands in parentheses may stand nowhere else.
        let outside = text.split_once(" (").map_or(text.as_str(), |(outside, _)| outside);
        let mut stems = content_stems(outside);
        if stems.is_empty() && fold(&text) == "where" {
            stems.insert(stem("location"));
        }
        let years: Vec<u32> = crate::text::figures::find(&text).iter().filter_map(|f| f.year()).collect();
        // "What happened in 2023" wants whatever is of that year.
        let is_any = !years.is_empty() && stems.iter().all(|stem| LIGHT.contains(&stem.as_str()));
        if is_any {
            stems.clear();
        }
        let asks = asks(&tokens, &kept);
        // "How long was it out of service" is answered by a number, not by the word "long".
        if asks == Asks::Number && stems.len() > 1 {
            stems.retain(|s| !HOW_MUCH.iter().any(|adjective| stem(adjective) == *s));
        }
        let is_question = asks == Asks::Reason && kept.len() > 1;
        if let Some(terms) = measure(&kept) {
            let noun = terms.split(' ').next().map(stem);
            return Some(Facet {
                text,
                stems: noun.iter().cloned().collect(),
                head: noun,
                years,
                asks,
                terms: terms.into(),
            });
        }
        let terms = terms(&kept, &text);
        (!stems.is_empty() || is_question || is_any && kept.len() > 1).then(|| Facet {
            head: head(&kept),
            text,
            stems,
            years,
            asks,
            terms,
        })
    }

    /// A facet whose words stand at both sides of its subject: "when did … gain independence".
    pub fn around(before: &str, after: &str) -> Option<Facet> {
        let bare = |text: &str| join(text, &cleaned(&tokens(text)));
        let text = format!("{} {}", bare(before), bare(after));
        Facet::new(&text)
    }

    /// The same facet for another year, where a text is no more than a year: "in 2023 and 2024".
    pub fn for_year(&self, text: &str) -> Option<Facet> {
        let is_year = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
        let [mine] = self.years.as_slice() else { return None };
        is_year.then(|| Facet::new(&self.text.replace(&mine.to_string(), text))).flatten()
    }

    /// The same facet for the years of another text: "growth, and what was it in 2022?"; none where there are none.
    pub fn in_years_of(&self, text: &str) -> Option<Facet> {
        let years: Vec<String> =
            crate::text::figures::find(text).iter().filter_map(|f| f.year()).map(|y| y.to_string()).collect();
        let is_new = self.years.is_empty() && !years.is_empty();
        is_new.then(|| Facet::new(&format!("{} {}", self.text, years.join(" ")))).flatten()
    }

    /// A facet that ends in its years, without them, and when that is: `population`, `in 1950`.
    pub fn without_years(&self) -> Option<(&str, String)> {
        let first = self.years.first()?.to_string();
        let (what, _) = self.text.split_once(&first)?;
        let what = what.trim_end();
        let span = SPANS.iter().find(|span| what.strip_suffix(**span).is_some_and(|w| w.ends_with(' ')));
        let when = self.text.get(what.len()..)?.trim();
        let last = self.years.last()?.to_string();
        let bare = what.strip_suffix(*span.unwrap_or(&"")).unwrap_or(what).trim_end();
        (!bare.is_empty() && when.ends_with(&last))
            .then(|| (bare, format!("{} {when}", span.unwrap_or(&"in"))))
    }

    /// Whether it asks who did something ("who designed") rather than for a thing.
    pub fn asks_what_is_done(&self) -> bool {
        let rest = self.text.strip_prefix("who ").unwrap_or("");
        words(rest)
            .next()
            .is_some_and(|(_, word)| word.len() > 3 && (word.ends_with("ed") || stem(word) != fold(word)))
            && words(rest).count() == 1
    }

    /// Whether it ends in a name: "exports to China".
    pub fn ends_in_name(&self) -> bool {
        let last = words(&self.text).last().filter(|(at, _)| *at > 0).map_or("", |(_, word)| word);
        last.starts_with(char::is_uppercase) && last.contains(char::is_lowercase)
    }

    /// Whether it is a thing in a few words ("real GDP per capita") rather than a question.
    pub fn is_thing(&self) -> bool {
        let first = words(&self.text).next().map_or_else(String::new, |(_, word)| fold(word));
        self.head.is_some()
            && words(&self.text).count() <= LONGEST_THING
            && !super::tokens::QUESTION_WORDS.contains(&first.as_str())
    }

    /// Whether a year is one that is asked for: one that is named, or one in a span ("since 2020").
    pub fn wants(&self, year: u32) -> bool {
        let says = |word: &str| words(&self.text).any(|(_, w)| fold(w) == word);
        let (first, last) = (self.years.iter().min(), self.years.iter().max());
        self.years.contains(&year)
            || (says("since") || says("after")) && first.is_some_and(|first| year > *first)
            || (says("before") || says("until")) && last.is_some_and(|last| year < *last)
            || self.years.len() > 1
                && (says("between") || says("from"))
                && first.is_some_and(|first| year > *first)
                && last.is_some_and(|last| year < *last)
    }

    /// A whole clause as what is asked, nothing taken away.
    pub fn clause(text: &str) -> Option<Facet> {
        let mut facet = Facet::new(text)?;
        // "What did the trials show" is answered by what is said of the trials.
        if facet.stems.iter().any(|stem| !LIGHT.contains(&stem.as_str())) {
            facet.stems.retain(|stem| !LIGHT.contains(&stem.as_str()));
        }
        Some(Facet { text: text.split_whitespace().collect::<Vec<_>>().join(" "), ..facet })
    }
}

/// Words before a year, or two.
const SPANS: &[&str] = &["in", "between", "since", "before", "until", "after"];

/// The most words of a thing that is asked.
const LONGEST_THING: usize = 5;

/// Stems of verbs with which one asks what there is to say.
const LIGHT: &[&str] =
    &["find", "happen", "learn", "mention", "result", "reveal", "say", "show", "state", "tell"];

/// Words that ask for a comparison or an answer as such, not for a thing.
const EMPTY: &[&str] = &[
    "answer",
    "compare",
    "compared",
    "comparison",
    "contrast",
    "differ",
    "differs",
    "compares",
    "difference",
    "differences",
    "different",
    "information",
    "overview",
    "question",
    "respectively",
    "terms",
    "versus",
    "vs",
];

/// Comparatives: which of two is not what sources say, but what each has.
const COMPARATIVES: &[&str] =
    &["bigger", "fewer", "greater", "higher", "larger", "less", "lower", "more", "most", "smaller"];

/// Whether a word puts two things beside each other: "differ", "larger".
pub(super) fn is_comparing(token: &Token) -> bool {
    let word = token.folded.as_str();
    EMPTY.contains(&word) || COMPARATIVES.contains(&word)
}

/// The tokens of a facet without what only makes it a question.
fn cleaned<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t Token<'a>> {
    let mut rest = tokens;
    // "Which country has the larger population" asks for the population.
    if let [which, _, has, ..] = rest
        && matches!(which.folded.as_str(), "which" | "what")
        && matches!(has.folded.as_str(), "has" | "have" | "had")
    {
        rest = &rest[3..];
    }
    // "Who are its partners" asks for the partners, "where is it" for the place.
    if let [who, verb, _, ..] = rest
        && matches!(who.folded.as_str(), "who" | "where")
        && matches!(
            (who.folded.as_str(), verb.folded.as_str()),
            (_, "are" | "were") | ("where", "is" | "was")
        )
    {
        rest = &rest[2..];
    }
    let is_wh = |t: &Token| matches!(t.folded.as_str(), "how" | "when" | "where" | "why" | "who" | "whose");
    let drops = |t: &Token| {
        EMPTY.contains(&t.folded.as_str())
            || t.is_auxiliary()
            || t.is_determiner()
            || matches!(t.folded.as_str(), "what" | "which" | "it" | "they" | "them" | "there" | "please")
    };
    let mut kept: Vec<&Token> = rest.iter().filter(|t| !drops(t)).collect();
    if kept.iter().any(|t| !COMPARATIVES.contains(&t.folded.as_str()) && !is_stop(t.text)) {
        kept.retain(|t| !COMPARATIVES.contains(&t.folded.as_str()));
    }
    let says = |t: &Token| (!is_stop(t.text) || is_number(t.text)) && !t.is_preposition();
    let opens_span = |kept: &[&Token]| {
        let word = kept.first().map_or("", |t| t.folded.as_str());
        let is_span = word != "in" && SPANS.contains(&word);
        let next = kept.get(1);
        // "exports … TO China", "growth … SINCE 2020".
        is_span && next.is_some_and(|t| is_number(t.text))
            || matches!(word, "to" | "from") && next.is_some_and(|t| t.is_capital())
    };
    let is_empty = |kept: &[&Token]| {
        let first = kept.first();
        first.is_some_and(|t| t.is_imperative() && kept.len() > 1 || (!says(t) && !is_wh(t)))
    };
    while is_empty(&kept) && !opens_span(&kept) {
        kept.remove(0);
    }
    while kept.last().is_some_and(|t| !(says(t) || is_wh(t) && kept.len() == 1)) {
        kept.pop();
    }
    kept
}

/// The words to search for: those that do not only ask.
fn terms(kept: &[&Token], text: &str) -> String {
    let words = kept.iter().filter(|t| !t.is_question_word() && !is_stop(t.text)).map(|t| t.text);
    let terms = words.collect::<Vec<_>>().join(" ");
    match fold(text).as_str() {
        "where" => "location".to_owned(),
        _ if terms.is_empty() => text.to_owned(),
        _ => terms,
    }
}

/// The kept words as they stand in the text, parentheses included; the gaps that were left are one space.
fn join(text: &str, kept: &[&Token]) -> String {
    let mut out = String::new();
    let mut end = None;
    let mut is_open = false;
    for token in kept {
        let gap = end.and_then(|end: usize| text.get(end..token.at)).unwrap_or("");
        let is_tight = !gap.is_empty() && gap.chars().all(|c| matches!(c, '-' | '/' | '.' | '\''));
        if is_open && gap.contains(')') {
            out.push(')');
            is_open = false;
        }
        let opens = !out.is_empty() && token.is_bracketed && gap.trim() == "(";
        out.push_str(match (out.is_empty(), opens) {
            (true, _) => "",
            (false, true) => " (",
            (false, false) if is_tight => gap,
            (false, false) => " ",
        });
        is_open |= opens;
        out.push_str(if token.is_question_word() { &token.folded } else { token.text });
        end = Some(token.end());
    }
    out.push_str(if is_open { ")" } else { "" });
    out
}

/// The last word before a preposition that is no participle.
fn head(kept: &[&Token]) -> Option<String> {
    let kept = match kept {
        [who, rest @ ..] if who.folded == "who" => rest,
        [first, ..] if first.is_question_word() => return None,
        all => all,
    };
    let phrase = kept
        .iter()
        .skip(1)
        .position(|t| t.is_preposition() || t.folded == "per")
        .map_or(kept.len(), |i| i + 1);
    let says = |t: &&&Token| !is_number(t.text) && !is_stop(t.text) && !is_qualifier(&stem(t.text));
    let nouns = kept.get(..phrase)?.iter().rev().filter(says);
    let is_participle = |word: &str| word.len() > 4 && (word.ends_with("ed") || word.ends_with("en"));
    let noun = nouns.clone().find(|t| !is_participle(&t.folded)).or_else(|| nouns.clone().next());
    noun.map(|t| stem(t.text))
}

fn asks(tokens: &[Token], kept: &[&Token]) -> Asks {
    let word = |i: usize| kept.get(i).map_or("", |t| t.folded.as_str());
    let is_how_much = word(0) == "how" && HOW_MUCH.contains(&word(1));
    let is_plural = kept.iter().any(|t| LISTED.contains(&t.folded.as_str()));
    let first = tokens.first().map_or("", |t| t.folded.as_str());
    match word(0) {
        _ if matches!(first, "who" | "whose" | "whom") && !is_plural => Asks::Name,
        _ if is_outcome(tokens) => Asks::Outcome,
        "why" => Asks::Reason,
        "when" => Asks::Date,
        "how" if is_how_much => Asks::Number,
        _ if kept
            .iter()
            .any(|t| matches!(t.folded.as_str(), "cause" | "caused" | "causes" | "reason" | "reasons")) =>
        {
            Asks::Reason
        }
        _ if is_plural => Asks::List,
        _ => Asks::Anything,
    }
}

/// Whether it is "what did … show" or "what was found in …".
fn is_outcome(tokens: &[Token]) -> bool {
    let word = |token: Option<&Token>| token.map_or_else(String::new, |t| t.folded.clone());
    let asks = word(tokens.first()) == "what" && tokens.get(1).is_some_and(Token::is_auxiliary);
    asks && tokens.last().is_some_and(|t| LIGHT.contains(&stem(t.text).as_str()))
}

const HOW_MUCH: &[&str] = &[
    "big",
    "deep",
    "expensive",
    "far",
    "fast",
    "heavy",
    "high",
    "large",
    "long",
    "many",
    "much",
    "old",
    "populous",
    "rich",
    "tall",
    "wide",
];

/// Words that announce a list.
const LISTED: &[&str] = &["main", "major", "top", "principal", "chief", "leading"];

/// Whether a text has any word that carries content.
pub(super) fn says_something(text: &str) -> bool {
    words(text).any(|(_, word)| !is_stop(word))
}
