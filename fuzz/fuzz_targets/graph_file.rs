#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| deepgraph_fuzz::graph_file::check(text));
