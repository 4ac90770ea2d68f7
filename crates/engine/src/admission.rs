//! Counting calls: which limits count one, whether there is room for it, and what it adds.

use std::sync::Arc;

use deepgraph_graph::ToolIx;
use deepgraph_protocol::{Event, Meter, StepError, Value};

use crate::limits::{Active, Counts};
use crate::machine::Machine;
use crate::names::Local;

/// How a limit counts one call.
enum Counting {
    No,
    /// With all others.
    Together,
    /// With those of the same value.
    ByValue(String),
}

impl Machine {
    /// The reason why no further call of this tool is admitted, if a limit says so.
    pub(crate) fn no_room(&self, tool: ToolIx, args: &Value) -> Result<Option<Arc<str>>, StepError> {
        let in_finally = self.in_finally();
        if let Some(reason) = self.given_up_on(tool) {
            return Ok(Some(reason));
        }
        for limit in &self.limits {
            let Some(bound) = limit.bound(in_finally) else { continue };
            let taken = match self.counts(limit, tool, args)? {
                Counting::No => continue,
                Counting::Together => limit.taken(&self.reading()),
                Counting::ByValue(value) => limit.filter.counts.get(&value).copied().unwrap_or(0),
            };
            if taken >= bound {
                let name = &limit.name;
                let reason =
                    format!("refused: the limit `{name}` ({bound}) is used up; this call was not run.");
                return Ok(Some(reason.into()));
            }
        }
        Ok(None)
    }

    fn counts(&self, limit: &Active, tool: ToolIx, args: &Value) -> Result<Counting, StepError> {
        match &limit.counts {
            Counts::Meter(Meter::ToolCalls) => return Ok(Counting::Together),
            Counts::Names { tools, .. } if tools.contains(&tool) => {}
            _ => return Ok(Counting::No),
        }
        let local = Local::args(args.clone());
        if let Some(condition) = &limit.filter.condition
            && !self.value(condition, &self.view(), &local)?.is_true()
        {
            return Ok(Counting::No);
        }
        match &limit.filter.per {
            Some(per) => Ok(Counting::ByValue(self.value(per, &self.view(), &local)?.to_json_text())),
            None => Ok(Counting::Together),
        }
    }

    /// Counts an admitted call, and tells which limits it brings to their bound.
    pub(crate) fn count_call(&mut self, tool: ToolIx, args: &Value) {
        // What can not be counted was refused before.
        let counts: Vec<Counting> =
            self.limits.iter().map(|l| self.counts(l, tool, args).unwrap_or(Counting::No)).collect();
        self.counters.steps += 1;
        self.counters.tool_calls += 1;
        self.ledger.count_tool_call();
        let in_finally = self.in_finally();
        for limit in self.limits.iter_mut().zip(&counts) {
            match limit {
                (limit, Counting::ByValue(value)) => {
                    let count = limit.filter.counts.entry(value.clone()).or_insert(0);
                    *count += 1;
                    limit.count = limit.count.max(*count);
                }
                (limit, Counting::Together) if matches!(limit.counts, Counts::Names { .. }) => {
                    limit.count += 1
                }
                _ => {}
            }
        }
        let mut reached = Vec::new();
        {
            let at = self.reading();
            for (index, (limit, counted)) in self.limits.iter().zip(&counts).enumerate() {
                let value = match counted {
                    Counting::No => continue,
                    Counting::Together => limit.taken(&at),
                    Counting::ByValue(value) => limit.filter.counts.get(value).copied().unwrap_or(0),
                };
                if limit.bound(in_finally) == Some(value) {
                    reached.push((index, limit.hit(value)));
                }
            }
        }
        for (index, hit) in reached {
            if let Some(limit) = self.limits.get_mut(index) {
                limit.reached_now = true;
            }
            self.tell(Event::LimitReached {
                scope: self.scope.clone(),
                limit: hit.name,
                value: hit.value,
                bound: hit.bound,
            });
        }
    }
}
