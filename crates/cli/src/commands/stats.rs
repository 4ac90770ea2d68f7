//! `deepgraph stats`: the runs of a period, by class of question.

pub mod period;
mod tell;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use clap::Args;
use deepgraph_graph::Bundle;
use deepgraph_protocol::Millis;
use deepgraph_store::{RunId, RunRecord, Store};
use deepgraph_trace::stats::{Gathered, Summary};
use serde::Serialize;

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::figures::RunFigures;
use crate::form::Form;
use crate::graphs;
use crate::home::Home;
use crate::screen::{self, Screen};

/// Graphs that are kept compiled: runs that follow each other mostly have the same one.
const GRAPHS_KEPT: usize = 8;

/// Options of `stats`.
#[derive(Debug, Args)]
#[command(
    about = "Sum up the runs of a period by class of question",
    long_about = "Sum up the runs of a period, by graph and class of question: how many, steps, tokens and cost of a run \
                  (the median and the 90th percentile), how research ended, the mean gain of the last step, and distinct \
                  sources. A class whose runs are mostly ended by a cap on steps or calls, with next to nothing new at the \
                  end, is flagged with what to do.\n\n\
                  Only runs that are over are counted. A run is read at a time, from its journals; one that can not be \
                  read is told and left out. docs/stats.md says what each figure means.",
    after_help = "Examples:\n  deepgraph stats\n  deepgraph stats --since 7d\n  \
                  deepgraph stats --since 2026-01-01 --until 2026-01-31 --graph deep_research\n  \
                  deepgraph stats --class fact --format json"
)]
pub struct Options {
    /// Runs that were begun since then: 7d, 12h, or a date
    #[arg(long, value_name = "AGE|DATE")]
    since: Option<String>,
    /// Runs that were begun until then: 1d, or a date, which is counted in
    #[arg(long, value_name = "AGE|DATE")]
    until: Option<String>,
    /// Only runs of this graph, as it was given or by its own name
    #[arg(long, value_name = "NAME")]
    graph: Option<String>,
    /// Only runs of this class of question; none: those without one
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Form of the summary
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// What is told.
#[derive(Debug, Serialize)]
struct Stats {
    version: u32,
    /// The period, in milliseconds since 1970; null where it is open.
    since: Option<Millis>,
    until: Option<Millis>,
    /// Runs that are counted.
    runs: u64,
    /// Runs of the period that are not over.
    going_on: u64,
    /// Runs that can not be read.
    unreadable: u64,
    classes: Vec<Class>,
}

/// The runs of one class of one graph.
#[derive(Debug, Serialize)]
struct Class {
    graph: String,
    /// Null: runs without a class.
    class: Option<String>,
    #[serde(flatten)]
    summary: Summary,
}

impl Options {
    fn form(&self) -> Form {
        if self.json { Form::Json } else { self.format }
    }
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let now = jiff::Timestamp::now();
    let since = options.since.as_deref().map(|text| period::since(text, now)).transpose()?;
    let until = options.until.as_deref().map(|text| period::until(text, now)).transpose()?;
    let store = Home::find(global)?.kept()?;
    let screen = Screen::plain();
    let mut reading = Reading {
        options,
        store: &*store,
        screen: &screen,
        bundles: VecDeque::new(),
        going_on: 0,
        unreadable: 0,
    };
    let mut classes: BTreeMap<(String, Option<String>), Gathered> = BTreeMap::new();
    for run in store.run_ids()? {
        if let Some((graph, figures)) = reading.run(&run, since, until) {
            classes.entry((graph, figures.class.clone())).or_default().add(&figures.figures);
        }
    }
    let classes: Vec<Class> = classes
        .into_iter()
        .filter_map(|((graph, class), gathered)| Some(Class { graph, class, summary: gathered.summary()? }))
        .collect();
    let stats = Stats {
        version: 1,
        since,
        until,
        runs: classes.iter().map(|class| class.summary.runs).sum(),
        going_on: reading.going_on,
        unreadable: reading.unreadable,
        classes,
    };
    let text = match options.form() {
        Form::Text => tell::text(&stats),
        Form::Json => serde_json::to_string_pretty(&stats).unwrap_or_default(),
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

/// Reads one run after the other.
struct Reading<'a> {
    options: &'a Options,
    store: &'a dyn Store,
    screen: &'a Screen,
    /// Graphs as they stand in records, the last used first.
    bundles: VecDeque<(serde_json::Value, Arc<Bundle>)>,
    going_on: u64,
    unreadable: u64,
}

impl Reading<'_> {
    /// The name of a run's graph and its figures; none of a run that is not asked for or can not be read.
    fn run(
        &mut self,
        run: &RunId,
        since: Option<Millis>,
        until: Option<Millis>,
    ) -> Option<(String, RunFigures)> {
        match self.figures(run, since, until) {
            Ok(found) => found,
            Err(error) => {
                self.unreadable += 1;
                self.screen.warn(&format!("run {run} is left out: {error}"));
                None
            }
        }
    }

    fn figures(
        &mut self,
        run: &RunId,
        since: Option<Millis>,
        until: Option<Millis>,
    ) -> Result<Option<(String, RunFigures)>, CliError> {
        // A run may have been removed meanwhile.
        let Some(record) = self.store.run(run)? else { return Ok(None) };
        let begun = record.created_at;
        if since.is_some_and(|since| begun < since) || until.is_some_and(|until| begun > until) {
            return Ok(None);
        }
        let bundle = self.bundle(&record)?;
        let name = bundle.root().name.to_string();
        if self.options.graph.as_ref().is_some_and(|graph| *graph != record.graph && *graph != name) {
            return Ok(None);
        }
        let class = crate::settings::Settings::of(&record)?.intent.map(|choice| choice.name.to_string());
        let is_wanted = match self.options.class.as_deref() {
            None => true,
            Some("none") => class.is_none(),
            wanted => class.as_deref() == wanted,
        };
        if !is_wanted {
            return Ok(None);
        }
        if !record.status.is_terminal() {
            self.going_on += 1;
            return Ok(None);
        }
        RunFigures::of(&record, &bundle, self.store).map(|figures| Some((name, figures)))
    }

    /// The graph of a run, from among those that were compiled last.
    fn bundle(&mut self, record: &RunRecord) -> Result<Arc<Bundle>, CliError> {
        let known = self.bundles.iter().position(|(text, _)| *text == record.bundle);
        let entry = match known.and_then(|at| self.bundles.remove(at)) {
            Some(entry) => entry,
            None => (record.bundle.clone(), graphs::stored_bundle(record)?),
        };
        let bundle = entry.1.clone();
        self.bundles.push_front(entry);
        self.bundles.truncate(GRAPHS_KEPT);
        Ok(bundle)
    }
}
