//! The `deepgraph` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    deepgraph::main()
}
