//! The figures of a stored run: what every run tells of itself.

use std::fmt::Write as _;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Clocks, RunStatus, Spent};
use deepgraph_research::text::similar::is_near;
use deepgraph_store::{RunRecord, Store, Stored};
use deepgraph_trace::Row;
use deepgraph_trace::churn::churn;
use deepgraph_trace::figures::{self, ChurnCounts, Figures};
use deepgraph_trace::sources::{CitationCounts, citations};
use deepgraph_trace::spending::{SpendingLine, spending};
use serde::Serialize;

use crate::error::CliError;
use crate::searches::FailedSearches;
use crate::settings::Settings;
use crate::when;

/// The figures of a run, with what its record knows.
#[derive(Debug, Serialize)]
pub struct RunFigures {
    /// The question.
    pub query: String,
    /// The class of the question; null where it has none.
    pub class: Option<String>,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// Its searches, where some failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_searches: Option<FailedSearches>,
    /// What each stage spent on which model or op.
    pub spending: Vec<SpendingLine>,
}

impl RunFigures {
    /// The figures of a run.
    ///
    /// # Errors
    ///
    /// The journals can not be read or do not fold; the record has no settings.
    pub fn of(record: &RunRecord, bundle: &Arc<Bundle>, store: &dyn Store) -> Result<RunFigures, CliError> {
        Self::of_rows(record, bundle, &store.entries(&record.run_id, 0)?)
    }

    /// The same, of its rows.
    ///
    /// # Errors
    ///
    /// The journals do not fold; the record has no settings.
    pub fn of_rows(
        record: &RunRecord,
        bundle: &Arc<Bundle>,
        rows: &[Stored],
    ) -> Result<RunFigures, CliError> {
        let rows = || rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
        let mut figures = figures::of_run(bundle, rows()).map_err(CliError::Fold)?;
        let trace = deepgraph_trace::fold(bundle, rows()).map_err(CliError::Fold)?;
        figures.citations = citations(&trace);
        figures.churn = Some(ChurnCounts::from(&churn(&trace, is_near)));
        // The record knows more than the journals: that the run waits, or was given up.
        let is_over = record.status.is_terminal() || record.status == RunStatus::AwaitingInput;
        figures.status = if is_over { Some(record.status) } else { figures.status };
        let class = Settings::of(record)?.intent.map(|choice| choice.name.to_string());
        let spending = spending(bundle, rows()).map_err(CliError::Fold)?;
        Ok(RunFigures {
            query: record.question.clone(),
            class,
            figures,
            failed_searches: FailedSearches::of(&trace),
            spending,
        })
    }

    /// As lines for people.
    pub fn text(&self) -> String {
        let figures = &self.figures;
        let mut out = String::new();
        let mut line = |name: &str, text: String| {
            // Writing to a text can not fail.
            let _ = writeln!(out, "{name:10} {text}");
        };
        let per_step = when::number(figures.tokens_per_step);
        line("steps", when::number(figures.steps));
        line("tokens", format!("{}, {per_step} a step", when::number(figures.tokens)));
        line("sources", sources(figures));
        if let Some(failed) = &self.failed_searches {
            line("searches", failed.to_string());
        }
        if let Some(findings) = figures.findings {
            line("findings", when::number(findings));
        }
        if let Some(checked) = figures.citations {
            line("citations", citations_in_words(checked));
        }
        if let Some(churn) = figures.churn.filter(|churn| churn.sub_questions + churn.rewrites > 0) {
            line("churn", churn_in_words(churn));
        }
        line("cost", cost(figures));
        if let Some(time) = figures.time {
            line("time", format!("{}: {}", when::duration(time.wall_ms), clocks_in_words(time)));
        }
        if figures.attempts > 1 {
            line("attempts", when::number(figures.attempts.into()));
        }
        for instance in &figures.instances {
            for gains in instance.gains.iter().filter(|gains| !gains.per_step.is_empty()) {
                let shares: Vec<String> = gains.per_step.iter().map(|gain| share(*gain)).collect();
                let scope = if instance.scope.is_root() { "(root)" } else { instance.scope.as_str() };
                line("gain", format!("{} {scope}", shares.join(" ")));
            }
        }
        out
    }
}

fn sources(figures: &Figures) -> String {
    let documents = when::counted(figures.sources, "document", "documents");
    let passages = when::counted(figures.passages, "passage", "passages");
    format!("{documents}, {passages}")
}

/// `1 of 4 sub-questions asked after the first step; 2 of 3 rewrites brought no new source`.
pub fn churn_in_words(churn: ChurnCounts) -> String {
    let late = when::counted(churn.sub_questions, "sub-question", "sub-questions");
    let idle = when::counted(churn.rewrites, "rewrite", "rewrites");
    let (asked_late, idle_rewrites) = (when::number(churn.asked_late), when::number(churn.idle_rewrites));
    format!(
        "{asked_late} of {late} asked after the first step; {idle_rewrites} of {idle} brought no new source"
    )
}

/// `12, 10 verified, 2 removed`.
pub fn citations_in_words(checked: CitationCounts) -> String {
    let CitationCounts { total, verified, removed } = checked;
    let [total, verified, removed] = [total, verified, removed].map(when::number);
    format!("{total}, {verified} verified, {removed} removed")
}

/// `30 s working, 5 s in back-off, 1 min waiting for a person`.
pub fn clocks_in_words(clocks: Clocks) -> String {
    let rest = [("in back-off", clocks.backoff_ms), ("waiting for a person", clocks.human_ms)];
    let rest = rest.into_iter().filter(|(_, ms)| *ms > 0);
    let rest: String = rest.map(|(what, ms)| format!(", {} {what}", when::duration(ms))).collect();
    format!("{} working{rest}", when::duration(clocks.active_ms))
}

fn cost(figures: &Figures) -> String {
    let used = Spent {
        cost_micro_usd: figures.cost.known_micro_usd,
        cost_unknown: figures.cost.unknown_calls,
        ..Spent::default()
    };
    when::cost(&used).trim_start_matches("cost ").to_owned()
}

/// A gain as a share: `12.5 %`.
pub fn share(gain: f64) -> String {
    let text = format!("{:.2}", gain * 100.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} %")
}
