//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    bounds, cancel, case, check, config, diff, draw, explain, fork, gc, history, init, models, resume, run,
    runs, schema, show, simulate, sources, stats, test, trace, tune, whatif,
};
use crate::error::CliError;
use crate::exit_status::{ExitStatus, TABLE};

/// Research graphs that are declared as data: run them, resume them, look at what they did.
#[derive(Debug, Parser)]
#[command(
    name = "deepgraph",
    version,
    propagate_version = true,
    after_help = format!(
        "Examples:\n  \
         deepgraph run \"What did the trials show?\" --docs ./documents\n  \
         deepgraph resume last\n  \
         deepgraph init my-research\n\n{TABLE}\n\n\
         Every command has its own --help."
    )
)]
pub struct Cli {
    /// What every command knows.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Where runs and document indexes are kept [default: $XDG_DATA_HOME/deepgraph or ~/.local/share/deepgraph]
    #[arg(
        long,
        global = true,
        display_order = 900,
        value_name = "DIR",
        env = "DEEPGRAPH_HOME",
        hide_env_values = true
    )]
    pub home: Option<PathBuf>,
    /// Keep runs in this PostgreSQL server, for several machines: postgres://USER@HOST/DATABASE
    ///
    /// postgres:///DATABASE?host=/run/postgresql&user=USER is a server behind a socket. The tables are in the schema
    /// `deepgraph`. A password belongs into the variable rather than on the command line, where others see it. Document
    /// indexes stay in the home folder. Connections are not encrypted: use a socket, a network of your own, or a tunnel.
    #[arg(
        long,
        global = true,
        display_order = 901,
        value_name = "URL",
        env = "DEEPGRAPH_STORE",
        hide_env_values = true
    )]
    pub store: Option<String>,
}

/// The commands. What each is for stands with its options.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Box<run::Options>),
    Resume(resume::Options),
    Cancel(cancel::Options),
    Runs(runs::Options),
    Gc(gc::Options),
    Show(show::Options),
    Sources(sources::Options),
    Stats(stats::Options),
    Trace(trace::Options),
    Diff(diff::Options),
    History(history::Options),
    Fork(fork::Options),
    Whatif(whatif::Options),
    Tune(tune::Options),
    Case(case::Options),
    Check(check::Options),
    Test(test::Options),
    Simulate(simulate::Options),
    Bounds(bounds::Options),
    Explain(explain::Options),
    Draw(draw::Options),
    Config(config::Options),
    Models(models::Options),
    Schema(schema::Options),
    Init(init::Options),
}

impl Command {
    /// Carries the command out.
    ///
    /// # Errors
    ///
    /// What keeps it from being carried out. How a run ended is no error: it is the status.
    pub fn carry_out(self, global: &Global) -> Result<ExitStatus, CliError> {
        match self {
            Command::Run(options) => run::carry_out(*options, global),
            Command::Cancel(options) => cancel::carry_out(&options, global),
            Command::Resume(options) => resume::carry_out(options, global),
            Command::Runs(options) => runs::carry_out(&options, global),
            Command::Gc(options) => gc::carry_out(&options, global),
            Command::Stats(options) => stats::carry_out(&options, global),
            Command::Show(options) => show::carry_out(&options, global),
            Command::Sources(options) => sources::carry_out(&options, global),
            Command::Trace(options) => trace::carry_out(&options, global),
            Command::Diff(options) => diff::carry_out(&options, global),
            Command::History(options) => history::carry_out(&options, global),
            Command::Fork(options) => fork::carry_out(options, global),
            Command::Whatif(options) => whatif::carry_out(&options, global),
            Command::Tune(options) => tune::carry_out(&options, global),
            Command::Case(options) => case::carry_out(&options, global),
            Command::Check(options) => check::carry_out(&options),
            Command::Test(options) => test::carry_out(&options),
            Command::Simulate(options) => simulate::carry_out(&options),
            Command::Bounds(options) => bounds::carry_out(&options),
            Command::Explain(options) => explain::carry_out(&options),
            Command::Config(options) => config::carry_out(&options, global),
            Command::Models(options) => models::carry_out(&options, global),
            Command::Schema(options) => schema::carry_out(&options),
            Command::Draw(options) => draw::carry_out(&options, global),
            Command::Init(options) => init::carry_out(&options),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        for command in Cli::command().get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Examples:"), "{}", command.get_name());
        }
    }
}
