//! Whether a start is allowed: every limit that counts it is asked.

use deepgraph_graph::{Callee, NodeIx, OnReach, Verb};
use deepgraph_protocol::{ErrorKind, Meter, StepError};

use crate::exit::Candidate;
use crate::limits::Counts;
use crate::machine::Machine;

/// What is decided about one start by the limits that count it.
pub(crate) enum Permission {
    Granted,
    /// A limit's node runs instead.
    Instead(NodeIx),
    /// Not started; the limit ends the instance.
    Stopped,
    /// Not started; the node fails.
    Refused(StepError),
}

impl Machine {
    pub(crate) fn permit_node(&mut self, node: NodeIx) -> Permission {
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).nodes[node.0];
        if let Some(why) = &self.overtime
            && Verb::is_step(&declared.verb)
            && !matches!(&declared.verb, Verb::Call(call) if matches!(call.callee, Callee::Op(_)))
        {
            return Permission::Refused(why.clone());
        }
        // A node that runs over a list is asked for again per item.
        let verb = declared.each.is_none().then_some(&declared.verb);
        self.permit(
            |what| match what {
                Counts::Names { nodes, .. } => nodes.contains(&node),
                Counts::Meter(meter) => verb.is_some_and(|v| counts_verb(*meter, v)),
                Counts::Gain { .. } => false,
            },
            &declared.name,
        )
    }

    /// Whether the limits on turns, model calls and steps allow one more of a verb.
    pub(crate) fn permit_verb(&mut self, verb: &Verb, name: &str) -> Permission {
        self.permit(|what| matches!(what, Counts::Meter(meter) if counts_verb(*meter, verb)), name)
    }

    /// Whether the graph may be nested in itself as deep as it is.
    pub(crate) fn permit_depth(&mut self) -> Permission {
        let depth = self.depth();
        let deeper = |l: &&crate::limits::Active| {
            matches!(l.counts, Counts::Meter(Meter::Depth)) && l.max.is_some_and(|max| depth > max)
        };
        let Some(limit) = self.limits.iter().find(deeper) else { return Permission::Granted };
        let (hit, on_reach) = (limit.hit(depth), limit.on_reach.clone());
        self.tell_limit(&hit);
        match on_reach {
            // The caller refuses such a child before it starts.
            OnReach::Refuse => Permission::Granted,
            OnReach::To(node) => Permission::Instead(node),
            OnReach::Exit(reason, class) => {
                self.candidates.push(Candidate::limit(reason, class, hit));
                Permission::Stopped
            }
        }
    }

    /// Asks every limit that counts a start whether one more fits.
    pub(crate) fn permit(&mut self, counts: impl Fn(&Counts) -> bool, what: &str) -> Permission {
        let in_finally = self.in_finally();
        let at = self.reading();
        let full = self.limits.iter().find_map(|limit| {
            let bound = limit.bound(in_finally).filter(|_| counts(&limit.counts))?;
            let taken = limit.taken(&at);
            (taken >= bound).then(|| (limit.name.clone(), limit.on_reach.clone(), limit.hit(taken), bound))
        });
        let Some((name, on_reach, hit, bound)) = full else { return Permission::Granted };
        self.tell_limit(&hit);
        let refusal = || {
            let message = format!("`{what}` was not started: the limit `{name}` ({bound}) is used up");
            Permission::Refused(StepError::new(ErrorKind::Refused, message))
        };
        match on_reach {
            OnReach::Refuse => refusal(),
            OnReach::To(node) => Permission::Instead(node),
            OnReach::Exit(..) if in_finally => refusal(),
            OnReach::Exit(reason, class) => {
                self.candidates.push(Candidate::limit(reason, class, hit));
                Permission::Stopped
            }
        }
    }

    pub(crate) fn count_node(&mut self, node: NodeIx) {
        let bundle = self.bundle.clone();
        let declared = &bundle.graph(self.graph).nodes[node.0];
        if declared.each.is_none() {
            self.count_verb(&declared.verb);
        }
        for limit in &mut self.limits {
            if matches!(&limit.counts, Counts::Names { nodes, .. } if nodes.contains(&node)) {
                limit.count += 1;
            }
        }
    }

    pub(crate) fn count_verb(&mut self, verb: &Verb) {
        self.counters.turns += u64::from(counts_verb(Meter::Turns, verb));
        self.counters.steps += u64::from(counts_verb(Meter::Steps, verb));
        self.coming += u64::from(counts_verb(Meter::ModelCalls, verb));
    }
}

/// Whether a meter counts the start of a verb.
fn counts_verb(meter: Meter, verb: &Verb) -> bool {
    match meter {
        Meter::Turns => matches!(verb, Verb::Model(model) if !model.tools.is_empty()),
        Meter::ModelCalls => matches!(verb, Verb::Model(_)),
        Meter::Steps => verb.is_step(),
        _ => false,
    }
}
