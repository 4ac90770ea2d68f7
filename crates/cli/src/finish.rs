//! The end of driving a run: report, summary, exit status.

use deepgraph_graph::Bundle;
use deepgraph_protocol::{RunStatus, ScopeEnd};
use deepgraph_runtime::Question;
use deepgraph_store::RunId;
use deepgraph_tools::IndexReport;
use serde_json::json;

use crate::ask;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::out_file::OutFile;
use crate::progress::{Format, emit};
use crate::report;
use crate::screen::{self, Screen};
use crate::summary;

/// Where and how the end is told.
pub struct Finish<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Its graph.
    pub bundle: &'a Bundle,
    /// How progress was told.
    pub format: Format,
    /// Where the report goes; none: standard output.
    pub out: Option<&'a OutFile>,
    /// What was indexed.
    pub documents: Option<&'a IndexReport>,
    /// Where all else goes.
    pub screen: &'a Screen,
}

impl Finish<'_> {
    /// The run is over.
    ///
    /// # Errors
    ///
    /// Standard output can not be written.
    pub fn over(&self, status: RunStatus, end: &ScopeEnd) -> Result<ExitStatus, CliError> {
        let exit_status = ExitStatus::of_run(status);
        let text = report::text(self.bundle, &end.output);
        let written = match (&text, self.out) {
            (Some(text), Some(file)) => file.write(&with_line_break(text)),
            _ => Ok(()),
        };
        let exit_status = if written.is_ok() { exit_status } else { ExitStatus::Internal };
        if self.format == Format::Json {
            self.emit_over(status, exit_status, end, text.as_deref());
        } else if let Some(text) = text.as_ref().filter(|_| self.out.is_none() || written.is_err()) {
            screen::print(text)?;
        }
        if let Err(error) = written {
            let place = if self.format == Format::Json { "the last event" } else { "standard output" };
            self.screen.complain(&format!("{error}\nThe report is not lost: it stands in {place} instead"));
        }
        if self.format != Format::Json {
            self.summarise(status, end, text.is_some());
        }
        Ok(exit_status)
    }

    fn summarise(&self, status: RunStatus, end: &ScopeEnd, has_text: bool) {
        let lines = summary::block(self.run, status, end, self.bundle, self.documents);
        let text = summary::align(&lines);
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        self.screen.say(&format!("\n{}\n{rest}", self.screen.bold(first)));
        if let Some(file) = self.out {
            let name = file.name().display();
            if has_text {
                self.screen.say(&format!("The report is in {name}"));
            } else {
                self.screen.say(&format!("There is no report, so {name} was left as it is"));
            }
        }
    }

    fn emit_over(&self, status: RunStatus, exit_status: ExitStatus, end: &ScopeEnd, text: Option<&str>) {
        let used = &end.settled;
        emit(&json!({
            "type": "run_ended",
            "run": self.run,
            "status": status,
            "exit_status": exit_status.code(),
            "exit": end.exit,
            "exits": end.children,
            "report": end.report,
            "report_error": end.report_error,
            "text": text,
            "out": self.out.filter(|_| text.is_some()).map(|file| file.name().to_string_lossy()),
            "citations": report::citations(&end.output),
            "used": used,
            "cost_micro_usd": (used.cost_unknown == 0).then_some(used.cost_micro_usd),
        }));
    }

    /// The run waits for answers.
    pub fn waiting(&self, questions: &[Question]) -> ExitStatus {
        let status = ExitStatus::AwaitingInput;
        if self.format == Format::Json {
            let questions: Vec<_> = questions
                .iter()
                .map(|q| json!({"id": q.id, "question": q.text, "schema": q.shape.schema, "complaint": q.complaint}))
                .collect();
            emit(&json!({
                "type": "run_waiting",
                "run": self.run,
                "status": RunStatus::AwaitingInput,
                "exit_status": status.code(),
                "questions": questions,
            }));
            return status;
        }
        self.screen.say(&format!("\n{}", self.screen.bold(&format!("status  {}", RunStatus::AwaitingInput))));
        for question in questions {
            self.screen.say(&format!("\n{}", ask::shown(question)));
        }
        self.screen.say(&format!("\n{}", how_to_answer(self.run, questions)));
        status
    }
}

/// The command that brings the answers.
pub fn how_to_answer(run: &RunId, questions: &[Question]) -> String {
    match questions {
        [_] => format!("Answer with: deepgraph resume {run} --answer \"...\""),
        many => {
            let answers: Vec<String> = many.iter().map(|q| format!("--answer \"{}=...\"", q.id)).collect();
            format!("Answer with: deepgraph resume {run} {}", answers.join(" "))
        }
    }
}

fn with_line_break(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
