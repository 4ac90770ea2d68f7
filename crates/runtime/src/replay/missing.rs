//! What is told of a request that was not recorded: who asked, the nearest recorded one, and what differs.

use std::fmt::Write;

use deepgraph_protocol::{StepId, Value};
use deepgraph_trace::recording::{Asked, Exchange, Recording, Request};
use similar::{ChangeTag, TextDiff};

/// Lines around a difference.
const CONTEXT: usize = 2;
/// Lines of the difference that are shown at most.
const LINES: usize = 60;
/// Characters of a line that are shown at most.
const WIDTH: usize = 240;

/// What to say of a step whose request was not recorded.
pub(super) fn told(recording: &Recording, step: &StepId, attempt: u32, asked: &Asked) -> String {
    let what = match asked {
        Asked::Model(request) => format!("a request to the model {}", request.model),
        Asked::Op { name, .. } => format!("a call of the op {name}"),
        Asked::Person(_) => "a question".to_owned(),
    };
    let mut said = format!("`{step}` (attempt {attempt}) makes {what} that was not recorded");
    match nearest(recording, step, asked) {
        Some(near) => {
            let _ = write!(
                said,
                "\nnearest in the recording is `{}` (attempt {}); - is recorded, + is asked now:\n{}",
                near.step,
                near.attempt,
                difference(&near.asked, asked)
            );
        }
        None => said.push_str("; the recording has nothing of its kind"),
    }
    said.push_str("\nIf the change is meant, record again with --record FILE");
    said
}

/// The exchange that is most like it: that of the same step, else the most alike by its text.
fn nearest<'r>(recording: &'r Recording, step: &StepId, asked: &Asked) -> Option<&'r Exchange> {
    let is_kind = |other: &Asked| match (asked, other) {
        (Asked::Op { name, .. }, Asked::Op { name: other, .. }) => name == other,
        (Asked::Model(_), Asked::Model(_)) | (Asked::Person(_), Asked::Person(_)) => true,
        _ => false,
    };
    let mut alike = recording.exchanges.iter().filter(|exchange| is_kind(&exchange.asked));
    if let Some(same) = alike.clone().find(|exchange| exchange.step == *step) {
        return Some(same);
    }
    let text = lines(asked);
    let first = alike.next()?;
    let ratio = |exchange: &Exchange| TextDiff::from_lines(&lines(&exchange.asked), &text).ratio();
    let mut best = (first, ratio(first));
    for exchange in alike {
        let ratio = ratio(exchange);
        if ratio > best.1 {
            best = (exchange, ratio);
        }
    }
    Some(best.0)
}

/// The lines that differ, with some around them.
fn difference(recorded: &Asked, asked: &Asked) -> String {
    let (old, new) = (lines(recorded), lines(asked));
    if old == new {
        return "  nothing differs in what is shown; it was answered before, as often as it was recorded"
            .to_owned();
    }
    let diff = TextDiff::from_lines(&old, &new);
    let mut out = Vec::new();
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if number > 0 {
            out.push("  ...".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            out.push(format!("{sign} {}", shortened(change.value().trim_end())));
        }
    }
    if out.len() > LINES {
        let more = out.len() - LINES;
        out.truncate(LINES);
        out.push(format!("  ... and {more} more lines"));
    }
    out.join("\n")
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// What is asked, as lines for people.
fn lines(asked: &Asked) -> String {
    match asked {
        Asked::Model(request) => lines_of_request(request),
        Asked::Op { name, input, given } => {
            let mut text = format!("op {name}\n");
            for (field, value) in input {
                block(&mut text, field, value.as_str().unwrap_or(&value.to_json_text()));
            }
            for (field, hash) in given {
                let _ = writeln!(text, "{field}, sha256 {hash}");
            }
            text
        }
        Asked::Person(question) => format!("{question}\n"),
    }
}

fn lines_of_request(request: &Request) -> String {
    let mut text = format!("model {}\n", request.model);
    for message in &request.messages {
        let role = message.role.name();
        block(&mut text, role, &message.content);
        for call in &message.tool_calls {
            let _ = writeln!(text, "calls {} ({}) {}", call.name, call.id, call.arguments);
        }
    }
    for tool in &request.tools {
        let _ = writeln!(text, "offers {} {}", tool.name, Value::of(tool));
    }
    if let Some(output) = &request.output {
        let _ = writeln!(text, "returns {} {}", output.name, output.schema);
    }
    if let Some(most) = request.max_output {
        let _ = writeln!(text, "at most {most} tokens");
    }
    for (name, value) in &request.options {
        let _ = writeln!(text, "option {name} = {value}");
    }
    for (name, hash) in &request.context {
        let _ = writeln!(text, "channel {name}, sha256 {hash}");
    }
    text
}

/// A text under its name, a line a line.
fn block(text: &mut String, name: &str, lines: &str) {
    let mut lines = lines.lines();
    let _ = writeln!(text, "{name}: {}", lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(text, "    {line}");
    }
}
