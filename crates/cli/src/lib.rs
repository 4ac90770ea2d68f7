//! The `deepgraph` command, as a library: `main.rs` is only its entry, so that tests can have one of their own.
//!
//! | file | holds |
//! |---|---|
//! | `args` | the command line: global options and the list of commands |
//! | `commands/` | one command a file: its options, its help, what it does |
//! | `config` | the effective configuration, from seven places, each value with its origin |
//! | `services/` | what a run may use outside, from configuration files: providers, models, search, the web, MCP servers |
//! | `graphs`, `question` | the graph that is meant; its input from a question |
//! | `home` | where runs and document indexes are kept |
//! | `recordings` | recordings of runs as files |
//! | `settings`, `documents`, `models`, `servers` | what a run works with, and what a resume needs to set it up again |
//! | `drive`, `session`, `signals`, `ask` | driving a run: progress, threads, Ctrl-C, questions to a person |
//! | `progress/` | what is told of committed steps: plain lines, lines on a terminal, JSON |
//! | `stored`, `journals` | what the journals of a stored run say; journals of runs and of files |
//! | `conditions`, `branch` | other values for a run that is there; runs that begin as another one |
//! | `finish`, `summary`, `advice`, `report`, `when` | what is told at the end |
//! | `writes` | what was changed outside and not undone |
//! | `out_file`, `screen` | writing: the report's file, standard output, standard error |
//! | `testing/`, `threads` | many cases: selected, played side by side, told, reviewed; the threads of that |
//! | `web` | the search engines and pages that a run may use |
//! | `figures`, `spending` | the figures of a stored run; what each of its stages spent |
//! | `hand_over` | telling another program of a run that is exhausted |
//! | `error`, `exit_status` | what can go wrong, and what the shell is told |

mod advice;
mod args;
mod ask;
mod branch;
mod commands;
mod conditions;
mod config;
mod damaged;
mod documents;
mod drive;
mod error;
mod exit_status;
mod figures;
mod finish;
mod form;
mod graphs;
mod hand_over;
mod home;
mod input;
mod journals;
mod models;
mod out_file;
mod present;
mod progress;
mod question;
mod recordings;
mod report;
mod screen;
mod searches;
mod secrets;
mod server;
mod servers;
mod services;
mod session;
mod settings;
mod signals;
mod spending;
mod stored;
mod summary;
mod testing;
mod threads;
#[cfg(feature = "web")]
mod web;
mod when;
mod writes;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::screen::Screen;

/// Reads the command line of this process, carries it out, and says how it went.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                let _ = error.print();
                return ExitStatus::Usage.into();
            }
            // Help and version.
            return match screen::written(error.print()) {
                Ok(()) => ExitStatus::Succeeded.into(),
                Err(error) => told(&CliError::Stdout(error)),
            };
        }
    };
    match cli.command.carry_out(&cli.global) {
        Ok(status) => status.into(),
        Err(error) => told(&error),
    }
}

/// Says what went wrong.
fn told(error: &CliError) -> ExitCode {
    Screen::plain().complain(&error.to_string());
    error.exit_status().into()
}
