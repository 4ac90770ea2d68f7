//! Questions for a measure in an adjective: "how large", "which is larger".

use super::tokens::Token;

/// Adjectives of measure with the nouns that documents use for them. General English only.
const MEASURES: &[(&[&str], &str)] = &[
    (
        &["large", "larger", "largest", "big", "bigger", "biggest", "small", "smaller", "smallest"],
        "area size",
    ),
    (&["tall", "taller", "tallest", "high", "higher", "highest"], "height elevation"),
    (&["old", "older", "oldest", "young", "younger", "youngest"], "age"),
    (&["long", "longer", "longest", "short", "shorter", "shortest"], "length duration"),
    (&["deep", "deeper", "deepest"], "depth"),
    (&["wide", "wider", "widest"], "width"),
    (&["heavy", "heavier", "heaviest"], "weight"),
    (&["fast", "faster", "fastest", "slow", "slower", "slowest"], "speed"),
    (&["hot", "hotter", "hottest", "cold", "colder", "coldest", "warm"], "temperature climate"),
    (&["expensive", "cheap", "cheaper", "cheapest"], "price cost"),
    (&["populous", "populated"], "population"),
];

/// The nouns for a facet that is nothing but a measure: "how large", "larger".
pub(super) fn measure(kept: &[&Token]) -> Option<&'static str> {
    let word = match kept {
        [word] => word,
        [how, word] if how.folded == "how" => word,
        [how, many, people, ..]
            if how.folded == "how" && many.folded == "many" && people.folded == "people" =>
        {
            return Some("population");
        }
        _ => return None,
    };
    MEASURES
        .iter()
        .find(|(adjectives, _)| adjectives.contains(&word.folded.as_str()))
        .map(|(_, nouns)| *nouns)
}
