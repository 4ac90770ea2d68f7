//! The limits that an instance has in force: those that its graph declares, and those that follow from its grant.
//!
//! The rule stands here once. The engine sets limits by it, and the bounds are worked out from it.

use std::sync::Arc;

use deepgraph_protocol::{ExitClass, ExitReason, Map, Meter};

use super::{ChannelIx, Counted, Graph, Limit, NodeIx, OnReach, Reserve, ToolIx};

/// The meters that an instance can be granted a part of, with the exits of the limits that follow from that. In the
/// order in which they are asked, behind those that the graph declares.
const GRANTED: [(Meter, ExitReason); 6] = [
    (Meter::Tokens, ExitReason::TokenBudget),
    (Meter::CostUsd, ExitReason::CostBudget),
    (Meter::ModelCalls, ExitReason::StepLimit),
    (Meter::ToolCalls, ExitReason::ToolCallCap),
    (Meter::WallTime, ExitReason::Deadline),
    (Meter::ActiveTime, ExitReason::ActiveTime),
];

/// A limit in force.
#[derive(Debug)]
pub struct InForce<'g> {
    /// Its name: the declared one, or `grant.METER`.
    pub name: Arc<str>,
    /// The declaration; none: it follows from the grant.
    pub declared: Option<&'g Limit>,
    /// What it counts.
    pub counts: Counts,
    /// The bound in base units (calls, visits, tokens, micro-dollars, milliseconds); none: it is off, or on gain.
    pub max: Option<u64>,
    /// What of the bound only the stage of `finally` may use; no more than the bound.
    pub kept: u64,
    /// What is used when it warns, in base units; none: it does not.
    pub mark: Option<u64>,
    /// What happens when it is reached.
    pub on_reach: OnReach,
    /// Whether children's use is left out.
    pub own: bool,
    /// Whether the bound is that of the grant: it is lower than the declared one, or there is none.
    pub by_grant: bool,
}

/// What a limit in force counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Counts {
    /// Calls of tools and visits of nodes.
    Names {
        /// The tools.
        tools: Vec<ToolIx>,
        /// The nodes.
        nodes: Vec<NodeIx>,
    },
    /// A meter.
    Meter(Meter),
    /// New items per step.
    Gain {
        /// The channel.
        channel: ChannelIx,
        /// The threshold; 0 or less: it is off.
        below: f64,
        /// How many of the last steps are looked at; at least 1.
        window: usize,
        /// Steps before which it does not fire.
        min_steps: usize,
        /// Whether each of the window is below, or their sum.
        sum: bool,
    },
}

impl Graph {
    /// The limits of an instance under a configuration, in the order in which they are asked. `granted` is what the
    /// instance may use of a meter, in base units (calls, tokens, micro-dollars, milliseconds); none: any amount.
    ///
    /// The bound of a limit is the lower of its `max` and of what is granted, unless it counts the instance alone. A
    /// meter that is granted a part of, and that no limit counts with all below, gets a limit of its own.
    pub fn limits_in_force(&self, config: &Map, granted: &dyn Fn(Meter) -> Option<u64>) -> Vec<InForce<'_>> {
        let mut limits: Vec<InForce<'_>> =
            self.limits.iter().map(|limit| declared(limit, config, granted)).collect();
        for (meter, reason) in GRANTED {
            let covered = limits.iter().any(|limit| limit.counts == Counts::Meter(meter) && !limit.own);
            if let Some(max) = granted(meter).filter(|_| !covered) {
                limits.push(implied(meter, reason, max, self.finally.is_some()));
            }
        }
        limits
    }
}

fn implied<'g>(meter: Meter, reason: ExitReason, max: u64, has_stage: bool) -> InForce<'g> {
    let class = reason.class().unwrap_or(ExitClass::Budget);
    InForce {
        name: format!("grant.{}", meter.name()).into(),
        declared: None,
        counts: Counts::Meter(meter),
        max: Some(max),
        kept: Reserve::unsaid(Some(meter), has_stage).of(max, meter.base_units()),
        mark: None,
        on_reach: OnReach::Exit(reason, class),
        own: false,
        by_grant: true,
    }
}

fn declared<'g>(limit: &'g Limit, config: &Map, granted: &dyn Fn(Meter) -> Option<u64>) -> InForce<'g> {
    let meter = if let Counted::Meter(meter) = &limit.counted { Some(*meter) } else { None };
    let unit = meter.map_or(1.0, Meter::base_units);
    let said = limit.max.as_ref().and_then(|max| max.number(config));
    let said = said.map(|n| (n.max(0.0) * unit).round() as u64);
    let granted = meter.filter(|_| !limit.own).and_then(granted);
    let max = said.into_iter().chain(granted).min();
    InForce {
        name: limit.name.clone(),
        declared: Some(limit),
        counts: counts(&limit.counted, config),
        max,
        kept: max.map_or(0, |max| limit.reserve.of(max, unit)),
        mark: max.and_then(|max| mark(limit, config, max)),
        on_reach: limit.on_reach.clone(),
        own: limit.own,
        by_grant: granted.is_some_and(|granted| said.is_none_or(|said| granted < said)),
    }
}

/// What is used when a limit warns: at least 1, so that nothing used yet is no reason to.
fn mark(limit: &Limit, config: &Map, max: u64) -> Option<u64> {
    let share = limit.warn.as_ref()?.number(config)?;
    Some(((max as f64 * share.clamp(0.0, 1.0)).ceil() as u64).max(1))
}

fn counts(counted: &Counted, config: &Map) -> Counts {
    match counted {
        Counted::Names { tools, nodes } => Counts::Names { tools: tools.clone(), nodes: nodes.clone() },
        Counted::Meter(meter) => Counts::Meter(*meter),
        Counted::Gain { channel, below, window, min_steps, mode } => Counts::Gain {
            channel: *channel,
            below: below.number(config).unwrap_or(0.0),
            window: window.count(config).unwrap_or(3).max(1) as usize,
            min_steps: min_steps.count(config).unwrap_or(3) as usize,
            sum: mode.resolve(config).as_str() == Some("sum"),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::testing::clean;

    /// `NAME MAX KEPT EXIT`, and what else is to be said, a limit a line.
    fn shown(limits: &str, finally: &str, granted: &[(Meter, u64)]) -> Vec<String> {
        let bundle = clean(&format!(
            "deepgraph: 1\nconfig: {{k: {{type: integer, default: 3}}}}\nstate: {{q: string, a: string}}\ninput: [q]\n\
             start: a\n{finally}limits: {{{limits}}}\nnodes:\n  a: {{model: x, prompt: \"{{{{ q }}}}\", update: {{a: \
             result.text}}}}\n  f: {{update: {{a: q}}}}\n"
        ));
        let config = bundle.config_of(BTreeMap::new()).unwrap();
        let of = |meter: Meter| granted.iter().find(|(m, _)| *m == meter).map(|(_, most)| *most);
        let limits = bundle.root().limits_in_force(&config, &of);
        let line = |limit: &InForce<'_>| {
            let max = limit.max.map_or("off".to_owned(), |max| max.to_string());
            let exit = match &limit.on_reach {
                OnReach::Exit(reason, _) => reason.name().to_owned(),
                other => format!("{other:?}"),
            };
            let grant = if limit.by_grant { " by grant" } else { "" };
            let own = if limit.own { " own" } else { "" };
            format!("{} {max} {} {exit}{grant}{own}", limit.name, limit.kept)
        };
        limits.iter().map(line).collect()
    }

    const FINALLY: &str = "finally: f\n";

    #[test]
    fn the_bound_is_the_lower_of_what_is_declared_and_granted() {
        let limit = "t: {count: tokens, max: 1000, exit: token_budget}";
        assert_eq!(shown(limit, FINALLY, &[]), ["t 1000 100 token_budget"]);
        assert_eq!(shown(limit, FINALLY, &[(Meter::Tokens, 500)]), ["t 500 50 token_budget by grant"]);
        assert_eq!(shown(limit, FINALLY, &[(Meter::Tokens, 1000)]), ["t 1000 100 token_budget"]);
        assert_eq!(shown(limit, FINALLY, &[(Meter::Tokens, 5000)]), ["t 1000 100 token_budget"]);
        let off = "t: {count: tokens, max: null, exit: token_budget}";
        assert_eq!(shown(off, FINALLY, &[]), ["t off 0 token_budget"]);
        assert_eq!(shown(off, FINALLY, &[(Meter::Tokens, 500)]), ["t 500 50 token_budget by grant"]);
        let units = "t: {count: tokens, max: 1000, reserve: 800, exit: token_budget}";
        assert_eq!(shown(units, FINALLY, &[]), ["t 1000 800 token_budget"]);
        assert_eq!(shown(units, FINALLY, &[(Meter::Tokens, 500)]), ["t 500 500 token_budget by grant"]);
        let time = "t: {count: wall_time, max: 1m, reserve: 10s, exit: deadline}";
        assert_eq!(shown(time, FINALLY, &[]), ["t 60000 10000 deadline"]);
    }

    #[test]
    fn what_is_granted_and_not_limited_gets_a_limit_of_its_own() {
        let granted = [(Meter::ActiveTime, 9000), (Meter::ModelCalls, 20), (Meter::CostUsd, 500)];
        let wanted = [
            "grant.cost_usd 500 50 cost_budget by grant",
            "grant.model_calls 20 0 step_limit by grant",
            "grant.active_time 9000 900 active_time by grant",
        ];
        assert_eq!(shown("", FINALLY, &granted), wanted);
        // Nothing is kept for a stage that there is not. A count of the instance alone does not stand for the grant.
        let own = "own: {count: model_calls, max: config.k, scope: own, exit: step_limit}, \
                   r: {count: steps, max: 2, to: f}";
        assert_eq!(
            shown(own, "", &granted[1..2]),
            [
                "own 3 0 step_limit own",
                "r 2 0 To(NodeIx(1)) own",
                "grant.model_calls 20 0 step_limit by grant",
            ]
        );
    }
}
