//! The world of a case: models, ops and a person that do what is scripted, and note what was not.

use std::collections::BTreeSet;

use deepgraph_graph::{Bundle, Type};
use deepgraph_protocol::{
    ErrorKind, Fee, Map, Millis, ModelReply, ModelRequest, OutputShape, StepError, StepId, Value,
};

use super::file::Case;
use super::pattern::fits;
use super::request::shown;
use super::scripts::{Layers, Scripts};
use crate::{Outside, Said};

/// The world of a case in one run.
pub(crate) struct Scripted<'c> {
    case: &'c Case,
    scripts: Layers<'c>,
    bundle: &'c Bundle,
    /// Numbers of the scripted answers that were used.
    pub(crate) used: BTreeSet<usize>,
    /// What was wrong, each once, in order.
    pub(crate) complaints: Vec<String>,
}

impl<'c> Scripted<'c> {
    pub(crate) fn new(case: &'c Case, fork: Option<&'c Scripts>, bundle: &'c Bundle) -> Scripted<'c> {
        let scripts = Layers { upper: fork, lower: &case.scripts };
        Scripted { case, scripts, bundle, used: BTreeSet::new(), complaints: Vec::new() }
    }

    fn complain(&mut self, complaint: String) {
        if !self.complaints.contains(&complaint) {
            self.complaints.push(complaint);
        }
    }

    fn label(&self, number: usize) -> String {
        let (label, place) = &self.case.scripted[number];
        format!("{label} (line {})", place.line)
    }

    fn latency(&mut self, step: &StepId, op: Option<&str>, attempt: u32) -> Option<Millis> {
        let scripted = self.scripts.latency(step, op, attempt).ok()?;
        self.used.insert(scripted.number);
        Some(scripted.answer)
    }

    /// The record of an op: what is not scripted of it is empty.
    fn record(&mut self, op: &str, label: &str, mut fields: Map) -> Value {
        let Some(declared) = self.bundle.ops.get(op) else { return Value::from(fields) };
        for (name, field) in declared.result.fields.iter().filter(|(_, field)| !field.optional) {
            let empty = match &field.ty {
                Type::String => Value::from(""),
                Type::List(_) => Value::empty_list(),
                Type::Map(_) => Value::empty_map(),
                _ => continue,
            };
            fields.entry(name.clone()).or_insert(empty);
        }
        let record = Value::from(fields);
        let result = deepgraph_graph::Field::of(Type::Record(declared.result.clone()));
        if let Err(why) = result.check(&record) {
            self.complain(format!("{label} is no result of the op `{op}`: {why}"));
        }
        record
    }
}

/// What a step gets that nothing is scripted for.
fn unscripted() -> StepError {
    StepError::new(ErrorKind::InvalidRequest, "nothing is scripted for this step")
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("\n    {line}")).collect()
}

impl Outside for Scripted<'_> {
    fn model(
        &mut self,
        step: &StepId,
        attempt: u32,
        request: &ModelRequest,
    ) -> Result<ModelReply, StepError> {
        let scripted = match self.scripts.model(step, attempt) {
            Ok(scripted) => scripted,
            Err(why) => {
                self.complain(format!(
                    "no answer in `models` for `{step}`, attempt {attempt}: {why}; it was asked:{}",
                    indented(&shown(request))
                ));
                return Err(unscripted());
            }
        };
        self.used.insert(scripted.number);
        if let Some(wanted) = &scripted.answer.expect {
            for unmet in wanted.unmet(request) {
                let label = self.label(scripted.number);
                self.complain(format!(
                    "the request of `{step}` is not what {label} expects: {unmet}; it was:{}",
                    indented(&shown(request))
                ));
            }
        }
        scripted.answer.reply(step, &request.model)
    }

    fn op(&mut self, step: &StepId, attempt: u32, op: &str, input: &Map) -> Result<Value, StepError> {
        let scripted = match self.scripts.op(step, op, attempt) {
            Ok(scripted) => scripted,
            Err(why) => {
                let input = Value::from(input.clone());
                self.complain(format!(
                    "no answer in `ops` for `{step}` (op `{op}`), attempt {attempt}: {why}; its input was {input}"
                ));
                return Err(unscripted());
            }
        };
        self.used.insert(scripted.number);
        let label = self.label(scripted.number);
        for (name, wanted) in scripted.answer.expect.iter().flatten() {
            let came = input.get(name).cloned().unwrap_or_default();
            if !fits(wanted, &came) {
                self.complain(format!(
                    "the input of `{step}` is not what {label} expects: `{name}` is {came}, not {wanted}"
                ));
            }
        }
        match scripted.answer.result.clone() {
            Ok(fields) => Ok(self.record(op, &label, fields)),
            Err(error) => Err(error),
        }
    }

    fn fee(&mut self, step: &StepId, attempt: u32, op: &str, _: &Map) -> Fee {
        match self.scripts.op(step, op, attempt) {
            Ok(scripted) => {
                // A call that does not fit is not made: its answer says no more than what it would cost.
                let fee = scripted.answer.reserves();
                if !fee.is_none() {
                    self.used.insert(scripted.number);
                }
                fee
            }
            Err(_) => Fee::NONE,
        }
    }

    fn charged(&mut self, step: &StepId, attempt: u32, op: &str, _: &Map) -> Fee {
        self.scripts.op(step, op, attempt).map(|scripted| scripted.answer.charged()).unwrap_or_default()
    }

    fn person(&mut self, step: &StepId, answered: usize, _: &str, _: &OutputShape) -> Said {
        let nth = u32::try_from(answered + 1).unwrap_or(u32::MAX);
        let Ok(scripted) = self.scripts.person(step, nth) else { return Said::Nothing };
        // One answer for all attempts is one answer.
        if answered > 0 && self.scripts.person(step, 1).is_ok_and(|first| first.number == scripted.number) {
            return Said::Nothing;
        }
        self.used.insert(scripted.number);
        scripted.answer.said.clone()
    }

    fn takes(&mut self, step: &StepId, op: Option<&str>, attempt: u32) -> Millis {
        let own = match op {
            Some(op) => self.scripts.op(step, op, attempt).ok().map(|s| (s.number, s.answer.takes)),
            None => {
                let model = self.scripts.model(step, attempt).ok().map(|s| (s.number, s.answer.takes));
                let person = self.scripts.person(step, attempt).ok();
                model.or(person.map(|s| (s.number, s.answer.takes)))
            }
        };
        // An attempt that never comes back was used all the same: it took its time.
        self.used.extend(own.map(|(number, _)| number));
        let own = own.and_then(|(_, takes)| takes);
        own.or_else(|| self.latency(step, op, attempt)).unwrap_or(0)
    }

    fn route(&mut self, model: &str) -> Vec<String> {
        let fallbacks = self.case.fallbacks.iter().map(|fallback| fallback.to_string());
        std::iter::once(model.to_owned()).chain(fallbacks.filter(|fallback| fallback != model)).collect()
    }

    fn window(&mut self, model: &str) -> Option<u64> {
        self.case.windows.get(model).copied()
    }

    fn fails_over(&mut self, step: &StepId, attempt: u32) -> Option<bool> {
        self.scripts.model(step, attempt).ok()?.answer.fail_over
    }

    fn held(&mut self, step: &StepId, attempt: u32) -> Millis {
        let scripted = self.scripts.model(step, attempt).ok();
        scripted.and_then(|scripted| scripted.answer.held).unwrap_or(0)
    }

    fn reserves(&mut self, step: &StepId, attempt: u32, request: &ModelRequest) -> (u64, Option<u64>) {
        match self.scripts.model(step, attempt) {
            Ok(scripted) => {
                // A call that does not fit is not sent: its answer says no more than what it would take.
                self.used.insert(scripted.number);
                scripted.answer.reserves()
            }
            Err(_) => (request.estimate_tokens() + request.max_output.unwrap_or(0), Some(0)),
        }
    }
}
