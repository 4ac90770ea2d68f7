//! `deepgraph test`: plays cases and compares their traces with their snapshots.

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use deepgraph_testkit::suite::Writes;

use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::screen::{self, Screen};
use crate::testing::error::TestError;
use crate::testing::interrupt::Stop;
use crate::testing::leftover::{self, Unreferenced};
use crate::testing::output::{Junit, Output};
use crate::testing::parallel::{self, Manner};
use crate::testing::select::{self, Selection};
use crate::testing::tell::Told;
use crate::testing::{Timed, is_ci, review};
use crate::threads;
use crate::when::counted;

/// Options of `test`.
#[derive(Debug, Args)]
#[command(
    about = "Play the cases of graphs and compare their traces with snapshots",
    long_about = "Play the cases of graphs and compare their traces with snapshots. A case is a file that says what goes \
                  into a graph, what models, ops and people do, and what is to come out; nothing outside is asked. Cases \
                  are the YAML and JSON files in folders called cases, such as graphs/my_graph/cases, and other YAML \
                  files with a line that begins with case:.\n\n\
                  A case is called GRAPH/CASE. The trace of one that has `trace: snapshot` is kept in \
                  snapshots/GRAPH/CASE.snap, in the folder that the folder graphs or tests is in; where there is none, \
                  beside the folder cases, and GRAPH is the name of the graph.yaml there. A trace that is not the \
                  accepted one fails the case and waits in CASE.snap.new, until it is accepted with --review or \
                  --accept, or, in a Cargo package, with `cargo insta review`.\n\n\
                  Where the variable CI is set, nothing is written; CI=false, CI=0 and an empty CI do not count. \
                  Ctrl-C begins no further case and tells what was played; a second one ends at once.",
    after_help = "Examples:\n  deepgraph test\n  deepgraph test graphs/my_graph\n  deepgraph test two_researchers -v\n  \
                  deepgraph test --review\n  deepgraph test --check --junit cases.xml\n\n\
                  Exit status:\n  0  all cases passed\n  1  a case failed, its snapshot is new or changed, or the program \
                  failed\n  2  wrong usage: options, paths; no case was found\n  130  interrupted"
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
    #[arg(short, long, value_name = "N", value_parser = threads::jobs)]
    jobs: Option<NonZeroUsize>,
    /// Write what came of each case to this file, as JUnit XML; `-` is standard output, and then all else goes to
    /// standard error
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    junit: Option<PathBuf>,
    /// Begin no other case when one has failed
    #[arg(long)]
    fail_fast: bool,
    /// What is done about snapshots that belong to no case any more; they are looked for where all cases of a project
    /// are played, not where a path or a part of a name leaves some out
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
    selection.left_out.iter().for_each(|left_out| screen.warn(&left_out.to_string()));
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
    let junit = options.junit.as_deref().map(Junit::check).transpose()?;
    let output = Output::new(&screen, junit.as_ref());
    let told = Told::new(selection.chosen.len(), options.verbose, options.quiet, options.review);
    let stop = Stop::default();
    stop.listen(screen.clone());
    let began = Instant::now();
    let manner = Manner { writes, jobs: options.jobs, fail_fast: options.fail_fast };
    let mut played = parallel::play(&selection.chosen, manner, &stop, |timed| {
        let is_read = told.case(timed).map_or(Ok(true), |text| output.print(&text))?;
        if !is_read {
            stop.begin_no_more();
        }
        Ok(())
    })?;
    let took = began.elapsed();
    if options.review {
        review::review(&mut played, &mut io::stdin().lock(), |text| screen.say(text))?;
    }
    // Whatever can not be written or removed now, what came of the cases is told before.
    let written = junit.map_or(Ok(()), |junit| junit.write(&played, took));
    let tidied = options.tidy(&selection, &played, &screen);
    let not_played = selection.chosen.len() - played.len();
    options.sum_up(&told, &output, &Sums { played: &played, not_played, took, writes, stop: &stop })?;
    if let Err(error) = &written {
        screen.complain(&error.to_string());
    }
    let is_tidy = tidied?;
    if stop.is_interrupted() {
        return Ok(ExitStatus::Interrupted);
    }
    let passed = played.iter().all(|timed| timed.outcome.verdict.passed());
    if passed && not_played > 0 {
        let left = counted(not_played as u64, "case was", "cases were");
        screen.warn(&format!("nobody reads what is told any more: {left} not played"));
    }
    let is_well = passed && not_played == 0 && is_tidy && written.is_ok();
    Ok(if is_well { ExitStatus::Succeeded } else { ExitStatus::DIFFERS })
}

/// What is told at the end.
struct Sums<'a> {
    played: &'a [Timed],
    not_played: usize,
    took: Duration,
    writes: Writes,
    stop: &'a Stop,
}

impl Options {
    /// Settles what is done about snapshots of no case. Whether all is well then.
    fn tidy(&self, selection: &Selection, played: &[Timed], screen: &Screen) -> Result<bool, CliError> {
        if selection.is_whole {
            return Ok(leftover::settle(self.unreferenced, &selection.found, played, screen)?);
        }
        if self.unreferenced != Unreferenced::Warn {
            screen.warn(
                "snapshots of no case were not looked for, because not all cases of the project are played or could be \
                 read: leave out paths and parts of names, in the folder of the project",
            );
        }
        Ok(true)
    }

    fn sum_up(&self, told: &Told, output: &Output, sums: &Sums<'_>) -> Result<(), CliError> {
        let is_interrupted = sums.stop.is_interrupted();
        if let Some(text) = told.sums(sums.played, sums.not_played, is_interrupted, sums.took) {
            output.print(&text)?;
        }
        if sums.played.iter().any(|timed| timed.outcome.verdict.waits()) {
            output.print(match sums.writes {
                Writes::Nothing => {
                    "nothing was written; `deepgraph test` without --check and CI lets traces be reviewed"
                }
                _ => "review with `deepgraph test --review`, or take it with `deepgraph test --accept`",
            })?;
        }
        Ok(())
    }

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
