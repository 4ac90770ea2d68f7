//! A question as clauses, each of which can be understood by itself.

use super::facet::{Facet, is_comparing};
use super::tokens::{Token, tokens};
use super::{Part, Subject, grammar};
use crate::select::is_acronym;
use crate::text::blocks::{BlockKind, blocks};
use crate::text::sentences::split;

/// What people write before the question itself.
const POLITE: &[&str] = &[
    "please",
    "can you",
    "could you",
    "would you",
    "i want to know",
    "i would like to know",
    "i'd like to know",
    "i need to know",
    "i wonder",
    "do you know",
    "tell me about",
    "tell me",
    "let me know",
    "find out",
    "and",
    "what about",
    "how about",
];

/// How sentences begin that say how to answer, not what to find out.
const ABOUT_FORM: &[&str] = &[
    "answer", "avoid", "cite", "dear", "do", "don't", "format", "hello", "hey", "hi", "keep", "present",
    "reply", "respond", "return", "use", "write",
];

/// The longest clause, in words, that is taken to go on about the subjects before it.
const ELLIPTIC: usize = 8;

/// The parts of all clauses, in order.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let mut reader = Reader::default();
    for block in blocks(text).into_iter().filter(|b| b.kind != BlockKind::RowRule) {
        let is_item = block.kind == BlockKind::Item;
        for sentence in split(text, block.range) {
            for clause in clauses(&text[sentence]) {
                reader.read(clause, is_item);
            }
        }
    }
    reader.finish()
}

/// Cuts a sentence before "and who", "and explain" and the like.
pub(super) fn clauses(sentence: &str) -> Vec<&str> {
    let tokens = tokens(sentence);
    let mut cuts = vec![0];
    let colon = tokens.iter().position(|t| t.after_colon);
    for (i, token) in tokens.iter().enumerate().skip(1) {
        let before = &tokens[i - 1];
        // "Brazil: how large; who governs" is a list of what is asked of Brazil.
        let gap = sentence.get(before.end()..token.at).unwrap_or("");
        if gap.contains(';') && colon.is_some_and(|colon| colon < i) {
            continue;
        }
        let joins = before.is_coordinator() || token.is_apart && !token.after_colon;
        let opens = token.is_question_word() || token.is_imperative() && before.folded == "and";
        let asks_on = token.is_auxiliary() && before.folded == "and";
        if joins && (opens || asks_on) && i > 1 {
            cuts.push(if before.is_coordinator() { before.at } else { token.at });
        }
    }
    cuts.push(sentence.len());
    cuts.windows(2).filter_map(|w| sentence.get(w[0]..w[1])).map(bare).filter(|c| !c.is_empty()).collect()
}

/// A clause without the marks at its ends and polite words before it.
fn bare(clause: &str) -> &str {
    let mut rest = clause.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '?' | '!' | '.' | ',' | ';' | '¿' | '¡' | '"' | '。' | '？')
    });
    loop {
        let folded = rest.to_lowercase();
        let starts = |p: &&&str| {
            folded.strip_prefix(**p).is_some_and(|r| r.starts_with(|c: char| !c.is_alphanumeric()))
        };
        match POLITE.iter().find(starts).and_then(|p| rest.get(p.len()..)) {
            Some(shorter) => {
                rest = shorter.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ':'))
            }
            None => return rest,
        }
    }
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    parts: Vec<Part>,
    /// The subjects of the last clause that named some.
    subjects: Vec<Subject>,
    /// The last thing that a clause without subject was about: "the outage in March".
    topic: String,
    /// Facets of "Give population and area for:", until the items come.
    pending: Vec<Facet>,
    /// Sentences about the form of the answer or the asker, kept in case there is nothing else.
    aside: Vec<Part>,
}

impl Reader {
    fn read(&mut self, clause: &str, is_item: bool) {
        let opens_list = clause.ends_with(':');
        let clause = clause.trim_end_matches(':');
        let mut found = grammar::parts(clause);
        if self.asks_by_acronym(&found, opens_list) {
            found = found.into_iter().flat_map(as_facets).collect();
        }
        let has_subject = found.iter().any(|p| p.subject.is_some());
        if is_aside(clause) {
            self.aside.extend(found);
        } else if is_item && !self.pending.is_empty() {
            self.read_item(clause, found);
        } else if opens_list && starts_with_for(clause) {
            self.subjects = grammar::subjects(clause);
        } else if has_subject {
            self.subjects = found.iter().filter_map(|p| p.subject.clone()).collect();
            let facets = self.parts.last().map(|p| p.facets.clone()).unwrap_or_default();
            // "How does it compare with Peru?" asks the same of Peru.
            if compares_it(clause) && found.iter().all(|p| p.facets.is_empty()) {
                found.iter_mut().for_each(|p| p.facets.clone_from(&facets));
            }
            self.parts.extend(found);
        } else if opens_list {
            self.pending = found.into_iter().flat_map(|p| p.facets).collect();
        } else if !self.subjects.is_empty() && self.goes_on(clause, is_item) {
            let mut facets: Vec<Facet> =
                found.iter().flat_map(|p| &p.facets).filter_map(|f| Facet::new(&f.text)).collect();
            if facets.is_empty() {
                let before = self.parts.last().and_then(|p| p.facets.last());
                facets.extend(before.and_then(|f| f.in_years_of(clause)));
            }
            self.parts.extend(
                self.subjects.iter().map(|s| Part { subject: Some(s.clone()), facets: facets.clone() }),
            );
        } else {
            self.read_unnamed(clause, found);
        }
    }

    /// Whether what looks like names is what is asked: "Give GDP and area for:", "Chile's area? And the GDP?".
    fn asks_by_acronym(&self, found: &[Part], opens_list: bool) -> bool {
        let is_acronym = |p: &Part| p.subject.as_ref().is_some_and(|s| is_acronym(&s.text));
        let named = || found.iter().filter(|p| p.subject.is_some());
        let goes_on = self.subjects.iter().any(|s| !is_acronym_text(s))
            && self.pending.is_empty()
            && found.iter().all(|p| p.facets.is_empty());
        named().count() > 0 && named().all(is_acronym) && (opens_list || goes_on)
    }

    /// An item of the list that "… for:" announced.
    fn read_item(&mut self, clause: &str, found: Vec<Part>) {
        let facets = &self.pending;
        let named: Vec<Subject> = found.into_iter().filter_map(|p| p.subject).collect();
        let words = tokens(clause);
        let name = words.iter().find(|t| !t.is_determiner()).and_then(|t| clause.get(t.at..));
        let subjects = match name {
            Some(name) if words.len() <= LONGEST_ITEM && named.len() < 2 => {
                vec![Subject::new(name, name.contains(char::is_uppercase))]
            }
            _ => named,
        };
        self.parts.extend(subjects.iter().map(|s| Part { subject: Some(s.clone()), facets: facets.clone() }));
        self.subjects = subjects;
    }

    /// A clause that names nothing and has nothing named before it; "it" becomes what the clause before spoke of.
    fn read_unnamed(&mut self, clause: &str, found: Vec<Part>) {
        let tokens = tokens(clause);
        match tokens.iter().find(|t| is_pronoun(t)) {
            Some(pronoun) if !self.topic.is_empty() => {
                let (before, after) = (&clause[..pronoun.at], &clause[pronoun.end()..]);
                self.parts.extend(grammar::parts(&format!("{before}{}{after}", self.topic)));
            }
            _ => {
                self.topic = topic(clause, &tokens);
                self.parts.extend(found);
            }
        }
    }

    /// Whether a clause without subject is about the subjects named before: it says "its", or is short.
    fn goes_on(&self, clause: &str, is_item: bool) -> bool {
        let tokens = tokens(clause);
        is_item || tokens.len() <= ELLIPTIC || tokens.iter().any(|t| is_pronoun(t) || t.folded == "each")
    }

    fn finish(mut self) -> Vec<Part> {
        let announced = self.pending.into_iter().map(|facet| Part { subject: None, facets: vec![facet] });
        if self.parts.is_empty() {
            self.parts.extend(announced);
        }
        if self.parts.is_empty() {
            let named = self.subjects.into_iter().map(|s| Part { subject: Some(s), facets: Vec::new() });
            self.parts.extend(named);
        }
        if self.parts.is_empty() { self.aside } else { self.parts }
    }
}

/// Whether it puts something beside what the clause before was about.
fn compares_it(clause: &str) -> bool {
    let tokens = tokens(clause);
    tokens.iter().any(is_pronoun) && tokens.iter().any(is_comparing)
}

/// The longest item of a list that is taken for a name, in words.
const LONGEST_ITEM: usize = 6;

fn is_acronym_text(subject: &Subject) -> bool {
    is_acronym(&subject.text)
}

/// A part as what is asked.
fn as_facets(part: Part) -> Vec<Part> {
    let own = part.subject.and_then(|s| Facet::new(&s.text));
    own.into_iter().chain(part.facets).map(|f| Part { subject: None, facets: vec![f] }).collect()
}

fn starts_with_for(clause: &str) -> bool {
    tokens(clause).first().is_some_and(|t| matches!(t.folded.as_str(), "for" | "of" | "about"))
}

fn is_pronoun(token: &Token) -> bool {
    matches!(
        token.folded.as_str(),
        "it" | "its" | "they" | "their" | "them" | "he" | "she" | "his" | "her" | "him"
    )
}

/// Whether a clause tells how to answer, or about the person who asks.
fn is_aside(clause: &str) -> bool {
    let tokens = tokens(clause);
    let first = tokens.first().map_or("", |t| t.folded.as_str());
    let commands = tokens.windows(2).any(|w| w[0].folded == "to" && w[1].is_imperative());
    let asks = commands || tokens.iter().any(Token::is_question_word);
    ABOUT_FORM.contains(&first) && tokens.get(1).is_none_or(|t| t.folded != "we" && t.folded != "you")
        || (matches!(first, "i" | "i'm" | "we") && !asks)
}

/// From the first article on, or the clause's last words: what "it" means in the clause after.
fn topic(clause: &str, tokens: &[Token]) -> String {
    let article = tokens.iter().find(|t| t.is_determiner());
    let last_verb =
        tokens.iter().rposition(|t| t.is_question_word() || t.is_auxiliary()).map_or(0, |i| i + 1);
    let start = article.or_else(|| tokens.get(last_verb)).map_or(0, |t| t.at);
    clause.get(start..).unwrap_or("").to_owned()
}
