//! The `deepgraph` command, built for the tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    deepgraph::main()
}
