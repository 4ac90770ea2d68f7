//! Commands that are printed at the end of a run are carried out as they stand, and none of them is refused.

use std::time::Duration;

use super::server::{Play, Server};
use super::world::{EXHAUSTED, SUCCEEDED, Said, USAGE, World, harbour};

const FAILED: i32 = 4;

/// The commands that let a run go on or fork it, as they stand in a text, without those that name a file or a model that a
/// person has to choose.
fn commands(text: &str) -> Vec<String> {
    let begins = |part: &&str| part.starts_with("resume ") || part.starts_with("fork ");
    let command = |part: &str| {
        let mut words = Vec::new();
        for word in part.lines().next().unwrap_or_default().split(' ') {
            let last = word.ends_with([';', ',', '.', ')', '`']);
            words.push(word.trim_end_matches([';', ',', '.', ')', '`']));
            if last {
                break;
            }
        }
        words.join(" ")
    };
    let parts = text.split("deepgraph ").skip(1).filter(begins).map(command);
    let is_whole = |command: &String| !command.contains("FILE") && !command.contains("PROVIDER");
    parts.filter(is_whole).collect()
}

/// Runs, and carries each command that is then printed out over a run of its own. Gives the commands.
fn all_are_accepted(run: &dyn Fn(&World) -> Said) -> Vec<String> {
    let world = World::new();
    let said = run(&world);
    let shown = world.deepgraph(&["show", "last"]);
    let mut printed = commands(&said.err);
    printed.extend(commands(&shown.out));
    printed.retain(|command| command.contains("--"));
    printed.sort();
    printed.dedup();
    let mut told = Vec::new();
    for command in printed {
        let world = World::new();
        run(&world);
        let mut words: Vec<&str> = command.split(' ').collect();
        words[1] = "last";
        let done = world.deepgraph(&words);
        assert_ne!(done.code, USAGE, "{command}\nfrom:\n{}\n{}\nsaid:\n{}", said.err, shown.out, done.err);
        told.push(words.join(" "));
    }
    told
}

fn server(rounds: usize, searches: usize) -> Server {
    Server::start(Play { rounds, parallel: 2, searches, latency: Duration::ZERO })
}

/// A run over that server with these values.
fn with<'a>(server: &'a Server, docs: &'a str, set: &'a [&'a str]) -> impl Fn(&World) -> Said + 'a {
    let args =
        ["run", "What is the range?", "--docs", docs, "--model", "openai::played", "--base-url", &server.url];
    move |world| {
        let set = set.iter().flat_map(|set| ["--set", set]);
        world.deepgraph(&args.iter().copied().chain(set).collect::<Vec<_>>())
    }
}

#[test]
fn what_is_advised_after_a_limit_is_not_refused() {
    let docs = harbour();
    for (rounds, set, wanted) in [
        (4, &["max_researcher_iterations=2"][..], "--set max_researcher_iterations=4"),
        // The root ended by itself, so it is a fork that has more for its researchers.
        (
            1,
            &["max_react_tool_calls=1"],
            "fork last --at supervise.1/supervisor.1 --set max_react_tool_calls=2",
        ),
        (4, &["deadline=0"], "--set deadline="),
        (4, &["deadline=1ms"], "--set deadline="),
        (4, &["token_budget=1"], "--set token_budget="),
        (4, &["token_budget=8000"], "--set token_budget="),
        (
            4,
            &["token_budget=8000", "max_researcher_iterations=2"],
            "--set max_researcher_iterations=4 --set token_budget=",
        ),
    ] {
        let server = server(rounds, 3);
        let told = all_are_accepted(&with(&server, &docs, set));
        assert!(told.iter().any(|command| command.contains(wanted)), "{set:?}: {told:?}");
    }
}

#[test]
fn what_a_refusal_names_is_not_refused() {
    let (server, docs) = (server(4, 1), harbour());
    let run = with(&server, &docs, &["max_researcher_iterations=2"]);
    let world = World::new();
    run(&world);
    for given in
        [&["--from", "research"][..], &["--set", "deadline=1ms"], &["--set", "max_researcher_iterations=1"]]
    {
        let refused = world.deepgraph(&[&["resume", "last"], given].concat());
        assert_eq!(refused.code, USAGE, "{}", refused.err);
        let named = commands(&refused.err);
        assert_eq!(named.len(), 1, "{}", refused.err);
        let other = World::new();
        run(&other);
        let mut words: Vec<&str> = named[0].split(' ').collect();
        words[1] = "last";
        let done = other.deepgraph(&words);
        assert_eq!(done.code, SUCCEEDED, "{named:?} {}", done.err);
    }
}

const WRITER: &str = "deepgraph: 1\ninput: [q]\noutput: [report]\nstate: {q: string, report: string}\n\
    finally: write\nstart: look\nnodes:\n  look: {update: {q: q}}\n  \
    write: {model: scripted, prompt: '{{ q }}', update: {report: result.text}}\n";

#[test]
fn an_empty_report_is_no_report() {
    let world = World::new();
    let graph = world.write("writer.yaml", WRITER);
    let script = world.write("blank.json", r#"{"rules": [{"reply": {"text": " \n "}}]}"#);
    let said = world.deepgraph(&["run", "q", "--graph", &graph, "--script", &script]);
    assert_eq!((said.code, said.out.trim()), (FAILED, ""), "{}", said.err);
    assert!(said.err.contains("report    failed: invalid_output: empty answer"), "{}", said.err);

    // A graph with another way goes it, and says so.
    let fallback = WRITER.replace(
        "result.text}}\n",
        "result.text}, on_error: plain}\n  plain: {update: {report: \"'none'\"}}\n",
    );
    let graph = world.write("fallback.yaml", &fallback);
    let said = world.deepgraph(&["run", "q", "--graph", &graph, "--script", &script]);
    assert!(said.err.contains("report    partial"), "{}", said.err);
    assert_eq!(said.out.trim(), "none");
    assert!([SUCCEEDED, EXHAUSTED].contains(&said.code));
}

#[test]
fn a_budget_of_money_without_prices_is_refused_before_the_run() {
    let (world, server, docs) = (World::new(), server(1, 1), harbour());
    let refused = with(&server, &docs, &["cost_budget_usd=0.5"])(&world);
    assert_eq!(refused.code, USAGE, "{}", refused.err);
    for named in ["openai::played", "cost_budget", "--set cost_budget_usd=null"] {
        assert!(refused.err.contains(named), "{named}: {}", refused.err);
    }
    assert_eq!(server.all_calls(), 0);
    assert!(!world.deepgraph(&["runs"]).out.contains("What is the range?"), "nothing is recorded");
    for unset in ["cost_budget_usd=null", "cost_budget_usd="] {
        let done = with(&server, &docs, &["cost_budget_usd=0.5", unset][1..])(&world);
        assert_eq!(done.code, SUCCEEDED, "{unset}: {}", done.err);
    }
    // A run that was under one can take it off.
    let told = world.deepgraph(&["resume", "last", "--from", "report", "--set", "cost_budget_usd=0.5"]);
    assert_eq!(told.code, USAGE, "{}", told.err);
    let free =
        world.deepgraph(&["run", "What is the range?", "--docs", &docs, "--set", "cost_budget_usd=0.5"]);
    assert_eq!(free.code, SUCCEEDED, "{}", free.err);
    let off = world.deepgraph(&["resume", "last", "--from", "report", "--set", "cost_budget_usd="]);
    assert_eq!(off.code, SUCCEEDED, "{}", off.err);
    assert!(!world.deepgraph(&["show", "last"]).out.contains("cost_budget_usd"), "it is gone");
}

#[test]
fn json_is_a_short_form_wherever_there_is_a_form() {
    let world = World::new();
    let docs = harbour();
    world.deepgraph(&["run", "What is the range?", "--docs", &docs, "--quiet"]);
    for command in [
        &["stats"][..],
        &["trace", "last"],
        &["history", "last"],
        &["whatif", "last", "--set", "max_researcher_iterations=1"],
        &["tune", "max_researcher_iterations=1,2"],
        &["bounds", "deep_research"],
        &["config", "--intent", "none"],
        &["check", "deep_research"],
    ] {
        let short = world.deepgraph(&[command, &["--json"]].concat());
        let long = world.deepgraph(&[command, &["--format", "json"]].concat());
        assert_eq!((short.code, &short.out), (long.code, &long.out), "{command:?}: {}", short.err);
        assert!(short.out.starts_with(['{', '[']), "{command:?}: {} {}", short.out, short.err);
    }
}
