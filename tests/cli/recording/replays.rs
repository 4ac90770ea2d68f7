//! What was recorded comes again, without a network.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::super::server::{Play, Server};
use super::super::world::{AWAITING_INPUT, EXHAUSTED, SUCCEEDED, USAGE, World, harbour};
use super::{replayed, trace, without_start};

const QUESTION: &str = "What is the range?";
const CANCELLED: i32 = 5;

fn played(rounds: usize, parallel: usize, latency: u64) -> Server {
    Server::start(Play { rounds, parallel, searches: 2, latency: Duration::from_millis(latency) })
}

/// Options of a run against a server.
fn against<'a>(server: &'a Server, docs: &'a str) -> Vec<&'a str> {
    vec!["run", QUESTION, "--docs", docs, "--model", "openai::played", "--base-url", &server.url]
}

#[test]
fn a_replay_has_the_trace_and_the_report_of_the_recorded_run_and_asks_nobody() {
    let (server, docs, world) = (played(2, 3, 5), harbour(), World::new());
    let recorded = world.deepgraph(&[&against(&server, &docs)[..], &["--record", "run.json"]].concat());
    assert_eq!(recorded.code, SUCCEEDED, "{}", recorded.err);
    assert!(recorded.err.contains("The recording is in run.json"), "{}", recorded.err);
    let calls = server.all_calls();
    let (elsewhere, said) = replayed(&world.path("run.json"));
    assert_eq!((said.code, &said.out), (SUCCEEDED, &recorded.out), "{}", said.err);
    assert_eq!(trace(&elsewhere), trace(&world));
    assert_eq!(server.all_calls(), calls);
    let record = elsewhere.deepgraph(&["runs"]);
    assert!(record.out.contains(QUESTION), "{}", record.out);
}

#[test]
fn five_researchers_side_by_side_are_recorded_alike_whichever_is_first() {
    let docs = harbour();
    let texts = [0, 7].map(|latency| {
        let (server, world) = (played(1, 5, latency), World::new());
        let said = world.deepgraph(&[&against(&server, &docs)[..], &["--record", "run.json"]].concat());
        assert_eq!(said.code, SUCCEEDED, "{}", said.err);
        without_start(&world, "run.json")
    });
    assert!(texts[0] == texts[1], "the recordings differ");
    assert_eq!(texts[0].matches("\"name\": \"search\",\n").count() % 5, 0);
}

#[test]
fn a_run_that_was_killed_and_resumed_is_recorded_whole() {
    let (server, docs, world) = (played(1, 3, 30), harbour(), World::new());
    let mut child = world.spawn(&against(&server, &docs));
    while server.calls().get("researcher").is_none_or(|calls| *calls < 4) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it can be killed");
    let _ = child.wait();
    let resumed = world.deepgraph(&["resume", "last", "--record", "run.json"]);
    assert_eq!(resumed.code, SUCCEEDED, "{}", resumed.err);
    let undisturbed = World::new();
    let whole = undisturbed.deepgraph(&[&against(&server, &docs)[..], &["--record", "run.json"]].concat());
    assert_eq!(whole.code, SUCCEEDED, "{}", whole.err);
    let text =
        |world: &World| std::fs::read_to_string(world.path("run.json")).expect("the recording is there");
    assert!(!text(&undisturbed).contains("\"lost\""));
    assert!(without_lost(&text(&world)) == without_lost(&text(&undisturbed)), "nothing else differs");
    let (elsewhere, said) = replayed(&world.path("run.json"));
    assert_eq!((said.code, said.out), (SUCCEEDED, resumed.out), "{}", said.err);
    // A call whose answer was lost stays charged, in the replay too.
    assert_eq!(trace(&elsewhere), trace(&world));
    let text = |world: &World| world.deepgraph(&["trace", "last", "--redact", "--full"]).out;
    assert_eq!(text(&elsewhere), text(&world));
}

/// One call, and so many tokens.
fn one_call(tokens: u32) -> String {
    format!(
        "\
deepgraph: 1
name: one
config: {{model: {{type: string, default: 'openai::played'}}}}
state: {{question: string, text: {{type: string, optional: true}}}}
input: [question]
output: [text]
limits: {{budget: {{count: tokens, max: {tokens}, exit: token_budget}}}}
start: say
nodes:
  say: {{model: config.model, prompt: '{{{{ question }}}}', update: {{text: result.text}}}}
"
    )
}

#[test]
fn a_call_that_was_lost_in_a_crash_stays_charged_in_the_replay() {
    // With room for the call a second time, and without.
    for (tokens, code) in [(100_000, SUCCEEDED), (6_000, EXHAUSTED)] {
        let (server, world) = (played(0, 0, 1500), World::new());
        let graph = world.write("graph.yaml", &one_call(tokens));
        let mut child = world.spawn(&["run", "what?", "--graph", &graph, "--base-url", &server.url]);
        while server.all_calls() == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().expect("it can be killed");
        let _ = child.wait();
        let resumed = world.deepgraph(&["resume", "last", "--record", "run.json"]);
        assert_eq!(resumed.code, code, "{tokens}: {}", resumed.err);
        let recording = std::fs::read_to_string(world.path("run.json")).expect("the recording is there");
        assert_eq!(recording.matches("\"lost\": [").count(), 1, "{tokens}: {recording}");
        let (elsewhere, said) = replayed(&world.path("run.json"));
        assert_eq!((said.code, said.out), (resumed.code, resumed.out), "{tokens}: {}", said.err);
        assert_eq!(trace(&elsewhere), trace(&world), "{tokens}");
    }
}

/// A recording without the moment at which its run started, and without the calls that were lost.
fn without_lost(text: &str) -> Value {
    let mut recording: Value = serde_json::from_str(text).expect("it is JSON");
    recording["started_ms"] = Value::Null;
    for exchange in recording["exchanges"].as_array_mut().expect("they are a list") {
        exchange.as_object_mut().expect("it is an object").remove("lost");
    }
    recording
}

#[test]
fn what_a_person_answered_is_answered_again() {
    let (world, docs) = (World::new(), harbour());
    let question = "Compare the Norvane N60 and the Corrigan C70 on range";
    let options = ["--docs", &docs, "--set", "plan_review=required", "--record", "waits.json"];
    let waits = world.deepgraph(&[&["run", question][..], &options].concat());
    assert_eq!(waits.code, AWAITING_INPUT, "{}", waits.err);
    let (elsewhere, said) = replayed(&world.path("waits.json"));
    assert_eq!(said.code, AWAITING_INPUT, "nobody answered: {}", said.err);
    assert_eq!(trace(&elsewhere), trace(&world));
    let refused = elsewhere.deepgraph(&["resume", "last", "--answer", "approve"]);
    assert_eq!(refused.code, USAGE, "a replay does not turn to the outside: {}", refused.err);
    assert!(refused.err.contains("--replay"), "{}", refused.err);

    let approved = world.deepgraph(&["resume", "last", "--answer", "approve"]);
    assert_eq!(approved.code, SUCCEEDED, "{}", approved.err);
    let written = world.deepgraph(&["resume", "last", "--record", "approved.json"]);
    assert_eq!(written.code, SUCCEEDED, "a run that is over can be recorded still: {}", written.err);
    let (elsewhere, said) = replayed(&world.path("approved.json"));
    assert_eq!((said.code, said.out), (SUCCEEDED, approved.out), "{}", said.err);
    assert_eq!(trace(&elsewhere), trace(&world));
}

/// A node that is too slow for the run's deadline, after one that is not.
const SLOW: &str = "\
deepgraph: 1
name: slow
config: {model: {type: string, default: 'openai::played'}}
state: {question: string, text: {type: string, optional: true}}
input: [question]
output: [text]
limits: {deadline: {count: wall_time, max: 2s, exit: deadline}}
start: first
nodes:
  first: {model: config.model, prompt: 'First {{ question }}', update: {text: result.text}, next: second}
  second: {model: config.model, prompt: 'Second {{ text }}', update: {text: result.text}}
";

/// A recording in which all came so much later.
fn sixty_times_slower(text: &str) -> String {
    let mut recording: Value = serde_json::from_str(text).expect("it is JSON");
    let later = |moment: &mut Value| *moment = (moment.as_u64().expect("milliseconds") * 60).into();
    recording["moments"].as_object_mut().expect("they are kept").values_mut().for_each(later);
    let exchanges = recording["exchanges"].as_array_mut().expect("they are a list").iter_mut();
    exchanges.filter_map(|exchange| exchange.get_mut("after_ms")).for_each(later);
    recording.to_string()
}

#[test]
fn a_deadline_that_was_reached_is_reached_again_without_waiting() {
    let (server, world) = (played(0, 0, 1200), World::new());
    let graph = world.write("graph.yaml", SLOW);
    let options = ["--graph", &graph, "--base-url", &server.url, "--record", "run.json"];
    let recorded = world.deepgraph(&[&["run", "what?"][..], &options].concat());
    assert!(recorded.err.contains("deadline"), "{}", recorded.err);
    // From here on it was a deadline of two minutes: what is waited for would be unmistakable.
    world.write("graph.yaml", &SLOW.replace("max: 2s", "max: 2m"));
    let text = std::fs::read_to_string(world.path("run.json")).expect("the recording is there");
    world.write("run.json", &sixty_times_slower(&text));
    let begun = std::time::Instant::now();
    let (elsewhere, said) = replayed(&world.path("run.json"));
    assert_eq!((said.code, said.out), (recorded.code, recorded.out), "{}", said.err);
    assert!(said.err.contains("deadline"), "{}", said.err);
    assert!(begun.elapsed() < Duration::from_secs(60), "it waited");
    let outcome = |world: &World| world.deepgraph(&["trace", "last", "--redact"]).out;
    let steps = |world: &World| outcome(world).lines().filter(|l| l.contains(" model ")).count();
    assert_eq!(steps(&elsewhere), steps(&world));
}

#[cfg(unix)]
#[test]
fn a_run_that_was_cancelled_is_cancelled_again_and_becomes_a_case() {
    let (server, docs, world) = (played(3, 2, 60), harbour(), World::new());
    let mut command = world.command(&[&against(&server, &docs)[..], &["--record", "run.json"]].concat());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
    while server.calls().get("researcher").is_none_or(|calls| *calls < 5) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let interrupt = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").arg("-c").arg(interrupt).status().is_ok_and(|status| status.success()));
    let output = child.wait_with_output().expect("it comes to its end");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(CANCELLED) && told.contains("The recording is in"), "{told}");
    let (elsewhere, said) = replayed(&world.path("run.json"));
    assert_eq!(said.code, CANCELLED, "{}", said.err);
    assert_eq!(trace(&elsewhere), trace(&world));
    let case = world.deepgraph(&["case", "from-run", "last", "-o", "cancelled.yaml"]);
    assert_eq!(case.code, SUCCEEDED, "{}", case.err);
    let text = std::fs::read_to_string(world.path("cancelled.yaml")).expect("it was written");
    assert!(text.contains("cancel:\n  at: ") && text.contains("status: cancelled"), "{text}");
}

#[test]
fn a_deadline_cuts_the_replay_short_where_it_cut_the_run_short() {
    let docs = harbour();
    // The limits of parent and children fall into the same moments; which of them is noticed first is chance.
    for deadline in ["deadline=40ms", "deadline=70ms", "deadline=120ms", "deadline=200ms"] {
        let world = World::new();
        let question = "Compare the Norvane N60 and the Corrigan C70 on range";
        let said =
            world.deepgraph(&["run", question, "--docs", &docs, "--set", deadline, "--record", "run.json"]);
        assert_eq!(said.code, EXHAUSTED, "{deadline}: {}", said.err);
        let (elsewhere, again) = replayed(&world.path("run.json"));
        assert_eq!(again.code, EXHAUSTED, "{deadline}: {}", again.err);
        assert_eq!(trace(&elsewhere), trace(&world), "{deadline}");
    }
}
