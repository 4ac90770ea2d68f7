mod kinds;

use crate::testing::try_load;
use crate::*;

#[test]
fn mistakes_are_shown_like_a_compiler_does() {
    let text = "deepgraph: 1\nstate: {q: string}\ninput: [q]\nstart: brief\nnodes:\n  brief:\n    model: x\n    promt: hi\n    prompt: '{{ qq }} ü'\n";
    let error = try_load(text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error[DG0103]: unknown key \"promt\" in node \"brief\"\n --> t.yaml:8:5\n  |\n8 |     promt: hi\n  |     ^^^^^\n  = help: did you mean \"prompt\"?\n\
         \nerror[DG0301]: unknown name \"qq\"\n --> t.yaml:9:17\n  |\n9 |     prompt: '{{ qq }} ü'\n  |                 ^^\n  = help: a fixed text is written \"'qq'\"\n"
    );
    assert_eq!(error.errors(), 2);
}

#[test]
fn mistakes_are_data_as_well() {
    let error =
        try_load("deepgraph: 1\nstate: {}\nstart: a\nnodes: {a: {update: {}, nxt: b}}\n").unwrap_err();
    let json = serde_json::to_value(&error).unwrap();
    let wanted = serde_json::json!([{
        "severity": "error", "code": "DG0103", "file": "t.yaml", "line": 4, "column": 25,
        "message": "unknown key \"nxt\" in node \"a\"", "help": "did you mean \"next\"?",
        "source": "nodes: {a: {update: {}, nxt: b}}"
    }]);
    assert_eq!(json, wanted);
}

#[test]
fn long_lines_and_wide_letters_keep_the_caret_in_place() {
    let long = format!(
        "deepgraph: 1\nstate: {{}}\nstart: a\nnodes: {{a: {{update: {{}}, {}nxt: b}}}}\n",
        " ".repeat(500)
    );
    let shown = try_load(&long).unwrap_err().to_string();
    let lines: Vec<&str> = shown.lines().collect();
    let (code, caret) = (lines[3], lines[4]);
    let at = caret.chars().position(|c| c == '^').unwrap();
    assert_eq!(code.chars().skip(at).take(3).collect::<String>(), "nxt");
    assert!(code.chars().count() < 130);
}

#[test]
fn many_mistakes_are_cut_and_counted() {
    let keys: String = (0..300).map(|i| format!("zz{i}: 1\n")).collect();
    let error =
        try_load(&format!("deepgraph: 1\nstate: {{}}\nstart: a\nnodes: {{a: {{update: {{}}}}}}\n{keys}"))
            .unwrap_err();
    assert_eq!(error.0.len(), 201);
    assert_eq!(error.0.last().unwrap().message, "and 100 more");
}

#[test]
fn codes_are_unique_and_explained() {
    let mut codes: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
    codes.dedup();
    assert_eq!(codes.len(), CODES.len());
    assert!(codes.is_sorted());
    assert!(CODES.iter().all(|(code, meaning)| code.len() == 6 && meaning.ends_with('.')));
}
