//! The run-wide cap on child graphs that work at once, held by queueing.
//!
//! A scope that only waits for its children holds no place, so that nested graphs can not wait for each other
//! for ever; when its last child ends, it goes on in that child's place.

use std::collections::{BTreeSet, VecDeque};

use deepgraph_protocol::{EntryBody, ScopePath};

/// Places for child graphs.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    cap: Option<usize>,
    working: BTreeSet<ScopePath>,
    queue: VecDeque<(ScopePath, EntryBody)>,
}

impl Slots {
    pub(crate) fn new(cap: Option<usize>) -> Slots {
        // A cap of 0 would never start anything; the graph file does not allow it.
        Slots { cap: cap.map(|c| c.max(1)), ..Slots::default() }
    }

    /// A child wants to start.
    pub(crate) fn enqueue(&mut self, scope: ScopePath, started: EntryBody) {
        self.queue.push_back((scope, started));
    }

    /// A scope works, or does nothing itself any more. The root needs no place.
    pub(crate) fn set(&mut self, scope: &ScopePath, works: bool) {
        if works && !scope.is_root() {
            self.working.insert(scope.clone());
        } else {
            self.working.remove(scope);
        }
    }

    /// A child that was queued is not wanted any more. False where it is not in the queue.
    pub(crate) fn withdraw(&mut self, scope: &ScopePath) -> bool {
        let before = self.queue.len();
        self.queue.retain(|(queued, _)| queued != scope);
        self.queue.len() < before
    }

    /// The next child that has a place, if any.
    pub(crate) fn admit(&mut self) -> Option<(ScopePath, EntryBody)> {
        if self.cap.is_some_and(|cap| self.working.len() >= cap) {
            return None;
        }
        let (scope, started) = self.queue.pop_front()?;
        self.working.insert(scope.clone());
        Some((scope, started))
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::Started;

    use super::*;

    fn started() -> EntryBody {
        EntryBody::Started(Started::default())
    }

    #[test]
    fn a_scope_that_waits_for_its_children_holds_no_place() {
        let (parent, child) = (ScopePath::new("a.1"), ScopePath::new("a.1/b.1"));
        let mut slots = Slots::new(Some(1));
        slots.enqueue(parent.clone(), started());
        assert_eq!(slots.admit().map(|s| s.0), Some(parent.clone()));
        slots.enqueue(child.clone(), started());
        assert_eq!(slots.admit().map(|s| s.0), None, "the only place is taken");
        slots.set(&parent, false);
        assert_eq!(slots.admit().map(|s| s.0), Some(child));
    }

    #[test]
    fn without_a_cap_everybody_is_admitted_in_order() {
        let mut slots = Slots::new(None);
        for name in ["a.1", "b.1", "c.1"] {
            slots.enqueue(ScopePath::new(name), started());
        }
        let order: Vec<_> = std::iter::from_fn(|| slots.admit()).map(|s| s.0.to_string()).collect();
        assert_eq!(order, ["a.1", "b.1", "c.1"]);
    }

    #[test]
    fn a_queued_child_can_be_withdrawn() {
        let mut slots = Slots::new(Some(1));
        slots.enqueue(ScopePath::new("a.1"), started());
        assert!(slots.withdraw(&ScopePath::new("a.1")));
        assert!(!slots.withdraw(&ScopePath::new("a.1")));
        assert!(slots.admit().is_none());
    }
}
