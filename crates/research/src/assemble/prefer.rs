//! Of lines that are the same but for one figure, the one from the later source (S8).

use super::{Line, split_title};
use crate::handoff::Sources;
use crate::staleness::{Claim, is_later, told_apart};
use crate::text::figures;
use crate::text::statements::label_end;

/// The lines without those that a later one of the section supersedes; the later one says so. Both are the same text but for one
/// figure: whatever differs more stands beside it.
pub(super) fn later(lines: Vec<Line>, sources: &Sources) -> Vec<Line> {
    let all = Dated { dates: lines.iter().map(|line| date(line, sources)).collect(), lines: &lines, sources };
    if all.dates.iter().flatten().all(|date| Some(*date) == all.dates.iter().flatten().next().copied()) {
        return lines;
    }
    let mut by: Vec<Option<usize>> = (0..lines.len()).map(|old| all.latest_over(old)).collect();
    // A line that goes itself can not say what an earlier one said.
    let goes: Vec<bool> = by.iter().map(Option::is_some).collect();
    by.iter_mut().for_each(|new| *new = new.filter(|new| !goes.get(*new).copied().unwrap_or(true)));
    let mut notes: Vec<Option<(String, Vec<String>)>> = vec![None; lines.len()];
    for (old, new) in by.iter().enumerate().filter_map(|(old, new)| Some((old, (*new)?))) {
        // One earlier source is told, the first.
        if let Some(slot @ None) = notes.get_mut(new) {
            *slot = all.note(old, new);
        }
    }
    let kept = lines.into_iter().zip(by).zip(notes).filter(|((_, by), _)| by.is_none());
    kept.map(|((line, _), note)| match note {
        None => line,
        Some((earlier, ids)) => with_note(line, earlier, ids),
    })
    .collect()
}

fn with_note(mut line: Line, earlier: String, ids: Vec<String>) -> Line {
    for id in ids {
        if !line.ids.contains(&id) {
            line.ids.push(id);
        }
    }
    Line { earlier: Some(earlier), ..line }
}

/// The lines with their dates.
struct Dated<'s> {
    lines: &'s [Line],
    dates: Vec<Option<&'s str>>,
    sources: &'s Sources,
}

impl Dated<'_> {
    /// The latest line that supersedes one, if it can be told.
    fn latest_over(&self, old: usize) -> Option<usize> {
        let rivals = (0..self.lines.len()).filter(|new| self.supersedes(*new, old));
        let latest = rivals.reduce(|best, next| if self.is_later(next, best) { next } else { best })?;
        // Where two of one date give other figures in the same words, neither can be told from the other.
        let is_double = |one: usize, other: usize| {
            one != other
                && !self.is_later(one, other)
                && !self.is_later(other, one)
                && self.claim(one).zip(self.claim(other)).is_some_and(|(one, other)| one.is_double(&other))
        };
        let has_double = |one: usize| (0..self.lines.len()).any(|other| is_double(one, other));
        (!has_double(old) && !has_double(latest)).then_some(latest)
    }

    fn supersedes(&self, new: usize, old: usize) -> bool {
        let section = |at: usize| self.lines.get(at).map(|line| line.section);
        new != old
            && section(new) == section(old)
            && self.is_later(new, old)
            && self.is_text_the_same(new, old)
            && self
                .claim(new)
                .zip(self.claim(old))
                .is_some_and(|(new, old)| old.superseded_by(&new).is_some())
    }

    /// Whether two lines are the same to the letter where their figures do not stand.
    fn is_text_the_same(&self, a: usize, b: usize) -> bool {
        let bare = |at: usize| self.lines.get(at).map(|line| without_figures(&line.text));
        bare(a) == bare(b)
    }

    fn is_later(&self, new: usize, old: usize) -> bool {
        match (self.dates.get(new), self.dates.get(old)) {
            (Some(Some(new)), Some(Some(old))) => is_later(new, old),
            _ => false,
        }
    }

    fn claim(&self, at: usize) -> Option<Claim> {
        let line = self.lines.get(at)?;
        let (head, rest) = split_title(&line.text);
        if !head.is_empty() {
            let (label, value) = rest.split_at(label_end(rest).unwrap_or(0));
            return Some(Claim::of(head, "", &[label], value));
        }
        // What a sentence is about may stand in the titles of its sources alone.
        let titles =
            line.ids.iter().filter_map(|id| self.sources.get(id)).map(|source| source.title.as_str());
        Some(Claim::of(&titles.collect::<Vec<_>>().join("\n"), "", &[], &line.text))
    }

    /// What an earlier line said, for the one that stands, with the ids of its sources.
    fn note(&self, old: usize, new: usize) -> Option<(String, Vec<String>)> {
        let (line, kept) = (self.lines.get(old)?, self.lines.get(new)?);
        let (earlier, later) = told_apart(self.dates.get(old).copied()??, self.dates.get(new).copied()??);
        let said = other_figures(&line.text, &kept.text);
        Some((format!("{later}; an earlier source, of {earlier}, said {said}"), line.ids.clone()))
    }
}

/// A text with a mark for each figure.
fn without_figures(text: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for figure in figures::find(text) {
        out.push_str(text.get(at..figure.at).unwrap_or(""));
        out.push('\0');
        at = figure.end();
    }
    out + text.get(at..).unwrap_or("")
}

/// The earliest date of a line's sources: all of them say it.
fn date<'s>(line: &Line, sources: &'s Sources) -> Option<&'s str> {
    let dates = line.ids.iter().map(|id| sources.get(id).and_then(|source| source.date.as_deref()));
    dates.reduce(|best, next| match (best, next) {
        (Some(best), Some(next)) => Some(if is_later(best, next) { next } else { best }),
        _ => None,
    })?
}

/// The figures of an earlier line that the later one has not, as they are written: amounts, or where there are none, dates.
fn other_figures(earlier: &str, later: &str) -> String {
    let known: Vec<String> = figures::find(later).iter().map(figures::Figure::canonical).collect();
    let found = figures::find(earlier);
    let other = || found.iter().filter(|figure| !known.contains(&figure.canonical()));
    let is_amount = |figure: &&figures::Figure| {
        matches!(figure.amount, figures::Amount::Number(..)) && figure.year().is_none()
    };
    let amounts: Vec<_> = other().filter(is_amount).collect();
    let told = if amounts.is_empty() { other().collect() } else { amounts };
    told.into_iter().filter_map(|figure| earlier.get(figure.at..figure.end())).collect::<Vec<_>>().join(", ")
}
