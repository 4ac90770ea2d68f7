//! A stock graph, built: the same plan as its file.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{clean, plan};
use crate::build::*;
use crate::{Bundle, BundleSource, Drawing, OpTable, load};

const FILE: &str = include_str!("../../../../../graphs/quick_answer/graph.yaml");
const AGENT: &str = include_str!("../../../../../graphs/quick_answer/prompts/agent.md");
const ANSWER: &str = include_str!("../../../../../graphs/quick_answer/prompts/answer.md");

fn quick_answer() -> Graph {
    let count = |default: i32| Type::integer().default(default).minimum(1);
    Graph::new("quick_answer")
        .description("One model searches and reads until it can answer.")
        .file("prompts/agent.md", AGENT)
        .file("prompts/answer.md", ANSWER)
        .config("model", Type::string().default("extractive").description("The model."))
        .config("max_tool_calls", count(8).description("Searches, reads and calls of MCP tools."))
        .config("max_turns", count(10).description("Model turns."))
        .config("token_budget", count(200_000).description("Tokens of the run, input and output."))
        .config(
            "deadline",
            Type::duration().default(Duration::from_secs(300)).description("Time of the run."),
        )
        .channel("question", Type::string().description("What the person wants to know."))
        .channel("messages", Type::messages())
        .channel("facts", Type::list(Type::named("fact")).reduce(Reducer::Union))
        .channel("sources", Type::map(Type::named("source")).reduce(Reducer::Merge))
        .channel("draft", Type::string())
        .channel("handoff", Type::named("handoff"))
        .channel("report", Type::string())
        .channel("citations", Type::list(Type::named("citation")))
        .input(["question"])
        .output(["report", "citations", "sources"])
        .tool(
            "search",
            Tool::call("search")
                .description(
                    "Find passages of documents, and pages of the web, that match a query. A passage comes with its \
                     source id; a page with its URL and a snippet, to be read before it can be cited.",
                )
                .update("sources", "result.sources")
                .cache("1h")
                .timeout("30s"),
        )
        .tool(
            "read",
            Tool::call("read")
                .description(
                    "Read a document or a page of the web, by its URL, by a source id of one of its \
                     passages, or by its name. With `query`, its passages that fit best.",
                )
                .update("sources", "result.sources")
                .update("facts", "result.facts")
                .cache("24h")
                .timeout("60s"),
        )
        .tool(
            "mcp",
            Tool::call("mcp.*").update("sources", "result.sources").update("facts", "result.facts"),
        )
        .limit(
            "max_tool_calls",
            Limit::count(["search", "read", "mcp"]).max(config("max_tool_calls")).exit("tool_call_cap"),
        )
        .limit("max_turns", Limit::meter(Meter::Turns).max(config("max_turns")).exit("step_limit"))
        .limit(
            "token_budget",
            Limit::meter(Meter::Tokens).max(config("token_budget")).reserve(0.2).exit("token_budget"),
        )
        .limit(
            "deadline",
            Limit::meter(Meter::WallTime).max(config("deadline")).reserve(0.2).exit("deadline"),
        )
        .finally([when(
            "facts or sources or run.exit not in [\"model_error\", \"refusal\", \"context_overflow\", \"step_timeout\"]",
        )
        .to("answer")])
        .start("open")
        .node("open", Node::pass().update("messages", list([record([("user", "question")])])).next("agent"))
        .node(
            "agent",
            Node::model(config("model"))
                .messages("messages")
                .tools(["search", "read", "mcp"])
                .title("Looking it up")
                .system("prompts/agent.md")
                .truncate(Truncate::cut(["tool_results", "oldest"]).to(0.8))
                .timeout("120s")
                .next([when("not result.tool_calls").exit("no_tool_calls"), to("act")]),
        )
        .node("act", Node::run_tools("agent").title("Searching and reading").next("agent"))
        .node(
            "answer",
            Node::model(config("model"))
                .read_messages("messages")
                .title("Answering")
                .system("prompts/answer.md")
                .prompt("Answer the question: {{ question }}")
                .truncate(Truncate::cut(["tool_results", "oldest"]).to(0.8).tries(3))
                .timeout("120s")
                .update("draft", "result.text")
                .on_error("hand_over")
                .next("hand_over"),
        )
        .node(
            "hand_over",
            Node::call("handoff")
                .input("objective", "question")
                .input("text", "draft")
                .input("facts", "facts")
                .input("sources", "sources")
                .update("handoff", "result.handoff")
                .next("cite"),
        )
        .node(
            "cite",
            Node::call("cite")
                .title("Checking citations")
                .input("text", "draft or handoff.text")
                .input("sources", "sources")
                .update("report", "result.text")
                .update("citations", "result.citations")
                .on_error(write("report", "draft or handoff.text")),
        )
}

fn from_file() -> Bundle {
    let texts = [("graph.yaml", FILE), ("prompts/agent.md", AGENT), ("prompts/answer.md", ANSWER)];
    let files: BTreeMap<String, String> = texts.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
    load("graphs/quick_answer/graph.yaml", &files, &OpTable::stock()).unwrap().bundle
}

#[test]
fn a_built_graph_is_the_plan_of_its_file() {
    let built = clean(&quick_answer(), &OpTable::stock());
    let file = from_file();
    assert_eq!(plan(&built), plan(&file));
    assert_eq!(Drawing::of(&built).mermaid(), Drawing::of(&file).mermaid());
    let other = clean(
        &quick_answer().limit("x", Limit::meter(Meter::Steps).max(3).exit("step_limit")),
        &OpTable::stock(),
    );
    assert_ne!(plan(&other), plan(&file), "what is compared tells graphs apart");
}

#[test]
fn what_is_written_out_loads_to_the_same_hash_and_so_does_what_is_stored() {
    let graph = quick_answer();
    let built = clean(&graph, &OpTable::stock());
    assert_eq!(graph.file_name(), "quick_answer.yaml");
    let on_disk = load("elsewhere/quick_answer.yaml", &graph.files(), &OpTable::stock()).unwrap().bundle;
    assert_eq!(on_disk.hash, built.hash);
    let stored = serde_json::to_string(&built.source).unwrap();
    let source: BundleSource = serde_json::from_str(&stored).unwrap();
    assert_eq!(Bundle::from_source(&source, &OpTable::stock()).unwrap().hash, built.hash);
    assert_eq!(
        clean(&quick_answer(), &OpTable::stock()).hash,
        built.hash,
        "building it again changes nothing"
    );
}

#[test]
fn it_reads_like_a_graph_file() {
    insta::assert_snapshot!(quick_answer().to_yaml());
}
