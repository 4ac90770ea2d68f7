//! Recordings as files: written by `--record`, read by `--replay`.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_runtime::recording;
use deepgraph_store::{RunRecord, Store};
use deepgraph_trace::Recording;

use crate::error::CliError;
use crate::out_file::{Holds, OutFile};
use crate::present::Present;
use crate::secrets;

/// A file that a recording is to go to.
#[derive(Debug)]
pub struct RecordingFile(OutFile);

impl RecordingFile {
    /// Finds out whether the file can be written, before anything is paid for. A recording that is there is replaced.
    ///
    /// # Errors
    ///
    /// It can not, or is there and holds something else.
    pub fn check(path: &Path) -> Result<RecordingFile, CliError> {
        match Present::at(path) {
            Present::Nothing | Present::Recording => {}
            other => {
                let problem = format!("{other} is there already, and only recordings are replaced");
                return Err(CliError::OutFile { holds: Holds::Recording, path: path.into(), problem });
            }
        }
        OutFile::check(path, Holds::Recording).map(RecordingFile)
    }

    /// The name that the user gave.
    pub fn name(&self) -> &Path {
        self.0.name()
    }

    /// Sees that the report does not go to the same file.
    ///
    /// # Errors
    ///
    /// It does.
    pub fn is_not(&self, report: &OutFile) -> Result<(), CliError> {
        if !self.0.is_same(report) {
            return Ok(());
        }
        let problem = "the report goes there (--out), and one would replace the other".to_owned();
        Err(CliError::OutFile { holds: Holds::Recording, path: self.0.name().into(), problem })
    }

    /// Sees that the recording that a run is answered from is kept: a replay that fails would leave half of it.
    ///
    /// # Errors
    ///
    /// It would be replaced.
    pub fn spares(&self, replayed: &Path) -> Result<(), CliError> {
        if !self.0.is_at(replayed) {
            return Ok(());
        }
        let problem =
            "the run is answered from it (--replay), and it would be replaced; give another name".to_owned();
        Err(CliError::OutFile { holds: Holds::Recording, path: self.0.name().into(), problem })
    }

    /// Writes the recording of a run as far as it came.
    ///
    /// # Errors
    ///
    /// The run did not begin, its journals do not fold, a secret of it is not known, or the file can not be written.
    pub fn write(
        &self,
        bundle: &Arc<Bundle>,
        store: &dyn Store,
        record: &RunRecord,
        key_env: &str,
    ) -> Result<(), CliError> {
        let rows = store.entries(&record.run_id, 0)?;
        let recording = recording(bundle, record, &rows, &secrets::of_run(bundle, record, key_env)?)?;
        self.0.write(&recording.to_text())
    }
}

/// Reads a recording.
///
/// # Errors
///
/// The file can not be read, or is none; where it is damaged, with the place.
pub fn read(path: &Path) -> Result<Recording, CliError> {
    let problem = |problem: String| CliError::Recording { path: path.to_owned(), problem };
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => problem("it is no recording: it is no text".to_owned()),
        _ => problem(format!("it can not be read: {error}")),
    })?;
    Recording::read(&text).map_err(|error| problem(error.to_string()))
}
