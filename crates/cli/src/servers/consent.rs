//! Whether the programs that a graph file names may be started. The file may be somebody else's: its programs are started
//! where the user says so, or has the same command in a configuration of his own.

use clap::Args;
use clap::builder::BoolishValueParser;
use deepgraph_graph::{Bundle, Transport};
use deepgraph_runtime::McpSettings;

use super::told;
use crate::error::CliError;

/// What the user says of programs.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Consent {
    /// Start the programs that the graph file names as MCP servers. Those of your own configuration are started anyway
    #[arg(long, env = "DEEPGRAPH_ALLOW_COMMANDS", hide_env_values = true, value_parser = BoolishValueParser::new())]
    allow_commands: bool,
}

impl Consent {
    /// Looks whether every program that the graph names may be started.
    ///
    /// # Errors
    ///
    /// All that may not, and how to say that they may.
    pub fn check(self, bundle: &Bundle, named: &[McpSettings]) -> Result<(), CliError> {
        let is_named = |command: &[&str]| {
            named.iter().flat_map(|own| own.0.values()).any(|own| own.command.iter().eq(command.iter()))
        };
        let mut refused = Vec::new();
        for server in &bundle.servers {
            if let Transport::Command { command, .. } = &server.transport {
                let words: Vec<&str> = command.iter().map(|text| &*text.source).collect();
                if !self.allow_commands && !is_named(&words) {
                    refused.push(told(&server.name, &words));
                }
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(CliError::Commands(refused)) }
    }
}
