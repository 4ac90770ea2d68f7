//! The options of every command that drives a run.

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::progress::Format;
use crate::servers::Consent;
use crate::settings::Settings;

/// Options of every command that drives a run.
#[derive(Clone, Debug, Args)]
pub struct DriveOptions {
    /// Write the report to FILE instead of standard output; - is standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write every event as a JSON object a line to standard output; the last one holds the report
    ///
    /// Each object has a `type`; those of committed entries have a `seq`, which never goes back. A committed step is
    /// {"seq", "type": "step_complete", "step", "done", "total", "phase"}, with total null where it is not known. The
    /// last object is "run_ended" (status, exit_status, exit, exits, report, text, citations, used, figures), "run_waiting"
    /// (questions) or "error". Fields and types may be added, none is renamed.
    #[arg(long)]
    pub json: bool,
    /// Write what models, documents and people said to FILE, to be replayed with `run --replay`; without keys. A
    /// recording that is there is replaced, any other file is refused before the run begins
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Search the web and read its pages: with the search engines that need no key, and those whose key is set
    #[cfg(feature = "web")]
    #[arg(long)]
    pub web: bool,
    /// Search the web with these engines alone, such as tavily,wikipedia
    #[cfg(feature = "web")]
    #[arg(long, value_name = "ENGINE,...", value_delimiter = ',', value_parser = crate::web::engine_name)]
    pub search: Vec<String>,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Ask nobody: questions of the graph count as unanswered
    #[arg(long)]
    pub no_input: bool,
    /// What the user says of programs.
    #[command(flatten)]
    pub consent: Consent,
    /// Ask the server for whole replies instead of pieces
    #[arg(long)]
    pub no_stream: bool,
    /// Server of openai:: models, such as http://127.0.0.1:8000/v1 [default: OpenAI]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Environment variable that holds the server's key [default: OPENAI_API_KEY]
    #[arg(long, value_name = "VARIABLE")]
    pub key_env: Option<String>,
    /// Run COMMAND when the run ends as exhausted, with its end as JSON on standard input: to hand it over to another run
    ///
    /// The object has run, status, exit, exits, report, output and used; DEEPGRAPH_RUN holds the run's id. The command has
    /// 60 seconds. What it prints goes to standard error; its failure is told and changes nothing.
    #[arg(long, value_name = "COMMAND")]
    pub on_exhausted: Option<String>,
    /// Name every document that could not be indexed, however many
    #[arg(long)]
    pub list_skipped: bool,
}

impl DriveOptions {
    /// Puts what the options say over a set-up.
    ///
    /// # Errors
    ///
    /// The base URL holds a secret; what is to be the name of a variable is none.
    pub fn apply(&self, settings: &mut Settings) -> Result<(), CliError> {
        if let Some(url) = &self.base_url {
            if deepgraph_model::has_secret(url) {
                return Err(CliError::SecretInUrl);
            }
            settings.base_url = Some(url.clone());
        }
        if let Some(variable) = &self.key_env {
            if !deepgraph_model::is_variable(variable) {
                return Err(CliError::NoVariable);
            }
            settings.key_env.clone_from(variable);
        }
        settings.stream &= !self.no_stream;
        #[cfg(feature = "web")]
        {
            settings.web |= self.web || !self.search.is_empty();
            if !self.search.is_empty() {
                settings.search.clone_from(&self.search);
            }
        }
        Ok(())
    }

    /// How progress is told.
    pub(super) fn format(&self) -> Format {
        match (self.json, self.quiet) {
            (true, _) => Format::Json,
            (false, true) => Format::Quiet,
            (false, false) => Format::Lines,
        }
    }
}
