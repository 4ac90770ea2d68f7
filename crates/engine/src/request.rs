//! Rendering a model request from a node and the state.
//!
//! Requests are not journaled: they are rendered when they are sent, from the state as it stood at the start of
//! the super-step, which is the state until all its steps are back.

use deepgraph_graph::{ChannelIx, Cut, ModelNode, Verb};
use deepgraph_protocol::{ErrorKind, Map, Message, ModelRequest, Role, StepError, StepId, Value};

use crate::fit::Fitted;

use crate::channel::State;
use crate::machine::Machine;
use crate::names::Local;
use crate::place::Part;
use crate::run::Attempts;
use crate::shown::Shown;

/// What stands where a tool answer was cut.
pub(crate) const CUT_NOTE: &str = "[this tool answer was left out to fit the context window]";

impl Machine {
    /// The request of a model step that is open, as it is to be sent now to a model with this context window in tokens;
    /// none: it is not known. An entry that says so ([`Dispatched`](deepgraph_protocol::EntryBody::Dispatched)) gives the
    /// request again that was sent.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Graph`] where a template can not be rendered, [`ErrorKind::InvalidRequest`] where the step is
    /// no open model step or the model's name is missing.
    pub fn model_request(&self, step: &StepId, window: Option<u64>) -> Result<ModelRequest, StepError> {
        self.fitted_request(step, window).map(|fitted| fitted.request)
    }

    /// The same, with what was cut so that it fits.
    ///
    /// # Errors
    ///
    /// As [`model_request`](Machine::model_request).
    pub fn fitted_request(&self, step: &StepId, window: Option<u64>) -> Result<Fitted, StepError> {
        let (model, attempts, local) = self.open_model(step).ok_or_else(|| {
            StepError::new(ErrorKind::InvalidRequest, format!("`{step}` is no open model step"))
        })?;
        let told = attempts.room.told;
        // The tighter of the two, where both are known.
        let window = window.map(|window| told.map_or(window, |told| told.min(window))).or(told);
        let shown = self.shown_again(step);
        let fitted = match window {
            Some(window) => return self.fit_window((model, attempts, local), window, &shown),
            None if attempts.overflows == 0 => {
                self.render_request(model, &self.state, &local).map(Fitted::whole)?
            }
            None => self.fit_request(model, attempts, local, &shown)?,
        };
        Ok(fitted.showing(&shown, shown.largest()))
    }

    /// The configured model of a model step that is open.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] where it is no open model step or the model's name is missing.
    pub fn model_of(&self, step: &StepId) -> Result<String, StepError> {
        match self.open_model(step) {
            Some((model, ..)) => self.name_of(model),
            None => Err(StepError::new(ErrorKind::InvalidRequest, format!("`{step}` is no open model step"))),
        }
    }

    fn name_of(&self, model: &ModelNode) -> Result<String, StepError> {
        match model.model.resolve(&self.config) {
            Value::Text(name) if !name.is_empty() => Ok(name.to_string()),
            other => {
                let message =
                    format!("the model's name must be a text, it is {other}; set it in the configuration");
                Err(StepError::new(ErrorKind::InvalidRequest, message))
            }
        }
    }

    fn open_model(&self, step: &StepId) -> Option<(&ModelNode, Attempts, Local)> {
        let place = self.place(step)?;
        let run = self.current.get(place.node)?;
        match &self.plan().nodes[run.node.0].verb {
            Verb::Model(model) if matches!(place.part, Part::Whole | Part::Item(_)) => {
                Some((model, self.open_at(place)?.attempts, self.local_at(place)))
            }
            _ => None,
        }
    }

    pub(crate) fn render_request(
        &self,
        model: &ModelNode,
        state: &State,
        local: &Local,
    ) -> Result<ModelRequest, StepError> {
        let view = crate::channel::View::of(state);
        let render =
            |text: &deepgraph_graph::Text| self.text(text, &view, local).map(|t| t.trim().to_owned());
        let mut messages = Vec::new();
        if let Some(system) = &model.system {
            messages.push(Message::system(render(system)?));
        }
        if let Some(channel) = model.messages {
            for value in state.get(channel).as_list().unwrap_or_default() {
                let message = Message::from_value(value)
                    .map_err(|e| StepError::new(ErrorKind::Graph, format!("in the conversation: {e}")))?;
                messages.push(message);
            }
        }
        if let Some(prompt) = &model.prompt {
            messages.push(Message::user(render(prompt)?));
        }
        let name = self.name_of(model)?;
        let mut context: Map = model
            .reads
            .iter()
            .map(|ix| (self.plan().channels[ix.0].name.clone(), state.get(*ix).clone()))
            .collect();
        let texts = [&model.system, &model.prompt];
        if let Some((item, _)) = local.item.as_ref().filter(|_| texts.iter().any(|t| wants_item(t))) {
            context.insert("item".into(), item.clone());
        }
        Ok(ModelRequest {
            model: name,
            messages,
            tools: model.specs.clone(),
            output: model.returns.as_ref().map(|r| r.shape.clone()),
            max_output: model.max_output.as_ref().and_then(|m| m.count(&self.config)),
            options: model.options.clone(),
            context,
        })
    }

    /// Renders a request that must become smaller, since it did not fit before. The window is not known: what did
    /// not fit is taken for it. Where a repair turn did not fit, what it adds is smaller now, and the rest is cut only if
    /// that is not enough.
    fn fit_request(
        &self,
        model: &ModelNode,
        attempts: Attempts,
        local: Local,
        shown: &Shown,
    ) -> Result<Fitted, StepError> {
        let share = model.truncate.to - model.truncate.shrink * f64::from(attempts.overflows - 1);
        let whole = self.render_request(model, &self.state, &local)?;
        let of = |tokens: u64| (tokens as f64 * share.clamp(0.05, 1.0)) as u64;
        let target = match shown.largest() {
            0 => of(whole.estimate_tokens()),
            size => {
                of(shown.added_to(&whole, 0).estimate_tokens()).saturating_sub(shown.tokens_at(&whole, size))
            }
        };
        let mut cutter = Cutter { state: self.state.clone(), local, answers: 0, oldest: 0, parts: 0 };
        for cut in &model.truncate.cut {
            loop {
                let mut request = self.render_request(model, &cutter.state, &cutter.local)?;
                cutter.trim(&mut request.messages);
                if request.estimate_tokens() <= target {
                    return Ok(cutter.fitted(&whole, request));
                }
                if !cutter.cut_more(cut, &request.messages) {
                    break;
                }
            }
        }
        let mut request = self.render_request(model, &cutter.state, &cutter.local)?;
        cutter.trim(&mut request.messages);
        Ok(cutter.fitted(&whole, request))
    }
}

fn wants_item(text: &Option<deepgraph_graph::Text>) -> bool {
    text.as_ref().is_some_and(|text| text.wants.item)
}

/// What has been cut so far.
struct Cutter {
    state: State,
    local: Local,
    /// Tool answers left out, oldest first.
    answers: usize,
    /// Messages left out behind the system message and the first user message, oldest first.
    oldest: usize,
    /// Cuts of channels and of the item.
    parts: u64,
}

impl Cutter {
    /// Cuts a little more of one kind. False where nothing of it is left.
    fn cut_more(&mut self, cut: &Cut, messages: &[Message]) -> bool {
        match cut {
            Cut::ToolResults => {
                let uncut =
                    messages.iter().filter(|m| m.role == Role::Tool && &*m.content != CUT_NOTE).count();
                // The newest answer stays: it is what the model works on.
                if uncut <= 1 {
                    return false;
                }
                self.answers += 1;
                true
            }
            Cut::Oldest => {
                if removable(messages).is_empty() {
                    return false;
                }
                self.oldest += 1;
                true
            }
            Cut::Channel(_) | Cut::Item => {
                let is_cut = cut_part(cut, &mut self.state, &mut self.local);
                self.parts += u64::from(is_cut);
                is_cut
            }
        }
    }

    /// The request that is left of the whole one.
    fn fitted(&self, whole: &ModelRequest, request: ModelRequest) -> Fitted {
        let cut = deepgraph_protocol::Cut {
            tool_results: self.answers as u64,
            messages: whole.messages.len().saturating_sub(request.messages.len()) as u64,
            parts: self.parts,
            bytes: whole.bytes().saturating_sub(request.bytes()) as u64,
        };
        Fitted { request, window: None, cut: (cut != Default::default()).then_some(cut) }
    }

    fn trim(&self, messages: &mut Vec<Message>) {
        for _ in 0..self.oldest {
            let Some(range) = Some(removable(messages)).filter(|r| !r.is_empty()) else { break };
            messages.drain(range);
        }
        let mut left = self.answers;
        for message in messages.iter_mut().filter(|m| m.role == Role::Tool) {
            if left == 0 {
                break;
            }
            message.content = CUT_NOTE.into();
            left -= 1;
        }
    }
}

/// Cuts a little more of a channel or of the item. False where nothing of it is left.
pub(crate) fn cut_part(cut: &Cut, state: &mut State, local: &mut Local) -> bool {
    match cut {
        Cut::Channel(ix) => cut_channel(*ix, state),
        Cut::Item => {
            let Some((item, index)) = &local.item else { return false };
            let Some(shorter) = shorten_item(item) else { return false };
            local.item = Some((shorter, *index));
            true
        }
        Cut::ToolResults | Cut::Oldest => false,
    }
}

fn cut_channel(ix: ChannelIx, state: &mut State) -> bool {
    let shorter = match state.get(ix) {
        Value::List(items) if items.len() > 1 => items.iter().skip(1).cloned().collect(),
        Value::Text(text) => match shorten(text) {
            Some(shorter) => Value::from(shorter),
            None => return false,
        },
        _ => return false,
    };
    state.set(ix, shorter);
    true
}

/// The text without its last tenth; none where it is too short to be worth it.
fn shorten(text: &str) -> Option<&str> {
    if text.len() <= 200 {
        return None;
    }
    let mut end = text.len() * 9 / 10;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(&text[..end])
}

/// An item with less in it: of a text its end, of a record the end of its longest text, of a list its first.
fn shorten_item(item: &Value) -> Option<Value> {
    match item {
        Value::Text(text) => shorten(text).map(Value::from),
        Value::List(items) if items.len() > 1 => Some(items[1..].iter().cloned().collect()),
        Value::Map(fields) => {
            let length = |v: &Value| v.as_str().map_or(0, str::len);
            let (name, longest) = fields.iter().rev().max_by_key(|(_, v)| length(v))?;
            let shorter = shorten(longest.as_str()?)?;
            let mut fields = (**fields).clone();
            fields.insert(name.clone(), Value::from(shorter));
            Some(Value::from(fields))
        }
        _ => None,
    }
}

/// The oldest messages that can go together: a reply with the answers to its calls, or one message. The system
/// message, the first user message and the last message stay.
pub(crate) fn removable(messages: &[Message]) -> std::ops::Range<usize> {
    let first = messages.iter().position(|m| m.role == Role::User).map_or(0, |i| i + 1);
    let first = first.max(usize::from(messages.first().is_some_and(|m| m.role == Role::System)));
    if first + 1 >= messages.len() {
        return first..first;
    }
    let mut end = first + 1;
    while end < messages.len() && messages[end].role == Role::Tool {
        end += 1;
    }
    if end >= messages.len() { first..first } else { first..end }
}
