//! One researcher of five goes wrong in the first round.

use deepgraph_protocol::Role;
use deepgraph_trace::NodeKind;

use super::held;
use super::server::{Fault, Server, Stage, What};
use super::table;
use super::world::{self, Manner, Seen, at_once};

const TOPICS: [&str; 5] = ["Alder", "Birch", "Cedar", "Dogwood", "Elder"];

/// The one that goes wrong.
const FAULTY: &str = "Cedar";

/// What is wrong about a run in which the researcher of one topic goes wrong at a turn.
async fn wrong(what: What, turn: usize) -> Vec<String> {
    let hits = move |asked: &super::server::Asked| {
        asked.stage == Stage::Researcher && asked.turn == turn && asked.topic == Some(FAULTY)
    };
    let server = Server::start(&TOPICS, vec![Fault::at(what, hits)]).await;
    let manner = Manner { stream: turn == 0, impatient: what == What::Hang, fallback: false };
    let seen = match world::run(&server, &TOPICS, manner).await {
        Ok(seen) => seen,
        Err(why) => return vec![why],
    };
    let mut found = held::broken(&seen, &server);
    // Who has read hands over what the facts say.
    let is_whole = turn > 0 || table::is_mended(what);
    let expected: Vec<&str> = TOPICS.into_iter().filter(|topic| is_whole || *topic != FAULTY).collect();
    if seen.reported(&TOPICS) != expected {
        found.push(format!("the report knows {:?} only:\n{}", seen.reported(&TOPICS), seen.report()));
    }
    let end = (seen.outcome.status.name(), seen.exit(), seen.report_outcome());
    if end != ("succeeded", "research_complete", "complete") {
        found.push(format!("the run ended as {end:?}"));
    }
    let exit =
        seen.outcome.exits().find(|exit| exit.graph.ends_with("researcher") && !is_good(exit.reason.name()));
    let told = told_to_the_supervisor(&seen);
    match exit {
        Some(exit) if !told.iter().any(|text| text.contains(&format!("(ended by {})", exit.reason))) => {
            found.push(format!("the supervisor was not told of {}: {told:?}", exit.reason));
        }
        // Without a call it has not failed: it only comes back with nothing.
        None if !is_whole && !matches!(what, What::Words | What::Empty) => {
            found.push("no researcher ended by an error".to_owned())
        }
        _ => {}
    }
    found
}

fn is_good(exit: &str) -> bool {
    exit == "no_tool_calls"
}

/// The answers to the supervisor's calls, as its next request has them.
fn told_to_the_supervisor(seen: &Seen) -> Vec<String> {
    let supervisor =
        seen.trace.root.instances().into_iter().find(|scope| scope.graph.ends_with("/supervisor"));
    let steps = supervisor.into_iter().flat_map(|scope| scope.steps());
    let requests = steps.filter_map(|step| match &step.kind {
        NodeKind::Model(request) => Some(request),
        _ => None,
    });
    let last = requests.last().map(|request| request.messages.clone()).unwrap_or_default();
    last.iter()
        .filter(|message| message.role == Role::Tool)
        .map(|message| message.content.to_string())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_findings_of_the_four_others_are_in_the_report() {
    let cases = [0, 2].into_iter().flat_map(|turn| What::ALL.map(|what| (what, turn)));
    let cases: Vec<_> = cases.filter(|(what, turn)| what.fits(Stage::Researcher, *turn)).collect();
    let count = cases.len();
    let played = at_once(cases, |(what, turn)| async move { (what, turn, wrong(what, turn).await) }).await;
    let wrong: Vec<String> = played
        .into_iter()
        .filter(|(.., found)| !found.is_empty())
        .map(|(what, turn, found)| format!("{what} at turn {turn}\n    {}", found.join("\n    ")))
        .collect();
    assert!(wrong.is_empty(), "{} of {count} are not as they should be\n{}", wrong.len(), wrong.join("\n"));
}
