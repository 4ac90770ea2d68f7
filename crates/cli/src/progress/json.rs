//! Progress as JSON: one object a line on standard output.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use deepgraph_graph::Bundle;
use deepgraph_protocol::Event;
use deepgraph_runtime::{Observer, Told};
use serde_json::{Value, json};

use super::scopes::Scopes;
use crate::error::CliError;
use crate::screen;

/// Why the first line that was lost was lost.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

/// Writes one line. That it can not be written never stops a run; [`all_emitted`] tells it at the end.
pub fn emit(line: &Value) {
    if let Err(error) = screen::print_raw(&line.to_string()) {
        LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Whether all lines so far were written, or nobody reads them any more.
///
/// # Errors
///
/// Standard output could not be written. It is told once.
pub fn all_emitted() -> Result<(), CliError> {
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).take();
    lost.map_or(Ok(()), |error| Err(CliError::Stdout(error)))
}

/// Writes every event as one line.
pub struct Json {
    scopes: Scopes,
}

impl Json {
    pub fn new(bundle: Arc<Bundle>) -> Json {
        Json { scopes: Scopes::new(bundle) }
    }

    fn line(&mut self, told: &Told) -> Value {
        self.scopes.note(&told.event);
        if let Event::StepCompleted { step } = &told.event {
            // How many steps there will be is not known of a graph with loops: the phase stands for it.
            let view = self.scopes.get(&self.scopes.scope_of(step));
            return json!({
                "seq": told.seq,
                "type": "step_complete",
                "at": told.at,
                "replayed": told.replayed,
                "step": step,
                "done": self.scopes.done,
                "total": null,
                "instance": view.map(|view| &view.label),
                "phase": view.map(|view| &view.phase),
            });
        }
        let mut line = json!({"seq": told.seq, "type": null, "at": told.at, "replayed": told.replayed});
        if let (Some(line), Ok(Value::Object(event))) =
            (line.as_object_mut(), serde_json::to_value(&told.event))
        {
            for (name, value) in event {
                line.insert(if name == "event" { "type".to_owned() } else { name }, value);
            }
        }
        line
    }
}

impl Observer for Json {
    fn told(&mut self, told: &Told) {
        emit(&self.line(told));
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::{ScopePath, StepId};

    use super::super::scopes::tests::example;
    use super::*;

    #[test]
    fn lines_have_seq_and_type() {
        let mut json = Json { scopes: example() };
        let step = StepId::new("supervise.1/supervisor.1");
        let mut line = |event| json.line(&Told { seq: 3, at: 5, replayed: false, event });
        let started = Event::NodeStarted { step: step.clone(), title: "Deciding".into() };
        assert_eq!(
            line(started),
            json!({"seq": 3, "at": 5, "replayed": false, "type": "node_started", "step": step, "title": "Deciding"})
        );
        let complete = line(Event::StepCompleted { step: step.clone() });
        for (field, value) in [
            ("seq", json!(3)),
            ("type", json!("step_complete")),
            ("step", json!(step)),
            ("done", json!(1)),
            ("total", Value::Null),
            ("phase", json!("Deciding")),
        ] {
            assert_eq!(complete[field], value, "{field}");
        }
        let ended =
            line(Event::LimitReached { scope: ScopePath::root(), limit: "turns".into(), value: 1, bound: 1 });
        assert_eq!(ended["type"], "limit_reached");
    }
}
