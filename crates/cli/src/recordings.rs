//! Recordings as files: written by `--record`, read by `--replay`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable};
use deepgraph_protocol::{Hidden, Map, Value};
use deepgraph_runtime::recording;
use deepgraph_store::{RunRecord, Store};
use deepgraph_trace::Recording;

use crate::error::CliError;
use crate::out_file::{Holds, OutFile};
use crate::present::Present;

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

    /// Writes the recording of a run as far as it came.
    ///
    /// # Errors
    ///
    /// The run did not begin, its journals do not fold, or the file can not be written.
    pub fn write(
        &self,
        bundle: &Arc<Bundle>,
        store: &dyn Store,
        record: &RunRecord,
        key_env: &str,
    ) -> Result<(), CliError> {
        let rows = store.entries(&record.run_id, 0)?;
        let recording = recording(bundle, record, &rows, &hidden(bundle, key_env))?;
        self.0.write(&recording.to_text())
    }
}

/// The secrets that a run may have come to know: the key of its models, and those of its servers.
fn hidden(bundle: &Bundle, key_env: &str) -> Hidden {
    let servers = bundle.servers.iter().flat_map(|server| &server.secrets).map(|name| &**name);
    Hidden::new(std::iter::once(key_env).chain(servers).filter_map(|name| env::var(name).ok()))
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

/// The stock ops and the tools that the servers had, which are not asked.
pub fn ops(recording: &Recording) -> OpTable {
    let servers = recording.servers.iter();
    servers.fold(OpTable::stock(), |ops, (name, tools)| ops.with_server(name, tools.clone()))
}

/// The recorded configuration, as far as the graph has its keys: another graph may have others.
pub fn config(recording: &Recording, bundle: &Bundle) -> BTreeMap<String, Value> {
    let known = recording.config.iter().filter(|(key, _)| bundle.config.contains_key(*key));
    known.map(|(key, value)| (key.to_string(), value.clone())).collect()
}

/// The recorded input, as far as the graph has its channels.
pub fn input(recording: &Recording, bundle: &Bundle) -> Map {
    let root = bundle.root();
    let inputs = root.input.iter().filter_map(|ix| root.channels.get(ix.0));
    let recorded = inputs.filter_map(|channel| {
        recording.input.get(&channel.name).map(|value| (channel.name.clone(), value.clone()))
    });
    recorded.collect()
}
