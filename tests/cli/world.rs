//! A place of its own for every test, and the command in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use deepgraph_store::{SqliteStore, Store, Stored};

use crate::support;

/// The exit statuses of the command.
pub const SUCCEEDED: i32 = 0;
pub const USAGE: i32 = 2;
pub const EXHAUSTED: i32 = 3;
pub const AWAITING_INPUT: i32 = 6;

/// A folder that is gone after the test.
pub struct World {
    pub dir: tempfile::TempDir,
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Waits for the end of a command.
    pub fn of(command: &mut Command) -> Said {
        let output = command.output().expect("the command can be started");
        Said {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("reports are UTF-8"),
            err: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    }
}

impl World {
    pub fn new() -> World {
        World { dir: tempfile::tempdir().expect("there is room for a folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file and gives its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be made");
        std::fs::write(&path, text).expect("the file can be written");
        path.to_string_lossy().into_owned()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deepgraph-under-test"));
        command
            .args(args)
            .env("DEEPGRAPH_HOME", self.path("home"))
            .env("DEEPGRAPH_ALLOW_COMMANDS", "1")
            .stdin(Stdio::null())
            .current_dir(self.dir.path());
        for name in ["OPENAI_API_KEY", "DEEPGRAPH_MODEL", "DEEPGRAPH_STORE", "NO_COLOR", "CI"] {
            command.env_remove(name);
        }
        command
    }

    pub fn deepgraph(&self, args: &[&str]) -> Said {
        Said::of(&mut self.command(args))
    }

    /// Starts a command that goes on beside the test.
    pub fn spawn(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command can be started")
    }

    pub fn store(&self) -> SqliteStore {
        SqliteStore::open(self.path("home").join("runs.sqlite")).expect("the store can be opened")
    }

    /// The journals of the newest run.
    pub fn journal(&self) -> Vec<Stored> {
        let store = self.store();
        let run = store.find_run("last").expect("there is a run");
        store.entries(&run.run_id, 0).expect("the journal can be read")
    }
}

/// The sample documents.
pub fn harbour() -> String {
    let path: &Path = &support::repo().join("examples/harbour");
    path.to_string_lossy().into_owned()
}
