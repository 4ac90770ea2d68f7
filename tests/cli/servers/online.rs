//! `deepgraph check --online`.

use serde_json::Value;

use super::super::world::{SUCCEEDED, USAGE};
use super::{REACT, Served};

#[test]
fn a_check_asks_the_servers_only_when_it_is_told_to() {
    let wrong = Served::new(&REACT.replace("crm.add", "crm.adds"), "plain", "rules: []\n");
    let offline = wrong.deepgraph(&["check", &wrong.graph]);
    assert_eq!(offline.code, SUCCEEDED, "{}", offline.err);
    wrong.all_gone(0);
    let online = wrong.deepgraph(&["check", "--online", &wrong.graph, "quick_answer"]);
    assert_eq!(online.code, USAGE, "{}", online.err);
    assert!(online.err.contains("DG0203") && online.err.contains("did you mean \"add\"?"), "{}", online.err);
    assert!(online.out.contains("1 error") && online.out.contains("quick_answer: fine"), "{}", online.out);
    wrong.all_gone(1);
}

#[test]
fn a_graph_that_fits_its_servers_is_fine() {
    let served = Served::new(REACT, "plain", "rules: []\n");
    let said = served.deepgraph(&["check", "--online", &served.graph]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("fine") && said.err.contains("crm with 18 tools"), "{}{}", said.out, said.err);
    assert_eq!(served.requests(), ["initialize", "tools/list"]);
    served.all_gone(1);
    let json = served.deepgraph(&["check", "--online", &served.graph, "--json"]);
    assert_eq!(json.err, "");
    let json: Value = serde_json::from_str(&json.out).expect("it is JSON");
    assert_eq!((&json["ok"], json.get("server_errors")), (&Value::Bool(true), None));
}

#[test]
fn servers_that_can_not_be_asked_are_told_and_the_rest_is_checked() {
    let crash = Served::new(REACT, "crash", "rules: []\n");
    let said = crash.deepgraph(&["check", "--online", &crash.graph, "quick_answer"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("\"crm\" (command \"sh\") ended before it was ready"), "{}", said.err);
    assert!(said.out.contains("quick_answer: fine"), "{}", said.out);
    let json = crash.world.deepgraph(&["check", "--online", &crash.graph, "--json"]);
    assert_eq!((json.code, json.err.as_str()), (USAGE, ""));
    let json: Value = serde_json::from_str(&json.out).expect("it is JSON");
    let told = json["server_errors"][0].as_str().expect("it is told");
    assert!(told.contains("graph.yaml: the MCP server \"crm\" needs the secret CRM_TOKEN"), "{told}");
    assert_eq!(json["ok"], false);
}
