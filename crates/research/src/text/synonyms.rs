//! A small stock of words that mean the same in questions and in documents. General English only.

use std::sync::LazyLock;

use super::words::{Stems, stem};

/// Groups of words, one group a line; a word may stand in several.
const GROUPS: &[&[&str]] = &[
    &["large", "big", "size", "area"],
    &["tall", "taller", "high", "higher", "height", "elevation"],
    &["old", "older", "age"],
    &["long", "length", "duration"],
    &["deep", "depth"],
    &["wide", "width"],
    &["heavy", "weight"],
    &["fast", "speed"],
    &["hot", "cold", "temperature", "climate"],
    &["weather", "climate"],
    &["cost", "price", "expensive", "cheap", "cheaper", "cheapest"],
    &["pay", "salary", "wage", "price"],
    &["people", "inhabitants", "population", "populous", "residents"],
    &["speak", "language", "languages"],
    &["border", "borders", "neighbour", "neighbor", "bordering", "neighbouring", "neighboring"],
    &["religion", "religious", "faith"],
    &["money", "currency"],
    &["cause", "caused", "reason", "root", "trigger", "due", "why"],
    &["fix", "fixed", "resolve", "resolved", "repair", "repaired", "restore", "restored", "solve", "remedy"],
    &["begin", "start", "started", "launch", "launched", "founded", "established"],
    &["end", "ended", "finish", "finished", "stop", "stopped", "close", "closed"],
    &["buy", "purchase", "acquire", "acquired"],
    &["sell", "sale", "sales"],
    &["make", "produce", "produced", "product", "products"],
    &["leader", "lead", "leads", "head", "chief"],
    &["outage", "downtime", "incident", "down"],
    &["trade", "trading", "exports", "imports"],
    &["jobless", "unemployed", "unemployment"],
    &["located", "location", "where"],
    &["decide", "decided", "decision", "agree", "agreed", "choose", "approve", "approved", "resolved"],
    &["choose", "choice", "select", "selected", "pick", "picked"],
    &["car", "cars", "vehicle", "vehicles"],
    &["spending", "expenditure", "expenditures", "expense", "expenses"],
];

/// The stems that mean the same as this one, without itself, in no particular sense of the word.
pub fn synonyms(of: &str) -> Stems {
    static STEMS: LazyLock<Vec<Stems>> =
        LazyLock::new(|| GROUPS.iter().map(|group| group.iter().map(|word| stem(word)).collect()).collect());
    let mut found: Stems = STEMS.iter().filter(|group| group.contains(of)).flatten().cloned().collect();
    found.remove(of);
    found
}

/// Other words for one, in the order of the stock.
pub fn other_words(of: &str) -> Vec<&'static str> {
    let asked = stem(of);
    let groups = GROUPS.iter().filter(|group| group.iter().any(|word| stem(word) == asked));
    groups.flat_map(|group| group.iter().copied()).filter(|word| stem(word) != asked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_hold_both_ways() {
        assert!(synonyms(&stem("large")).contains(&stem("area")));
        assert!(synonyms(&stem("area")).contains(&stem("large")));
        assert!(synonyms("zebra").is_empty());
    }
}
