//! A difference as people read it.

use std::collections::BTreeMap;
use std::fmt;

use super::words::regions;
use super::{Change, Kind, Place, TraceDiff};

/// Lines that are shown unless all are asked for.
const MOST_LINES: usize = 60;
/// Characters of a line that are shown.
const WIDTH: usize = 150;
/// Characters around a region that differs.
const AROUND: usize = 40;
/// Regions of a line, and lines of a step, that are shown.
const MOST_REGIONS: usize = 3;
const MOST_OF_A_STEP: usize = 8;

/// `-` is before, `+` is after. At most about 60 lines, unless the alternate form (`{:#}`) asks for all.
impl fmt::Display for TraceDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.first() else { return write!(f, "no difference") };
        writeln!(f, "first divergence: {}", first.name())?;
        let most = if f.alternate() { usize::MAX } else { MOST_LINES };
        let hidden = write_places(f, &self.places, most, f.alternate())?;
        if hidden > 0 {
            write!(f, "\n… {hidden} more {}", if hidden == 1 { "place" } else { "places" })?;
        }
        if let Some(summary) = summary(&self.follows) {
            write!(
                f,
                "\nand {summary} that {} from it",
                if count(&self.follows) == 1 { "follows" } else { "follow" }
            )?;
            if f.alternate() {
                writeln!(f, ":")?;
                write_places(f, &self.follows, most, true)?;
            }
        }
        Ok(())
    }
}

impl Place {
    /// `super-step 4, supervise.1/researcher.2`; `config deadline`; `exit of supervise.1`.
    pub fn name(&self) -> String {
        let what = || self.changes.first().map_or("", |change| &change.what);
        match (self.super_step, self.path.as_str()) {
            (Some(number), path) => format!("super-step {number}, {path}"),
            (None, "") => what().to_owned(),
            (None, path) => format!("{} of {path}", what()),
        }
    }

    /// The path of the instance, and that of the step in it.
    fn split(&self) -> (&str, &str) {
        let cut = match self.scope_len {
            0 => return ("", &self.path),
            n => self.path.match_indices('/').nth(n - 1).map(|(at, _)| at),
        };
        cut.map_or((&self.path, ""), |at| (&self.path[..at], &self.path[at + 1..]))
    }

    fn lines(&self, all: bool) -> Vec<String> {
        let (_, step) = self.split();
        let mut lines = Vec::new();
        let indent = if let Some(number) = self.super_step {
            lines.push(format!("  super-step {number}: {step}"));
            "    "
        } else {
            "  "
        };
        for change in &self.changes {
            lines.extend(change.lines(all).into_iter().map(|line| format!("{indent}{line}")));
        }
        lines
    }
}

/// Writes places under their instances; gives back how many were left out.
fn write_places(
    f: &mut fmt::Formatter<'_>,
    places: &[Place],
    most: usize,
    all: bool,
) -> Result<usize, fmt::Error> {
    let texts: Vec<Vec<String>> = places.iter().map(|place| place.lines(all)).collect();
    let shown = chosen(places, &texts, most);
    let mut heading = None;
    for ((place, lines), _) in places.iter().zip(texts).zip(&shown).filter(|(_, shown)| **shown) {
        let scope = (place.split().0, place.graph.as_str());
        if heading != Some(scope) {
            heading = Some(scope);
            match scope {
                ("", "") => {}
                ("", graph) => write!(f, "\nroot (graph {graph})")?,
                (path, graph) => write!(f, "\n{path} (graph {graph})")?,
            }
        }
        for line in lines {
            write!(f, "\n{line}")?;
        }
    }
    Ok(shown.iter().filter(|shown| !**shown).count())
}

/// Which places there is room for: the first, then the ends of instances, then the others in order.
fn chosen(places: &[Place], texts: &[Vec<String>], most: usize) -> Vec<bool> {
    let is_end = |place: &Place| place.super_step.is_none() && place.changes.iter().any(|c| c.what == "exit");
    let rank = |number: usize, place: &Place| match number {
        0 => 0,
        _ if is_end(place) => 1,
        _ => 2,
    };
    let mut order: Vec<(u8, usize)> =
        places.iter().enumerate().map(|(i, place)| (rank(i, place), i)).collect();
    order.sort_unstable();
    let mut shown = vec![false; places.len()];
    let (mut used, mut full) = (0, false);
    for (rank, number) in order {
        let lines = texts.get(number).map_or(0, Vec::len) + 1;
        // Half of the room is for what was done, however many instances ended otherwise.
        let room = if rank == 1 { most / 2 } else { most };
        if rank > 0 && (used + lines > room || (full && rank == 2)) {
            full |= rank == 2;
            continue;
        }
        used += lines;
        if let Some(shown) = shown.get_mut(number) {
            *shown = true;
        }
    }
    shown
}

impl Change {
    fn lines(&self, all: bool) -> Vec<String> {
        let is_long = |text: &String| text.contains('\n') || text.chars().nth(WIDTH).is_some();
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if is_long(before) || is_long(after) => {
                long(&self.what, before, after, all)
            }
            (before, after) => {
                let side = |sign, text: &Option<String>| {
                    text.as_ref().map_or(Vec::new(), |text| whole(sign, text, all))
                };
                let mut lines = side('-', before);
                lines.extend(side('+', after));
                lines
            }
        }
    }
}

/// All lines of one side, each cut.
fn whole(sign: char, text: &str, all: bool) -> Vec<String> {
    let most = if all { usize::MAX } else { MOST_OF_A_STEP };
    let mut lines: Vec<String> =
        text.lines().take(most).map(|line| format!("{sign} {}", cut(line, WIDTH))).collect();
    let more = text.lines().count().saturating_sub(most);
    if more > 0 {
        lines.push(format!("{sign}   … {more} more {}", if more == 1 { "line" } else { "lines" }));
    }
    lines
}

/// Only the regions in which two long texts differ.
fn long(what: &str, before: &str, after: &str, all: bool) -> Vec<String> {
    let most = if all { usize::MAX } else { MOST_REGIONS };
    let found = regions(before, after);
    let mut lines = Vec::new();
    for region in found.iter().take(most) {
        let side = |sign, text: &str, at: usize, words: &str| {
            let (start, rest) = text.split_at(at.min(text.len()));
            let end = rest.get(words.len()..).unwrap_or_default();
            format!("{sign} {}", one_line(&around(what, start, &cut(words, WIDTH), end)))
        };
        lines.push(side('-', before, region.before_at, &region.before));
        lines.push(side('+', after, region.after_at, &region.after));
    }
    let more = found.len().saturating_sub(most);
    if more > 0 {
        lines
            .push(format!("  … {more} more {} of this {what}", if more == 1 { "region" } else { "regions" }));
    }
    lines
}

/// Some words with a little of what stands around them; the beginning of the line is replaced by what it is.
fn around(what: &str, start: &str, words: &str, end: &str) -> String {
    let from = start.char_indices().rev().nth(AROUND).map(|(at, _)| at);
    let to = end.char_indices().nth(AROUND).map_or(end.len(), |(at, _)| at);
    let start = match from {
        Some(from) => format!("{what} …{}", &start[from..]),
        None => start.to_owned(),
    };
    let more = if to < end.len() { "…" } else { "" };
    format!("{start}{words}{}{more}", &end[..to])
}

/// A text of so many characters at most, with its length where it is longer.
fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.split('\n').map(str::trim_end).collect::<Vec<_>>().join(" ⏎ ")
}

/// What each place counts as: all that differs in one request is one request.
fn kinds(follows: &[Place]) -> BTreeMap<Kind, usize> {
    let mut counts = BTreeMap::new();
    for place in follows {
        let of = |kind| place.changes.iter().filter(move |change| change.kind == kind).count();
        for kind in [Kind::Request, Kind::Value, Kind::Sum, Kind::Move] {
            let count = if kind == Kind::Request { of(kind).min(1) } else { of(kind) };
            if count > 0 {
                *counts.entry(kind).or_default() += count;
            }
        }
    }
    counts
}

fn count(follows: &[Place]) -> usize {
    kinds(follows).values().sum()
}

/// `7 later requests and 3 sums`; none where nothing follows.
fn summary(follows: &[Place]) -> Option<String> {
    let counts = kinds(follows).into_iter().map(|(kind, n)| {
        let (one, many) = match kind {
            Kind::Request => ("later request", "later requests"),
            Kind::Value => ("value", "values"),
            Kind::Sum => ("sum", "sums"),
            Kind::Move => ("step in another super-step", "steps in another super-step"),
        };
        format!("{n} {}", if n == 1 { one } else { many })
    });
    let parts: Vec<String> = counts.collect();
    match parts.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        [most @ .., last] => Some(format!("{} and {last}", most.join(", "))),
    }
}
