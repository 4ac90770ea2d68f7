//! Calls of models: which model of the route is asked, when the call may go out, and what is reserved for it.
//!
//! A call waits, where it has to, for the limiter of its provider's account before it is dispatched. That is told to the
//! journal by `Held`, so that the wait is no active time of the run.

use std::sync::Arc;

use deepgraph_engine::Fitted;
use deepgraph_model::{Account, Price};
use deepgraph_protocol::{EntryBody, ErrorKind, ModelRequest, ScopePath, StepError, StepId, Usage};
use deepgraph_trace::recording::{Came, Exchange};
use deepgraph_trace::request_hash;

use crate::begun::Begun;
use crate::bound::{Around, Longest};
use crate::driver::Driver;
use crate::replay::lost_dispatch;
use crate::tasks::{Done, bounded};

/// An attempt of a model call, as it is put out.
#[derive(Clone, Debug)]
pub(crate) struct ModelCall {
    pub(crate) step: StepId,
    pub(crate) attempt: u32,
    pub(crate) timeout_ms: Option<u64>,
    /// Which model of the route is asked, from 0.
    pub(crate) route: u32,
}

/// A model call that is sent once its dispatch is durable.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) request: Arc<ModelRequest>,
    /// The longest reply, in tokens, as the model is told it; none: as the request has it.
    longest: Option<u64>,
    pub(crate) attempt: u32,
    pub(crate) timeout_ms: Option<u64>,
    /// How many dispatches come before the one that is sent: in the recorded run their answers were lost.
    pub(crate) lost: usize,
    /// Who is asked.
    pub(crate) asked: Asked,
    /// The account that lets it out, and with how many tokens it was let out.
    pub(crate) passed: Option<(Arc<Account>, u64)>,
    /// Its dispatch, while it waits for its account.
    pub(crate) waits: Option<EntryBody>,
}

/// Which model is asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) model: Arc<str>,
    /// Whether another of the route comes after it.
    pub(crate) has_next: bool,
    /// Whether it is asked in place of the configured one.
    pub(crate) in_place: bool,
}

/// Who is asked, and of the route who is left, the ones that are passed over now included.
struct Choice {
    asked: Asked,
    /// The name that `Dispatched` tells; none: it is the configured one.
    told: Option<Arc<str>>,
    left: Vec<String>,
}

impl Driver<'_> {
    /// Renders a model request and commits that it is sent; it is sent once that is durable.
    pub(crate) fn prepare_model(&mut self, scope: &ScopePath, call: ModelCall) {
        let Some(live) = self.machines.get(scope) else { return };
        let configured = match live.machine.model_of(&call.step) {
            Ok(configured) => configured,
            Err(error) => return self.commit_later(scope, EntryBody::Failed { step: call.step, error }),
        };
        let recorded = self.replay.as_ref().map(|replay| replay.own(&call.step, call.attempt).cloned());
        if let Some(Some(recorded)) = &recorded
            && recorded.held
        {
            self.hold(scope, &call.step, call.attempt);
            if was_never_sent(recorded) {
                return self.wait_for_ever(scope, &call.step);
            }
        }
        let choice = match &recorded {
            None => self.choose(&configured, call.route),
            Some(recorded) => self.as_recorded(&configured, call.route, recorded.as_ref()),
        };
        let window = match &recorded {
            None => self.runtime.models.window(&choice.asked.model),
            Some(recorded) => recorded.as_ref().and_then(|recorded| recorded.window),
        };
        let Some(live) = self.machines.get(scope) else { return };
        let fitted = match live.machine.fitted_request(&call.step, window) {
            Ok(fitted) => fitted,
            Err(error) => return self.commit_later(scope, EntryBody::Failed { step: call.step, error }),
        };
        let prices: Option<Vec<Price>> =
            choice.left.iter().map(|model| self.runtime.models.price(model)).collect();
        let around = Around {
            known: self.runtime.models.max_output(&choice.asked.model),
            window: fitted.window,
            room: live.machine.call_room(),
            prices: prices.as_deref(),
        };
        let longest = Longest::of(&fitted.request, &around);
        let is_computed = self.runtime.models.is_computed(&choice.asked.model);
        let told = longest.told.filter(|_| !is_computed);
        let output = if is_computed { None } else { Some(longest.reserved) };
        let mut entry = dispatch_of(&call, &choice, &fitted, output, prices.as_deref());
        let reserved = recorded.as_ref().and_then(|recorded| recorded.as_ref()?.reserved);
        if let Some(reserved) = reserved {
            entry = lost_dispatch(&entry, reserved);
        }
        let request = fitted.request;
        let (step, attempt) = (call.step.clone(), call.attempt);
        let lost =
            self.replay.as_ref().map(|replay| replay.lost(&step, attempt, &request)).unwrap_or_default();
        for reserved in &lost {
            self.commit_later(scope, lost_dispatch(&entry, *reserved));
        }
        let account = self.runtime.models.account(&choice.asked.model).filter(|_| self.replay.is_none());
        let tokens = request.estimate_tokens().saturating_add(told.unwrap_or(0));
        let mut prepared = Prepared {
            request: Arc::new(request),
            longest: told,
            attempt,
            timeout_ms: call.timeout_ms,
            lost: lost.len(),
            asked: choice.asked,
            passed: account.map(|account| (account, tokens)),
            waits: None,
        };
        match &prepared.passed {
            Some((account, tokens)) if !account.try_pass(&prepared.asked.model, *tokens) => {
                self.hold(scope, &step, attempt);
                let (account, tokens) = (account.clone(), *tokens);
                let (key, key_step, scope, of) = (scope.clone(), step.clone(), scope.clone(), step.clone());
                let model = prepared.asked.model.clone();
                let ms = u64::try_from(account.wait(&model, tokens).as_millis()).unwrap_or(u64::MAX);
                self.waits.push((step.clone(), model.clone(), ms));
                self.tasks.wait(&key, &key_step, async move {
                    account.pass(&model, tokens).await;
                    Done::Passed { scope, step: of }
                });
                prepared.waits = Some(entry);
            }
            _ => self.commit_later(scope, entry),
        }
        self.prepared.insert(step, prepared);
    }

    /// Its account lets a call out.
    pub(crate) fn passed(&mut self, scope: &ScopePath, step: &StepId) {
        if let Some(entry) = self.prepared.get_mut(step).and_then(|prepared| prepared.waits.take()) {
            self.commit_later(scope, entry);
        }
    }

    /// Commits that a call waits until it may be sent, once an attempt.
    pub(crate) fn hold(&mut self, scope: &ScopePath, step: &StepId, attempt: u32) {
        let is_open = self.machines.get(scope).is_some_and(|live| live.machine.is_open(step));
        if is_open && self.held.insert((step.clone(), attempt)) {
            self.commit_later(scope, EntryBody::Held { step: step.clone(), attempt });
        }
    }

    /// In the recorded run a call was called off before it was sent: here it waits to be called off.
    fn wait_for_ever(&mut self, scope: &ScopePath, step: &StepId) {
        self.tasks.wait(scope, step, std::future::pending::<Done>());
    }

    /// Who is asked now: of what is left of the route the first that was not in trouble lately. Where all of them were,
    /// the one that is passed over for the shortest time from now on.
    fn choose(&self, configured: &str, route: u32) -> Choice {
        let models = self.runtime.models.route(configured);
        let last = models.len().saturating_sub(1);
        let from = usize::try_from(route).unwrap_or(usize::MAX).min(last);
        let left = models.iter().enumerate().skip(from);
        // Of several alike it is the first.
        let at = left.min_by_key(|(_, model)| self.troubles.until(model)).map_or(from, |(at, _)| at);
        let model: Arc<str> = models.get(at).map_or(configured, String::as_str).into();
        Choice {
            told: (*model != *configured).then(|| model.clone()),
            asked: Asked { in_place: *model != *configured, model, has_next: at < last },
            left: models.into_iter().skip(from).collect(),
        }
    }

    /// Who was asked in the recorded run.
    fn as_recorded(&self, configured: &str, route: u32, recorded: Option<&Exchange>) -> Choice {
        let told = recorded.and_then(|recorded| recorded.model.clone());
        let model = told.clone().unwrap_or_else(|| configured.into());
        let from = usize::try_from(route).unwrap_or(usize::MAX);
        let mut left: Vec<String> = self.runtime.models.route(configured).into_iter().skip(from).collect();
        if left.is_empty() {
            left.push(model.to_string());
        }
        Choice { asked: Asked { in_place: told.is_some(), model, has_next: false }, told, left }
    }

    /// Sends a model request whose dispatch is durable, if the Machine still wants it.
    pub(crate) fn send_model(&mut self, scope: &ScopePath, step: &StepId) {
        if let Some(prepared) = self.prepared.get_mut(step).filter(|prepared| prepared.lost > 0) {
            prepared.lost -= 1;
            return;
        }
        let Some(prepared) = self.prepared.remove(step) else { return };
        self.held.remove(&(step.clone(), prepared.attempt));
        let Prepared { request, longest, attempt, timeout_ms, asked, passed, .. } = prepared;
        if !self.machines.get(scope).is_some_and(|live| live.machine.is_open(step)) {
            give_back(&passed);
            return;
        }
        if self.replay.is_some() {
            let request = Arc::unwrap_or_clone(request);
            return self.replay_model(scope, step.clone(), attempt, request);
        }
        let model = match self.runtime.models.get(&asked.model) {
            Ok(model) => model,
            Err(error) => {
                give_back(&passed);
                let error = StepError::new(ErrorKind::NotFound, error.to_string()).unsent();
                return self.commit_later(scope, self.not_to_be_had(step, attempt, &asked, error));
            }
        };
        let price = self.runtime.models.price(&asked.model);
        let (scope, step) = (scope.clone(), step.clone());
        let (key, key_step) = (scope.clone(), step.clone());
        let previews = self.previews.clone();
        let place = self.model_places.clone();
        let begun = Begun::default();
        self.begun.insert(step.clone(), begun.clone());
        self.tasks.spawn(&key, &key_step, async move {
            let preview_step = step.clone();
            let preview = move |piece: &str| drop(previews.send((preview_step.clone(), piece.to_owned())));
            let request = of_model(request, &asked.model, longest);
            let call = begun.unless_withdrawn(model.reply(&request, &preview));
            let result = bounded(place, timeout_ms, call).await.map(|reply| {
                let mut reply = reply.answering(&request);
                let priced = price.map(|p| p.cost(&reply.usage));
                reply.cost_micro_usd = reply.cost_micro_usd.or(priced);
                Box::new(reply)
            });
            if let Some((account, passed)) = passed {
                match &result {
                    Ok(reply) => account.correct(passed, reply.usage.tokens()),
                    Err(error) => account.refused(&asked.model, passed, error),
                }
            }
            Done::Model { scope, step, attempt, asked: Some(asked), price, result }
        });
    }

    /// What comes of a call whose model can not be had at all.
    fn not_to_be_had(&self, step: &StepId, attempt: u32, asked: &Asked, error: StepError) -> EntryBody {
        match asked.has_next {
            true => EntryBody::AttemptFailed {
                step: step.clone(),
                attempt,
                error,
                usage: Usage::default(),
                fail_over: true,
                fee: deepgraph_protocol::Fee::NONE,
            },
            false => EntryBody::Failed { step: step.clone(), error },
        }
    }
}

/// That a call is sent, with the tokens that are reserved for its reply; none: the model is computed here and uses none.
/// Reserved is what the dearest of those costs that may be asked from here on; where the price of one of them is not known,
/// that of the call is not.
fn dispatch_of(
    call: &ModelCall,
    choice: &Choice,
    fitted: &Fitted,
    output: Option<u64>,
    prices: Option<&[Price]>,
) -> EntryBody {
    let request = &fitted.request;
    let usage = Usage {
        input_tokens: request.estimate_tokens(),
        output_tokens: output.unwrap_or(0),
        ..Default::default()
    };
    EntryBody::Dispatched {
        step: call.step.clone(),
        attempt: call.attempt,
        request: Some(request_hash(request)),
        reserve_tokens: output.map_or(0, |output| usage.input_tokens.saturating_add(output)),
        reserve_micro_usd: prices.and_then(|prices| prices.iter().map(|price| price.most(&usage)).max()),
        key: None,
        takes_key: false,
        model: choice.told.clone(),
        window: fitted.window,
        cut: fitted.cut,
    }
}

/// What was let out and is not sent after all.
pub(crate) fn give_back(passed: &Option<(Arc<Account>, u64)>) {
    if let Some((account, tokens)) = passed {
        account.give_back(*tokens);
    }
}

/// The request, asked of this model, with the longest reply that it is told.
fn of_model(request: Arc<ModelRequest>, model: &str, longest: Option<u64>) -> Arc<ModelRequest> {
    let max_output = longest.or(request.max_output);
    if request.model == model && request.max_output == max_output {
        return request;
    }
    Arc::new(ModelRequest { model: model.to_owned(), max_output, ..Arc::unwrap_or_clone(request) })
}

/// Whether a call of the recorded run was called off while it waited.
fn was_never_sent(recorded: &Exchange) -> bool {
    recorded.unsent && recorded.came == Came::Nothing
}

#[cfg(test)]
mod tests;
