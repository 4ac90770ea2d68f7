//! Conversations over several runs.

use std::thread::sleep;
use std::time::Duration;

use deepgraph_protocol::EntryBody;
use deepgraph_store::Store;

use super::world::{SUCCEEDED, Said, World};

/// A model that answers each message with all that was said before.
const TALK: &str = "\
deepgraph: 1
state:
  question: string
  messages: {type: messages, persist: thread}
  answer:   string
input:  [question]
output: [answer]
start: open
nodes:
  open: {update: {messages: [{user: question}]}, next: talk}
  talk: {model: scripted, messages: messages, update: {answer: result.text}}
";

/// Counts the answers that stand in the conversation. `LATENCY` is how long the first one takes, in milliseconds.
const SCRIPT: &str = "
rules:
  - {when: {turn: 0}, latency_ms: LATENCY, reply: {text: 'Tea, I see.'}}
  - {when: {turn: 1, text: I like tea}, reply: {text: 'You like tea.'}}
  - {when: {turn: 2, text: 'You like tea.'}, reply: {text: 'I said so.'}}
";

struct Desk {
    world: World,
    graph: String,
    script: String,
}

impl Desk {
    fn new(latency: u64) -> Desk {
        let world = World::new();
        let graph = world.write("talk.yaml", TALK);
        let script = world.write("script.yaml", &SCRIPT.replace("LATENCY", &latency.to_string()));
        Desk { world, graph, script }
    }

    fn args<'a>(&'a self, question: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let mut args = vec!["run", question, "--graph", &self.graph, "--script", &self.script];
        args.extend(more);
        args
    }

    #[track_caller]
    fn says(&self, question: &str, more: &[&str], answer: &str) -> Said {
        let said = self.world.deepgraph(&self.args(question, more));
        assert_eq!((said.code, said.out.trim()), (SUCCEEDED, answer), "{question}: {}", said.err);
        said
    }
}

#[test]
fn a_run_goes_on_from_the_last_one_of_its_thread() {
    let desk = Desk::new(0);
    desk.says("I like tea", &["--thread", "ada"], "Tea, I see.");
    desk.says("What do I like?", &["--thread", "ada"], "You like tea.");
    desk.says("Are you sure?", &["--thread", " ada "], "I said so.");
    desk.says("What do I like?", &["--thread", "ben"], "Tea, I see.");
    let trace = desk.world.deepgraph(&["trace", "last", "--full"]);
    assert!(!trace.out.contains("I like tea"), "another thread knows nothing of it: {}", trace.out);
}

#[test]
fn without_a_thread_nothing_is_kept() {
    let desk = Desk::new(0);
    desk.says("I like tea", &[], "Tea, I see.");
    desk.says("What do I like?", &[], "Tea, I see.");
    desk.says("What do I like?", &["--thread", "ada"], "Tea, I see.");
    let blank = desk.world.deepgraph(&desk.args("Who?", &["--thread", " "]));
    assert_ne!(blank.code, SUCCEEDED);
    assert!(blank.err.contains("a thread needs a name"), "{}", blank.err);
}

#[test]
fn a_run_that_was_killed_and_resumed_is_kept_once() {
    let desk = Desk::new(1000);
    let mut child = desk.world.spawn(&desk.args("I like tea", &["--thread", "ada"]));
    let is_sent = || {
        desk.world.path("home/runs.sqlite").exists()
            && desk.world.store().find_run("last").is_ok()
            && desk.world.journal().iter().any(|row| matches!(row.entry.body, EntryBody::Dispatched { .. }))
    };
    for _ in 0..3000 {
        if is_sent() {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    child.kill().expect("it can be killed");
    let _ = child.wait();
    let record = desk.world.store().find_run("last").expect("it was recorded");
    assert!(!record.status.is_terminal(), "it was killed in the middle");
    let resumed = desk.world.deepgraph(&["resume", "last"]);
    assert_eq!((resumed.code, resumed.out.trim()), (SUCCEEDED, "Tea, I see."), "{}", resumed.err);
    let again = desk.world.deepgraph(&["resume", "last"]);
    assert_eq!((again.code, again.out), (SUCCEEDED, resumed.out), "it is over; nothing is kept twice");
    desk.says("What do I like?", &["--thread", "ada"], "You like tea.");
    let trace = desk.world.deepgraph(&["trace", "last", "--full"]);
    assert_eq!(trace.out.matches("I like tea").count(), 1, "{}", trace.out);
}
