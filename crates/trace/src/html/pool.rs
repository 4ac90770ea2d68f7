//! What the page has shown already, so that it holds each long text and each large value once.

use std::collections::BTreeMap;

use deepgraph_protocol::{ToolSpec, Value};

use super::fingerprint::{Fingerprints, Print};
use super::index::Link;

/// The most bytes of one text that the page holds; the rest is in the JSON form of the trace.
pub(super) const LONGEST_TEXT: usize = 256 * 1024;

/// The most bytes of long texts in one page: what a browser can still search through.
pub(super) const ALL_TEXTS: usize = 24 * 1024 * 1024;

/// How many values are remembered under a name: inputs, results and state can have the same.
const RECENT: usize = 4;

/// What was shown so far, in reading order.
#[derive(Debug)]
pub(super) struct Pool<'a> {
    pub(super) prints: Fingerprints<'a>,
    blocks: BTreeMap<Print, Block>,
    /// Lists and maps that were shown last under a name in an instance: the next is mostly one of them and a little
    /// more.
    recent: BTreeMap<(usize, String), Vec<(Block, &'a Value)>>,
    /// Lists of tools that were offered.
    tools: Vec<(&'a [ToolSpec], Link)>,
    /// Where we are: the step or instance that is being shown.
    here: Link,
    scope: usize,
    next: usize,
    /// Bytes of long texts that the page still takes.
    left: usize,
}

/// A block of the page: a long text or a large value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    /// Its number: the id of its element is `b` and this.
    pub(super) number: usize,
    /// The step or instance where it stands.
    pub(super) place: Link,
}

/// What became of a block that is wanted.
pub(super) enum Wanted {
    /// It is new and stands here.
    Here(Block),
    /// It stands elsewhere.
    There(Block),
}

impl<'a> Pool<'a> {
    pub(super) fn new() -> Pool<'a> {
        Pool {
            prints: Fingerprints::default(),
            blocks: BTreeMap::new(),
            recent: BTreeMap::new(),
            tools: Vec::new(),
            here: Link { anchor: String::new(), label: String::new() },
            scope: 0,
            next: 0,
            left: ALL_TEXTS,
        }
    }

    /// From here on, what is shown belongs to this step or instance.
    pub(super) fn go_to(&mut self, here: Link, scope: usize) {
        self.here = here;
        self.scope = scope;
    }

    /// Asks for a block.
    pub(super) fn want(&mut self, print: Print) -> Wanted {
        if let Some(block) = self.blocks.get(&print) {
            return Wanted::There(block.clone());
        }
        self.next += 1;
        let block = Block { number: self.next, place: self.here.clone() };
        self.blocks.insert(print, block.clone());
        Wanted::Here(block)
    }

    /// Takes room for a text: how many of its bytes can be shown.
    pub(super) fn take(&mut self, bytes: usize) -> usize {
        let taken = bytes.min(LONGEST_TEXT).min(self.left);
        self.left -= taken;
        taken
    }

    /// Values shown last under this name in this instance, the oldest first.
    pub(super) fn recent(&self, name: &str) -> Vec<(Block, &'a Value)> {
        self.recent.get(&(self.scope, name.to_owned())).cloned().unwrap_or_default()
    }

    /// Remembers a value that is shown under this name.
    pub(super) fn remember(&mut self, name: &str, block: Block, value: &'a Value) {
        let recent = self.recent.entry((self.scope, name.to_owned())).or_default();
        if recent.len() == RECENT {
            recent.remove(0);
        }
        recent.push((block, value));
    }

    /// Where these tools were described already; remembers them otherwise.
    pub(super) fn tools(&mut self, tools: &'a [ToolSpec]) -> Option<Link> {
        if let Some((_, place)) = self.tools.iter().find(|(known, _)| *known == tools) {
            return Some(place.clone());
        }
        self.tools.push((tools, self.here.clone()));
        None
    }
}
