//! `deepgraph init`: a folder to start from.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use include_dir::{Dir, include_dir};

use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::graphs;
use crate::screen;
use crate::when::counted;

static DOCUMENTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../examples/harbour");

/// The README of the folder.
const README: &str = "\
# A research graph

`graph.yaml` is the graph, `prompts/` are its texts, `documents/` are fictional samples: put your own there.
Ask: `deepgraph run \"Compare the Norvane N60 and the Corrigan C70 on range and price\" --graph graph.yaml --docs documents`
After a change: `deepgraph check graph.yaml`; a picture: `deepgraph draw graph.yaml`; help: `deepgraph run --help`
";

/// Options of `init`.
#[derive(Debug, Args)]
#[command(
    about = "Make a starting folder: a graph with its prompts, and sample documents",
    long_about = "Make a folder to start from: the graph deep_research with its prompts, to be changed, and sample \
                  documents. No file that is there is ever overwritten.",
    after_help = "Examples:\n  deepgraph init my-research\n  deepgraph init"
)]
pub struct Options {
    /// The folder; made where there is none
    #[arg(default_value = ".")]
    dir: PathBuf,
}

/// Carries the command out.
pub fn carry_out(options: &Options) -> Result<ExitStatus, CliError> {
    if let Some(path) = in_the_way(&options.dir) {
        return Err(CliError::NotAFolder { path });
    }
    let files = files();
    let taken: Vec<String> = files
        .keys()
        .map(|path| options.dir.join(path))
        .filter(|path| fs::symlink_metadata(path).is_ok())
        .map(|path| path.display().to_string())
        .collect();
    if !taken.is_empty() {
        return Err(CliError::Exists(taken));
    }
    for (path, bytes) in &files {
        write_new(&options.dir.join(path), bytes)?;
    }
    let made = counted(files.len() as u64, "file", "files");
    let dir = options.dir.display();
    screen::print(&format!("{made} in {dir}; {dir}/README.md says how to go on"))?;
    Ok(ExitStatus::Succeeded)
}

/// What is no folder although the path leads to it or through it.
fn in_the_way(dir: &Path) -> Option<PathBuf> {
    let is_other = |path: &&Path| fs::metadata(path).is_ok_and(|found| !found.is_dir());
    dir.ancestors().find(is_other).map(Path::to_path_buf)
}

/// The files of the folder, by path in it.
fn files() -> BTreeMap<String, Vec<u8>> {
    let graph = graphs::stock_files(graphs::DEFAULT).unwrap_or_default();
    // A graph's cases are for testing it, not for starting from it.
    let graph = graph.into_iter().filter(|(path, _)| path == "graph.yaml" || path.starts_with("prompts/"));
    let documents = DOCUMENTS.files().map(|file| {
        let path = format!("documents/{}", file.path().to_string_lossy());
        (path, file.contents().to_vec())
    });
    let readme = ("README.md".to_owned(), README.as_bytes().to_vec());
    graph.map(|(path, text)| (path, text.into_bytes())).chain(documents).chain([readme]).collect()
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let failed = |error: io::Error| CliError::Write { path: path.into(), error };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_complete_and_its_graph_loads() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { dir: folder.path().join("new/folder") };
        carry_out(&options).unwrap();
        let at = |path: &str| options.dir.join(path);
        for path in ["README.md", "graph.yaml", "prompts/report.md", "documents/quay-charging.md"] {
            assert!(at(path).is_file(), "{path}");
        }
        let loaded = graphs::load_named(&at("graph.yaml").to_string_lossy()).unwrap();
        assert!(loaded.is_ok(), "{}", loaded.unwrap_err());
        assert_eq!(README.lines().count(), 5);
    }

    #[test]
    fn a_file_in_the_way_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("afile");
        fs::write(&file, "mine").unwrap();
        for dir in [file.clone(), file.join("below")] {
            let error = carry_out(&Options { dir }).unwrap_err().to_string();
            assert!(error.contains("afile is no folder"), "{error}");
        }
    }

    #[test]
    fn nothing_is_overwritten_or_half_made() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { dir: folder.path().into() };
        fs::write(folder.path().join("README.md"), "mine").unwrap();
        let error = carry_out(&options).unwrap_err().to_string();
        assert!(error.contains("README.md") && error.contains("deepgraph init DIR"), "{error}");
        assert_eq!(fs::read_to_string(folder.path().join("README.md")).unwrap(), "mine");
        assert!(!folder.path().join("graph.yaml").exists());
    }
}
