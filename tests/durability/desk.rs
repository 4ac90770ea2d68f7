//! A run that can be disturbed, in one of the stores.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use deepgraph_protocol::EntryBody;
use deepgraph_store::{PostgresStore, Store, Stored};

use crate::cli::server::{Play, Server};
use crate::cli::world::{SUCCEEDED, Said, World, harbour};
use crate::crashes::rows::{dispatched, repeated};

/// What a fault of the store makes of a command.
pub const FAULT: i32 = 1;

/// A place for a run, and the model that answers it.
pub struct Desk {
    pub world: World,
    model: Server,
    /// The server that keeps the runs; none: a file of the home folder.
    pub url: Option<String>,
}

impl Desk {
    /// Runs of this place last for a good second, unless they are disturbed.
    pub fn new(url: Option<String>) -> Desk {
        let play = Play { rounds: 2, parallel: 2, searches: 3, latency: Duration::from_millis(40) };
        Desk { world: World::new(), model: Server::start(play), url }
    }

    /// A command that works with the store.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.command(args);
        if let Some(url) = &self.url {
            command.env("DEEPGRAPH_STORE", url);
        }
        command
    }

    pub fn deepgraph(&self, args: &[&str]) -> Said {
        Said::of(&mut self.command(args))
    }

    /// The command that runs the question.
    pub fn run(&self) -> Command {
        let docs = harbour();
        let url = &self.model.url;
        self.command(&[
            "run",
            "What is the range?",
            "--docs",
            &docs,
            "--model",
            "openai::played",
            "--base-url",
            url,
        ])
    }

    /// The report of a run that nobody disturbs, in the same place.
    pub fn whole(&self) -> String {
        let said = Said::of(&mut self.run());
        assert_eq!(said.code, SUCCEEDED, "{}", said.err);
        said.out
    }

    /// Starts a run and waits until so many of its steps are committed.
    pub fn begin(&self, steps: usize) -> Child {
        let before = self.runs();
        let mut run = self.run();
        let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
        for _ in 0..3000 {
            sleep(Duration::from_millis(5));
            if self.runs() > before && completed(&self.journal()) >= steps {
                return child;
            }
        }
        drop(child.kill());
        panic!("the run does not go on: {}", end(child).err);
    }

    /// How many runs there are.
    fn runs(&self) -> usize {
        let is_there = self.url.is_some() || self.world.path("home/runs.sqlite").exists();
        if is_there { self.store().run_ids().expect("the store can be read").len() } else { 0 }
    }

    pub fn store(&self) -> Arc<dyn Store> {
        match &self.url {
            None => Arc::new(self.world.store()),
            Some(url) => Arc::new(PostgresStore::connect(url).expect("the server can be reached")),
        }
    }

    /// The journals of the newest run.
    pub fn journal(&self) -> Vec<Stored> {
        let store = self.store();
        let Ok(run) = store.find_run("last") else { return Vec::new() };
        store.entries(&run.run_id, 0).expect("the journal can be read")
    }

    /// Resumes the newest run: it ends with the same report, has all that was committed, and repeats none of it.
    pub fn goes_on(&self, before: &[Stored], report: &str) {
        let resumed = self.deepgraph(&["resume", "last"]);
        assert_eq!((resumed.code, resumed.out.as_str()), (SUCCEEDED, report), "{}", resumed.err);
        self.has_all(before);
    }

    /// The newest run has all that was committed, and repeated none of it.
    pub fn has_all(&self, before: &[Stored]) {
        let after = self.journal();
        assert!(before.len() <= after.len() && after[..before.len()] == before[..], "something was lost");
        assert_eq!(repeated(&after), []);
        assert!(!dispatched(&after).is_empty());
    }
}

/// What a command said in the end.
pub fn end(child: Child) -> Said {
    let output = child.wait_with_output().expect("it comes to its end");
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The command failed by a fault that it names.
pub fn names(said: &Said, fault: &str) {
    assert_eq!(said.code, FAULT, "{}", said.err);
    assert!(said.err.contains(fault), "{fault}: {}", said.err);
    assert!(!said.err.contains("panicked"), "{}", said.err);
}

fn completed(rows: &[Stored]) -> usize {
    rows.iter().filter(|row| matches!(row.entry.body, EntryBody::Completed { .. })).count()
}
