//! One clause: which words name subjects and which say what is asked of them.
//!
//! A clause is cut at commas and coordinators. Each piece holds a subject, facets, or both; a new group begins where
//! facets with a subject of their own follow a subject that has some: "population of Chile and area of Peru".

use std::ops::Range;

use super::facet::{Facet, is_comparing, says_something};
use super::names::names;
use super::roles;
use super::tokens::{Token, tokens};
use super::{Part, Subject};
use crate::text::words::{is_number, is_stop};

/// Labels before a colon that are no subjects.
const LABELS: &[&str] = &["brief", "goal", "objective", "question", "request", "research", "task", "topic"];

/// The longest text before a colon that is taken for subjects, in words.
const LONGEST_SUBJECTS: usize = 16;

/// The parts of one clause; without any where it says nothing. Those without subject hold one facet each.
pub(super) fn parts(clause: &str) -> Vec<Part> {
    let tokens = tokens(clause);
    if let Some(at) = tokens.iter().position(|t| t.after_colon).filter(|at| *at <= LONGEST_SUBJECTS) {
        let right = &tokens[at];
        let is_label = at == 1 && LABELS.contains(&tokens[0].folded.as_str());
        // "Brazil: how large" is a subject with a facet, "Please note: how large is Brazil" a question.
        let asks = right.is_question_word() && tokens[at..].iter().any(Token::is_auxiliary);
        if is_label || asks || right.is_imperative() {
            return parts(&clause[right.at..]);
        }
        if let Some(found) = asked_of_list(clause, &tokens, at) {
            return found;
        }
        return labelled(clause, &tokens, at);
    }
    // "How do Chile and Peru differ in area" asks for the area.
    if let [how, verb, first, ..] = tokens.as_slice()
        && how.folded == "how"
        && matches!(verb.folded.as_str(), "do" | "does" | "did" | "is" | "are")
        && tokens.iter().any(|t| matches!(t.folded.as_str(), "differ" | "compare" | "different"))
    {
        return parts(&clause[first.at..]);
    }
    let pieces = pieces(clause, &tokens);
    if pieces.iter().any(|p| p.name.is_some()) {
        grouped(clause, &tokens, &pieces)
    } else {
        unnamed(clause, &tokens, &pieces)
    }
}

/// The subjects of "for Chile and Peru".
pub(super) fn subjects(clause: &str) -> Vec<Subject> {
    let tokens = tokens(clause);
    subjects_before(clause, &tokens, tokens.len())
}

fn subjects_before(clause: &str, tokens: &[Token], end: usize) -> Vec<Subject> {
    let joined: Vec<Range<usize>> = names(&tokens[..end]).into_iter().chain(inverted(tokens)).collect();
    cut(&tokens[..end], &joined)
        .into_iter()
        .map(|piece| trim_command(tokens, piece))
        .filter(|piece| !piece.is_empty())
        .map(|piece| subject(clause, &tokens[piece], true))
        .collect()
}

/// `Chile and Peru: population; area`.
fn labelled(clause: &str, tokens: &[Token], colon: usize) -> Vec<Part> {
    let left = subjects_before(clause, tokens, colon);
    let right = tokens.get(colon..).unwrap_or_default();
    let facets: Vec<Facet> =
        cut(right, &[]).into_iter().filter_map(|piece| Facet::new(slice(clause, &right[piece]))).collect();
    left.into_iter().map(|subject| Part { subject: Some(subject), facets: facets.clone() }).collect()
}

/// "Which is larger by area: Monaco or Malta?": what is asked stands before the colon, the names behind it.
fn asked_of_list(clause: &str, tokens: &[Token], colon: usize) -> Option<Vec<Part>> {
    let (left, right) = tokens.split_at_checked(colon)?;
    let opens = left.iter().any(|t| t.is_question_word() || t.is_auxiliary() || t.is_imperative());
    let listed = roles::longer(right, &names(right));
    let is_list = cut(right, &listed).iter().all(|piece| {
        let name = listed.iter().find(|n| piece.start <= n.start && n.end == piece.end);
        name.is_some_and(|n| right[piece.start..n.start].iter().all(Token::is_determiner))
    });
    let is_what = names(left).into_iter().all(|name| left[name].iter().all(Token::is_acronym));
    if !opens || !is_list || !is_what {
        return None;
    }
    let facets: Vec<Facet> =
        cut(left, &[]).into_iter().filter_map(|piece| Facet::new(slice(clause, &left[piece]))).collect();
    let subjects = listed.into_iter().map(|name| subject(clause, &right[name], true));
    Some(subjects.map(|subject| Part { subject: Some(subject), facets: facets.clone() }).collect())
}

/// A piece without the command or question that the clause begins with.
fn trim_command(tokens: &[Token], piece: Range<usize>) -> Range<usize> {
    let is_frame = |t: &Token| {
        t.is_imperative()
            || t.is_determiner()
            || t.is_question_word()
            || t.is_auxiliary()
            || t.is_preposition()
    };
    let skipped = tokens[piece.clone()].iter().take_while(|t| is_frame(t)).count();
    piece.start + skipped..piece.end
}

/// A stretch between commas and coordinators.
struct Piece {
    range: Range<usize>,
    /// The subject in it, and whether it is written as a name.
    name: Option<(Range<usize>, bool)>,
}

/// The pieces of a clause, each with its subject. Where no name is written, subjects are what follows "of".
fn pieces(clause: &str, tokens: &[Token]) -> Vec<Piece> {
    let mut names = names(tokens);
    let inverted = inverted(tokens);
    for name in &mut names {
        if let Some(longer) = inverted.iter().find(|i| i.start < name.end && name.start < i.end) {
            *name = name.start.min(longer.start)..longer.end.max(name.end);
        }
    }
    names.dedup_by(|later, earlier| {
        let is_same = later.start < earlier.end;
        earlier.end = if is_same { earlier.end.max(later.end) } else { earlier.end };
        is_same
    });
    names = roles::without_facets(tokens, names);
    names = roles::with_nouns(clause, tokens, names);
    let is_named = !names.is_empty();
    let joined: Vec<Range<usize>> = names.iter().chain(&inverted).cloned().collect();
    let mut found: Vec<Piece> = Vec::new();
    for range in cut(tokens, &joined) {
        let name = if is_named {
            primary(tokens, &names, &range).map(|name| (name, true))
        } else {
            let after_subject =
                found.last().is_some_and(|p| p.name.as_ref().is_some_and(|(n, _)| n.end == p.range.end));
            unwritten(tokens, &range, after_subject).map(|name| (name, false))
        };
        found.push(Piece { range, name });
    }
    if !is_named && found.iter().all(|p| p.name.is_none()) {
        compared(tokens, &mut found);
    }
    found
}

/// Cuts at commas and coordinators, not inside the given ranges; empty pieces are left out.
pub(super) fn cut(tokens: &[Token], joined: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (i, token) in tokens.iter().enumerate() {
        let is_inside = joined.iter().any(|r| r.start < i && i < r.end);
        if !is_inside && token.is_coordinator() && !is_span(tokens, i) {
            found.push(start..i);
            start = i + 1;
        } else if !is_inside && token.is_apart && !token.is_bracketed {
            found.push(start..i);
            start = i;
        }
    }
    found.push(start..tokens.len());
    found.retain(|r| r.start < r.end);
    found
}

/// Whether it stands between two years: "between 2010 and 2020".
fn is_span(tokens: &[Token], at: usize) -> bool {
    let number = |at: Option<usize>| at.and_then(|i| tokens.get(i)).is_some_and(|t| is_number(t.text));
    let opens = at.checked_sub(2).and_then(|i| tokens.get(i)).is_some_and(|t| t.folded == "between");
    opens && number(at.checked_sub(1)) && number(Some(at + 1))
}

/// Names with their first part behind a comma: `Korea, South`, `Congo, Republic of the`.
fn inverted(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for i in 1..tokens.len() {
        if !tokens[i].is_apart || !tokens[i - 1].text.starts_with(char::is_uppercase) {
            continue;
        }
        let rest = &tokens[i..];
        let len = 1 + rest
            .iter()
            .skip(1)
            .take_while(|t| !t.is_apart && !t.is_coordinator() && !t.is_possessive)
            .count();
        let last = rest[len - 1].folded.as_str();
        let is_side = len == 1 && SIDES.contains(&last) && rest[0].text.starts_with(char::is_uppercase);
        let is_rank = len >= 2 && rest[0].is_capital() && matches!(last, "of" | "the");
        if is_side || is_rank {
            found.push(i - 1..i + len);
        }
    }
    found
}

const SIDES: &[&str] =
    &["north", "south", "east", "west", "northern", "southern", "eastern", "western", "the"];

/// The name that a piece is about: one with "of" before it, one that has something, else the first.
fn primary(tokens: &[Token], names: &[Range<usize>], piece: &Range<usize>) -> Option<Range<usize>> {
    let inside = || names.iter().filter(|n| piece.start <= n.start && n.end <= piece.end);
    let before = |n: &Range<usize>| tokens[piece.start..n.start].iter().rev().find(|t| !t.is_determiner());
    let has_of =
        |n: &&Range<usize>| before(n).is_some_and(|t| matches!(t.folded.as_str(), "of" | "de" | "von"));
    let owns = |n: &&Range<usize>| tokens[n.end - 1].is_possessive;
    inside().find(has_of).or_else(|| inside().find(owns)).or_else(|| inside().next()).cloned()
}

/// The subject of a piece in which nothing is written as a name: what follows "of", "in" or "for" without an
/// article, or "how large is"; behind a piece that ended in its subject, a short piece is one more.
fn unwritten(tokens: &[Token], piece: &Range<usize>, after_subject: bool) -> Option<Range<usize>> {
    let words = &tokens[piece.clone()];
    let phrase = |start: usize| {
        let len = words[start..]
            .iter()
            .take_while(|t| {
                let is_when = matches!(t.folded.as_str(), "since" | "before" | "until" | "after");
                !t.is_preposition() && !t.is_auxiliary() && !is_number(t.text) && !is_when
            })
            .count();
        let first = words.get(start)?;
        let is_plain = len > 0 && !first.is_determiner() && says_something(first.text) && is_thing(first);
        is_plain.then_some(piece.start + start..piece.start + start + len)
    };
    for prepositions in [&["of", "de", "von"][..], &["in", "for", "about", "at"][..]] {
        let at = words.iter().position(|t| prepositions.contains(&t.folded.as_str())).filter(|at| *at > 0);
        let after_article =
            |at: usize| at + 1 + usize::from(words.get(at + 1).is_some_and(Token::is_determiner));
        if let Some(found) = at.and_then(|at| phrase(after_article(at))) {
            return Some(found);
        }
    }
    if let [wh, verb, ..] = words
        && wh.is_question_word()
        && verb.is_auxiliary()
    {
        // "did uruguay become": one word, since the next may be the verb; "is maria lopez": all.
        let is_full = matches!(verb.folded.as_str(), "is" | "are" | "was" | "were");
        let found = phrase(2).filter(|_| words.get(2).is_some_and(|t| !is_stop(t.text)));
        if let Some(found) = found {
            return Some(if is_full { found } else { found.start..found.start + 1 });
        }
    }
    if let [how, _, verb, ..] = words
        && how.folded == "how"
        && verb.is_auxiliary()
        && words.len() > 3
    {
        return phrase(3);
    }
    let is_short = words.len() <= 3 && words.iter().all(|t| !t.is_preposition() && !t.is_determiner());
    (after_subject && is_short).then_some(piece.clone())
}

/// Whether a word may name a thing: no number, no month.
fn is_thing(token: &Token) -> bool {
    token.text.starts_with(char::is_alphabetic) && crate::text::figures::month(token.text).is_none()
}

/// "compare uruguay, chile and paraguay on population": what is compared is the subjects.
fn compared(tokens: &[Token], pieces: &mut [Piece]) {
    let is_frame = |t: &Token| {
        matches!(t.folded.as_str(), "compare" | "contrast" | "versus" | "vs" | "between" | "differ")
    };
    if pieces.len() < 2 || !tokens.iter().any(is_frame) {
        return;
    }
    for piece in pieces {
        let start = trim_command(tokens, piece.range.clone()).start;
        let words = &tokens[start..piece.range.end];
        let is_aspect = |t: &Token| t.is_preposition() || t.folded == "differ" || t.folded == "compare";
        let len = words.iter().take_while(|t| !is_aspect(t)).count();
        if len > 0 {
            piece.name = Some((start..start + len, false));
        }
        if len < words.len() {
            break;
        }
    }
}

/// Subjects and the facets asked of all of them.
#[derive(Default)]
struct Group {
    subjects: Vec<Subject>,
    facets: Vec<Facet>,
}

fn grouped(clause: &str, tokens: &[Token], pieces: &[Piece]) -> Vec<Part> {
    let mut done: Vec<Group> = Vec::new();
    let mut group = Group::default();
    let mut pending: Vec<Facet> = Vec::new();
    for piece in pieces {
        let Some((name, is_name)) = &piece.name else {
            let text = slice(clause, &tokens[piece.range.clone()]);
            let year = group.facets.last().or(pending.last()).and_then(|facet| facet.for_year(text));
            pending.extend(year.or_else(|| Facet::new(text)));
            continue;
        };
        let before = slice(clause, &tokens[piece.range.start..name.start]);
        let behind = &tokens[name.end..piece.range.end];
        // "the area of Chile and Peru larger than": what is larger was said before.
        let is_told = !group.facets.is_empty() && behind.iter().all(is_comparing);
        let after = if is_told { "" } else { slice(clause, behind) };
        let facet = Facet::around(before, after);
        let leads = Facet::new(before).is_some();
        let is_new = !group.subjects.is_empty() && facet.is_some() && (leads || !group.facets.is_empty());
        if is_new {
            if !leads {
                group.facets.append(&mut pending);
            }
            done.push(std::mem::take(&mut group));
        }
        group.facets.append(&mut pending);
        group.facets.extend(facet);
        group.subjects.push(subject(clause, &tokens[name.clone()], *is_name));
    }
    group.facets.append(&mut pending);
    done.push(group);
    done.into_iter().flat_map(Group::parts).collect()
}

impl Group {
    fn parts(self) -> Vec<Part> {
        let facets = self.facets;
        self.subjects.into_iter().map(|s| Part { subject: Some(s), facets: facets.clone() }).collect()
    }
}

/// A clause without subject: a list of short things is one part each, anything else is asked as it stands.
fn unnamed(clause: &str, tokens: &[Token], pieces: &[Piece]) -> Vec<Part> {
    let is_list =
        tokens.first().is_none_or(|t| t.is_imperative() || t.folded == "what" || !t.is_question_word());
    let is_short = |p: &Piece| p.range.len() <= 6;
    let facets: Vec<Facet> = if pieces.len() > 1 && is_list && pieces.iter().all(is_short) {
        pieces.iter().filter_map(|p| Facet::new(slice(clause, &tokens[p.range.clone()]))).collect()
    } else {
        Facet::clause(clause).into_iter().collect()
    };
    facets.into_iter().map(|facet| Part { subject: None, facets: vec![facet] }).collect()
}

/// The text from the first token to the last.
pub(super) fn slice<'a>(clause: &'a str, tokens: &[Token]) -> &'a str {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => clause.get(first.at..last.end()).unwrap_or(""),
        _ => "",
    }
}

fn subject(clause: &str, tokens: &[Token], is_name: bool) -> Subject {
    let mut text = slice(clause, tokens).split_whitespace().collect::<Vec<_>>().join(" ");
    if text.contains('(') && !text.contains(')') {
        text.push(')');
    }
    Subject::new(&text, is_name && tokens.iter().any(|t| t.text.starts_with(|c: char| !c.is_lowercase())))
}
