//! Several runs at once in one program, with progress and cancellation; kept in SQLite, and taken up later.

use std::error::Error;
use std::time::Duration;

use deepgraph_runtime::graph::build::*;
use deepgraph_runtime::protocol::{Event, Map, Value};
use deepgraph_runtime::store::SqliteStore;
use deepgraph_runtime::{CustomOp, Ended, Host, Running};

/// Measures each place, then asks a person whether the levels may be published.
fn graph() -> Graph {
    let measure = Node::call("measure")
        .each(Each::over("places", 10).parallel(2))
        .input("place", "item")
        .update("levels", "result.level")
        .next("ask");
    let ask = Node::ask("Publish {{ levels | join(' and ') }}?").returns(Field::choice(["yes", "no"]));
    Graph::new("levels")
        .channel("places", Type::list(Type::string()))
        .channel("levels", Type::list(Type::integer()).reduce(Reducer::Append))
        .channel("published", Type::string())
        .input(["places"])
        .output(["levels", "published"])
        .start("measure")
        .node("measure", measure)
        .node("ask", ask.update("published", "result.text").next(exit("completed")))
}

/// A host over one SQLite file. Two programs may have it open, and a run goes on in either.
fn host(file: &std::path::Path) -> Result<Host, Box<dyn Error>> {
    let op = CustomOp::new("measure").reads().input("place", Type::string()).result("level", Type::integer());
    let measure = op.run(|input: Map| async move {
        let place = input["place"].as_str().unwrap_or_default().to_owned();
        let millis = if place == "the deep sea" { 3_600_000 } else { 20 };
        tokio::time::sleep(Duration::from_millis(millis)).await;
        Ok(Value::record([("level", Value::Int(place.len() as i64))]))
    });
    Ok(Host::builder().store(SqliteStore::open(file)?).op(measure).build()?)
}

/// Prints each step that is done. Nobody waits for the sea: its run is asked to stop, and again to stop at once.
async fn follow(name: &str, mut run: Running) -> Result<Ended, Box<dyn Error>> {
    while let Some(told) = run.next_event().await {
        match told.event {
            Event::StepCompleted { step } => println!("{name}: {step} is done"),
            Event::ItemStarted { .. } if name == "sea" => {
                run.cancel();
                run.cancel();
            }
            _ => {}
        }
    }
    Ok(run.ended().await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("runs.db");
    let first = host(&file)?;
    let bundle = first.load(&graph())?;
    let start = |places: &[&str]| {
        first.run(&bundle).input("places", places.iter().map(|p| Value::from(*p)).collect::<Value>()).start()
    };
    let (rivers, sea) = (start(&["Tana", "Glomma"]).await?, start(&["the deep sea"]).await?);
    let id = rivers.id().clone();
    let (rivers, sea) = tokio::join!(follow("rivers", rivers), follow("sea", sea));
    println!("sea: {}", sea?.outcome().map_or("waits", |outcome| outcome.status.name()));
    rivers?.questions().iter().for_each(|question| println!("rivers asks: {}", question.text));

    // Another program, or this one tomorrow: nothing that is done is done again.
    drop(first);
    let second = host(&file)?;
    let ended = second.resume(&id).await?.answer("yes").start().await?.ended().await?;
    let outcome = ended.outcome().ok_or("it waits again")?;
    println!("rivers: {}, published: {}", outcome.status.name(), outcome.text("published"));
    Ok(())
}
