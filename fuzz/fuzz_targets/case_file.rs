#![no_main]

use std::path::Path;

use deepgraph_testkit::case::Case;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // A folder that is not there: no file is read.
    if let Err(mistakes) = Case::parse("case.yaml", text, Path::new("/nowhere")) {
        assert!(!mistakes.to_string().is_empty());
    }
});
