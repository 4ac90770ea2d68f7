//! The kind of a question by its English wording.

use deepgraph_protocol::QuestionKind;

use super::phrase::{Phrase, Token, tokens};

/// The most words of a question that asks for one thing.
const NARROW_AT_MOST: usize = 20;
/// More words than this make a question a broad one.
const BROAD_BEYOND: usize = 40;

/// What says that all there is is wanted.
const EXHAUSTIVE: &[&str] = &[
    "exhaustive",
    "exhaustively",
    "comprehensive list",
    "complete list",
    "full list",
    "list all",
    "list every",
    "find all",
    "find every",
    "all known",
    "all of the",
    "any and all",
    "every single",
    "each and every",
    "without exception",
    "leave nothing out",
    "due diligence",
    "case law",
    "prior art",
    "systematic review",
    "what are all",
    "which of all",
    "who are all",
];

/// What says that several things, or one in all its sides, are asked for.
const BROAD: &[&str] = &[
    "compare",
    "compared",
    "comparison",
    "versus",
    "vs",
    "difference between",
    "differences between",
    "differ",
    "overview",
    "survey",
    "summarise",
    "summarize",
    "explain",
    "describe",
    "discuss",
    "analyse",
    "analyze",
    "analysis",
    "assess",
    "evaluate",
    "why",
    "how does",
    "how do",
    "how did",
    "how has",
    "how have",
    "how could",
    "how should",
    "how can",
    "market overview",
    "market brief",
    "market for",
    "markets",
    "landscape",
    "trend",
    "trends",
    "outlook",
    "history of",
    "state of the art",
    "pros and cons",
    "advantages",
    "disadvantages",
    "strengths",
    "impact of",
    "effect of",
    "effects of",
    "consequences",
    "implications",
    "tell me about",
    "what are the main",
    "each of",
];

/// What says that one thing is asked for.
const NARROW: &[&str] = &[
    "how many",
    "how much",
    "how long",
    "how far",
    "how tall",
    "how high",
    "how deep",
    "how old",
    "how large",
    "how big",
    "how heavy",
    "how fast",
    "how often",
    "when did",
    "when was",
    "when were",
    "when is",
    "when will",
    "who is",
    "who was",
    "who wrote",
    "who founded",
    "who owns",
    "who invented",
    "where is",
    "where was",
    "which year",
    "what year",
    "what date",
    "what day",
    "what time",
    "what is the * population",
    "what is the * capital",
    "what is the * price",
    "what is the * number",
    "what is the * date",
    "what is the * name",
    "what is the * area",
    "what is the * height",
    "what is the * length",
    "what is the * weight",
    "what is the * speed",
    "what is the * range",
    "what is the * capacity",
    "what is the * distance",
    "what is the * age",
    "what is the * size",
    "what is the * cost",
];

/// The kind that a question is of, with what says so; none where nothing does. Signals are looked for in this order:
/// all there is, several things, one thing.
pub fn kind_of(question: &str) -> Option<(QuestionKind, String)> {
    let words = tokens(question);
    if words.is_empty() {
        return None;
    }
    let says = |signals: &[&str]| first(signals, &words).map(|signal| format!("it says \"{signal}\""));
    if let Some(why) = says(EXHAUSTIVE) {
        return Some((QuestionKind::Exhaustive, why));
    }
    if let Some(why) = says(BROAD) {
        return Some((QuestionKind::Broad, why));
    }
    if question.matches(['?', '？']).count() > 1 {
        return Some((QuestionKind::Broad, "it asks more than one thing".to_owned()));
    }
    if words.len() > BROAD_BEYOND {
        return Some((QuestionKind::Broad, format!("it has more than {BROAD_BEYOND} words")));
    }
    let is_short = words.len() <= NARROW_AT_MOST;
    says(NARROW).filter(|_| is_short).map(|why| (QuestionKind::Narrow, why))
}

/// The first of these signals that stands in a question.
fn first<'s>(signals: &[&'s str], words: &[Token]) -> Option<&'s str> {
    signals.iter().copied().find(|signal| Phrase::read(signal).stands_in(words))
}
