//! Walking two outlines together, and telling what was done differently from what only follows.

use super::align::{Pair, pairs};
use super::outline::{Item, Key};
use super::words::regions;
use super::{Change, Kind, Place, TraceDiff};

/// Compares two traces that were read.
pub fn compare(before: &[Item], after: &[Item]) -> TraceDiff {
    let mut walk = Walk::default();
    let pairs = pairs(before, after);
    let graph = pairs.iter().find_map(|pair| graph_of(*pair));
    let root = At { graph: graph.clone().unwrap_or_default(), ..At::default() };
    // In the order in which things happen: what the run was started with first, how it ended last.
    let is_early = |pair: &&Pair<'_>| matches!(either(**pair).key, Key::Config(_));
    let is_graph = |pair: &&Pair<'_>| either(**pair).key == Key::Graph;
    let other_graph = pairs.iter().filter(is_graph).any(|pair| !same_line(*pair));
    for pair in pairs.iter().filter(is_early) {
        walk.line(&root, *pair, Judged::of(!other_graph, Kind::Value));
        walk.config_differs |= !same_line(*pair);
    }
    for pair in pairs.iter().filter(is_graph) {
        walk.scope(&root, *pair, Taint { before: walk.config_differs, all: false });
    }
    for pair in pairs.iter().filter(|pair| !is_early(pair) && !is_graph(pair)) {
        walk.whole(&root, *pair, Judged::of(!other_graph, Kind::Value));
    }
    walk.into_diff()
}

/// Where the walk is.
#[derive(Clone, Default)]
struct At {
    path: String,
    scope_len: usize,
    graph: String,
    super_step: Option<u64>,
}

/// What differed before.
#[derive(Clone, Copy)]
struct Taint {
    /// Something that what comes now could follow from.
    before: bool,
    /// The graph itself: whatever differs below follows from it.
    all: bool,
}

/// What a difference is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judged {
    /// Something done differently.
    Own,
    /// What only follows.
    Follows(Kind),
}

impl Judged {
    fn of(is_own: bool, kind: Kind) -> Judged {
        if is_own { Judged::Own } else { Judged::Follows(kind) }
    }
}

#[derive(Default)]
struct Walk {
    own: Vec<Place>,
    follows: Vec<Place>,
    /// Words that were told as different, before and after: what holds them later repeats them.
    told: (Vec<String>, Vec<String>),
    config_differs: bool,
}

impl Walk {
    fn into_diff(self) -> TraceDiff {
        let Walk { mut own, mut follows, .. } = self;
        if own.is_empty() {
            own = std::mem::take(&mut follows);
        }
        TraceDiff { places: own, follows }
    }

    /// One graph instance. Gives back whether anything in it differs.
    fn scope(&mut self, at: &At, pair: Pair<'_>, parent: Taint) -> bool {
        let at = At {
            scope_len: at.path.split('/').filter(|step| !step.is_empty()).count(),
            graph: graph_of(pair).unwrap_or_default(),
            super_step: None,
            ..at.clone()
        };
        let (Some(before), Some(after)) = pair else {
            return self.alone(&at, pair, "graph", Judged::of(!parent.all, Kind::Value));
        };
        let other_graph = before.text != after.text;
        if other_graph {
            self.line(&at, pair, Judged::of(!parent.all, Kind::Value));
        }
        let all = parent.all || other_graph;
        let mut here = Taint { before: self.config_differs, all };
        let mut differs = other_graph;
        let (mut in_step, mut current) = (false, None);
        let pairs = pairs(&before.below, &after.below);
        for pair in pairs {
            let item = either(pair);
            let follows = |kind| Judged::of(!(all || here.before || in_step), kind);
            let own = Judged::of(!all, Kind::Value);
            differs |= match &item.key {
                Key::Step(_) => {
                    if item.super_step != current {
                        // Steps of one super-step read the state as it stood before.
                        here.before |= std::mem::take(&mut in_step);
                        current = item.super_step;
                    }
                    let changed = self.step(&at, pair, here);
                    in_step |= changed;
                    changed
                }
                Key::Input(_) => {
                    let judged = Judged::of(!all && !parent.before, Kind::Value);
                    let changed = self.line(&at, pair, judged);
                    here.before |= changed;
                    changed
                }
                Key::Output(_) => self.line(&at, pair, follows(Kind::Value)),
                Key::Sum(_) => self.line(&at, pair, follows(Kind::Sum)),
                Key::Exit if exit_of(pair.0) == exit_of(pair.1) => self.line(&at, pair, follows(Kind::Sum)),
                _ => self.whole(&at, pair, own),
            };
        }
        differs
    }

    /// One step, or one call of a turn.
    fn step(&mut self, at: &At, pair: Pair<'_>, taint: Taint) -> bool {
        let item = either(pair);
        let Key::Step(id) = &item.key else { return false };
        let path = if at.path.is_empty() { id.clone() } else { format!("{}/{id}", at.path) };
        let at = At { path, super_step: item.super_step.or(at.super_step), ..at.clone() };
        let own = Judged::of(!taint.all, Kind::Value);
        let (Some(before), Some(after)) = pair else {
            return self.alone(&at, pair, "step", own);
        };
        let mut differs = false;
        if before.super_step != after.super_step {
            let place = |item: &Item| item.super_step.map(|n| format!("in super-step {n}"));
            let change = Change {
                what: "super-step".into(),
                before: place(before),
                after: place(after),
                kind: Kind::Move,
            };
            self.note(&at, change, Judged::Follows(Kind::Move));
            differs = true;
        }
        let line_differs = before.text != after.text;
        if line_differs {
            let head = |item: &Item| item.text.split('{').next().unwrap_or_default().to_owned();
            let reads = head(before) == head(after) && before.text.contains(" op ");
            let judged = if reads { Judged::of(!taint.all && !taint.before, Kind::Value) } else { own };
            differs |= self.line(&at, pair, judged);
        }
        let mut said_differs = false;
        for pair in pairs(&before.below, &after.below) {
            let item = either(pair);
            let follows = |kind| Judged::of(!taint.all && !taint.before, kind);
            let changed = match &item.key {
                Key::Step(_) => self.step(&at, pair, taint),
                Key::Graph => self.scope(&at, pair, taint),
                Key::Request if counts_of(pair.0) == counts_of(pair.1) => {
                    self.line(&at, pair, follows(Kind::Request))
                }
                Key::Request => self.line(&at, pair, own),
                Key::Message => {
                    let is_said = ["assistant:", "tool:"].iter().any(|role| item.text.starts_with(role));
                    let judged = if is_said {
                        follows(Kind::Request)
                    } else {
                        self.repeats(pair, taint, Kind::Request)
                    };
                    self.whole(&at, pair, judged)
                }
                Key::Offered(_) | Key::Returns => {
                    let judged = self.repeats(pair, taint, Kind::Request);
                    self.whole(&at, pair, judged)
                }
                Key::Finish
                    if matches!(pair, (Some(_), Some(_))) && finish_of(pair.0) != finish_of(pair.1) =>
                {
                    self.line(&at, pair, own)
                }
                Key::Finish => {
                    let judged = Judged::of(!taint.all && !taint.before && !differs, Kind::Sum);
                    self.line(&at, pair, judged)
                }
                // The data of a reply is its text, read.
                Key::Reply(part) if part == "data" && said_differs => {
                    self.line(&at, pair, Judged::Follows(Kind::Value))
                }
                Key::Result(_) if line_differs && before.text.contains(" op ") => {
                    self.line(&at, pair, Judged::Follows(Kind::Value))
                }
                _ => self.whole(&at, pair, own),
            };
            said_differs |= changed && matches!(&item.key, Key::Reply(part) if part == "text");
            differs |= changed;
        }
        differs
    }

    /// A difference of text that other steps show as well: only the first is told.
    fn repeats(&self, pair: Pair<'_>, taint: Taint, kind: Kind) -> Judged {
        if taint.all {
            return Judged::Follows(kind);
        }
        let holds = |told: &[String], words: &str| {
            words.trim().is_empty() || told.iter().any(|told| told.contains(words.trim()))
        };
        let is_told = match pair {
            (Some(before), Some(after)) => regions(&before.whole(), &after.whole())
                .iter()
                .all(|r| holds(&self.told.0, &r.before) && holds(&self.told.1, &r.after)),
            (Some(alone), None) => holds(&self.told.0, &alone.whole()),
            (None, Some(alone)) => holds(&self.told.1, &alone.whole()),
            (None, None) => true,
        };
        Judged::of(!is_told, kind)
    }

    /// A line that stands in one of both, or reads differently. Gives back whether it does.
    fn line(&mut self, at: &At, pair: Pair<'_>, judged: Judged) -> bool {
        if same_line(pair) {
            return false;
        }
        let text = |item: Option<&Item>| item.map(|item| item.text.clone());
        let change = Change {
            what: either(pair).what(),
            before: text(pair.0),
            after: text(pair.1),
            kind: Kind::Value,
        };
        self.note(at, change, judged);
        true
    }

    /// The same for a line with all below it.
    fn whole(&mut self, at: &At, pair: Pair<'_>, judged: Judged) -> bool {
        let text = |item: Option<&Item>| item.map(Item::whole);
        let (before, after) = (text(pair.0), text(pair.1));
        if before == after {
            return false;
        }
        self.note(at, Change { what: either(pair).what(), before, after, kind: Kind::Value }, judged);
        true
    }

    /// A step, or an instance, that is only in one.
    fn alone(&mut self, at: &At, pair: Pair<'_>, what: &str, judged: Judged) -> bool {
        let text = |item: Option<&Item>| item.map(|item| item.told().join("\n"));
        let change =
            Change { what: what.to_owned(), before: text(pair.0), after: text(pair.1), kind: Kind::Value };
        if let Some(item) = pair.0 {
            self.told.0.push(item.whole());
        }
        if let Some(item) = pair.1 {
            self.told.1.push(item.whole());
        }
        self.note(at, change, judged);
        true
    }

    fn note(&mut self, at: &At, change: Change, judged: Judged) {
        let (places, kind) = match judged {
            Judged::Own => {
                self.tell(&change);
                (&mut self.own, Kind::Value)
            }
            Judged::Follows(kind) => (&mut self.follows, kind),
        };
        let change = Change { kind, ..change };
        match places.last_mut() {
            Some(last)
                if last.path == at.path && last.super_step == at.super_step && last.graph == at.graph =>
            {
                last.changes.push(change);
            }
            _ => places.push(Place {
                path: at.path.clone(),
                scope_len: at.scope_len,
                graph: at.graph.clone(),
                super_step: at.super_step,
                changes: vec![change],
            }),
        }
    }

    /// Keeps the words that were told as different.
    fn tell(&mut self, change: &Change) {
        match (&change.before, &change.after) {
            (Some(before), Some(after)) => {
                for region in regions(before, after) {
                    self.told.0.push(region.before);
                    self.told.1.push(region.after);
                }
            }
            (Some(before), None) => self.told.0.push(before.clone()),
            (None, Some(after)) => self.told.1.push(after.clone()),
            (None, None) => {}
        }
    }
}

static NOTHING: Item = Item { key: Key::Other, text: String::new(), super_step: None, below: Vec::new() };

/// The line after, or the one before where there is none.
fn either<'a>((before, after): Pair<'a>) -> &'a Item {
    after.or(before).unwrap_or(&NOTHING)
}

fn same_line((before, after): Pair<'_>) -> bool {
    before.map(|item| &item.text) == after.map(|item| &item.text)
}

fn graph_of(pair: Pair<'_>) -> Option<String> {
    let item = either(pair);
    (item.key == Key::Graph).then(|| item.text.strip_prefix("graph ").unwrap_or_default().to_owned())
}

/// An exit without how much it found.
fn exit_of(item: Option<&Item>) -> Option<&str> {
    let text = item?.text.as_str();
    Some(text.split_once(", findings ").map_or(text, |(exit, _)| exit))
}

/// How many tools a request offers: `3 tools` of `request 4 messages, 3 tools, sha256 ...`.
fn counts_of(item: Option<&Item>) -> Option<&str> {
    item?.text.split(", ").nth(1)
}

/// `finish stop` without the tokens.
fn finish_of(item: Option<&Item>) -> Option<&str> {
    item?.text.split(", ").next()
}
