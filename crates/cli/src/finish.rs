//! The end of driving a run: report, summary, exit status.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{RunStatus, ScopeEnd};
use deepgraph_runtime::Question;
use deepgraph_store::{RunId, Store};
use deepgraph_tools::IndexReport;
use serde_json::json;

use crate::advice::{self, outlook::Outlook};
use crate::ask;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::figures::RunFigures;
use crate::out_file::OutFile;
use crate::progress::{self, Format, emit};
use crate::report;
use crate::screen::{self, Screen};
use crate::summary;

/// Where and how the end is told.
pub struct Finish<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Its graph.
    pub bundle: &'a Arc<Bundle>,
    /// How progress was told.
    pub format: Format,
    /// Where the report goes; none: standard output.
    pub out: Option<&'a OutFile>,
    /// Where the run is kept.
    pub store: &'a dyn Store,
    /// What was indexed.
    pub documents: Option<&'a IndexReport>,
    /// Where all else goes.
    pub screen: &'a Screen,
}

impl Finish<'_> {
    /// The run is over. Where its report or its events can not be written, it says so and how to have them again.
    pub fn over(&self, status: RunStatus, end: &ScopeEnd) -> ExitStatus {
        let text = report::text(self.bundle, &end.output);
        let filed = match (&text, self.out) {
            (Some(text), Some(file)) => Some(file.write(&with_line_break(text))),
            _ => None,
        };
        let is_filed = matches!(filed, Some(Ok(())));
        let exit_status = match filed {
            Some(Err(_)) => ExitStatus::Internal,
            _ => ExitStatus::of_run(status),
        };
        let shown = if self.format == Format::Json {
            self.emit_over(status, exit_status, end, text.as_deref(), is_filed);
            progress::all_emitted()
        } else {
            text.as_ref().filter(|_| !is_filed).map_or(Ok(()), |text| screen::print(text))
        };
        if let Some(Err(error)) = &filed {
            let place = if self.format == Format::Json { "the last event" } else { "standard output" };
            let instead = format!("\nThe report is not lost: it stands in {place} instead");
            self.screen.complain(&format!("{error}{}", if shown.is_ok() { &instead } else { "" }));
        }
        let again = format!("`deepgraph resume {}` tells its end and shows its report again", self.run);
        if let Err(error) = &shown {
            self.screen.complain(&format!("{error}\nThe run is over and kept: {again}"));
        } else if !is_filed && screen::stdout_leads_nowhere() {
            self.screen.warn(&format!("standard output is closed or leads nowhere: {again}"));
        }
        if self.format != Format::Json {
            self.summarise(status, end, text.is_some(), is_filed);
        }
        if shown.is_ok() { exit_status } else { ExitStatus::Internal }
    }

    fn summarise(&self, status: RunStatus, end: &ScopeEnd, has_text: bool, is_filed: bool) {
        let record = self.store.run(self.run).ok().flatten();
        let outlook = record.and_then(|record| advice::outlook(self.store, &record, self.bundle));
        let outlook = outlook.as_ref().map(|of_run| of_run as &dyn Outlook);
        let searches = self.figures().and_then(|figures| figures.failed_searches);
        let lines =
            summary::block(self.run, status, end, self.bundle, outlook, self.documents, searches.as_ref());
        let text = summary::align(&lines);
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        self.screen.say(&format!("\n{}\n{rest}", self.screen.bold(first)));
        if let Some(file) = self.out {
            let name = file.name().display();
            if is_filed {
                self.screen.say(&format!("The report is in {name}"));
            } else if !has_text {
                self.screen.say(&format!("There is no report, so {name} was left as it is"));
            }
        }
    }

    fn emit_over(
        &self,
        status: RunStatus,
        exit_status: ExitStatus,
        end: &ScopeEnd,
        text: Option<&str>,
        is_filed: bool,
    ) {
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
            "out": self.out.filter(|_| is_filed).map(|file| file.name().to_string_lossy()),
            "citations": report::citations(&end.output),
            "used": used,
            "cost_micro_usd": (used.cost_unknown == 0).then_some(used.cost_micro_usd),
            "figures": self.figures(),
        }));
    }

    /// The figures of the run; none where they can not be made, which its end does not depend on.
    fn figures(&self) -> Option<RunFigures> {
        let record = self.store.run(self.run).ok()??;
        RunFigures::of(&record, self.bundle, self.store).ok()
    }

    /// The run waits for answers.
    ///
    /// # Errors
    ///
    /// The events could not be written to standard output.
    pub fn waiting(&self, questions: &[Question]) -> Result<ExitStatus, CliError> {
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
            return progress::all_emitted().map(|()| status);
        }
        self.screen.say(&format!("\n{}", self.screen.bold(&format!("status  {}", RunStatus::AwaitingInput))));
        for question in questions {
            self.screen.say(&format!("\n{}", ask::shown(question)));
        }
        self.screen.say(&format!("\n{}", how_to_answer(self.run, questions)));
        Ok(status)
    }
}

/// The command that brings the answers.
pub fn how_to_answer(run: &RunId, questions: &[Question]) -> String {
    let answer = |question: &Question| if question.is_approval() { "yes" } else { "..." };
    let answers: Vec<String> = match questions {
        [only] => vec![format!("--answer \"{}\"", answer(only))],
        many => many.iter().map(|q| format!("--answer \"{}={}\"", q.id, answer(q))).collect(),
    };
    format!("Answer with: deepgraph resume {run} {}", answers.join(" "))
}

fn with_line_break(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
