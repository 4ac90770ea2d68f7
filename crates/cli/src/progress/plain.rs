//! Progress as plain lines: `[12] researcher 2: Looking into: ...`.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::StepId;
use deepgraph_runtime::{Observer, Told};

use super::scopes::Scopes;
use super::words::{waits, words};
use crate::screen::Screen;
use crate::when::counted;

/// Writes a line for every event that a person waits for.
pub struct Plain {
    scopes: Scopes,
    screen: Screen,
    /// Whether events from before are still being taken in.
    catching_up: bool,
}

impl Plain {
    pub fn new(bundle: Arc<Bundle>, screen: Screen) -> Plain {
        Plain { scopes: Scopes::new(bundle), screen, catching_up: false }
    }

    fn lines(&mut self, told: &Told) -> Vec<String> {
        let before = self.scopes.done;
        self.scopes.note(&told.event);
        if told.replayed {
            self.catching_up = true;
            return Vec::new();
        }
        let mut lines = Vec::new();
        if std::mem::take(&mut self.catching_up) {
            let steps = counted(before, "step was", "steps were");
            lines.push(format!("[{}] going on: {steps} committed before", told.seq));
        }
        if let Some((scope, text)) = words(&told.event, &self.scopes) {
            let label = self.scopes.get(&scope).map_or("", |view| &view.label);
            lines.push(format!("[{}] {label}: {text}", told.seq));
        }
        lines
    }
}

impl Observer for Plain {
    fn told(&mut self, told: &Told) {
        for line in self.lines(told) {
            self.screen.say(&line);
        }
    }

    fn waits(&mut self, step: &StepId, model: &str, ms: u64) {
        if let Some(text) = waits(step, model, ms) {
            let label = self.scopes.get(&self.scopes.scope_of(step)).map_or("", |view| &view.label);
            self.screen.say(&format!("{label}: {text}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::Event;

    use super::super::scopes::tests::example;
    use super::*;

    #[test]
    fn a_line_has_its_cursor_and_who_says_it() {
        let mut plain = Plain { scopes: example(), screen: Screen::plain(), catching_up: false };
        let step =
            |name: &str| StepId::new(format!("supervise.1/supervisor_tools.1/ConductResearch.1/{name}"));
        let mut lines = |seq, replayed, event| plain.lines(&Told { seq, at: 0, replayed, event });
        assert!(lines(7, true, Event::StepCompleted { step: step("researcher.1") }).is_empty());
        assert_eq!(
            lines(
                8,
                false,
                Event::CallAdmitted {
                    step: step("tools.1/read.1"),
                    tool: "read".into(),
                    args: deepgraph_protocol::Value::Null
                }
            ),
            ["[8] going on: 1 step was committed before", "[8] researcher 1: calls read"]
        );
        assert_eq!(
            lines(9, false, Event::StepCompleted { step: step("tools.1/read.1") }),
            ["[9] researcher 1: read done (2 steps)"]
        );
    }
}
