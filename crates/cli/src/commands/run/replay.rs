//! `deepgraph run --replay FILE`: a run that is answered from a recording.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use deepgraph_graph::OpTable;
use deepgraph_runtime::{NewRun, Work};

use super::Options;
use crate::args::Global;
use crate::config::{self, Environment, Wanted};
use crate::drive::{Driver, KEY_ENV};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::home::Home;
use crate::screen::Screen;
use crate::settings::Settings;
use crate::{graphs, input, question, recordings, session};

/// Carries the command out. What is not given is as it was recorded.
pub fn carry_out(options: Options, path: &Path, global: &Global) -> Result<ExitStatus, CliError> {
    let screen = Screen::plain();
    let recording = recordings::read(path)?;
    let is_other = options.graph.is_some();
    let graph = options.graph.unwrap_or_else(|| recording.graph.clone());
    let loaded = graphs::load_with(&graph, &recording.ops(OpTable::stock()))?.map_err(CliError::Graph)?;
    let bundle = graphs::shown(loaded, &screen);
    if !is_other && bundle.hash != recording.bundle {
        screen.warn(&format!("the graph {graph} is not as it was when the recording was made"));
    }
    let recorded = recording.config_for(&bundle);
    let wanted = Wanted {
        set: options.set,
        model: options.model,
        file: options.config,
        recorded: Some(recorded),
        ..Wanted::default()
    };
    // The environment is not what it was, and a replay does not depend on it.
    let config = config::effective(&bundle, &wanted, &Environment::new())?;
    let asked = options.question.as_deref().map(question::read).transpose()?;
    let recorded = recording.input_for(&bundle);
    let input = input::read(&bundle, asked.as_deref(), &options.input, recorded)?;
    let recorded_at = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut settings = Settings {
        stream: true,
        key_env: KEY_ENV.to_owned(),
        input: input.clone(),
        config: config.values.clone(),
        origins: config.origins,
        keys: Some(BTreeSet::new()),
        replay: Some(recorded_at.to_string_lossy().into_owned()),
        ..Settings::default()
    };
    options.drive.apply(&mut settings)?;
    let home = Home::open(global)?;
    let store = home.store()?;
    let driver = Driver::new(options.drive, home, store)?;
    driver.spares(path)?;
    let new = NewRun {
        question: asked.unwrap_or_else(|| recording.question.clone()),
        graph,
        bundle: Arc::clone(&bundle),
        input,
        config: config.values,
        settings: settings.to_record(),
        thread: None,
    };
    let ready = driver.ready_to_replay(&settings, recording);
    session::with_paused_time(|session| {
        let run = driver.record(&ready, &new)?;
        let held = driver.hold(&run)?;
        driver.drive(session, held, ready, &run, &bundle, Work::Start(Box::new(new)))
    })
}
