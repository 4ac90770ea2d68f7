//! Questions of a run to the person at the terminal.

use std::io::{self, BufRead};

use async_trait::async_trait;
use deepgraph_protocol::{OutputShape, Value};
use deepgraph_runtime::{Asker, Question};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::screen::Screen;

/// Asks on standard error and reads lines from standard input, one question after the other.
pub struct Terminal {
    screen: Screen,
    /// Lines as they are typed. The thread that reads them begins with the first question and is left behind at the
    /// end: a read from a terminal can not be called off.
    lines: Mutex<Option<UnboundedReceiver<String>>>,
}

impl Terminal {
    pub fn new(screen: Screen) -> Terminal {
        Terminal { screen, lines: Mutex::new(None) }
    }
}

#[async_trait]
impl Asker for Terminal {
    async fn ask(&self, question: &Question) -> Option<Value> {
        let mut lines = self.lines.lock().await;
        let lines = lines.get_or_insert_with(read_lines);
        let _paused = Paused::new(&self.screen);
        self.screen.say(&format!("\n{}\n(Ctrl-D: no answer)", shown(question)));
        loop {
            let line = lines.recv().await?;
            if !line.trim().is_empty() {
                return Some(question.read(&line));
            }
            self.screen.say("an empty line is no answer; type one, or Ctrl-D for none");
        }
    }
}

/// No progress lines while this lives: also where the question is given up halfway.
struct Paused<'a>(&'a Screen);

impl Paused<'_> {
    fn new(screen: &Screen) -> Paused<'_> {
        screen.pause();
        Paused(screen)
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.0.go_on();
    }
}

fn read_lines() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A question with what an answer looks like.
pub fn shown(question: &Question) -> String {
    let mut text = format!("Question {}:\n{}", question.id, question.text.trim());
    if let Some(complaint) = &question.complaint {
        text.push_str(&format!("\nThe last answer was not taken: {complaint}"));
    }
    let form = if question.is_approval() { Some(DECISION.to_owned()) } else { form(&question.shape) };
    if let Some(form) = form {
        text.push_str(&format!("\n{form}"));
    }
    text
}

/// What an answer to an approval looks like.
const DECISION: &str = "Answer yes or no. \"no: REASON\" tells the model why; \"edit {...}\" runs the call with these \
                        arguments instead.";

/// What an answer looks like, where it is more than a text.
fn form(shape: &OutputShape) -> Option<String> {
    let schema = &shape.schema;
    if schema.text("type") == "string" {
        return None;
    }
    let Some(fields) = schema.get("properties").and_then(Value::as_map) else {
        return Some(format!("An answer is JSON that fits {schema}"));
    };
    let required = schema.get("required").and_then(Value::as_list).unwrap_or_default();
    let is_required = |name: &str| required.iter().any(|r| r.as_str() == Some(name));
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, field)| {
            let wanted = match field.get("enum").and_then(Value::as_list) {
                Some(options) => options
                    .iter()
                    .map(|o| o.as_str().map_or(o.to_json_text(), str::to_owned))
                    .collect::<Vec<_>>()
                    .join(" | "),
                None => field
                    .get("type")
                    .map_or("any".to_owned(), |t| t.as_str().map_or(t.to_json_text(), str::to_owned)),
            };
            format!("\"{name}\"{}: {wanted}", if is_required(name) { "" } else { "?" })
        })
        .collect();
    let record = format!("An answer is JSON: {{{}}}", fields.join(", "));
    match required {
        [Value::Text(field)] => Some(format!("{record}; a text alone stands for \"{field}\"")),
        _ => Some(record),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(schema: serde_json::Value) -> Question {
        Question {
            id: deepgraph_protocol::StepId::new("review_plan.1"),
            text: "This is the plan.\n".into(),
            shape: OutputShape { name: "review".into(), schema: Value::from_json(&schema) },
            complaint: None,
        }
    }

    #[test]
    fn questions_say_what_an_answer_looks_like() {
        let mut asked = question(serde_json::json!({
            "type": "object",
            "properties": {"action": {"enum": ["approve", "edit"]}, "plan": {"type": "object"}},
            "required": ["action"],
        }));
        asked.complaint = Some("action: must be one of approve, edit".into());
        assert_eq!(
            shown(&asked),
            "Question review_plan.1:\nThis is the plan.\n\
             The last answer was not taken: action: must be one of approve, edit\n\
             An answer is JSON: {\"action\": approve | edit, \"plan\"?: object}; a text alone stands for \"action\""
        );
        asked.id = deepgraph_protocol::StepId::new("act.1/send.1/approval");
        assert_eq!(
            shown(&asked),
            "Question act.1/send.1/approval:\nThis is the plan.\n\
             The last answer was not taken: action: must be one of approve, edit\n\
             Answer yes or no. \"no: REASON\" tells the model why; \"edit {...}\" runs the call with these arguments \
             instead."
        );
        let text = question(serde_json::json!({"type": "string"}));
        assert_eq!(shown(&text), "Question review_plan.1:\nThis is the plan.");
    }
}
