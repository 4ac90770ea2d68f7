//! A fork of a run: its journals up to a step, channels set by hand, and what comes of it.

use deepgraph_protocol::{Map, ScopePath, StepId};

use super::expect::Expect;
use super::read::Reader;
use super::scripts::Scripts;
use super::tree::{Node, Place};
use super::words;
use crate::SimRun;

/// A fork.
#[derive(Debug)]
pub(crate) struct Fork {
    /// The step behind whose end the journals are cut.
    pub(crate) after: StepId,
    /// The instance whose channels are set.
    pub(crate) of: ScopePath,
    /// What they are set to.
    pub(crate) state: Map,
    pub(crate) scripts: Scripts,
    pub(crate) expect: Expect,
    pub(crate) place: Place,
}

impl Fork {
    pub(crate) fn read_all(reader: &mut Reader, node: &Node) -> Vec<Fork> {
        if !node.is_list() {
            reader.error(node.place, "`forks` is a list of forks");
        }
        node.items().iter().map(|item| Fork::read(reader, item)).collect()
    }

    fn read(reader: &mut Reader, node: &Node) -> Fork {
        let mut fork = Fork {
            after: StepId::new(""),
            of: ScopePath::root(),
            state: Map::new(),
            scripts: Scripts::default(),
            expect: Expect::default(),
            place: node.place,
        };
        for (key, value) in reader.entries(node, "a fork", &words::FORK) {
            match &*key.name {
                "after" => fork.after = StepId::new(reader.text(value, "`after`").unwrap_or_default()),
                "of" => fork.of = ScopePath::new(reader.text(value, "`of`").unwrap_or_default()),
                "state" => fork.state = reader.map(value, "`state`").unwrap_or_default(),
                "expect" => fork.expect = Expect::read(reader, value),
                script => drop(fork.scripts.read_key(reader, script, value)),
            }
        }
        for needed in ["after", "expect"] {
            if node.is_map() && node.get(needed).is_none() {
                reader.error(node.place, format!("a fork needs the key `{needed}`"));
            }
        }
        fork
    }
}

/// How many entries of a run there are up to the one that ended a step; none where the step never ended.
pub(crate) fn entries_until(run: &SimRun, step: &StepId) -> Option<usize> {
    run.flight.iter().find(|passage| !passage.out && passage.step == *step).map(|passage| passage.entries)
}
