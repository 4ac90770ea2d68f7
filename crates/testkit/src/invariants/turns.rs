//! The replies with calls of an instance, and which of them were taken up by a `run_tools` node.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_graph::{NodeIx, Verb};
use deepgraph_protocol::{EntryBody, ErrorKind, Event, Output, StepId, StepOutput, ToolCall};

use super::seen::{Row, Scope};

/// What models of one instance wanted to be called, as its journal has it.
#[derive(Debug, Default)]
pub(super) struct Turns<'r> {
    /// The turns that were run.
    pub(super) turns: Vec<Turn>,
    /// All calls of these turns.
    calls: BTreeSet<StepId>,
    /// The calls by the questions whether they may be run.
    questions: BTreeMap<StepId, StepId>,
    replies: Vec<Reply<'r>>,
    /// In which super-step a node ran, by its step.
    super_steps: BTreeMap<&'r str, u64>,
}

/// A reply whose calls were taken up.
#[derive(Debug)]
pub(super) struct Turn {
    /// The steps of its calls, in call order.
    pub(super) calls: Vec<StepId>,
    /// The number of the row from which it followed.
    pub(super) row: usize,
    /// Whether another super-step of the main stage followed: nothing was given up.
    pub(super) goes_on: bool,
}

#[derive(Debug)]
struct Reply<'r> {
    calls: &'r [ToolCall],
    /// The super-step in which its calls were taken up; none: they were left.
    taken: Option<u64>,
}

impl<'r> Turns<'r> {
    pub(super) fn of(scope: &Scope<'r>) -> Turns<'r> {
        let mut turns = Turns::default();
        // Each model node's last reply whose calls may still be taken up.
        let mut last: BTreeMap<NodeIx, usize> = BTreeMap::new();
        let mut super_step = 0;
        // The turns of the super-step that is on.
        let mut open = 0;
        // Where the time of that stage is up, what is out is given up, and calls that wait for a place are not told of.
        let mut in_finally = false;
        for row in &scope.rows {
            if let Some((node, calls)) = reply(scope, row) {
                turns.replies.push(Reply { calls, taken: None });
                last.insert(node, turns.replies.len() - 1);
            }
            for (at, output) in row.outputs.iter().enumerate() {
                match output {
                    Output::Event(Event::SuperStepStarted { number, nodes, .. }) => {
                        let of_before = turns.turns.iter_mut().skip(open);
                        of_before.for_each(|turn| turn.goes_on = !in_finally);
                        open = turns.turns.len();
                        super_step = *number;
                        turns.super_steps.extend(nodes.iter().map(|step| (step.as_str(), *number)));
                    }
                    Output::Event(Event::Finishing { .. }) => {
                        open = turns.turns.len();
                        in_finally = true;
                    }
                    Output::Event(Event::Resumed { .. }) => in_finally = false,
                    Output::Event(Event::NodeStarted { step, .. }) => {
                        let Some(Verb::RunTools(model)) = scope.node(step).map(|node| &node.verb) else {
                            continue;
                        };
                        let is_refused = matches!(
                            row.outputs.get(at + 1),
                            Some(Output::Event(Event::StepFailed { step: failed, error }))
                                if failed == step
                                    && matches!(error.kind, ErrorKind::Refused | ErrorKind::StepTimeout)
                        );
                        if !is_refused && let Some(reply) = last.remove(model) {
                            turns.take(reply, step, row.number, super_step);
                        }
                    }
                    _ => {}
                }
            }
        }
        turns
    }

    fn take(&mut self, reply: usize, node: &StepId, row: usize, super_step: u64) {
        let Some(reply) = self.replies.get_mut(reply) else { return };
        reply.taken = Some(super_step);
        let calls: Vec<StepId> =
            reply.calls.iter().enumerate().map(|(i, call)| node.call(&call.name, i + 1)).collect();
        self.calls.extend(calls.iter().cloned());
        self.questions.extend(calls.iter().map(|call| (call.approval(), call.clone())));
        self.turns.push(Turn { calls, row, goes_on: false });
    }

    /// Whether a step is a call of a reply that was taken up.
    pub(super) fn is_call(&self, step: &StepId) -> bool {
        self.calls.contains(step)
    }

    /// The call about which a question asks whether it may be run.
    pub(super) fn call_of_question(&self, question: &StepId) -> Option<&StepId> {
        self.questions.get(question)
    }

    /// Whether calls in the request of a node may have no answers: those of a reply that was not taken up before the
    /// node ran, and those of which nothing is known here, as in a conversation that was handed down.
    pub(super) fn may_be_left(&self, calls: &[ToolCall], node: &str) -> bool {
        let now = self.super_steps.get(node).copied().unwrap_or(0);
        let mut same = self.replies.iter().filter(|reply| reply.calls == calls).peekable();
        same.peek().is_none() || same.any(|reply| reply.taken.is_none_or(|taken| taken >= now))
    }
}

/// The reply that a row brings, with the node that has it. What comes for an item of a list is never taken up.
fn reply<'r>(scope: &Scope<'r>, row: &Row<'r>) -> Option<(NodeIx, &'r [ToolCall])> {
    let EntryBody::Completed { step, output: StepOutput::Model(reply), .. } = &row.entry.body else {
        return None;
    };
    let is_taken =
        |o: &Output| matches!(o, Output::Event(Event::StepCompleted { step: over }) if over == step);
    let at = scope.at(step).filter(|at| at.inner.is_none() && row.outputs.iter().any(is_taken))?;
    Some((scope.graph.node(at.node)?, &reply.tool_calls))
}
