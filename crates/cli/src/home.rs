//! Where runs and document indexes are kept.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deepgraph_protocol::RunStatus;
use deepgraph_store::{MemoryStore, RunId, RunRecord, SqliteStore, Store};

use crate::args::Global;
use crate::error::CliError;
use crate::server;

/// The file with the runs.
const STORE: &str = "runs.sqlite";
/// How often, and how many milliseconds apart, a run is tried to be held: who only looks holds it for a moment.
const TRIES: u32 = 5;
const BETWEEN_TRIES: u64 = 20;

/// The folder, and the server that keeps the runs in place of a file of it.
#[derive(Clone)]
pub struct Home {
    folder: PathBuf,
    server: Option<Server>,
}

#[derive(Clone)]
struct Server {
    url: String,
    /// Connected to when it is first needed, and once.
    store: Arc<OnceLock<Arc<dyn Store>>>,
}

/// A run that this process drives. Dropping it lets go; so does the end of the process, however it ends.
pub enum Held {
    /// By a lock on a file.
    File {
        /// The file.
        path: PathBuf,
        /// Kept open: the lock lives as long as the file does.
        _file: Option<File>,
    },
    /// By a lock of the server, which other machines see.
    Server {
        /// The server.
        store: Arc<dyn Store>,
        /// The run.
        run: RunId,
    },
}

impl fmt::Debug for Home {
    // Without the URL, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Home").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Home {
    /// The folder that the command line, the environment or the system names, made where there is none.
    ///
    /// # Errors
    ///
    /// There is no such place, or it can not be made.
    pub fn open(global: &Global) -> Result<Home, CliError> {
        let folder = place(global)?;
        fs::create_dir_all(&folder).map_err(|error| CliError::Home { path: folder.clone(), error })?;
        Ok(Home { folder, server: Server::of(global)? })
    }

    /// The same for reading: nothing is made where there is none.
    ///
    /// # Errors
    ///
    /// There is no such place.
    pub fn find(global: &Global) -> Result<Home, CliError> {
        Ok(Home { folder: place(global)?, server: Server::of(global)? })
    }

    /// The store of runs for reading; an empty one where none has been kept yet.
    ///
    /// # Errors
    ///
    /// It can not be opened.
    pub fn kept(&self) -> Result<Arc<dyn Store>, CliError> {
        if self.server.is_none() && !SqliteStore::is_there(self.folder.join(STORE)) {
            return Ok(Arc::new(MemoryStore::new()));
        }
        self.store()
    }

    /// The store of runs, made where there is none.
    ///
    /// # Errors
    ///
    /// It can not be opened.
    pub fn store(&self) -> Result<Arc<dyn Store>, CliError> {
        if let Some(server) = &self.server {
            return server.store();
        }
        Ok(Arc::new(SqliteStore::open(self.folder.join(STORE))?))
    }

    /// The user's own configuration, which holds for every graph; none where there is none.
    pub fn config_file(&self) -> Option<PathBuf> {
        Some(self.folder.join("config.yaml")).filter(|path| path.is_file())
    }

    /// The folder of web pages that were fetched.
    pub fn web(&self) -> PathBuf {
        self.folder.join("web")
    }

    /// The folder of document indexes.
    pub fn index(&self) -> PathBuf {
        self.folder.join("index")
    }

    /// Keeps other processes from driving a run while this one does. The store is safe without it: it fences. This
    /// makes a mistake visible before a run is taken from a process that is well.
    ///
    /// # Errors
    ///
    /// Another process drives it.
    pub fn hold(&self, run: &RunId) -> Result<Held, CliError> {
        if let Some(server) = &self.server {
            let store = server.store()?;
            return match store.try_hold(run)? {
                Some(false) => Err(CliError::InUse { run: run.to_string() }),
                _ => Ok(Held::Server { store, run: run.clone() }),
            };
        }
        let folder = self.folder.join("held");
        let path = folder.join(run.as_str());
        let file = fs::create_dir_all(&folder).and_then(|()| File::create(&path)).ok();
        for number in 1.. {
            match file.as_ref().map(File::try_lock) {
                Some(Err(TryLockError::WouldBlock)) if number < TRIES => {
                    std::thread::sleep(Duration::from_millis(BETWEEN_TRIES));
                }
                Some(Err(TryLockError::WouldBlock)) => {
                    return Err(CliError::InUse { run: run.to_string() });
                }
                _ => break,
            }
        }
        Ok(Held::File { path, _file: file })
    }

    /// Whether a run is in the middle and no process drives it, so that it has to be resumed.
    pub fn is_interrupted(&self, record: &RunRecord) -> bool {
        let is_driven =
            matches!(record.status, RunStatus::Queued | RunStatus::Running | RunStatus::Cancelling);
        is_driven && !self.is_held(&record.run_id)
    }

    /// Whether a process drives a run; also where that can not be found out.
    pub fn is_driven(&self, run: &RunId) -> bool {
        self.is_held(run)
    }

    fn is_held(&self, run: &RunId) -> bool {
        if let Some(server) = &self.server {
            let held = server.store().ok().and_then(|store| store.is_held(run).ok().flatten());
            return held.unwrap_or(true);
        }
        match File::open(self.folder.join("held").join(run.as_str())) {
            Ok(file) => file.try_lock_shared().is_err(),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        match self {
            Held::File { path, .. } => drop(fs::remove_file(path)),
            // Where the server can not be reached, the lock ends with the connection.
            Held::Server { store, run } => drop(store.let_go(run)),
        }
    }
}

impl Server {
    fn of(global: &Global) -> Result<Option<Server>, CliError> {
        // A variable that is empty is one that is not set; an option that is empty is a mistake.
        let is_unset = || std::env::var_os("DEEPGRAPH_STORE").is_some_and(|url| url.is_empty());
        match &global.store {
            None => Ok(None),
            Some(url) if url.is_empty() && is_unset() => Ok(None),
            Some(url) if url.is_empty() => Err(CliError::NoStore),
            Some(url) => Ok(Some(Server { url: url.clone(), store: Arc::default() })),
        }
    }

    fn store(&self) -> Result<Arc<dyn Store>, CliError> {
        if let Some(store) = self.store.get() {
            return Ok(store.clone());
        }
        let store = server::connect(&self.url)?;
        Ok(self.store.get_or_init(|| store).clone())
    }
}

/// The folder that the command line, the environment or the system names.
fn place(global: &Global) -> Result<PathBuf, CliError> {
    match &global.home {
        Some(folder) => Ok(folder.clone()),
        None => standard(&|name| std::env::var_os(name).map(PathBuf::from)).ok_or(CliError::NoHome),
    }
}

/// Where the system keeps such data.
fn standard(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let filled = |name: &str| variable(name).filter(|path| !path.as_os_str().is_empty());
    let data = filled("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let data = data.or_else(|| filled("HOME").map(|home| home.join(Path::new(".local/share"))));
    data.map(|data| data.join("deepgraph"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(xdg: Option<&str>, home: Option<&str>) -> Option<PathBuf> {
        standard(&|name| {
            match name {
                "XDG_DATA_HOME" => xdg,
                _ => home,
            }
            .map(PathBuf::from)
        })
    }

    #[test]
    fn runs_are_kept_where_the_system_keeps_data() {
        assert_eq!(place(Some("/data"), Some("/me")), Some("/data/deepgraph".into()));
        assert_eq!(place(None, Some("/me")), Some("/me/.local/share/deepgraph".into()));
        assert_eq!(place(Some("relative"), Some("/me")), Some("/me/.local/share/deepgraph".into()));
        assert_eq!(place(Some(""), Some("")), None);
        assert_eq!(place(None, None), None);
    }

    #[test]
    fn a_folder_that_can_not_be_made_is_told_with_the_option() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error =
            Home::open(&Global { home: Some(file.join("below")), store: None }).unwrap_err().to_string();
        assert!(error.contains("--home") && error.contains("DEEPGRAPH_HOME"), "{error}");
    }

    #[test]
    fn one_process_drives_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(&Global { home: Some(folder.path().join("a/b")), store: None }).unwrap();
        let (run, other) = (RunId::new(), RunId::new());
        let held = home.hold(&run).unwrap();
        assert!(matches!(home.hold(&run), Err(CliError::InUse { .. })));
        assert!(home.hold(&other).is_ok());
        assert!(home.is_held(&run) && !home.is_held(&other));
        drop(held);
        assert!(!home.is_held(&run));
        assert!(home.hold(&run).is_ok());
    }

    #[test]
    fn reading_makes_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::find(&Global { home: Some(folder.path().join("none")), store: None }).unwrap();
        assert!(home.kept().unwrap().runs(10).unwrap().is_empty());
        assert!(!folder.path().join("none").exists());
    }
}
