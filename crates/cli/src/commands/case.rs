//! `deepgraph case`: cases from runs.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use deepgraph_graph::Bundle;
use deepgraph_protocol::Hidden;
use deepgraph_store::{RunRecord, Stored};
use deepgraph_testkit::case::{Case, from_run};
use deepgraph_trace::Row;

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::graphs::{self, Stock};
use crate::home::Home;
use crate::out_file::{Holds, OutFile};
use crate::present::{Present, names};
use crate::screen::Screen;
use crate::secrets;
use crate::settings::Settings;

/// Options of `case`.
#[derive(Debug, Args)]
#[command(
    about = "Make a case of a run, to be played by `deepgraph test`",
    after_help = "Examples:\n  deepgraph case from-run last\n  \
                  deepgraph case from-run 01981c2e -o graphs/my_graph/cases/it_went_wrong.yaml"
)]
pub struct Options {
    /// What is to be done.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a case file that says what models, tools and people said in a run, and expects what came of it
    #[command(
        long_about = "Write a case file that says what models, tools and people said in a run, and expects what came of \
                      it. Then the case is played; where it does not pass, what differs is told, and the file is kept.\n\n\
                      The graph is named by its path, where its file is as it was in the run, or as stock:NAME. Else \
                      the graph and its prompts are written into a folder beside the case.\n\n\
                      Keys of models and secrets of servers are taken out; their variables must be set as they were \
                      in the run.\n\n\
                      No file that is there is overwritten, but for a case with --force.",
        after_help = "Examples:\n  deepgraph case from-run last\n  \
                      deepgraph case from-run 01981c2e -o graphs/my_graph/cases/it_went_wrong.yaml\n\n\
                      Exit status:\n  0  the case is written and passes\n  1  the case is written and does not pass, or \
                      the program failed\n  2  wrong usage: options, a run that is not over"
    )]
    FromRun {
        /// The run: its id, the beginning of it, or `last`
        run: String,
        /// The case file, which ends in .yaml or .yml [default: cases/run_ID.yaml beside the graph file, or in the current folder; -2, -3 is added
        /// where that is taken]
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Replace a case file; never a graph, or another file
        #[arg(long, requires = "out")]
        force: bool,
    },
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let Command::FromRun { run, out, force } = &options.command;
    let store = Home::find(global)?.kept()?;
    let record = store.find_run(run)?;
    let bundle = graphs::stored_bundle(&record)?;
    let rows = store.entries(&record.run_id, 0)?;
    let hidden = secrets::of_run(&bundle, &record, &Settings::of(&record)?.key_env)?;
    Writer { record: &record, bundle: &bundle, rows: &rows, hidden }.write(out.as_deref(), *force)
}

/// Where a case finds the graph of its run.
enum Graph {
    /// In its file, which is as it was.
    File(PathBuf),
    /// Among those that the program brings along.
    Stock(String),
    /// Nowhere as it was.
    Changed,
}

struct Writer<'a> {
    record: &'a RunRecord,
    bundle: &'a Arc<Bundle>,
    rows: &'a [Stored],
    /// The secrets of the run.
    hidden: Hidden,
}

impl Writer<'_> {
    fn write(&self, out: Option<&Path>, force: bool) -> Result<ExitStatus, CliError> {
        let status = self.record.status;
        if !status.is_terminal() && status != deepgraph_protocol::RunStatus::AwaitingInput {
            let run = self.record.run_id.to_string();
            return Err(CliError::NotOver { run, status: status.name() });
        }
        let screen = Screen::plain();
        let unchanged = self.unchanged();
        let path = match out {
            Some(path) => is_for_case(path).map(|()| path.to_owned())?,
            None => self.default_path(&unchanged)?,
        };
        let kept = Present::at(&path);
        if kept != Present::Nothing && !(kept == Present::Case && force) {
            return Err(taken(&path, kept));
        }
        let file = OutFile::check(&path, Holds::Case)?;
        let folder = folder_of(&path);
        let graph = match &unchanged {
            Graph::File(graph) => relative(folder, graph),
            Graph::Stock(name) => format!("stock:{name}"),
            Graph::Changed => self.write_graph(&path, folder, &screen)?,
        };
        let rows = self.rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
        let text = from_run(self.bundle, rows, &graph, &self.record.question, &self.hidden)?;
        file.write(&text)?;
        screen.say(&format!("The case is in {}", path.display()));
        Ok(played(&path, &screen))
    }

    /// Where the graph is found as it was in the run.
    fn unchanged(&self) -> Graph {
        let name = self.record.graph.as_str();
        let loaded = graphs::load_with(name, &self.bundle.ops).ok().and_then(Result::ok);
        match loaded.is_some_and(|loaded| loaded.bundle.hash == self.bundle.hash) {
            false => Graph::Changed,
            true if graphs::stock_files(name).is_some() => Graph::Stock(name.to_owned()),
            true => Graph::File(graphs::file_of(name)),
        }
    }

    /// A path that is free, in the folder `cases` beside the graph file or in the current folder; it is made.
    fn default_path(&self, graph: &Graph) -> Result<PathBuf, CliError> {
        let id = self.record.run_id.as_str();
        // The beginning of an id is its time; its end tells runs of one moment apart.
        let name = format!("run_{}.yaml", id.rsplit('-').next().unwrap_or(id));
        let beside = match graph {
            Graph::File(file) => file.parent().unwrap_or(Path::new("")),
            Graph::Stock(_) | Graph::Changed => Path::new(""),
        };
        let folder = beside.join("cases");
        match fs::create_dir(&folder) {
            Err(error) if !folder.is_dir() => Err(CliError::Write { path: folder, error }),
            _ => Ok(free(&folder.join(name))),
        }
    }

    /// Writes the graph and its prompts into a folder beside the case; its path from there.
    fn write_graph(&self, case: &Path, folder: &Path, screen: &Screen) -> Result<String, CliError> {
        let stem = case.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let source = &self.bundle.source;
        let files = || source.files.iter().filter(|(path, _)| !path.starts_with("stock:"));
        let is_same = |to: &Path| {
            files().all(|(path, text)| fs::read_to_string(to.join(path)).is_ok_and(|is| is == *text))
        };
        // A folder that is there is used only where it has just these texts.
        let is_usable = |to: &PathBuf| fs::symlink_metadata(to).is_err() || is_same(to);
        let to = folder.join(format!("{stem}_graph"));
        let to = names(&to).find(is_usable).unwrap_or(to);
        let is_there = is_same(&to);
        for (path, text) in files().filter(|_| !is_there) {
            let path = to.join(path);
            let made = path.parent().map_or(Ok(()), fs::create_dir_all);
            made.and_then(|()| fs::write(&path, text)).map_err(|error| CliError::Write { path, error })?;
        }
        let (graph, shown) = (&self.record.graph, to.display());
        screen.say(&format!(
            "The graph {graph} is not as it was in the run, or not where it was: it was written to {shown}"
        ));
        let entry = source.entry.rsplit(['/', '\\']).next().unwrap_or(&source.entry);
        Ok(format!("{}/{entry}", to.file_name().unwrap_or_default().to_string_lossy()))
    }
}

/// Plays the case that was written.
fn played(path: &Path, screen: &Screen) -> ExitStatus {
    let told = match Case::load_with(path, Some(&Stock)) {
        Err(mistakes) => mistakes.to_string(),
        Ok(case) => {
            let played = case.play();
            if played.passed() {
                screen.say("It passes. Play it with the others, and keep its trace, by `deepgraph test`");
                return ExitStatus::Succeeded;
            }
            played.to_string()
        }
    };
    screen.complain(&format!(
        "the case does not pass as it was written. Time, or what was told in a way that cases can not tell, may have made \
         a difference in the run; the file is kept, to be put right by hand:\n\n{told}"
    ));
    ExitStatus::DIFFERS
}

/// Sees that a path can be that of a case.
fn is_for_case(path: &Path) -> Result<(), CliError> {
    let refused = |problem: String| CliError::OutFile { holds: Holds::Case, path: path.to_owned(), problem };
    if path == Path::new("-") {
        let problem =
            "a case is played from its file, beside its graph, and is not written to standard output";
        return Err(refused(format!("{problem}; name a file that ends in .yaml")));
    }
    if !path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
        let better = path.with_extension("yaml");
        let problem = "`deepgraph test` finds cases by their ending, .yaml or .yml; name it";
        return Err(refused(format!("{problem} {}", better.display())));
    }
    match fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            Err(refused("it is a device or a pipe, and a case is played from a file".to_owned()))
        }
        // Whatever else is wrong is told when the file is checked.
        _ => Ok(()),
    }
}

/// A case is not written over what is there.
fn taken(path: &Path, kept: Present) -> CliError {
    let force = if kept == Present::Case { "--force replaces it, " } else { "" };
    let problem = format!("{kept} is there already: {force}{} is free", free(path).display());
    CliError::OutFile { holds: Holds::Case, path: path.to_owned(), problem }
}

/// The path, with a number where there is something already.
fn free(path: &Path) -> PathBuf {
    names(path).find(|path| fs::symlink_metadata(path).is_err()).unwrap_or_else(|| path.to_owned())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path of a file from a folder, with `/` between its parts; both may be relative to the current folder.
fn relative(folder: &Path, file: &Path) -> String {
    let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (folder, file) = (whole(folder), whole(file));
    let from: Vec<Component> = folder.components().collect();
    let to: Vec<Component> = file.components().collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(shared).map(|_| "..".to_owned());
    let down = to.iter().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}
