//! Calls that come again, and tools that fail again and again.
//!
//! Both are looked at in call order when a turn is joined, so that nothing depends on which call came back first.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{OnReach, ToolIx};
use deepgraph_protocol::{ErrorKind, ExitClass, Map, Meter, StepId, Value};

use crate::machine::Machine;
use crate::run::{CallRun, Outcome, Progress, Stage};

/// What came of a call for limits on failures and repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Succeeded,
    Failed,
    /// It was not run, or given up.
    Neither,
}

/// The calls of a turn that are run or put to a person, by tool and arguments as they are compared, with their numbers
/// from 1. Empty where no limit counts repeated calls.
#[derive(Debug, Default)]
pub(crate) struct Made(BTreeMap<(ToolIx, String), usize>);

impl Machine {
    /// Why a call is refused that repeats one that succeeded, where a limit counts such calls; counts it.
    pub(crate) fn refuse_repeat(&mut self, tool: ToolIx, args: &Value) -> Option<Arc<str>> {
        if !self.counts_repeats() {
            return None;
        }
        let before = self.done_calls.get(&(tool, compared(args)))?;
        let own = self.scope.step().and_then(|scope| before.below(&scope)).unwrap_or(before.as_str());
        let name = &self.plan().tools[tool.0].name;
        let reason = format!(
            "refused: not run, since it repeats the call {own}, which was answered. Change the arguments, or stop \
             calling `{name}`."
        );
        self.count_one_by_one(Meter::RepeatedCalls, |limit| {
            limit.count += 1;
            limit.count
        });
        Some(reason.into())
    }

    /// Why a call is refused that equals an earlier one of its turn, where a limit counts repeats. It is not counted: the
    /// model has seen no answer yet that it could have heeded. `made` are the calls of the turn that are run, or put to a
    /// person, by their number from 1; in call order, so that nothing depends on which comes back first.
    pub(crate) fn refuse_twin(&self, tool: ToolIx, args: &Value, made: &Made) -> Option<Arc<str>> {
        let first = made.0.get(&(tool, compared(args)))?;
        let name = &self.plan().tools[tool.0].name;
        let reason = format!(
            "refused: not run, since it is the same as call {first} of this turn; its answer is the answer to both. \
             Call `{name}` once for each thing that you want."
        );
        Some(reason.into())
    }

    /// Notes a call of a turn that is run, or put to a person.
    pub(crate) fn note_made(&self, tool: ToolIx, args: &Value, number: usize, made: &mut Made) {
        if self.counts_repeats() {
            made.0.entry((tool, compared(args))).or_insert(number);
        }
    }

    /// Why a tool is not called any more that failed too often in a row.
    pub(crate) fn given_up_on(&self, tool: ToolIx) -> Option<Arc<str>> {
        let in_finally = self.in_finally();
        self.limits.iter().filter(|l| l.measures(Meter::ToolFailures)).find_map(|limit| {
            let failed = *limit.failures.get(&tool)?;
            let is_full =
                limit.on_reach == OnReach::Refuse && limit.bound(in_finally).is_some_and(|b| failed >= b);
            let reason = format!(
                "refused: it failed {failed} times in a row, and the limit `{}` lets it not be called again.",
                limit.name
            );
            is_full.then(|| reason.into())
        })
    }

    /// Notes what came of a call.
    pub(crate) fn note_outcome(&mut self, tool: ToolIx, args: &Value, step: &StepId, came: Came) {
        match came {
            Came::Neither => {}
            Came::Failed => self.count_one_by_one(Meter::ToolFailures, |limit| {
                let failed = limit.failures.entry(tool).or_insert(0);
                *failed += 1;
                *failed
            }),
            Came::Succeeded => {
                for limit in &mut self.limits {
                    limit.failures.remove(&tool);
                }
                if self.counts_repeats() {
                    self.done_calls.entry((tool, compared(args))).or_insert_with(|| step.clone());
                }
            }
        }
    }

    fn counts_repeats(&self) -> bool {
        self.limits.iter().any(|limit| limit.measures(Meter::RepeatedCalls))
    }

    /// Counts one more for the limits on a meter, by `count`, and tells those that it brings to their bound. They act at
    /// the end of the super-step, once; in `finally` not at all.
    fn count_one_by_one(&mut self, meter: Meter, mut count: impl FnMut(&mut crate::limits::Active) -> u64) {
        let in_finally = self.in_finally();
        let mut reached = Vec::new();
        for limit in self.limits.iter_mut().filter(|limit| limit.measures(meter)) {
            let value = count(limit);
            let acts = !in_finally && (!limit.acted || limit.on_reach == OnReach::Refuse);
            if acts && limit.bound(false) == Some(value) {
                limit.reached_now = true;
                reached.push(limit.hit(value));
            }
        }
        reached.iter().for_each(|hit| self.tell_limit(hit));
    }
}

/// What came of a call that is back.
pub(crate) fn came(call: &CallRun) -> Came {
    let Stage::Admitted(Progress::Done(outcome)) = &call.stage else { return Came::Neither };
    match outcome {
        // It was given up, or not let start: the tool is not to blame.
        Outcome::Failed(error) if matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Refused) => {
            Came::Neither
        }
        Outcome::Failed(_) => Came::Failed,
        // A graph that ended badly has handed up what it had, but it may be called again.
        Outcome::Child(end) if matches!(end.exit.class, ExitClass::Error | ExitClass::Cancelled) => {
            Came::Neither
        }
        Outcome::Nothing | Outcome::Reply(_) | Outcome::Record(_) | Outcome::Child(_) => Came::Succeeded,
    }
}

/// Arguments as they are compared: JSON with sorted keys, text in lower case without blanks around it and with one
/// blank for several, whole numbers without a point, and without fields that are null.
fn compared(args: &Value) -> String {
    normal(args).to_json_text()
}

fn normal(value: &Value) -> Value {
    match value {
        Value::Text(text) => {
            let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
            Value::from(words.join(" "))
        }
        Value::List(items) => items.iter().map(normal).collect(),
        Value::Map(fields) => {
            let said = fields.iter().filter(|(_, value)| !value.is_null());
            Value::from(said.map(|(name, value)| (name.clone(), normal(value))).collect::<Map>())
        }
        Value::Float(n) if n.fract() == 0.0 && n.abs() < 9e15 => Value::Int(*n as i64),
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::compared;

    fn read(json: &str) -> String {
        compared(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn what_differs_in_form_only_is_equal() {
        let one = read(r#"{"query": "  Tidal   POWER\n", "max": 5, "tags": ["A", "b "], "more": null}"#);
        let other = read(r#"{"tags": ["a", "B"], "max": 5.0, "query": "tidal power"}"#);
        assert_eq!(one, other);
        assert_eq!(one, r#"{"max":5,"query":"tidal power","tags":["a","b"]}"#);
        assert_eq!(read(r#"{"q": "ÉTÉ"}"#), read(r#"{"q": "été"}"#));
    }

    #[test]
    fn what_differs_otherwise_is_not() {
        let one = read(r#"{"query": "tidal power", "max": 5}"#);
        let others = [
            r#"{"query": "tidal power", "max": 6}"#,
            r#"{"query": "tidalpower", "max": 5}"#,
            r#"{"query": "power tidal", "max": 5}"#,
            r#"{"query": "tidal power", "max": "5"}"#,
            r#"{"Query": "tidal power", "max": 5}"#,
            r#"{"query": ["tidal power"], "max": 5}"#,
            r#"{"query": "tidal power"}"#,
        ];
        others.iter().for_each(|other| assert_ne!(one, read(other), "{other}"));
    }
}
