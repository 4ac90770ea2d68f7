//! Servers behind an address.

use super::super::world::{SUCCEEDED, USAGE, World};
use super::site::Site;
use super::{REACT, TOKEN, said};

const SCRIPT: &str = "
rules:
  - {when: {turn: 0}, reply: {calls: [{name: echo, arguments: {text: over the wire}}]}}
  - {when: {turn: 1, text: over the wire}, reply: {text: It answers.}}
";

/// The graph, with the site as its server.
fn written(world: &World, site: &Site) -> [String; 2] {
    let server =
        format!("{{url: '{}', headers: {{Authorization: 'Bearer {{{{ secret.CRM_TOKEN }}}}'}}}}", site.url);
    [world.write("graph.yaml", &REACT.replace("SERVER", &server)), world.write("script.yaml", SCRIPT)]
}

#[test]
fn the_secret_is_sent_with_each_request_and_kept_nowhere() {
    let (world, site) = (World::new(), Site::start(&format!("Bearer {TOKEN}")));
    let [graph, script] = written(&world, &site);
    let mut command = world.command(&["run", "Does it answer?", "--graph", &graph, "--script", &script]);
    command.env("CRM_TOKEN", TOKEN);
    let said = said(command);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "It answers."), "{}", said.err);
    assert!(site.requests() >= 4, "greeting, its end, list, call");
    let trace = world.deepgraph(&["trace", "last", "--format", "json"]);
    assert!(trace.out.contains("over the wire") && !trace.out.contains(TOKEN));
}

#[test]
fn a_secret_that_is_not_accepted_is_told_without_it() {
    let (world, site) = (World::new(), Site::start("Bearer another"));
    let [graph, script] = written(&world, &site);
    let mut command = world.command(&["run", "Does it answer?", "--graph", &graph, "--script", &script]);
    command.env("CRM_TOKEN", TOKEN);
    let said = said(command);
    assert_eq!(said.code, USAGE, "{}", said.err);
    for part in ["\"crm\"", "(HTTP 401)", "check the key under mcp.crm.headers"] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    assert!(!said.err.contains(TOKEN), "{}", said.err);
}
