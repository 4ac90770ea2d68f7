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
                  Exit status:\n  0  both did the same\n  1  they did not, or the store failed or is damaged\n  \
                  2  one of them is not there or can not be read, or both can not be compared"
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
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// One side.
enum Side {
    /// Journals: their trace can be had in any detail.
    Journals(Box<Journals>),
    /// A text, as it is.
    Text(String),
}

impl Options {
    fn form(&self) -> Form {
        if self.json { Form::Json } else { self.format }
    }
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let (before, after) = (side(&options.before, global)?, side(&options.after, global)?);
    let printed = match (&before, &after) {
        (Side::Text(before), Side::Text(after)) => {
            if let (Some(one), Some(other)) = (detail_of(before), detail_of(after))
                && one != other
            {
                let problem = "its requests are not printed as those of the other: print both with --full, or both \
                               without";
                return Err(CliError::TraceFile { path: (&options.after).into(), problem: problem.into() });
            }
            Printed::of(before)
        }
        (Side::Text(text), _) | (_, Side::Text(text)) => Printed::of(text),
        (Side::Journals(_), Side::Journals(_)) => Printed { detail: Detail::Full, is_redacted: true },
    };
    let diff = of_texts(&before.text(printed)?, &after.text(printed)?);
    let text = match options.form() {
        Form::Json => as_json(&diff),
        Form::Text if options.all => format!("{diff:#}"),
        Form::Text => diff.to_string(),
    };
    screen::print(&text)?;
    Ok(if diff.is_empty() { ExitStatus::Succeeded } else { ExitStatus::DIFFERS })
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
    fn text(self, printed: Printed) -> Result<String, CliError> {
        match self {
            Side::Text(text) => Ok(text),
            Side::Journals(journals) => {
                let trace = journals.trace(&Screen::plain())?;
                let trace = if printed.is_redacted { trace.redact(&journals.date()) } else { trace };
                Ok(trace.to_text(printed.detail))
            }
        }
    }
}

/// How a trace was printed.
#[derive(Clone, Copy)]
struct Printed {
    detail: Detail,
    /// Without ids, times and the date.
    is_redacted: bool,
}

impl Printed {
    fn of(text: &str) -> Printed {
        // Only what is not redacted begins with the run's id. A trace without any request is the same in any detail.
        let is_redacted = !text.trim_start().starts_with("run ");
        Printed { detail: detail_of(text).unwrap_or(Detail::Short), is_redacted }
    }
}

/// In which detail a text was printed: whole requests are lines of messages, else there is one line of each request.
/// None: there is no request.
fn detail_of(text: &str) -> Option<Detail> {
    let starts = |line: &str, words: &[&str]| words.iter().any(|word| line.trim_start().starts_with(word));
    text.lines().find_map(|line| match line {
        _ if starts(line, &["system: \"", "user: \""]) => Some(Detail::Full),
        _ if starts(line, &["request "]) && line.contains(" messages, ") => Some(Detail::Short),
        _ => None,
    })
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
