//! From moments to places along an axis of time.
//!
//! A person may take hours to answer, and the rest of a run would shrink to nothing. Stretches in which only questions
//! were open are drawn short; the axis counts the time without them.

use deepgraph_protocol::Millis;

use super::amount::percent;
use super::badge::Standing;
use crate::tree::{Node, NodeKind, ScopeTrace};

/// A stretch of time.
pub(super) type Span = (Millis, Millis);

/// A stretch that is drawn short is at least so long: a second, and a fiftieth of the rest.
const SHORTEST_CUT: (Millis, Millis) = (1_000, 50);

/// All that is drawn is so many times as long as a stretch that is drawn short.
const CUT_SHARE: Millis = 40;

/// Places along an axis, as offsets in milliseconds.
#[derive(Debug)]
pub(super) struct Scale {
    start: Millis,
    /// Stretches that are drawn short, in order.
    cuts: Vec<Span>,
    /// How long each of them is drawn.
    cut: Millis,
    length: Millis,
}

impl Scale {
    /// The scale of a run from its first moment to its last.
    pub(super) fn of(root: &ScopeTrace, (start, end): Span) -> Scale {
        let mut questions = Vec::new();
        let mut work = Vec::new();
        for scope in root.instances() {
            for node in scope.steps().filter(|node| is_drawn(node)) {
                let is_question = matches!(node.kind, NodeKind::Ask { .. });
                let spans = if is_question { &mut questions } else { &mut work };
                spans.extend(span(scope, node, end));
            }
        }
        let only_questions = without(union(questions), &union(work));
        let rest = |cuts: &[Span]| (end - start) - cuts.iter().map(|(from, to)| to - from).sum::<Millis>();
        let least = SHORTEST_CUT.0.max(rest(&only_questions) / SHORTEST_CUT.1);
        let cuts: Vec<Span> = only_questions.into_iter().filter(|(from, to)| to - from >= least).collect();
        let rest = rest(&cuts);
        let cut = (rest / CUT_SHARE).max(1);
        let length = rest + cut * cuts.len() as Millis;
        Scale { start, cuts, cut, length }
    }

    /// How long the axis is.
    pub(super) fn length(&self) -> Millis {
        self.length
    }

    /// The stretches that are drawn short.
    pub(super) fn cuts(&self) -> &[Span] {
        &self.cuts
    }

    /// Where a moment lies.
    pub(super) fn place(&self, at: Millis) -> Millis {
        let mut place = at - self.start;
        for (from, to) in self.cuts.iter().filter(|(from, _)| *from < at) {
            let (passed, whole) = (at.min(*to) - from, to - from);
            let drawn = i128::from(self.cut) * i128::from(passed) / i128::from(whole);
            place += drawn as Millis - passed;
        }
        place
    }

    /// The beginning and the width of a stretch, in percent of the axis.
    pub(super) fn share(&self, (from, to): Span) -> (String, String) {
        let (from, to) = (self.place(from), self.place(to));
        (percent(from, self.length), percent(to - from, self.length))
    }
}

/// Whether a step is drawn itself: a turn's calls and a child's steps are drawn in its place.
pub(super) fn is_drawn(node: &Node) -> bool {
    node.calls.is_empty() && node.child.is_none()
}

/// When a step began and ended; one that goes on, `until` the last moment of the run.
pub(super) fn span(scope: &ScopeTrace, node: &Node, until: Millis) -> Option<Span> {
    let (begun, ended) = node.time?;
    let standing = Standing::of(node, scope.exit.is_some());
    Some(match (standing, scope.time) {
        (standing, _) if standing.is_open() => (begun, until),
        (Standing::GivenUp, Some((_, over))) => (begun, over),
        _ => (begun, ended),
    })
}

/// The same time as stretches in order that do not touch.
fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut joined: Vec<Span> = Vec::new();
    for (from, to) in spans.into_iter().filter(|(from, to)| from < to) {
        match joined.last_mut().filter(|(_, end)| from <= *end) {
            Some((_, end)) => *end = to.max(*end),
            None => joined.push((from, to)),
        }
    }
    joined
}

/// What of some stretches is in none of others, both in order.
fn without(spans: Vec<Span>, others: &[Span]) -> Vec<Span> {
    let mut left = Vec::new();
    for (mut from, to) in spans {
        for &(begun, ended) in others {
            if begun >= to || ended <= from {
                continue;
            }
            if from < begun {
                left.push((from, begun));
            }
            from = from.max(ended);
        }
        if from < to {
            left.push((from, to));
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_joined_and_taken_away() {
        assert_eq!(union(vec![(5, 6), (0, 2), (1, 3), (3, 4), (9, 9)]), [(0, 4), (5, 6)]);
        assert_eq!(without(vec![(0, 10)], &[(2, 3), (5, 20)]), [(0, 2), (3, 5)]);
        assert_eq!(without(vec![(0, 4), (6, 8)], &[(1, 7)]), [(0, 1), (7, 8)]);
        assert_eq!(without(vec![(0, 4)], &[]), [(0, 4)]);
    }

    #[test]
    fn what_is_drawn_short_leaves_room_for_the_rest() {
        let scale = Scale { start: 100, cuts: vec![(200, 1_000_200)], cut: 10, length: 210 };
        assert_eq!(
            [100, 150, 200, 500_200, 1_000_200, 1_000_300].map(|at| scale.place(at)),
            [0, 50, 100, 105, 110, 210]
        );
        assert_eq!(scale.share((1_000_200, 1_000_300)), ("52.380".to_owned(), "47.619".to_owned()));
    }
}
