//! The runner of cases itself: what it finds wrong, and how it says so.

use std::path::Path;

use deepgraph_protocol::{ErrorKind, FinishReason};
use deepgraph_testkit::case::{Case, Difference, Played, words};

/// A case of two nodes: a model, then an op.
const SOUND: &str = r#"case: A model and an op.
graph:
  deepgraph: 1
  config: {tone: {type: string, default: dry}}
  state:
    question: string
    said: {type: [string], reduce: append}
  input: [question]
  output: [said]
  start: say
  nodes:
    say:  {model: m, prompt: "{{ question }} ({{ config.tone }})", update: {said: result.text}, next: look}
    look: {call: search, input: {query: question}, update: {said: result.text}}
input: {question: Why?}
models:
  say.1: Because.
ops:
  search: {text: found, expect: {query: Why?}}
expect:
  status: succeeded
  output: {said: [Because., found]}
  steps: [say.1, look.1]
"#;

fn parse(text: &str) -> Result<Case, String> {
    Case::parse("case.yaml", text, Path::new("")).map_err(|mistakes| mistakes.to_string())
}

/// The sound case with one text of it replaced, played.
fn changed(from: &str, to: &str) -> Played {
    assert!(SOUND.contains(from), "the case no longer has: {from}");
    match parse(&SOUND.replace(from, to)) {
        Ok(case) => case.play(),
        Err(mistakes) => panic!("the case does not read:\n{mistakes}"),
    }
}

/// The mistakes of the sound case with one text replaced.
fn refused(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "the case no longer has: {from}");
    parse(&SOUND.replace(from, to)).expect_err("it has a mistake")
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
}

#[test]
fn a_sound_case_passes() {
    let played = changed("dry", "dry");
    assert!(played.passed(), "{played}");
    assert!(played.trace.contains("say.1 model m"), "{}", played.trace);
}

#[test]
fn a_wrong_value_is_told_with_its_key_and_line_and_the_trace() {
    let played = changed("[Because., found]", "[Because., lost]");
    let expected = Difference::Value {
        key: "expect.output.said".into(),
        line: 21,
        expected: r#"["Because.","lost"]"#.into(),
        came: r#"["Because.","found"]"#.into(),
    };
    assert_eq!(played.differences, [expected]);
    says(
        &played.to_string(),
        &["expect.output.said (line 21)", "expected [", "came     [", "the trace:", "exit completed"],
    );
}

#[test]
fn long_lists_are_told_line_by_line() {
    let long =
        "a rather long text that stands in a list of texts and makes it longer than a line of the screen";
    let played = changed("[Because., found]", &format!("[Because., {long}, found]"));
    says(
        &played.to_string(),
        &["- is what was expected, + what came", "    \"Because.\"\n", &format!("  - \"{long}\"")],
    );
}

#[test]
fn an_unknown_key_is_a_mistake_with_its_place_and_the_nearest_name() {
    let mistakes = refused("models:", "modles:");
    says(&mistakes, &["unknown key \"modles\" in a case", "case.yaml:15:1", "did you mean \"models\"?"]);
    let mistakes = refused("  status: succeeded", "  statsu: succeeded");
    says(&mistakes, &["unknown key \"statsu\" in `expect`", "case.yaml:20:3", "did you mean \"status\"?"]);
    let mistakes = refused("say.1: Because.", "say.1: {txt: Because.}");
    says(&mistakes, &["unknown key \"txt\" in what a model answers", "did you mean \"text\"?"]);
}

#[test]
fn a_value_that_is_not_known_is_a_mistake() {
    says(
        &refused("succeeded", "suceeded"),
        &["`status` can not be \"suceeded\"", "did you mean \"succeeded\"?"],
    );
    let mistakes = refused("say.1: Because.", "say.1: {error: rate_limit}");
    says(&mistakes, &["can not be \"rate_limit\"", "did you mean \"rate_limited\"?"]);
    says(&refused("say.1: Because.", "say: Because."), &["\"say\" is no position of a step", "`say.1`"]);
    says(&refused("say.1: Because.", "say.1: {takes: soon}"), &["a duration"]);
}

#[test]
fn all_mistakes_are_told_at_once_in_order() {
    let text = SOUND.replace("models:", "modles:").replace("ops:", "op:").replace("  status:", "  stats:");
    let mistakes = parse(&text).expect_err("it has mistakes");
    let places: Vec<usize> = ["case.yaml:15", "case.yaml:17", "case.yaml:20"]
        .iter()
        .map(|place| mistakes.find(place).unwrap_or_else(|| panic!("{place}:\n{mistakes}")))
        .collect();
    assert!(places.is_sorted(), "{mistakes}");
}

#[test]
fn a_case_that_expects_nothing_is_a_mistake() {
    let (start, _) = SOUND.split_once("expect:\n  status").expect("it expects something");
    says(&parse(start).expect_err("it lacks a key"), &["a case needs the key `expect`"]);
    says(&parse(&format!("{start}expect: {{}}\n")).expect_err("it is empty"), &["states nothing"]);
}

#[test]
fn an_answer_that_no_step_asked_for_is_told() {
    let played = changed("  say.1: Because.", "  say.1: Because.\n  say.2: Once more.");
    says(&played.to_string(), &["models.say.2 (line 17) was never used"]);
    let played = changed("  say.1: Because.", "  say.*: [Because., Once more.]");
    says(&played.to_string(), &["models.say.*[2] (line 16) was never used"]);
    let played = changed("expect:\n", "latency: {never.1: 5s}\nexpect:\n");
    says(&played.to_string(), &["latency.never.1 (line 19) was never used"]);
    let played = changed("expect:\n  s", "order: [look.1, never.1]\nexpect:\n  s");
    says(&played.to_string(), &["order[2] (line 19) was never used"]);
}

#[test]
fn a_step_without_an_answer_is_told_with_its_request() {
    let played = changed("  say.1: Because.", "  other.1: Because.");
    says(
        &played.to_string(),
        &["no answer in `models` for `say.1`, attempt 1: nothing is scripted for it", "    user: Why? (dry)"],
    );
    let played = changed("  say.1: Because.", "  say.1: [{error: network}]");
    says(&played.to_string(), &["for `say.1`, attempt 2: 1 attempts are scripted, this is attempt 2"]);
    let played = changed("  search: {", "  think: {");
    says(
        &played.to_string(),
        &["no answer in `ops` for `look.1` (op `search`)", r#"its input was {"query":"Why?"}"#],
    );
}

#[test]
fn a_request_that_is_not_as_expected_is_told() {
    let played =
        changed("say.1: Because.", "say.1: {text: Because., expect: {contains: (warm), lacks: Why}}");
    says(
        &played.to_string(),
        &[
            "not what models.say.1 (line 16) expects: it lacks \"(warm)\"",
            "it contains \"Why\"",
            "    user: Why? (dry)",
        ],
    );
    let played = changed("expect: {query: Why?}", "expect: {query: When?}");
    says(&played.to_string(), &["the input of `look.1` is not what ops.search (line 18) expects"]);
}

#[test]
fn an_answer_that_is_no_result_of_its_op_is_told() {
    let played = changed("{text: found, expect: {query: Why?}}", "{text: found, hits: [{source: s}]}");
    says(&played.to_string(), &["ops.search (line 18) is no result of the op `search`: hits[0]"]);
}

#[test]
fn a_graph_that_does_not_load_is_told_with_the_lines_of_the_case() {
    let played = changed("next: look", "next: lok");
    says(&played.to_string(), &["the graph does not load", "case.yaml:12:", "did you mean \"look\"?"]);
    let (start, _) = SOUND.split_once("input: {question: Why?}").expect("it has input");
    let text = format!("{}expect: {{load_error: [DG0504]}}\n", start.replace("next: look", "next: lok"));
    let played = parse(&text).expect("it reads").play();
    says(&played.to_string(), &["no mistake has the code DG0504", "the graph also has this", "DG0202"]);
    let text = format!("{start}expect: {{load_error: [DG0504]}}\n");
    let played = parse(&text).expect("it reads").play();
    says(&played.to_string(), &["the graph loads; a mistake was expected: DG0504"]);
}

#[test]
fn input_and_config_are_checked_against_the_graph() {
    let played = changed("input: {question: Why?}", "input: {qestion: Why?}\nconfig: {ton: warm}");
    says(
        &played.to_string(),
        &[
            "the graph has no input `qestion`; did you mean \"question\"?",
            "question: needs a value: a string",
            "`config` does not fit",
        ],
    );
}

#[test]
fn an_instance_that_there_is_not_is_told() {
    let played = changed("  status: succeeded", "  scopes: {call.1: {exit: completed}}");
    says(&played.to_string(), &["there is no instance `call.1`; there is: none"]);
}

#[test]
fn steps_that_were_not_taken_are_told() {
    let played = changed("  status: succeeded", "  took: [\"*.2\"]\n  not_taken: look.*");
    says(&played.to_string(), &["no step `*.2`; the steps were: say.1, look.1", "there was a step `look.1`"]);
}

#[test]
fn a_cancellation_that_comes_too_late_is_told() {
    let played = changed("expect:\n  s", "cancel: {during: never.1}\nexpect:\n  s");
    says(&played.to_string(), &["`cancel` never came to pass"]);
}

#[test]
fn a_fork_is_told_with_its_line_and_its_trace() {
    let fork = |text: &str| {
        changed("  steps: [say.1, look.1]\n", &format!("  steps: [say.1, look.1]\nforks:\n  - {text}\n"))
    };
    let played = fork("{after: say.1, state: {said: [New.]}, expect: {output: {said: [New., found]}}}");
    assert!(played.passed(), "{played}");
    let played = fork("{after: say.1, state: {said: [New.]}, expect: {output: {said: [Old., found]}}}");
    says(
        &played.to_string(),
        &["in the fork of line 24, behind `say.1`:", r#"came     ["New.","found"]"#, "the fork's trace:"],
    );
    let played = fork("{after: say.2, expect: {exit: completed}}");
    says(&played.to_string(), &["forks (line 24): no step `say.2` came to its end"]);
    let played = fork("{after: say.1, models: {say.1: Never asked.}, expect: {exit: completed}}");
    says(&played.to_string(), &["models.say.1 (line 24) was never used"]);
}

#[test]
fn a_history_that_is_another_is_told() {
    let played = changed("  status: succeeded", "  history: {say.1: {said: [Perhaps.]}, say.2: {}}");
    says(
        &played.to_string(),
        &[
            "expect.history.say.1.said",
            r#"came     ["Because."]"#,
            "expect.history.say.2 (line 20): no such step",
        ],
    );
}

#[test]
fn the_lists_of_words_are_those_of_the_code() {
    let listed = |error: serde_json::Error| -> Vec<String> {
        let text = error.to_string();
        let (_, list) = text.split_once("expected one of").expect("the error lists the names");
        list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let kinds = listed(serde_json::from_str::<ErrorKind>("\"no such kind\"").expect_err("it is none"));
    assert_eq!(kinds, words::ERROR_KINDS.map(|kind| kind.name().to_owned()));
    let finish = listed(serde_json::from_str::<FinishReason>("\"no such name\"").expect_err("it is none"));
    assert_eq!(finish, words::FINISH.map(|(name, _)| name.to_owned()));
}
