//! Where runs and document indexes are kept.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use deepgraph_protocol::RunStatus;
use deepgraph_store::{MemoryStore, RunId, RunRecord, SqliteStore, Store};

use crate::args::Global;
use crate::error::CliError;

/// The file with the runs.
const STORE: &str = "runs.sqlite";
/// How often, and how many milliseconds apart, a run is tried to be held: who only looks holds it for a moment.
const TRIES: u32 = 5;
const BETWEEN_TRIES: u64 = 20;

/// The folder.
#[derive(Clone, Debug)]
pub struct Home {
    folder: PathBuf,
}

/// A run that this process drives. Dropping it lets go; so does the end of the process, however it ends.
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
    /// Kept open: the lock lives as long as the file does.
    _file: Option<File>,
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
        Ok(Home { folder })
    }

    /// The same for reading: nothing is made where there is none.
    ///
    /// # Errors
    ///
    /// There is no such place.
    pub fn find(global: &Global) -> Result<Home, CliError> {
        Ok(Home { folder: place(global)? })
    }

    /// The store of runs for reading; an empty one where none has been kept yet.
    ///
    /// # Errors
    ///
    /// It can not be opened.
    pub fn kept(&self) -> Result<Arc<dyn Store>, CliError> {
        if fs::exists(self.folder.join(STORE)).is_ok_and(|there| !there) {
            return Ok(Arc::new(MemoryStore::new()));
        }
        Ok(self.store()?)
    }

    /// The store of runs, made where there is none.
    ///
    /// # Errors
    ///
    /// It can not be opened.
    pub fn store(&self) -> Result<Arc<SqliteStore>, CliError> {
        Ok(Arc::new(SqliteStore::open(self.folder.join(STORE))?))
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
        Ok(Held { path, _file: file })
    }

    /// Whether a run is in the middle and no process drives it, so that it has to be resumed.
    pub fn is_interrupted(&self, record: &RunRecord) -> bool {
        let is_driven =
            matches!(record.status, RunStatus::Queued | RunStatus::Running | RunStatus::Cancelling);
        is_driven && !self.is_held(&record.run_id)
    }

    /// Whether a process drives a run; also where that can not be found out.
    fn is_held(&self, run: &RunId) -> bool {
        match File::open(self.folder.join("held").join(run.as_str())) {
            Ok(file) => file.try_lock_shared().is_err(),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
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
        let error = Home::open(&Global { home: Some(file.join("below")) }).unwrap_err().to_string();
        assert!(error.contains("--home") && error.contains("DEEPGRAPH_HOME"), "{error}");
    }

    #[test]
    fn one_process_drives_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(&Global { home: Some(folder.path().join("a/b")) }).unwrap();
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
        let home = Home::find(&Global { home: Some(folder.path().join("none")) }).unwrap();
        assert!(home.kept().unwrap().runs(10).unwrap().is_empty());
        assert!(!folder.path().join("none").exists());
    }
}
