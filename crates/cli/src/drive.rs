//! Driving a run, from its options to its end: shared by `run` and `resume`.

mod options;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_model::Models;
use deepgraph_protocol::RunStatus;
use deepgraph_runtime::{
    Asker, Branch, Control, Ended, NewRun, Ops, RunError, Runtime, Sources, SystemClock, Unattended,
    WebSource, Work,
};
use deepgraph_store::{RunId, Store};
use deepgraph_tools::IndexReport;
use deepgraph_trace::Recording;

pub use self::options::DriveOptions;
use crate::ask::Terminal;
use crate::documents;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::finish::Finish;
use crate::home::{Held, Home};
use crate::models;
use crate::out_file::{Holds, OutFile};
use crate::progress::{self, Format};
use crate::recordings::RecordingFile;
use crate::screen::Screen;
use crate::servers::Access;
use crate::session::Session;
use crate::settings::Settings;
use crate::{graphs, hand_over, servers};

/// The variable with the key of `openai::` models where none is named.
pub const KEY_ENV: &str = "OPENAI_API_KEY";

/// What is said of a run that has nothing to look into.
const NO_SOURCES: &str = if cfg!(feature = "web") {
    "no sources: the graph searches; give it documents with --docs PATH, or the web with --web, else it finds nothing"
} else {
    "no documents: the graph searches documents, and without --docs PATH it finds nothing"
};

/// What a run works with.
pub struct Ready {
    runtime: Runtime,
    /// The variable with the key of its models.
    key_env: String,
    /// What was indexed.
    documents: Option<IndexReport>,
}

/// All that driving needs.
pub struct Driver {
    options: DriveOptions,
    out: Option<OutFile>,
    recording: Option<RecordingFile>,
    format: Format,
    /// Standard error.
    pub screen: Screen,
    home: Home,
    store: Arc<dyn Store>,
}

impl Driver {
    /// Finds out whether the report and the run can be written at all.
    ///
    /// # Errors
    ///
    /// They can not, or the report and the recording would go to the same file.
    pub fn new(options: DriveOptions, home: Home, store: Arc<dyn Store>) -> Result<Driver, CliError> {
        // As elsewhere, - is standard output.
        let out = options.out.as_deref().filter(|path| *path != Path::new("-"));
        let out = out.map(|path| OutFile::check(path, Holds::Report)).transpose()?;
        let recording = options.record.as_deref().map(RecordingFile::check).transpose()?;
        if let (Some(out), Some(recording)) = (&out, &recording) {
            recording.is_not(out)?;
        }
        let format = options.format();
        let screen = if format == Format::Lines { Screen::live() } else { Screen::plain() };
        Ok(Driver { options, out, recording, format, screen, home, store })
    }

    /// Sees that the recording that a run is answered from is replaced neither by its own nor by the report.
    ///
    /// # Errors
    ///
    /// It would be.
    pub fn spares(&self, replayed: &Path) -> Result<(), CliError> {
        if let Some(out) = self.out.as_ref().filter(|out| out.is_at(replayed)) {
            let problem = "the run is answered from it (--replay); give another name".to_owned();
            return Err(CliError::OutFile { holds: Holds::Report, path: out.name().into(), problem });
        }
        self.recording.as_ref().map_or(Ok(()), |recording| recording.spares(replayed))
    }

    /// Sets up what a run works with: documents and models.
    ///
    /// # Errors
    ///
    /// The documents or the models can not be had.
    pub fn ready(&self, bundle: &Bundle, settings: &Settings) -> Result<Ready, CliError> {
        let models = models::connect(settings);
        models::check(&models, bundle, &settings.config)?;
        let paths: Vec<PathBuf> = settings.docs.iter().map(PathBuf::from).collect();
        let all = self.options.list_skipped;
        let opened = documents::open(&paths, &self.home.index(), all, self.format, &self.screen)?;
        let web = self.web(settings)?;
        if opened.is_none() && web.is_none() && documents::are_wanted(bundle) {
            self.screen.warn(NO_SOURCES);
        }
        let (corpus, documents) = opened.unzip();
        let runtime = self.runtime(models, Ops::stock(Sources::new(corpus, web)));
        Ok(Ready { runtime, key_env: settings.key_env.clone(), documents })
    }

    #[cfg(feature = "web")]
    fn web(&self, settings: &Settings) -> Result<Option<Arc<dyn WebSource>>, CliError> {
        let screen = Some(&self.screen).filter(|_| self.format == Format::Lines);
        crate::web::open(settings, &self.home.web(), screen)
    }

    /// This program has no web: a run that began with it goes on with what else it has.
    #[cfg(not(feature = "web"))]
    fn web(&self, settings: &Settings) -> Result<Option<Arc<dyn WebSource>>, CliError> {
        if settings.web {
            self.screen.warn("this program was built without the web, so the run goes on without it");
        }
        Ok(None)
    }

    /// Sets up what a replay works with: nothing but the recording.
    pub fn ready_to_replay(&self, settings: &Settings, recording: Recording) -> Ready {
        let runtime = self.runtime(models::connect(settings), Ops::stock(None));
        let runtime = Runtime { replay: Some(Arc::new(recording)), asker: None, ..runtime };
        Ready { runtime, key_env: settings.key_env.clone(), documents: None }
    }

    fn runtime(&self, models: Models, ops: Ops) -> Runtime {
        let asks = !self.options.no_input && self.format != Format::Json && is_attended();
        let asker: Option<Arc<dyn Asker>> =
            if asks { Some(Arc::new(Terminal::new(self.screen.clone()))) } else { None };
        Runtime {
            store: self.store.clone(),
            models: Arc::new(models),
            ops,
            clock: Arc::new(SystemClock),
            asker,
            unattended: if self.options.no_input { Unattended::Refuse } else { Unattended::Wait },
            replay: None,
        }
    }

    /// Connects to the servers of a graph and to the user's own, if there are some: the graph with their tools, its warnings
    /// shown where those of a graph with servers were not.
    ///
    /// # Errors
    ///
    /// Servers that can not be used; the mistakes that the graph has with these tools.
    pub fn connect(
        &self,
        session: &mut Session,
        bundle: Arc<Bundle>,
        access: &Access,
    ) -> Result<Arc<Bundle>, CliError> {
        if !access.is_needed(&bundle) {
            return Ok(bundle);
        }
        let loaded = servers::connect(session, &bundle, access, self.format, &self.screen)?;
        let loaded = loaded.map_err(CliError::Graph)?;
        Ok(if bundle.servers.is_empty() {
            Arc::new(loaded.bundle)
        } else {
            graphs::shown(loaded, &self.screen)
        })
    }

    /// What the user says of the programs that a graph file names.
    pub fn consent(&self) -> servers::Consent {
        self.options.consent
    }

    /// How the servers of a run are reached that is gone on with, told before anything is started: those that the
    /// configuration of whoever goes on with it names as well.
    ///
    /// # Errors
    ///
    /// Secrets that are missing; a configuration file that can not be read.
    pub fn servers(
        &self,
        bundle: &Bundle,
        settings: &Settings,
        config: Option<&Path>,
    ) -> Result<Access, CliError> {
        let named = servers::named(&self.home, config)?;
        let access = servers::access_again(bundle, &settings.services, &named, self.consent())?;
        access.told_again().iter().for_each(|line| self.tell(line));
        Ok(access)
    }

    /// Records a run.
    ///
    /// # Errors
    ///
    /// The store fails.
    pub fn record(&self, ready: &Ready, new: &NewRun) -> Result<RunId, CliError> {
        Ok(ready.runtime.record(new)?)
    }

    /// Records a run that begins as another one.
    ///
    /// # Errors
    ///
    /// The store fails.
    pub fn record_fork(&self, ready: &Ready, new: &NewRun, branch: &Branch) -> Result<RunId, CliError> {
        Ok(ready.runtime.record_fork(new, branch)?)
    }

    /// Tells something on the way to driving, where progress is told.
    pub fn tell(&self, text: &str) {
        if self.format == Format::Lines {
            self.screen.say(text);
        }
    }

    /// Keeps other processes from driving the run.
    ///
    /// # Errors
    ///
    /// Another one does.
    pub fn hold(&self, run: &RunId) -> Result<Held, CliError> {
        self.home.hold(run)
    }

    /// Drives the run, with the servers of the session, until it is over or waits, and tells how it ended. `_held` is
    /// let go with its end.
    ///
    /// # Errors
    ///
    /// Driving failed; the run can be resumed then.
    pub fn drive(
        &self,
        session: &mut Session,
        _held: Held,
        ready: Ready,
        run: &RunId,
        bundle: &Arc<Bundle>,
        work: Work,
    ) -> Result<ExitStatus, CliError> {
        if self.format == Format::Json {
            progress::emit(&serde_json::json!({"type": "run", "run": run}));
        } else if self.format == Format::Lines {
            self.screen.say(&format!("run {run}"));
        }
        let Ready { mut runtime, key_env, documents } = ready;
        let is_replay = runtime.replay.is_some();
        session.servers().add_to(&mut runtime.ops);
        let (canceller, control) = Control::new();
        let ended = session.drive(canceller, &self.screen, async {
            let mut observer = progress::observer(self.format, bundle.clone(), &self.screen);
            runtime.drive(run, work, control, &mut *observer).await
        });
        let told = match ended {
            Ok(ended) => self.finish(run, bundle, documents.as_ref(), &ended),
            Err(error) => Err(self.failed(run, error, is_replay)),
        };
        // A run that failed is worth a recording as well.
        let recorded = self.write_recording(run, bundle, &key_env);
        match (told, recorded) {
            (Ok(_), Err(error)) => Err(error),
            (told, Err(error)) => {
                self.screen.complain(&error.to_string());
                told
            }
            (told, Ok(())) => told,
        }
    }

    /// Whether a recording is wanted.
    pub fn records(&self) -> bool {
        self.recording.is_some()
    }

    /// Writes the recording of a run, if one is wanted.
    ///
    /// # Errors
    ///
    /// It can not be made or written.
    pub fn write_recording(&self, run: &RunId, bundle: &Arc<Bundle>, key_env: &str) -> Result<(), CliError> {
        let Some(file) = &self.recording else { return Ok(()) };
        let Some(record) = self.store.run(run)? else { return Ok(()) };
        file.write(bundle, &*self.store, &record, key_env)?;
        if self.format != Format::Json {
            self.screen.say(&format!("The recording is in {}", file.name().display()));
        }
        Ok(())
    }

    fn finish(
        &self,
        run: &RunId,
        bundle: &Arc<Bundle>,
        documents: Option<&IndexReport>,
        ended: &Ended,
    ) -> Result<ExitStatus, CliError> {
        let finish = self.end_of(run, bundle, documents);
        match ended {
            Ended::Over(outcome) => {
                let told = finish.over(outcome.status, &outcome.end);
                if let (Some(command), RunStatus::Exhausted) = (&self.options.on_exhausted, outcome.status) {
                    hand_over::hand_over(command, run, outcome, &self.screen);
                }
                Ok(told)
            }
            Ended::Waiting(questions) => finish.waiting(questions),
        }
    }

    /// How the end of a run is told.
    pub fn end_of<'a>(
        &'a self,
        run: &'a RunId,
        bundle: &'a Arc<Bundle>,
        documents: Option<&'a IndexReport>,
    ) -> Finish<'a> {
        Finish {
            run,
            bundle,
            format: self.format,
            out: self.out.as_ref(),
            store: &*self.store,
            documents,
            screen: &self.screen,
        }
    }

    fn failed(&self, run: &RunId, error: RunError, is_replay: bool) -> CliError {
        if self.format == Format::Json {
            progress::emit(&serde_json::json!({"type": "error", "run": run, "message": error.to_string()}));
        }
        let next = if is_replay { format!("trace {run}") } else { format!("resume {run}") };
        self.screen.say(&format!("What is committed is kept: deepgraph {next}"));
        error.into()
    }
}

/// Whether somebody is there to answer.
fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
