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

/// What says that one thing is asked for: at the beginning, and all that a question of its kind needs.
const NARROW: &[&str] = &[
    "how many",
    "how long is",
    "how long was",
    "how far is",
    "how tall",
    "how high is",
    "how high was",
    "how deep is",
    "how old is",
    "how old was",
    "how large is",
    "how big is",
    "how heavy is",
    "how fast is",
    "how much did",
    "how much does",
    "how much is",
    "how much was",
    "when did",
    "when was",
    "when were",
    "who was",
    "who is",
    "who wrote",
    "who founded",
    "who invented",
    "who owns",
    "where was",
    "where is",
    "which year",
    "in which year",
    "what year",
    "in what year",
    "on what date",
    "on what day",
];

/// What one figure, date or name is of: `what is the population of …`, `population of …`.
const MEASURES: &[&str] = &[
    "age",
    "altitude",
    "area",
    "birthday",
    "capacity",
    "capital",
    "currency",
    "date",
    "depth",
    "diameter",
    "distance",
    "elevation",
    "height",
    "length",
    "name",
    "number",
    "population",
    "price",
    "range",
    "speed",
    "weight",
    "width",
];

/// What asks for a measure, before it.
const ASKING: &[&str] = &[
    "",
    "what is",
    "what was",
    "what's",
    "whats",
    "what is the",
    "what was the",
    "what's the",
    "whats the",
    "the",
    "what are the",
    "what were the",
];

/// Words that qualify a measure.
const QUALIFIERS: &[&str] = &[
    "average", "current", "exact", "first", "full", "latest", "list", "max", "maximum", "mean", "min",
    "minimum", "official", "original", "real", "top", "total",
];

/// What follows a measure.
const OF: &[&str] = &["between", "for", "from", "in", "of", "on", "to"];

/// Words that make a question more than one for a fact, whatever it begins with: it weighs, foresees, asks for a rule or
/// for the reasons.
const NOT_NARROW: &[&str] = &[
    "affect",
    "affects",
    "and",
    "argument",
    "arguments",
    "because",
    "best",
    "better",
    "between the size",
    "case for",
    "cause",
    "caused",
    "causes",
    "change",
    "changes",
    "could",
    "depend",
    "depends",
    "effect",
    "evidence",
    "heading",
    "help",
    "if",
    "impact",
    "influence",
    "law",
    "liable",
    "liability",
    "matter",
    "matters",
    "mean",
    "means",
    "or",
    "relationship",
    "responsible",
    "risk",
    "risks",
    "role",
    "should",
    "size of government",
    "under",
    "void",
    "whether",
    "why",
    "would",
    "worth",
];

/// Verbs with which `how much does` asks for a figure.
const COSTING: &[&str] = &["cost", "costs", "earn", "hold", "measure", "pay", "produce", "sell", "weigh"];

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
    narrow(&words).map(|why| (QuestionKind::Narrow, format!("it says \"{why}\"")))
}

/// Words of other languages that say that a question wants more than one fact, whatever phrase stands in it.
const MORE: &[&str] = &[
    "vergleiche",
    "vergleichen",
    "vergleich",
    "warum",
    "weshalb",
    "wieso",
    "erklare",
    "erklaren",
    "begrunde",
    "beschreibe",
    "ubersicht",
    "uberblick",
    "auswirkungen",
    "compare",
    "comparez",
    "comparer",
    "comparaison",
    "pourquoi",
    "expliquez",
    "explique",
    "expliquer",
    "apercu",
    "consequences",
    "por que",
    "compara",
    "comparar",
    "explica",
    "explicar",
    "describe",
    "perche",
    "confronta",
    "spiega",
    "confrontare",
    "比较",
    "为什么",
    "解释",
    "説明",
    "なぜ",
    "比較",
    "почему",
    "сравни",
    "сравните",
    "объясни",
    "объясните",
];

/// Whether a question wants more than one fact, in any language that this knows words of.
pub(super) fn wants_more(question: &str) -> bool {
    let words = tokens(question);
    first(MORE, &words).is_some()
        || words.len() > BROAD_BEYOND
        || kind_of(question).is_some_and(|(kind, _)| kind != QuestionKind::Narrow)
}

/// What makes a question surely one for a single fact. A question that is not sure has no kind: one fact ends research
/// after two steps.
fn narrow(words: &[Token]) -> Option<String> {
    if words.len() > NARROW_AT_MOST || first(NOT_NARROW, words).is_some() {
        return None;
    }
    let begins = |signal: &&&str| words.starts_with(&tokens(signal));
    match NARROW.iter().find(begins) {
        Some(signal) if is_of_one(signal, words) => Some((*signal).to_owned()),
        Some(_) => None,
        None => measure(words),
    }
}

/// Whether what follows the beginning of a question is one thing.
fn is_of_one(signal: &str, words: &[Token]) -> bool {
    let rest = words.get(tokens(signal).len()..).unwrap_or_default();
    let has = |list: &[&str]| rest.iter().any(|word| list.contains(&word.as_str()));
    match signal {
        "how much did" | "how much does" => has(COSTING),
        "how much is" | "how much was" => rest.len() <= 5,
        // "Who is the owner", not "who is winning the race for …": a name or an office.
        "who is" | "who was" | "where is" | "where was" => {
            rest.len() <= 8 && !rest.iter().any(|word| word.len() > 4 && word.ends_with("ing"))
        }
        _ => true,
    }
}

/// "What is the maximum range of", "Population of": a measure with at most two words before it, and something that has it.
fn measure(words: &[Token]) -> Option<String> {
    let at = words.iter().position(|word| MEASURES.contains(&word.as_str()))?;
    let of = words.get(at + 1).filter(|word| OF.contains(&word.as_str()))?;
    let before = words.get(..at)?;
    let known = before.iter().rev().take(2).take_while(|word| QUALIFIERS.contains(&word.as_str())).count();
    let asking = before.get(..before.len() - known)?;
    let is_asked = ASKING.iter().any(|asked| tokens(asked) == asking);
    (is_asked && words.len() > at + 2).then(|| format!("{} {of}", words.get(at).map_or("", String::as_str)))
}

/// The first of these signals that stands in a question.
fn first<'s>(signals: &[&'s str], words: &[Token]) -> Option<&'s str> {
    signals.iter().copied().find(|signal| Phrase::read(signal).stands_in(words))
}
