//! Where runs and document indexes are kept.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deepgraph_store::{RunId, SqliteStore};

use crate::args::Global;
use crate::error::CliError;

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
        let folder = match &global.home {
            Some(folder) => folder.clone(),
            None => standard(&|name| std::env::var_os(name).map(PathBuf::from)).ok_or(CliError::NoHome)?,
        };
        fs::create_dir_all(&folder).map_err(|error| CliError::Home { path: folder.clone(), error })?;
        Ok(Home { folder })
    }

    /// The store of runs.
    ///
    /// # Errors
    ///
    /// It can not be opened.
    pub fn store(&self) -> Result<Arc<SqliteStore>, CliError> {
        Ok(Arc::new(SqliteStore::open(self.folder.join("runs.sqlite"))?))
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
        if let Some(Err(TryLockError::WouldBlock)) = file.as_ref().map(File::try_lock) {
            return Err(CliError::InUse { run: run.to_string() });
        }
        Ok(Held { path, _file: file })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
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
        drop(held);
        assert!(home.hold(&run).is_ok());
    }
}
