//! All that is scripted: of a case, and of a fork over its case.

use deepgraph_protocol::{Millis, StepId};

use super::answer::{ModelAnswer, OpAnswer, PersonAnswer};
use super::read::Reader;
use super::script::{Found, Script};
use super::tree::Node;

/// What models, ops and the person do, and how long it takes.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    models: Script<ModelAnswer>,
    ops: Script<OpAnswer>,
    people: Script<PersonAnswer>,
    latency: Script<Millis>,
}

impl Scripts {
    /// Reads one of its sections. False where the key is none of them.
    pub(crate) fn read_key(&mut self, reader: &mut Reader, key: &str, node: &Node) -> bool {
        match key {
            "models" => self.models = Script::read(reader, key, node, false, &ModelAnswer::read),
            "ops" => self.ops = Script::read(reader, key, node, true, &OpAnswer::read),
            "answers" => self.people = Script::read(reader, key, node, false, &PersonAnswer::read),
            "latency" => {
                let duration = |reader: &mut Reader, node: &Node| reader.duration(node, "a latency");
                self.latency = Script::read(reader, key, node, true, &duration);
            }
            _ => return false,
        }
        true
    }
}

/// What is scripted in layers: the first that names a step counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layers<'c> {
    /// Of the fork that is played.
    pub(crate) upper: Option<&'c Scripts>,
    /// Of the case.
    pub(crate) lower: &'c Scripts,
}

impl<'c> Layers<'c> {
    pub(crate) fn model(&self, step: &StepId, attempt: u32) -> Found<'c, ModelAnswer> {
        self.find(|scripts| &scripts.models, step, None, attempt)
    }

    pub(crate) fn op(&self, step: &StepId, op: &str, attempt: u32) -> Found<'c, OpAnswer> {
        self.find(|scripts| &scripts.ops, step, Some(op), attempt)
    }

    pub(crate) fn person(&self, step: &StepId, nth: u32) -> Found<'c, PersonAnswer> {
        self.find(|scripts| &scripts.people, step, None, nth)
    }

    pub(crate) fn latency(&self, step: &StepId, op: Option<&str>, attempt: u32) -> Found<'c, Millis> {
        self.find(|scripts| &scripts.latency, step, op, attempt)
    }

    fn find<T>(
        &self,
        of: impl Fn(&'c Scripts) -> &'c Script<T>,
        step: &StepId,
        op: Option<&str>,
        attempt: u32,
    ) -> Found<'c, T> {
        let layers = self.upper.into_iter().chain([self.lower]);
        let mut found = layers.filter_map(|scripts| of(scripts).find(step, op, attempt));
        found.next().unwrap_or_else(|| Err("nothing is scripted for it".to_owned()))
    }
}
