//! State edited by hand: how a fork differs from the run that it came from.

use deepgraph_protocol::{ErrorKind, Map, StepError};

use crate::machine::{Machine, Phase};
use crate::place::opens;
use crate::run::{NodeRun, Progress, Work};

impl Machine {
    /// Sets channels, and begins the steps of the current super-step that are out again over the new state. What
    /// is back stays.
    pub(crate) fn state_edited(&mut self, state: &Map) {
        self.leave_writes();
        if matches!(self.phase, Phase::New | Phase::Ended) {
            return;
        }
        // The edit is that of another instance: this one goes on as it stands.
        if state.is_empty() {
            return;
        }
        let bundle = self.bundle.clone();
        let plan = bundle.graph(self.graph);
        for (name, value) in state {
            let Some(ix) = plan.channel(name) else {
                let message = format!("the graph `{}` has no channel `{name}` to set", plan.name);
                return self.graph_error(StepError::new(ErrorKind::Graph, message));
            };
            match plan.channels[ix.0].field.check(value) {
                Ok(fitted) => self.state.set(ix, fitted),
                Err(_) if value.is_null() => self.state.set(ix, value.clone()),
                Err(why) => {
                    let message = format!("the value set for channel `{name}` does not fit: {why}");
                    return self.graph_error(StepError::new(ErrorKind::Graph, message));
                }
            }
        }
        self.begin_again();
    }

    /// Begins nodes of one step that are out anew. Calls of a turn and items keep what they were asked: their
    /// arguments come from the model and from the list. A write that the other run made, or may have, is not made again.
    fn begin_again(&mut self) {
        let before = std::mem::take(&mut self.current);
        self.unfinished = 0;
        for run in before {
            let again = match &run.work {
                Work::Step(Progress::Open(open)) => open.attempts.claimed().is_none(),
                Work::Step(progress) => !progress.is_done(),
                _ => false,
            };
            let run = if again { self.again(run) } else { run };
            self.unfinished += run.unfinished();
            self.current.push(run);
        }
        self.send_spawns();
    }

    fn again(&mut self, run: NodeRun) -> NodeRun {
        for open in opens(&run) {
            self.end_of(&run.step, open);
        }
        self.coming +=
            u64::from(matches!(self.plan().nodes[run.node.0].verb, deepgraph_graph::Verb::Model(_)));
        self.ledger.lose(&run.step);
        self.ledger.settle_child(&run.step, Default::default());
        let work = self.begin_work(run.node, &run.step);
        NodeRun { work, ..run }
    }
}
