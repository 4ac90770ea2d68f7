//! `deepgraph test`: plays cases and compares their traces with their snapshots.

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use deepgraph_testkit::suite::Writes;

use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::out_file::{Holds, OutFile};
use crate::screen::{self, Screen};
use crate::testing::error::TestError;
use crate::testing::leftover::{self, Unreferenced};
use crate::testing::parallel::{self, Manner};
use crate::testing::tell::Told;
use crate::testing::{is_ci, junit, review, select};

/// Options of `test`.
#[derive(Debug, Args)]
#[command(
    about = "Play the cases of graphs and compare their traces with snapshots",
    long_about = "Play the cases of graphs and compare their traces with snapshots. A case is a file that says what goes \
                  into a graph, what models, ops and people do, and what is to come out; nothing outside is asked. Cases \
                  are the YAML and JSON files in folders called cases, such as graphs/my_graph/cases, and other YAML \
                  files with a line that begins with case:.\n\n\
                  A case is called GRAPH/CASE. The trace of one that has `trace: snapshot` is kept in \
                  snapshots/GRAPH/CASE.snap, in the folder that the folder graphs or tests is in. A trace that is not \
                  the accepted one fails the case and waits in CASE.snap.new, until it is accepted with --review or \
                  --accept, or, in a Cargo package, with `cargo insta review`.\n\n\
                  Where the variable CI is set, nothing is written.",
    after_help = "Examples:\n  deepgraph test\n  deepgraph test graphs/my_graph\n  deepgraph test two_researchers -v\n  \
                  deepgraph test --review\n  deepgraph test --check --junit cases.xml\n\n\
                  Exit status:\n  0  all cases passed\n  1  a case failed, its snapshot is new or changed, or the program \
                  failed\n  2  wrong usage: options, paths; no case was found"
)]
pub struct Options {
    /// Case files, folders with cases, or parts of the names of cases (any of them) [default: the current folder]
    #[arg(value_name = "PATH|FILTER")]
    what: Vec<String>,
    /// Take new and changed traces as the snapshots
    #[arg(long, conflicts_with_all = ["check", "review", "list"])]
    accept: bool,
    /// Look at new and changed traces one after the other, and accept or reject each
    #[arg(long, conflicts_with_all = ["check", "list", "quiet"])]
    review: bool,
    /// Write nothing [default where the variable CI is set]
    #[arg(long)]
    check: bool,
    /// List the names of the cases and play none; with --verbose their files too
    #[arg(long)]
    list: bool,
    /// How many cases are played at once [default: as many as there are processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Write what came of each case to this file, as JUnit XML
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    junit: Option<PathBuf>,
    /// Begin no other case when one has failed
    #[arg(long)]
    fail_fast: bool,
    /// What is done about snapshots that belong to no case any more
    #[arg(long, value_enum, default_value_t = Unreferenced::Warn)]
    unreferenced: Unreferenced,
    /// Tell only of cases that failed
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Tell of every case that passed; else only of few
    #[arg(short, long)]
    verbose: bool,
}

/// Carries the command out.
pub fn carry_out(options: &Options) -> Result<ExitStatus, CliError> {
    let screen = Screen::plain();
    let writes = options.writes()?;
    let selection = select::select(&options.what)?;
    for part in &selection.unmatched {
        screen.warn(&format!("no case has \"{part}\" in its name"));
    }
    if options.list {
        for case in &selection.chosen {
            let file = if options.verbose { format!("  {}", case.path.display()) } else { String::new() };
            screen::print(&format!("{}{file}", case.name))?;
        }
        return Ok(ExitStatus::Succeeded);
    }
    let junit = options.junit.as_deref().map(|path| OutFile::check(path, Holds::Junit)).transpose()?;
    let told = Told::new(selection.chosen.len(), options.verbose, options.quiet, options.review);
    let began = Instant::now();
    let jobs =
        options.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let manner = Manner { writes, jobs, fail_fast: options.fail_fast };
    let mut played = parallel::play(&selection.chosen, manner, |timed| {
        told.case(timed).map_or(Ok(()), |text| screen::print(&text))
    })?;
    let took = began.elapsed();
    if options.review {
        review::review(&mut played, &mut io::stdin().lock(), |text| screen.say(text))?;
    }
    if let Some(file) = junit {
        let text = junit::report(&played, took).map_err(|problem| CliError::OutFile {
            holds: Holds::Junit,
            path: options.junit.clone().unwrap_or_default(),
            problem,
        })?;
        file.write(&text)?;
    }
    let is_tidy = leftover::settle(options.unreferenced, &selection.found, &played, &screen)?;
    if let Some(sums) = told.sums(&played, selection.chosen.len() - played.len(), took) {
        screen::print(&sums)?;
    }
    if played.iter().any(|timed| timed.outcome.verdict.waits()) {
        screen::print(match writes {
            Writes::Nothing => {
                "nothing was written; `deepgraph test` without --check and CI lets traces be reviewed"
            }
            _ => "review with `deepgraph test --review`, or take it with `deepgraph test --accept`",
        })?;
    }
    let passed = played.iter().all(|timed| timed.outcome.verdict.passed());
    Ok(if passed && is_tidy { ExitStatus::Succeeded } else { ExitStatus::CASES_FAILED })
}

impl Options {
    /// What may be written, by what was asked for and by where this is.
    fn writes(&self) -> Result<Writes, TestError> {
        let writer = if self.accept {
            Some("--accept")
        } else if self.review {
            Some("--review")
        } else {
            (self.unreferenced == Unreferenced::Delete).then_some("--unreferenced delete")
        };
        match writer {
            Some(option) if is_ci() => return Err(TestError::InCi { option }),
            Some(option) if self.check => return Err(TestError::UnderCheck { option }),
            _ => {}
        }
        if self.review && !io::stdin().is_terminal() {
            return Err(TestError::NoTerminal);
        }
        Ok(match (self.accept, self.check || is_ci()) {
            (true, _) => Writes::Accepted,
            (false, true) => Writes::Nothing,
            (false, false) => Writes::Pending,
        })
    }
}
