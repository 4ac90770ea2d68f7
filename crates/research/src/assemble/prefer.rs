//! Of lines that say the same of other figures, the one from the later source (S8).

use super::{Line, split_title};
use crate::handoff::Sources;
use crate::staleness::{Claim, is_later, told_apart};
use crate::text::figures;

/// The lines without those that a later one of the section supersedes; the later one says so.
pub(super) fn later(lines: Vec<Line>, sources: &Sources) -> Vec<Line> {
    let dates: Vec<Option<&str>> = lines.iter().map(|line| date(line, sources)).collect();
    if dates.iter().flatten().all(|date| Some(*date) == dates.iter().flatten().next().copied()) {
        return lines;
    }
    let claims: Vec<Claim> = lines.iter().map(claim).collect();
    // Of each line, the latest that supersedes it.
    let mut by: Vec<Option<usize>> = vec![None; lines.len()];
    for (old, slot) in by.iter_mut().enumerate() {
        let rivals = (0..lines.len()).filter(|new| supersedes(*new, old, &lines, &dates, &claims));
        *slot = rivals.reduce(|best, next| match (dates.get(next), dates.get(best)) {
            (Some(Some(next_date)), Some(Some(best_date))) if is_later(next_date, best_date) => next,
            _ => best,
        });
    }
    let mut notes: Vec<Option<(String, Vec<String>)>> = vec![None; lines.len()];
    for (old, new) in by.iter().enumerate().filter_map(|(old, new)| Some((old, (*new)?))) {
        let (Some(line), Some(kept), Some(slot)) = (lines.get(old), lines.get(new), notes.get_mut(new))
        else {
            continue;
        };
        // One earlier source is told, the first.
        if let (None, Some(Some(earlier)), Some(Some(later))) = (&slot, dates.get(old), dates.get(new)) {
            let (earlier, later) = told_apart(earlier, later);
            let said = other_figures(&line.text, &kept.text);
            *slot =
                Some((format!("{later}; an earlier source, of {earlier}, said {said}"), line.ids.clone()));
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

fn supersedes(new: usize, old: usize, lines: &[Line], dates: &[Option<&str>], claims: &[Claim]) -> bool {
    let section = |at: usize| lines.get(at).map(|line| line.section);
    let is_after = match (dates.get(new), dates.get(old)) {
        (Some(Some(new)), Some(Some(old))) => is_later(new, old),
        _ => false,
    };
    let rivals = || claims.get(new).zip(claims.get(old)).is_some_and(|(new, old)| old.is_rival(new));
    new != old && section(new) == section(old) && is_after && rivals()
}

/// The earliest date of a line's sources: all of them say it.
fn date<'s>(line: &Line, sources: &'s Sources) -> Option<&'s str> {
    let dates = line.ids.iter().map(|id| sources.get(id).and_then(|source| source.date.as_deref()));
    dates.reduce(|best, next| match (best, next) {
        (Some(best), Some(next)) => Some(if is_later(best, next) { next } else { best }),
        _ => None,
    })?
}

fn claim(line: &Line) -> Claim {
    let (title, rest) = split_title(&line.text);
    if title.is_empty() { Claim::of_prose("", &line.text) } else { Claim::of_record(title, rest) }
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
