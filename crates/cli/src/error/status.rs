//! What the shell is told of a failure.

use deepgraph_runtime::RunError;
use deepgraph_store::StoreError;
use deepgraph_tools::CorpusError;
use deepgraph_trace::FoldError;

use super::CliError;
use crate::exit_status::ExitStatus;

impl CliError {
    /// What the shell is told.
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            CliError::Test(error) => error.exit_status(),
            CliError::NotOverYet { .. }
            | CliError::NotResumable { .. }
            | CliError::RecordsOneAttempt { .. }
            | CliError::Run(RunError::NotResumable { .. } | RunError::Config { .. })
            | CliError::Fold(FoldError::SeveralAttempts { .. }) => ExitStatus::Usage,
            CliError::EmptyQuestion
            | CliError::Stdin(_)
            | CliError::NoGraph { .. }
            | CliError::Graph(_)
            | CliError::Input { .. }
            | CliError::Config(_)
            | CliError::NotJudged { .. }
            | CliError::NoCode { .. }
            | CliError::Period { .. }
            | CliError::BadSetting { .. }
            | CliError::ConfigFile { .. }
            | CliError::ScriptFile { .. }
            | CliError::NoModelKey { .. }
            | CliError::Models(_)
            | CliError::NoPrice { .. }
            | CliError::Servers(_)
            | CliError::SecretInUrl
            | CliError::NoVariable
            | CliError::Commands(_)
            | CliError::OutFile { .. }
            | CliError::NotOver { .. }
            | CliError::NotHidden { .. }
            | CliError::Recording { .. }
            | CliError::Replay { .. }
            | CliError::TraceFile { .. }
            | CliError::DrawingForm { .. }
            | CliError::Documents(CorpusError::PathNotFound { .. } | CorpusError::PathUnreadable { .. })
            | CliError::NoHome
            | CliError::NoStore
            | CliError::ShortRun { .. }
            | CliError::Answer { .. }
            | CliError::Exists(_)
            | CliError::NotAFolder { .. }
            | CliError::Fork { .. }
            | CliError::NoStep { .. }
            | CliError::Run(RunError::Edit { .. } | RunError::BrokenFork { .. })
            | CliError::Run(
                RunError::Input { .. }
                | RunError::NoKey { .. }
                | RunError::NotAsked { .. }
                | RunError::UnknownIntent { .. },
            )
            | CliError::Store(
                StoreError::BadRunId { .. }
                | StoreError::BadUrl { .. }
                | StoreError::UnknownRun { .. }
                | StoreError::NoSuchRun { .. }
                | StoreError::AmbiguousRun { .. },
            ) => ExitStatus::Usage,
            #[cfg(not(feature = "postgres"))]
            CliError::NoPostgres => ExitStatus::Usage,
            CliError::Interrupted => ExitStatus::Cancelled,
            CliError::Stdout(_)
            | CliError::Draw(_)
            | CliError::Documents(_)
            | CliError::Home { .. }
            | CliError::InUse { .. }
            | CliError::Settings { .. }
            | CliError::Write { .. }
            | CliError::Threads(_)
            | CliError::Store(_)
            | CliError::Run(_)
            | CliError::Fold(_) => ExitStatus::Internal,
        }
    }
}
