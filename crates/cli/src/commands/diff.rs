//! `deepgraph diff`: what two runs did differently.

use std::path::Path;

use clap::Args;
use deepgraph_trace::Detail;
use deepgraph_trace::diff::{self, TraceDiff, of_texts};
use serde_json::json;

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::form::Form;
use crate::journals::{self, Journals};
use crate::screen::{self, Screen};

/// Options of `diff`.
#[derive(Debug, Args)]
#[command(
    about = "Show what two runs, or a run and a snapshot, did differently",
    long_about = "Show what two runs did differently: the first divergence, then each step that is not the same, by its \
                  place in the graph and never by line. What only follows from it (sums, later requests that hold what \
                  was said before) is counted in one line. - is A, + is B. Run ids, times and dates are left out.\n\n\
                  A and B are each a run, a snapshot (.snap, .snap.new), a journal file, or a file with a trace as text.",
    after_help = "Examples:\n  deepgraph diff 01981c2e last\n  \
                  deepgraph diff snapshots/notes/happy.snap last\n  \
                  deepgraph diff snapshots/notes/happy.snap snapshots/notes/happy.snap.new\n  \
                  deepgraph diff before.jsonl last --all | less\n\n\
                  Exit status:\n  0  both did the same\n  1  they did not\n  2  one of them can not be read"
)]
pub struct Options {
    /// A run (its id, the beginning of it, or `last`), or a file
    #[arg(value_name = "A")]
    before: String,
    /// What to compare it with
    #[arg(value_name = "B")]
    after: String,
    /// Everything that differs, what only follows too
    #[arg(long)]
    all: bool,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
}

/// One side.
enum Side {
    /// Journals: their trace can be had in any detail.
    Journals(Box<Journals>),
    /// A text, as it is.
    Text(String),
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let (before, after) = (side(&options.before, global)?, side(&options.after, global)?);
    let detail = match (&before, &after) {
        (Side::Text(text), _) | (_, Side::Text(text)) => detail_of(text),
        (Side::Journals(_), Side::Journals(_)) => Detail::Full,
    };
    let diff = of_texts(&before.text(detail)?, &after.text(detail)?);
    let text = match options.format {
        Form::Json => as_json(&diff),
        Form::Text if options.all => format!("{diff:#}"),
        Form::Text => diff.to_string(),
    };
    screen::print(&text)?;
    Ok(if diff.is_empty() { ExitStatus::Succeeded } else { ExitStatus::Internal })
}

fn side(name: &str, global: &Global) -> Result<Side, CliError> {
    if !journals::is_file(name) {
        return Ok(Side::Journals(Box::new(journals::named(name, global)?)));
    }
    let path = Path::new(name);
    let text = journals::read(path)?;
    if deepgraph_trace::Journal::is_one(&text) {
        return Ok(Side::Journals(Box::new(journals::of_text(path, &text)?)));
    }
    if !diff::is_trace(&text) {
        let problem = "it holds no trace: give a run, a snapshot of a trace, a journal, or what `deepgraph trace` \
                       prints as text";
        return Err(CliError::TraceFile { path: path.into(), problem: problem.into() });
    }
    if diff::is_cut_off(&text) {
        let cut = "its end is missing: it has no line `used` of the whole run. What was cut off is shown as a difference";
        Screen::plain().warn(&format!("{name} is cut off: {cut}"));
    }
    Ok(Side::Text(text))
}

impl Side {
    fn text(self, detail: Detail) -> Result<String, CliError> {
        match self {
            Side::Text(text) => Ok(text),
            Side::Journals(journals) => Ok(journals.trace()?.redact(&journals.date()).to_text(detail)),
        }
    }
}

/// In which detail a text was printed: whole requests are lines of messages, else there is one line of each request.
fn detail_of(text: &str) -> Detail {
    let is_message =
        |line: &str| ["system: \"", "user: \""].iter().any(|role| line.trim_start().starts_with(role));
    if text.lines().any(is_message) { Detail::Full } else { Detail::Short }
}

fn as_json(diff: &TraceDiff) -> String {
    let answer = json!({
        "equal": diff.is_empty(),
        "first": diff.first(),
        "places": diff.places(),
        "follows": diff.follows(),
    });
    serde_json::to_string_pretty(&answer).unwrap_or_default()
}
