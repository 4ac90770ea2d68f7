//! Whether an instance that is over can go on, and what to do where it can not.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use deepgraph_graph::{Counted, OnReach, Setting};
use deepgraph_protocol::{
    Effect, Entry, EntryBody, Event, ExitClass, ExitReason, Grant, Map, Meter, Millis, Output, ResumeFrom,
    ScopePath,
};

use crate::exit::Came;
use crate::left::{Left, goes_on};
use crate::limits::{Active, Counts};
use crate::machine::{Machine, Phase};
use crate::run::{ItemStage, Work};

/// Why an instance can not go on. Each says what can be done instead.
#[derive(Clone, Debug, PartialEq)]
pub enum NotResumable {
    /// It is not over.
    NotOver,
    /// Its work came to its end, or was stopped for good: nothing is left to be done.
    NothingLeft {
        /// The exit.
        reason: ExitReason,
        /// Why that is an end.
        why: &'static str,
    },
    /// A limit would be reached again at once.
    AtOnce {
        /// The instance.
        scope: ScopePath,
        /// The limit's name.
        limit: Arc<str>,
        /// What it measures; none where it counts names.
        meter: Option<Meter>,
        /// What is used, in base units (calls, tokens, micro-dollars, milliseconds).
        used: u64,
        /// The whole bound, in the same unit.
        bound: u64,
        /// What of the bound is kept for the report, and is none of the stage that would run.
        kept: u64,
        /// The key of the configuration that sets it; none: the graph does, or what the parent can grant.
        key: Option<Arc<str>>,
    },
    /// The last steps still bring too little that is new.
    Saturated {
        /// The instance.
        scope: ScopePath,
        /// The limit's name.
        limit: Arc<str>,
        /// The key of the configuration that sets its threshold; none: the graph does.
        key: Option<Arc<str>>,
    },
    /// A child that ended short of its work can not go on under this configuration.
    Child {
        /// The instance.
        scope: ScopePath,
        /// Why.
        why: Arc<str>,
    },
    /// It has no report that could be made again.
    NoReport {
        /// Why.
        why: &'static str,
    },
}

impl fmt::Display for NotResumable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |scope: &ScopePath| if scope.is_root() { String::new() } else { format!(" of `{scope}`") };
        match self {
            NotResumable::NotOver => {
                write!(f, "it is not over: it goes on where it was left, as it was set up")
            }
            NotResumable::NothingLeft { reason, why } => {
                write!(f, "it ended by {reason}, and there is nothing to go on with: {why}")
            }
            NotResumable::AtOnce { scope, limit, meter, used, bound, kept, key } => {
                let amount = |n: u64| Amount { meter: *meter, n };
                write!(
                    f,
                    "the limit `{limit}`{} would be reached again at once: {} of {} are used",
                    of(scope),
                    amount(*used).bare(),
                    amount(*bound)
                )?;
                if *kept > 0 {
                    write!(f, ", and {} of it are kept for the report", amount(*kept))?;
                }
                f.write_str("; ")?;
                match key {
                    Some(key) => write!(f, "raise the config value {key}"),
                    None if limit.starts_with("grant.") || !scope.is_root() => {
                        write!(f, "raise the limits of the graphs above it, which it gets its share of")
                    }
                    None => write!(f, "its bound stands in the graph, which is kept with the run"),
                }
            }
            NotResumable::Saturated { scope, limit, key } => {
                write!(
                    f,
                    "the limit `{limit}`{} would end it again at once: its last steps brought too little that was new; ",
                    of(scope)
                )?;
                match key {
                    Some(key) => write!(f, "lower the config value {key}; 0 switches the limit off"),
                    None => write!(f, "its threshold stands in the graph, which is kept with the run"),
                }
            }
            NotResumable::Child { scope, why } => {
                write!(f, "`{scope}` can not go on with this configuration: {why}")
            }
            NotResumable::NoReport { why } => write!(f, "its report can not be made again: {why}"),
        }
    }
}

impl std::error::Error for NotResumable {}

/// So much of what a limit measures, with its unit.
struct Amount {
    meter: Option<Meter>,
    n: u64,
}

impl Amount {
    /// Without the unit, where that stands behind another amount.
    fn bare(&self) -> String {
        match self.meter {
            Some(Meter::CostUsd) => format!("${}", decimals(self.n, 6)),
            Some(meter) if meter.is_clock() => format!("{} s", decimals(self.n, 3)),
            _ => self.n.to_string(),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.bare())?;
        match self.meter {
            Some(meter) if meter == Meter::CostUsd || meter.is_clock() => Ok(()),
            Some(meter) => write!(f, " {}", meter.name().replace('_', " ")),
            None => f.write_str(" calls"),
        }
    }
}

/// A number of the smallest unit, of which a whole has 10 to the power of `digits`.
fn decimals(n: u64, digits: usize) -> String {
    let padded = format!("{n:0>width$}", width = digits + 1);
    let (whole, rest) = padded.split_at(padded.len() - digits);
    let rest = rest.trim_end_matches('0');
    if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
}

impl Machine {
    /// Whether the instance can go on at a moment, under this configuration and with what is granted beyond what it has
    /// used. Children that would go on with it are asked apart: see [`check_resume`].
    ///
    /// # Errors
    ///
    /// [`NotResumable`].
    pub fn can_resume(
        &self,
        now: Millis,
        config: &Map,
        grant: &Grant,
        from: ResumeFrom,
    ) -> Result<(), NotResumable> {
        self.goes_on_with(from)?;
        let in_finally = from == ResumeFrom::Report;
        let mut limits = self.limits_again(config, grant, now);
        if let (false, Some(before)) = (in_finally, self.left.as_ref().and_then(|left| left.before.as_ref()))
        {
            for (name, known) in &before.gains {
                let same = limits.iter_mut().filter(|limit| limit.name == *name);
                same.for_each(|limit| limit.gains.truncate(*known));
            }
        }
        limits.iter().try_for_each(|limit| self.lets_go_on(limit, in_finally))
    }

    /// Whether there is something to go on with, whatever the limits say.
    pub(crate) fn goes_on_with(&self, from: ResumeFrom) -> Result<(), NotResumable> {
        let (Phase::Ended, Some(left), Some(exit)) = (self.phase, &self.left, &self.exit) else {
            return Err(NotResumable::NotOver);
        };
        if from == ResumeFrom::Report {
            return self.has_report(&exit.reason);
        }
        match nothing_left(left, exit.class, exit.came) {
            Some(why) => Err(NotResumable::NothingLeft { reason: exit.reason.clone(), why }),
            None => Ok(()),
        }
    }

    fn has_report(&self, reason: &ExitReason) -> Result<(), NotResumable> {
        let no = |why| Err(NotResumable::NoReport { why });
        match reason {
            _ if self.plan().finally.is_none() => no("its graph has no `finally` stage"),
            ExitReason::Cancelled => no("it was cancelled; start another run of the same question"),
            ExitReason::ClarificationNeeded | ExitReason::PlanRejected => no(
                "it ended before there was anything to report; start another run of the question, put anew",
            ),
            _ => Ok(()),
        }
    }

    fn lets_go_on(&self, limit: &Active, in_finally: bool) -> Result<(), NotResumable> {
        // The report needs what any stage needs; which names it calls is its own affair.
        if !matches!(limit.on_reach, OnReach::Exit(..)) || (in_finally && !binds_report(limit)) {
            return Ok(());
        }
        let (scope, name) = (self.scope.clone(), limit.name.clone());
        if !in_finally && limit.saturated().is_some() {
            return Err(NotResumable::Saturated { scope, limit: name, key: self.key_of(limit) });
        }
        let at = self.reading();
        let (used, Some(bound)) = (limit.used(&at), limit.bound(in_finally)) else { return Ok(()) };
        let ended_it = !in_finally && self.is_unraised(limit);
        if used == 0 || (used < bound && !ended_it) {
            return Ok(());
        }
        // What is done first was counted when it started: the limit is met only behind it.
        let is_counted = || self.left.as_ref().is_some_and(|left| left.begins_with_what_was_counted());
        if !in_finally && !ended_it && counts_starts(limit) && is_counted() {
            return Ok(());
        }
        Err(NotResumable::AtOnce {
            scope,
            limit: name,
            meter: if let Counts::Meter(meter) = limit.counts { Some(meter) } else { None },
            used,
            bound: limit.max.unwrap_or(bound),
            kept: limit.max.unwrap_or(bound).saturating_sub(bound),
            key: self.key_of(limit),
        })
    }

    /// Whether it is the limit that ended the work, and it is no higher than it was.
    fn is_unraised(&self, limit: &Active) -> bool {
        let Some(exit) = self.exit.as_ref().filter(|exit| exit.came == Came::Limit) else { return false };
        let hit = exit.limit.as_ref().filter(|hit| hit.name == limit.name);
        hit.is_some_and(|hit| limit.max.is_some_and(|max| max <= hit.bound))
            && !matches!(limit.counts, Counts::Gain { .. })
    }

    /// The key of the configuration that sets the bound of a limit, or its threshold.
    fn key_of(&self, limit: &Active) -> Option<Arc<str>> {
        let declared = self.plan().limits.iter().find(|declared| declared.name == limit.name)?;
        let setting = match &declared.counted {
            Counted::Gain { below, .. } => below,
            _ => declared.max.as_ref()?,
        };
        if let Setting::Config(key) = setting { Some(key.clone()) } else { None }
    }

    /// The children that wait for a place to go on.
    fn waiting_reopens(&self) -> impl Iterator<Item = &Effect> {
        let items = self.current.iter().filter_map(|run| match &run.work {
            Work::Each(items) => Some(&items.items),
            _ => None,
        });
        items.flatten().filter_map(|item| match &item.stage {
            ItemStage::Waiting(waiting) => waiting.child.as_deref(),
            ItemStage::Started(_) => None,
        })
    }
}

/// Whether a limit counts what starts, once, however often it is tried.
fn counts_starts(limit: &Active) -> bool {
    let starts = [Meter::Turns, Meter::PaidTurns, Meter::SuperSteps, Meter::Steps];
    match limit.counts {
        Counts::Names { .. } => true,
        Counts::Meter(meter) => starts.contains(&meter),
        Counts::Gain { .. } => false,
    }
}

/// Whether a limit that is used up leaves a report nothing to be made with.
fn binds_report(limit: &Active) -> bool {
    let Counts::Meter(meter) = limit.counts else { return false };
    meter.is_quantity() || matches!(meter, Meter::ModelCalls | Meter::Steps | Meter::SuperSteps)
}

/// Why nothing is left to go on with; none: something is.
fn nothing_left(left: &Left, class: ExitClass, came: Came) -> Option<&'static str> {
    let own_way = "its graph says that this is its end; another question, or the same one with another configuration, \
                   is another run";
    match (class, came) {
        (ExitClass::Cancelled, _) => {
            Some("what was cancelled stays so; start another run of the same question")
        }
        (ExitClass::Waiting, _) => Some("the question is to be put anew; start another run"),
        (_, Came::Fault) => Some("the graph is at fault; correct it and start another run"),
        (_, Came::Route) => Some(own_way),
        (_, Came::Inherited) if !goes_on(class) => Some(own_way),
        (_, Came::Inherited) if !left.is_of_children() => Some(
            "the exit came from a graph that a tool call had started, and that call is answered; start another run",
        ),
        _ if !left.has_work() => {
            Some("its last step was done when the limit was reached; its report can be made again")
        }
        _ => None,
    }
}

/// Whether a run that is over can go on: its root, and the children that go on with it. The Machines are those that the
/// run's journals fold to; they are worked with and not to be used afterwards.
///
/// # Errors
///
/// [`NotResumable`], of the first instance that can not.
pub fn check_resume(
    machines: &mut BTreeMap<ScopePath, Machine>,
    now: Millis,
    config: &Arc<Map>,
    from: ResumeFrom,
) -> Result<(), NotResumable> {
    let mut asked = vec![(ScopePath::root(), config.clone(), Grant::default(), from)];
    while let Some((asked_of, config, grant, from)) = asked.pop() {
        let Some(machine) = machines.get_mut(&asked_of) else { return Err(NotResumable::NotOver) };
        machine.can_resume(now, &config, &grant, from)?;
        let attempt = machine.attempt().saturating_add(1);
        let outputs =
            machine.apply(&Entry { at: now, body: EntryBody::Resumed { attempt, config, grant, from } });
        // A child that went on would have a journal: it is told to have failed only where it can not.
        let barred = outputs.iter().find_map(|output| match output {
            Output::Event(Event::StepFailed { step, error }) => Some((step.scope(), error.message.clone())),
            _ => None,
        });
        if let Some((scope, why)) = barred.filter(|(scope, _)| machines.contains_key(scope)) {
            return Err(NotResumable::Child { scope, why: why.into() });
        }
        let sent = outputs.iter().filter_map(|output| match output {
            Output::Effect(effect) => Some(effect),
            Output::Event(_) => None,
        });
        let Some(machine) = machines.get(&asked_of) else { return Err(NotResumable::NotOver) };
        let children = sent.chain(machine.waiting_reopens()).filter_map(|effect| match effect {
            Effect::Reopen { step, config, grant, .. } => {
                Some((step.scope(), config.clone(), *grant, ResumeFrom::Research))
            }
            _ => None,
        });
        asked.extend(children);
    }
    Ok(())
}
