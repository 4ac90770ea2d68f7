//! A small project: a graph whose supervisor delegates to two researchers, with three cases.

use crate::cli::world::{Said, World};

/// The graph. The prompt of its researchers is a file of its own.
const GRAPH: &str = r#"
deepgraph: 1
name: sea
state: {question: string, messages: messages, notes: {type: [string], reduce: append}}
input: [question]
output: [notes]
tools:
  ConductResearch:
    call: researcher
    parameters: {topic: string}
    input: {topic: args.topic}
    update: {notes: result.note}
    answer: "{{ result.note }}"
    parallel: 2
  ResearchComplete: {next: {exit: research_complete}}
limits: {rounds: {count: turns, max: 4, exit: step_limit}}
start: supervisor
nodes:
  supervisor:
    model: m
    system: "Delegate what this asks: {{ question }}"
    messages: messages
    tools: [ConductResearch, ResearchComplete]
    next: [{if: not result.tool_calls, exit: no_tool_calls}, act]
  act: {run_tools: supervisor, next: supervisor}
graphs:
  researcher:
    state: {topic: string, found: {type: [string], reduce: append}, note: string}
    input: [topic]
    output: [note]
    limits: {looks: {count: [look], max: 2, exit: iteration_limit}}
    start: researcher
    nodes:
      researcher:
        model: m
        system: prompts/researcher.md
        prompt: "{{ topic }} {{ found | join(' ') }}"
        update: {note: result.text}
        next: [{if: found, exit: research_complete}, look]
      look: {call: search, input: {query: topic}, update: {found: result.text}, next: researcher}
"#;

/// A case of two topics, or of none.
fn case(topics: &[&str]) -> String {
    let calls: Vec<String> = topics.iter().map(|t| format!("{{ConductResearch: {{topic: {t}}}}}")).collect();
    let (delegates, researchers) = match topics {
        [] => (String::new(), ""),
        _ => (
            format!("  supervisor.1: {{calls: [{}]}}\n", calls.join(", ")),
            "  \"**/researcher.1\": I look.\n  \"**/researcher.2\": Found.\nops: {search: a passage}\n",
        ),
    };
    let last = if topics.is_empty() { 1 } else { 2 };
    format!(
        "case: Topics are {}.\ngraph: ../graph.yaml\ninput: {{question: How is the sea?}}\nmodels:\n{delegates}  \
         supervisor.{last}: {{calls: [ResearchComplete]}}\n{researchers}expect: {{exit: research_complete, trace: \
         snapshot}}\n",
        topics.join(" and "),
    )
}

/// The project in a folder of its own.
pub fn project() -> World {
    let world = World::new();
    world.write("graphs/sea/graph.yaml", GRAPH);
    world.write("graphs/sea/prompts/researcher.md", "Research {{ topic }}.\n");
    world.write("graphs/sea/cases/winds.yaml", &case(&["tides", "winds"]));
    world.write("graphs/sea/cases/currents.yaml", &case(&["tides", "currents"]));
    world.write("graphs/sea/cases/nothing.yaml", &case(&[]));
    world
}

/// The project with all its snapshots accepted.
pub fn accepted() -> World {
    let world = project();
    let said = test(&world, &["--accept"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    world
}

/// `deepgraph test` with these arguments.
pub fn test(world: &World, args: &[&str]) -> Said {
    run(world, args, None)
}

/// The same where the variable CI is set.
pub fn test_in_ci(world: &World, args: &[&str]) -> Said {
    run(world, args, Some("true"))
}

fn run(world: &World, args: &[&str], ci: Option<&str>) -> Said {
    let mut command = world.command(&[&["test"], args].concat());
    command.env_remove("CI");
    command.envs(ci.map(|value| ("CI", value)));
    Said::of(&mut command)
}

/// The files of the snapshots, by name, with their texts.
pub fn snapshots(world: &World) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(world.path("snapshots/sea")) else { return Vec::new() };
    let mut files: Vec<(String, String)> = entries
        .map(|entry| {
            let entry = entry.expect("it can be listed");
            let text = std::fs::read_to_string(entry.path()).expect("it is a text");
            (entry.file_name().to_string_lossy().into_owned(), text)
        })
        .collect();
    files.sort();
    files
}

/// Their names.
pub fn names(world: &World) -> Vec<String> {
    snapshots(world).into_iter().map(|(name, _)| name).collect()
}
