//! A graph file, looked at without running it: its drawing, and what a run of it can use at most.

use std::error::Error;
use std::path::PathBuf;

use deepgraph_runtime::Host;
use deepgraph_runtime::graph::{Drawing, bounds};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let stock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../graphs/quick_answer/graph.yaml");
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from(stock), PathBuf::from);
    let host = Host::builder().build()?;
    let bundle = host.load_file(&path)?;
    println!("{}", Drawing::of(&bundle).mermaid());

    // Every value of the configuration has its default here.
    let config = bundle.config_of(Default::default()).map_err(|wrong| format!("{wrong:?}"))?;
    let worst = bounds(&bundle, &config);
    println!("At most, in a run:");
    for (measure, figure) in &worst.run.in_all {
        println!("  {}: {}", measure.title(), figure.bound);
    }
    for limit in worst.scopes.iter().flat_map(|scope| &scope.limits) {
        println!("  limit {}: {} of {}", limit.name, limit.max, limit.counts);
    }
    Ok(())
}
