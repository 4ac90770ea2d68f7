//! What is told of documents that are used in part, that can not be cited, or that lie elsewhere.

use serde_json::Value;

use super::world::{SUCCEEDED, World};

#[test]
fn a_file_with_a_broken_record_is_used_and_told_as_such() {
    let world = World::new();
    world.write(
        "docs/towers.jsonl",
        "{\"tower\": \"Rook tower\", \"height\": \"The Rook tower is 14 metres high.\"}\n{\"tower\": \n{\"tower\": \"Tern tower\", \"height\": \"The Tern tower is 20 metres high.\"}\n",
    );
    world.write("docs/broken.json", "{");
    let docs = world.path("docs").to_string_lossy().into_owned();
    let args = ["run", "How high is the Tern tower?", "--docs", &docs];
    let said = world.deepgraph(&args);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("20 metres") && said.out.contains("towers.jsonl"), "{}", said.out);
    assert!(!said.err.contains("towers.jsonl was left out"), "{}", said.err);
    let line = "towers.jsonl is used, but not all of it: the record at line 2 is broken";
    assert!(said.err.contains(line), "{}", said.err);
    let sum = "1 was searched, 1 of them in part, 1 was left out";
    assert!(said.err.contains(sum), "{}", said.err);
    let json = world.deepgraph(&["run", "How high is the Tern tower?", "--docs", &docs, "--json"]);
    let mut events = json.out.lines().map(|l| serde_json::from_str::<Value>(l).expect("each line is JSON"));
    let documents = events.find(|event| event["type"] == "documents").expect("documents are told");
    let partial = |name: &str| {
        let skipped = documents["skipped"].as_array().expect("a list");
        skipped.iter().find(|s| s["document"] == name).map(|s| s["partial"].clone())
    };
    assert_eq!(partial("towers.jsonl"), Some(Value::Bool(true)));
    assert_eq!(partial("broken.json"), Some(Value::Bool(false)));
}

#[cfg(unix)]
#[test]
fn names_that_can_not_be_cited_and_links_that_lead_out_are_told() {
    let world = World::new();
    world.write("docs/good.md", "The Tern tower is 20 metres high.\n");
    world.write("docs/two\nlines.md", "The Rook tower is 14 metres high.\n");
    let far = world.write("elsewhere/far.md", "The Gull tower is 9 metres high.\n");
    std::os::unix::fs::symlink(&far, world.path("docs/link.md")).expect("a link can be made");
    let docs = world.path("docs").to_string_lossy().into_owned();
    let said = world.deepgraph(&["run", "How high is the Gull tower?", "--docs", &docs]);
    assert!(said.out.contains("9 metres"), "{}", said.out);
    assert!(said.err.contains("two lines.md was left out: its name holds a line break"), "{}", said.err);
    assert!(said.err.contains("1 link leads out of the folder, such as link.md"), "{}", said.err);
}

#[test]
fn what_a_page_hides_is_not_cited_and_a_broken_line_is_one_sentence() {
    let world = World::new();
    world.write(
        "docs/towers.html",
        "<h1>Towers</h1><p hidden>The Tern tower is 99 metres high.</p>\
         <div style='display: none'>The Tern tower is 98 metres high.</div>\
         <p>The Tern tower<br>is 20 metres high.</p>",
    );
    world.write("docs/piers.csv", "pier;length\nNorth pier;140 metres\nSouth pier;90 metres\n");
    let docs = world.path("docs").to_string_lossy().into_owned();
    let said = world.deepgraph(&["run", "How high is the Tern tower?", "--docs", &docs]);
    assert!(said.out.contains("The Tern tower is 20 metres high"), "{}", said.out);
    assert!(!said.out.contains("99 metres") && !said.out.contains("98 metres"), "{}", said.out);
    let said = world.deepgraph(&["run", "What is the length of the North pier?", "--docs", &docs]);
    assert!(said.out.contains("140 metres") && !said.out.contains("pier;"), "{}", said.out);
}
