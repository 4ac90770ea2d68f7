//! Plays case files and prints what is not as they say: `cargo run -p deepgraph-testkit --example play -- FILE...`.
//! With `--trace` the trace of each is printed as well.

use std::path::Path;
use std::process::ExitCode;

use deepgraph_testkit::case::Case;

fn main() -> ExitCode {
    let (mut failed, mut played) = (0, 0);
    let mut show_trace = false;
    for argument in std::env::args().skip(1) {
        if argument == "--trace" {
            show_trace = true;
            continue;
        }
        played += 1;
        match Case::load(Path::new(&argument)) {
            Err(mistakes) => {
                failed += 1;
                println!("{mistakes}");
            }
            Ok(case) => {
                let result = case.play();
                let verdict = if result.passed() { "ok    " } else { "FAILED" };
                println!("{verdict} {argument}: {}", case.sentence);
                failed += usize::from(!result.passed());
                match (result.passed(), show_trace) {
                    (false, _) => println!("{result}"),
                    (true, true) => println!("{}", result.trace),
                    (true, false) => {}
                }
            }
        }
    }
    println!("{played} cases played, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
