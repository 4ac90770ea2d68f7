//! An op of one's own, and a tool that offers it to a model.

use std::error::Error;

use deepgraph_runtime::graph::build::*;
use deepgraph_runtime::model::scripted::{Rule, When};
use deepgraph_runtime::model::{ModelSettings, Script};
use deepgraph_runtime::protocol::{ErrorKind, StepError, Value};
use deepgraph_runtime::{CustomOp, Host};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Place {
    city: String,
}

#[derive(Serialize)]
struct Weather {
    celsius: f64,
}

/// What graphs see of the op and what it does: a result that does not fit the signature is a failure of the step.
fn weather() -> CustomOp {
    CustomOp::new("weather")
        .description("The temperature in a city.")
        .reads()
        .input("city", Type::string().description("Its name alone."))
        .result("celsius", Type::number())
        .run(|place: Place| async move {
            match place.city.as_str() {
                "Bergen" => Ok(Weather { celsius: 7.5 }),
                "Oslo" => Ok(Weather { celsius: -3.0 }),
                other => Err(StepError::new(ErrorKind::NotFound, format!("there is no station in {other}"))),
            }
        })
}

/// A loop of a model and its tool, which keeps what the op gave and tells the model in words.
fn graph() -> Graph {
    let temperature = Tool::call("weather")
        .update("degrees", record([("city", "args.city"), ("celsius", "result.celsius")]))
        .answer("It is {{ result.celsius }} degrees in {{ args.city }}.");
    let agent = Node::model("scripted").messages("messages").tools(["temperature"]);
    let degree = Record::new().field("city", Type::string()).field("celsius", Type::number());
    Graph::new("forecast")
        .channel("question", Type::string())
        .channel("messages", Type::messages())
        .channel("degrees", Type::list(Type::record(degree)).reduce(Reducer::Append))
        .input(["question"])
        .output(["degrees", "messages"])
        .tool("temperature", temperature)
        .limit("turns", Limit::meter(Meter::Turns).max(5).exit("step_limit"))
        .start("open")
        .node("open", Node::pass().update("messages", list([record([("user", "question")])])).next("agent"))
        .node("agent", agent.next([when("result.tool_calls").to("act"), exit("completed")]))
        .node("act", Node::run_tools("agent").next("agent"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Stands for a model that asks for three cities at once and then is content.
    let call = |city: &str| ("temperature", Value::record([("city", Value::from(city))]));
    let first = Rule::calls(["Bergen", "Oslo", "Atlantis"].map(call));
    let script =
        Script::of([first.when(When { turn: Some(0), ..When::default() }), Rule::text("Thank you.")]);
    let models = ModelSettings { script: Some(script), ..ModelSettings::default() };

    let host = Host::builder().op(weather()).models(models).build()?;
    let bundle = host.load(&graph())?;
    let running = host.run(&bundle).input("question", "How warm is it?").start().await?;
    let outcome = running.ended().await?.outcome().ok_or("the graph asks no questions")?;
    println!("{}", outcome.end.output["degrees"]);
    for message in outcome.end.output["messages"].as_list().unwrap_or_default() {
        println!("{}: {}", message.text("role"), message.text("content"));
    }
    Ok(())
}
