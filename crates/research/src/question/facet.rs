//! What is asked of a subject.

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
}

impl Facet {
    /// A facet in the words of a question; none where the text says nothing of its own ("the difference between").
    pub fn new(text: &str) -> Option<Facet> {
        let tokens = tokens(text);
        let kept = cleaned(&tokens);
        let text = join(text, &kept);
        let mut stems = content_stems(&text);
        if stems.is_empty() && fold(&text) == "where" {
            stems.insert(stem("location"));
        }
        let years = crate::text::figures::find(&text).iter().filter_map(|f| f.year()).collect();
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
        (!stems.is_empty() || is_question).then(|| Facet {
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
        Facet::new(&format!("{} {}", bare(before), bare(after)))
    }

    /// The same facet for another year, where a text is no more than a year: "in 2023 and 2024".
    pub fn for_year(&self, text: &str) -> Option<Facet> {
        let is_year = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
        let [mine] = self.years.as_slice() else { return None };
        is_year.then(|| Facet::new(&self.text.replace(&mine.to_string(), text))).flatten()
    }

    /// A whole clause as what is asked, nothing taken away.
    pub fn clause(text: &str) -> Option<Facet> {
        let facet = Facet::new(text)?;
        Some(Facet { text: text.split_whitespace().collect::<Vec<_>>().join(" "), ..facet })
    }
}

/// Words that ask for a comparison or an answer as such, not for a thing.
const EMPTY: &[&str] = &[
    "answer",
    "compare",
    "compared",
    "comparison",
    "contrast",
    "differ",
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
    while kept.first().is_some_and(|t| t.is_imperative() && kept.len() > 1 || (!says(t) && !is_wh(t))) {
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

/// The kept words as they stand in the text; the gaps that were left are one space.
fn join(text: &str, kept: &[&Token]) -> String {
    let mut out = String::new();
    let mut end = None;
    for token in kept {
        let gap = end.and_then(|end: usize| text.get(end..token.at)).unwrap_or("");
        let is_tight = !gap.is_empty() && gap.chars().all(|c| matches!(c, '-' | '/' | '.' | '\''));
        out.push_str(if out.is_empty() {
            ""
        } else if is_tight {
            gap
        } else {
            " "
        });
        out.push_str(if token.is_question_word() { &token.folded } else { token.text });
        end = Some(token.end());
    }
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
fn measure(kept: &[&Token]) -> Option<&'static str> {
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

/// Words that announce a list.
const LISTED: &[&str] = &["main", "major", "top", "principal", "chief", "leading"];

/// Whether a text has any word that carries content.
pub(super) fn says_something(text: &str) -> bool {
    words(text).any(|(_, word)| !is_stop(word))
}
