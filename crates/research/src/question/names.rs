//! The names in a clause.

use std::ops::Range;

use super::facet::is_comparing;
use super::tokens::Token;
use crate::text::figures;

/// Lower-case words that stand inside names: `Republic of the Congo`, `Rio de Janeiro`.
const INSIDE: &[&str] = &[
    "of", "the", "de", "da", "do", "dos", "del", "di", "du", "la", "le", "el", "al", "bin", "von", "van",
    "der", "y",
];

/// Runs of words that are written as names, as ranges of tokens.
pub(super) fn names(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !can_start(tokens, at) {
            at += 1;
            continue;
        }
        let end = run_end(tokens, at);
        if is_name(tokens, at..end) {
            found.push(at..end);
        }
        at = end;
    }
    found
}

/// Whether a name may begin here: a capital, and no word that only begins the sentence.
fn can_start(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    let next = tokens.get(at + 1);
    // A month before another name is part of it: "Jan Mayen", "May Island".
    let is_month_name = token.text.starts_with(char::is_uppercase)
        && figures::month(token.text).is_some()
        && next.is_some_and(|t| !t.is_apart && t.is_capital());
    let begins = at == 0 && (token.is_imperative() || token.is_question_word() || token.is_auxiliary());
    (token.is_capital() || is_month_name) && !begins
}

/// The token after a run of capitals; connecting words only between capitals.
fn run_end(tokens: &[Token], start: usize) -> usize {
    let mut end = start + 1;
    while !tokens[end - 1].is_possessive {
        let mut next = end;
        while tokens.get(next).is_some_and(|t| !t.is_apart && INSIDE.contains(&t.folded.as_str())) {
            next += 1;
        }
        // "GDP of Chile" and "Population of Chile" are a thing and its owner, not one name.
        let owns = next > end && (tokens[end - 1].is_acronym() || (start == 0 && end == 1));
        // "Congo (Brazzaville)" is one name.
        let goes_on = tokens.get(next).is_some_and(|t| (!t.is_apart || t.is_bracketed) && t.is_capital());
        if owns || !goes_on {
            break;
        }
        end = next + 1;
    }
    end
}

fn is_name(tokens: &[Token], run: Range<usize>) -> bool {
    let is_lone_acronyms = tokens[run.clone()].iter().all(Token::is_acronym);
    if is_lone_acronyms {
        return is_owner(tokens, &run) || stands_alone(tokens, &run);
    }
    run.start > 0 || run.len() > 1 || is_owner(tokens, &run) || stands_alone(tokens, &run)
}

/// Whether it stands behind a preposition or has something: `of the USA`, `NASA's`.
fn is_owner(tokens: &[Token], run: &Range<usize>) -> bool {
    let before = tokens[..run.start].iter().rev().find(|t| !t.is_determiner());
    tokens[run.end - 1].is_possessive || before.is_some_and(Token::is_preposition)
}

/// Whether nothing but marks, coordinators or a command stands at either side of it.
fn stands_alone(tokens: &[Token], run: &Range<usize>) -> bool {
    let first = &tokens[run.start];
    let before = tokens[..run.start].iter().rposition(|t| !t.is_determiner());
    let behind_mark = before.map_or(0, |i| i + 1);
    let opens = run.start == 0
        || first.is_apart
        || tokens[behind_mark].is_apart
        || before.is_none_or(|i| {
            let is_do = matches!(tokens[i].folded.as_str(), "do" | "does" | "did");
            tokens[i].is_coordinator() || tokens[i].is_imperative() || is_do
        });
    let closes = tokens
        .get(run.end)
        .is_none_or(|t| t.is_apart || t.is_coordinator() || t.is_preposition() || is_comparing(t));
    let is_head = run.start == 0 && tokens.get(run.end).is_some_and(|t| !t.is_apart && t.is_preposition());
    opens && closes && !is_head
}
