//! What the words around a name make of it: a capital may begin what is asked, and a common noun may belong to the
//! name.

use std::ops::Range;

use super::facet::{Facet, is_comparing};
use super::grammar::{cut, slice};
use super::tokens::Token;
use crate::text::words::{is_number, is_stop, stem};

/// The most common nouns behind a name.
const MOST_NOUNS: usize = 3;

/// Words that lead from the things compared to what they are compared in.
const IN_WHICH: &[&str] = &["on", "by", "in", "for", "regarding", "concerning"];

/// Leaves out capitals that are no subjects: "Coastline and capital of France", "area and GDP of France", "Chile's
/// area, GDP and capital".
pub(super) fn without_facets(tokens: &[Token], mut names: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let is_of = |name: &Range<usize>| {
        tokens[name.clone()].iter().all(Token::is_acronym)
            && tokens.get(name.end).is_some_and(|t| !t.is_apart && t.folded == "of")
    };
    // "the GDP of the Heron tower" asks for the GDP.
    if names.iter().any(|name| !is_of(name)) {
        names.retain(|name| !is_of(name));
    }
    let pieces = cut(tokens, &names);
    let in_piece = |piece: &Range<usize>| -> Vec<&Range<usize>> {
        names.iter().filter(|n| piece.start <= n.start && n.end <= piece.end).collect()
    };
    let owner =
        pieces.iter().position(|piece| in_piece(piece).first().is_some_and(|n| asks_of(tokens, piece, n)));
    let mut facets: Vec<Range<usize>> = Vec::new();
    let mut after_facet = false;
    let mut is_named = false;
    for (i, piece) in pieces.iter().enumerate() {
        let inside = in_piece(piece);
        let bare = inside.first().filter(|n| is_bare(tokens, piece, n));
        let Some(name) = bare else {
            let lists = inside.first().is_some_and(|n| lists_facets(tokens, piece, n));
            after_facet = inside.is_empty() || lists;
            is_named |= !inside.is_empty();
            continue;
        };
        let is_acronym = tokens[(*name).clone()].iter().all(Token::is_acronym);
        let opens =
            owner.is_some_and(|owner| i < owner) && (name.start == 0 && name.len() == 1 || is_acronym);
        let goes_on = is_named && after_facet && (is_acronym || leads_into(tokens, &pieces[..i]));
        let before = name.start.checked_sub(1).map_or("", |at| tokens[at].folded.as_str());
        let is_owned = is_named && matches!(before, "its" | "their" | "his" | "her");
        if opens || goes_on || is_owned {
            facets.push((*name).clone());
        } else {
            is_named = true;
            after_facet = false;
        }
    }
    // A clause that would name nothing else is about what it names.
    if facets.len() == names.len() {
        return names;
    }
    names.into_iter().filter(|name| !facets.contains(name)).collect()
}

/// Whether a name is all of its piece, articles and commands before it aside.
fn is_bare(tokens: &[Token], piece: &Range<usize>, name: &Range<usize>) -> bool {
    let is_frame = |t: &Token| t.is_determiner() || t.is_imperative();
    name.end == piece.end && tokens[piece.start..name.start].iter().all(is_frame)
}

/// Whether something is asked of a name before it: "capital OF France".
fn asks_of(tokens: &[Token], piece: &Range<usize>, name: &Range<usize>) -> bool {
    let before = &tokens[piece.start..name.start];
    let link = before.iter().rposition(|t| !t.is_determiner()).filter(|i| before[*i].is_preposition());
    link.is_some_and(|link| before[..link].iter().any(|t| !is_stop(t.text) && !t.is_imperative()))
}

/// Whether what stands behind a name in its piece is asked of it: "Peru on area", "Chile's area".
fn lists_facets(tokens: &[Token], piece: &Range<usize>, name: &Range<usize>) -> bool {
    let behind = &tokens[name.end..piece.end];
    behind.iter().any(|t| !is_stop(t.text) && !is_number(t.text))
}

/// Whether "on", "by" or the like opened the list that the last of some pieces belongs to.
fn leads_into(tokens: &[Token], pieces: &[Range<usize>]) -> bool {
    pieces.iter().any(|piece| {
        let words = &tokens[piece.clone()];
        let at = words.iter().rposition(|t| IN_WHICH.contains(&t.folded.as_str()) && t.folded != "in");
        at.is_some_and(|at| at > 0 && words[at - 1].is_capital() && words.len() > at + 1)
    })
}

/// Lengthens names by the common nouns that belong to them: "the Heron TOWER and the Egret TOWER on height". Only
/// where something else is asked: "the Chile population" asks for the population.
pub(super) fn with_nouns(clause: &str, tokens: &[Token], names: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let longer = longer(tokens, &names);
    if asks_else(clause, tokens, &longer) { longer } else { names }
}

/// Names with the common nouns behind them, whatever is asked.
pub(super) fn longer(tokens: &[Token], names: &[Range<usize>]) -> Vec<Range<usize>> {
    let lengths: Vec<usize> = names.iter().map(|name| nouns(tokens, name)).collect();
    let text = |i: usize| -> String {
        tokens[names[i].end..].iter().take(lengths[i]).map(|t| stem(t.text)).collect()
    };
    let mut has_article = false;
    let mut longer: Vec<Range<usize>> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let between = i.checked_sub(1).and_then(|before| tokens.get(names[before].end..name.start));
        let follows = between.is_some_and(|b| b.iter().all(|t| t.is_coordinator() || t.is_determiner()));
        let before = name.start.checked_sub(1).map_or("", |at| tokens[at].folded.as_str());
        let ends = name.end + lengths[i] == tokens.len();
        has_article =
            matches!(before, "the" | "our" | "this") || before == "of" && ends || has_article && follows;
        let repeated = (0..names.len()).any(|other| other != i && lengths[i] > 0 && text(other) == text(i));
        let len = if has_article || repeated { lengths[i] } else { 0 };
        longer.push(name.start..name.end + len);
    }
    longer.extend(unwritten(tokens, names, &longer));
    longer.sort_by_key(|name| name.start);
    longer
}

/// What stands in a list of such names without a capital: "the Heron tower and the old water tower".
fn unwritten(tokens: &[Token], names: &[Range<usize>], longer: &[Range<usize>]) -> Vec<Range<usize>> {
    let nouns: Vec<String> = names
        .iter()
        .zip(longer)
        .filter(|(name, longer)| longer.end > name.end)
        .map(|(_, longer)| stem(tokens[longer.end - 1].text))
        .collect();
    let pieces = cut(tokens, longer);
    let unnamed = pieces
        .into_iter()
        .filter(|piece| !longer.iter().any(|n| piece.start <= n.start && n.end <= piece.end));
    let thing = |piece: Range<usize>| {
        let words = &tokens[piece.clone()];
        let noun = words.iter().position(|t| nouns.contains(&stem(t.text)))?;
        let is_thing = words.first()?.is_determiner()
            && noun > 1
            && words[1..noun].iter().all(|t| !is_stop(t.text) && !t.is_auxiliary());
        is_thing.then_some(piece.start + 1..piece.start + noun + 1)
    };
    unnamed.filter_map(thing).collect()
}

/// How many common nouns stand right behind a name, up to a preposition, a verb or the end.
fn nouns(tokens: &[Token], name: &Range<usize>) -> usize {
    if tokens[name.end - 1].is_possessive {
        return 0;
    }
    let is_noun = |t: &&Token| {
        t.text.starts_with(char::is_lowercase)
            && !t.is_apart
            && !t.is_preposition()
            && !t.is_auxiliary()
            && !t.is_coordinator()
            && !t.is_question_word()
            && !is_comparing(t)
            && !is_stop(t.text)
    };
    let len = tokens[name.end..].iter().take_while(is_noun).count();
    let last = tokens.get(name.end + len.saturating_sub(1)).map_or("", |t| t.folded.as_str());
    let is_asked = tokens[..name.start].iter().any(|t| matches!(t.folded.as_str(), "do" | "does" | "did"));
    let is_participle = last.ends_with("ed") || last.ends_with("en");
    // "did the Heron tower COST", "was the Heron tower OPENED": the verb is asked.
    let len = if is_asked || is_participle { len.saturating_sub(1) } else { len };
    if len > MOST_NOUNS { 0 } else { len }
}

/// Whether anything is asked beside the names.
fn asks_else(clause: &str, tokens: &[Token], names: &[Range<usize>]) -> bool {
    let mut start = 0;
    for name in names {
        if start < name.start && Facet::new(slice(clause, &tokens[start..name.start])).is_some() {
            return true;
        }
        start = name.end;
    }
    tokens.get(start..).is_some_and(|rest| Facet::new(slice(clause, rest)).is_some())
}
