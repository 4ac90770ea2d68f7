//! A graph built in Rust, run over the sample documents. The built-in model needs no key and no network.

use std::error::Error;
use std::path::Path;

use deepgraph_runtime::Host;
use deepgraph_runtime::graph::build::*;
use deepgraph_runtime::tools::Corpus;

/// One model that searches and reads until it can answer, then a writer.
fn graph() -> Graph {
    Graph::new("lookup")
        .config("model", Type::string().default("extractive"))
        .config("max_calls", Type::integer().default(4).minimum(1))
        .channel("question", Type::string())
        .channel("messages", Type::messages())
        .channel("sources", Type::map(Type::named("source")).reduce(Reducer::Merge))
        .channel("draft", Type::string())
        .channel("answer", Type::string())
        .input(["question"])
        .output(["answer"])
        .tool("search", Tool::call("search").update("sources", "result.sources"))
        .tool("read", Tool::call("read").update("sources", "result.sources"))
        .limit("calls", Limit::count(["search", "read"]).max(config("max_calls")).exit("tool_call_cap"))
        .limit("turns", Limit::meter(Meter::Turns).max(8).exit("step_limit"))
        .start("open")
        .finally("write")
        .node("open", Node::pass().update("messages", list([record([("user", "question")])])).next("agent"))
        .node(
            "agent",
            Node::model(config("model"))
                .messages("messages")
                .tools(["search", "read"])
                .system("Search and read. {{ limits.calls.left }} calls are left.")
                .next([when("result.tool_calls").to("act"), exit("no_tool_calls")]),
        )
        .node("act", Node::run_tools("agent").next("agent"))
        .node(
            "write",
            Node::model(config("model"))
                .read_messages("messages")
                .prompt("Answer the question: {{ question }}")
                .update("draft", "result.text")
                .next("cite"),
        )
        .node(
            "cite",
            Node::call("cite")
                .input("text", "draft")
                .input("sources", "sources")
                .update("answer", "result.text"),
        )
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harbour");
    let index = tempfile::tempdir()?;
    let (corpus, report) = Corpus::open(&[documents], index.path(), &mut |_| {})?;
    println!("{} documents", report.documents);

    let host = Host::builder().documents(corpus).build()?;
    // All mistakes of the graph at once, as `deepgraph check` shows them.
    let bundle = host.load(&graph())?;
    let question = "What is the range of the Norvane N60?";
    let running = host.run(&bundle).input("question", question).config("max_calls", 2).start().await?;
    let outcome = running.ended().await?.outcome().ok_or("the graph asks no questions")?;
    println!("{}\n", outcome.text("answer"));
    println!("{}, ended by {}", outcome.status.name(), outcome.end.exit.reason);

    // The same graph as a file.
    println!("\n{}", graph().to_yaml());
    Ok(())
}
