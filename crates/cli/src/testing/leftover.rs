//! Snapshots that belong to no case any more.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use deepgraph_testkit::suite::{CaseFile, unreferenced};

use super::Timed;
use super::error::TestError;
use crate::screen::Screen;
use crate::when::counted;

/// What is done about snapshots that belong to no case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unreferenced {
    /// They are told.
    Warn,
    /// They are told, and the command fails.
    Fail,
    /// They are removed.
    Delete,
}

/// Does it, where all cases are known. Whether all is well then.
///
/// # Errors
///
/// A snapshot can not be read or removed.
pub fn settle(
    what: Unreferenced,
    found: &[CaseFile],
    played: &[Timed],
    screen: &Screen,
) -> Result<bool, TestError> {
    let outcomes: Vec<_> = played.iter().map(|timed| timed.outcome.clone()).collect();
    let files = unreferenced(found, &outcomes)?;
    if files.is_empty() {
        return Ok(true);
    }
    let count = counted(files.len() as u64, "snapshot belongs", "snapshots belong");
    let list: String = files.iter().map(|path| format!("\n  {}", shown(path).display())).collect();
    let told = format!("{count} to no case any more:{list}");
    let way_out = "`deepgraph test --unreferenced delete` removes what is not needed";
    match what {
        Unreferenced::Warn => screen.warn(&format!("{told}\n{way_out}")),
        Unreferenced::Fail => screen.complain(&format!("{told}\n{way_out}")),
        Unreferenced::Delete => {
            for path in &files {
                fs::remove_file(path).map_err(|error| TestError::Remove { path: path.clone(), error })?;
            }
            screen.say(&format!("{told}\nremoved"));
        }
    }
    Ok(what != Unreferenced::Fail)
}

/// A path as it is from the current folder, where it is in there.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_owned()
}
