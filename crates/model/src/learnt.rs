//! What calls have taught about a model. It is kept while the program runs, and shared by all who ask the same model.

use std::sync::{Mutex, PoisonError};

use crate::settings::ToolMode;

/// How a model is asked for output of a given shape, from the surest way to the one that always works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OutputMode {
    /// The server holds the reply to the schema.
    #[default]
    Schema,
    /// The server holds the reply to JSON; the schema stands in the prompt.
    JsonObject,
    /// The schema stands in the prompt.
    Words,
}

impl OutputMode {
    /// The next weaker way; none after the last.
    pub(crate) fn weaker(self) -> Option<OutputMode> {
        match self {
            OutputMode::Schema => Some(OutputMode::JsonObject),
            OutputMode::JsonObject => Some(OutputMode::Words),
            OutputMode::Words => None,
        }
    }
}

/// What has been learnt about one model so far.
#[derive(Debug, Default)]
pub(crate) struct Learnt(Mutex<Facts>);

#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    window: Option<u64>,
    output: OutputMode,
    tools: Option<ToolMode>,
}

impl Learnt {
    /// The context window in tokens, if the provider has told it.
    pub(crate) fn window(&self) -> Option<u64> {
        self.read().window
    }

    /// Takes the word of the provider for the window.
    pub(crate) fn learn_window(&self, window: u64) {
        self.change(|facts| facts.window = Some(window));
    }

    /// How output of a given shape is asked for.
    pub(crate) fn output(&self) -> OutputMode {
        self.read().output
    }

    /// A weaker way was taken where a surer one was refused: it is used from now on.
    pub(crate) fn output_works(&self, mode: OutputMode) {
        self.change(|facts| facts.output = facts.output.max(mode));
    }

    /// How the model is told of tools, where a refusal has taught it.
    pub(crate) fn tools(&self) -> Option<ToolMode> {
        self.read().tools
    }

    /// The model knows no tools, but takes them in words.
    pub(crate) fn has_no_tools(&self) {
        self.change(|facts| facts.tools = Some(ToolMode::Schema));
    }

    fn read(&self) -> Facts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
