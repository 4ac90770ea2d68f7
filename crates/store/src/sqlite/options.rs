//! How a file is used.

use std::time::Duration;

/// How a file is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteOptions {
    /// When what was committed is on the disk.
    pub synchronous: Synchronous,
    /// How long a call waits for another process to let go of the file.
    pub wait: Duration,
}

/// When what was committed is on the disk: SQLite's setting of that name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// At every commit: it outlives a crash of the process and of the machine.
    #[default]
    Full,
    /// When the system likes: it outlives a crash of the process, but the last commits before a crash of the
    /// machine may be lost. The file stays whole.
    Normal,
}

impl Default for SqliteOptions {
    fn default() -> SqliteOptions {
        SqliteOptions { synchronous: Synchronous::Full, wait: Duration::from_secs(10) }
    }
}

impl SqliteOptions {
    /// The same with another `synchronous`.
    pub fn synchronous(mut self, synchronous: Synchronous) -> SqliteOptions {
        self.synchronous = synchronous;
        self
    }

    /// The same with another `wait`.
    pub fn wait(mut self, wait: Duration) -> SqliteOptions {
        self.wait = wait;
        self
    }
}
