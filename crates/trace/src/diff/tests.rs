//! What people read of two traces.

use super::*;

const TRACE: &str = include_str!("../../../../snapshots/deep_research/two_researchers.snap");
const UNRELATED: &str = include_str!("../../../../snapshots/quick_answer/one_search.snap");
const LIMIT: &str = include_str!("../../../../snapshots/deep_research/iteration_limit.snap");

/// The trace with some texts replaced, each where it stands first after the one before.
fn edited(edits: &[(&str, &str)]) -> String {
    let (mut done, mut rest) = (String::new(), TRACE);
    for (from, to) in edits {
        let (before, after) = rest.split_once(from).unwrap_or_else(|| panic!("no {from}"));
        done.push_str(before);
        done.push_str(to);
        rest = after;
    }
    done + rest
}

/// What is shown of the trace and an edited one.
#[track_caller]
fn shown(edits: &[(&str, &str)], expected: &str) {
    let found = of_texts(TRACE, &edited(edits)).to_string();
    assert_eq!(found, expected.trim_matches('\n'), "it is:\n{found}");
}

#[test]
fn a_changed_prompt_is_shown_at_the_turn_that_it_changed() {
    let edits = [
        ("sha256 30f52066cc9f", "sha256 aaaaaaaaaaaa"),
        ("\"Found.\"", "\"Nothing new.\""),
        ("sha256 c57163b8bcc1", "sha256 bbbbbbbbbbbb"),
        ("sha256 ad3c5a7a813b", "sha256 cccccccccccc"),
        ("sha256 790007f4bd81", "sha256 dddddddddddd"),
        ("1100 tokens", "1101 tokens"),
    ];
    shown(
        &edits,
        r#"
first divergence: super-step 4, supervise.1/supervisor_tools.1/ConductResearch.2/researcher.2

supervise.1/supervisor_tools.1/ConductResearch.2 (graph deep_research/researcher)
  super-step 4: researcher.2
    - request 4 messages, 3 tools, sha256 30f52066cc9f
    + request 4 messages, 3 tools, sha256 aaaaaaaaaaaa
    - text "Found."
    + text "Nothing new."
and 3 later requests and 1 sum that follow from it"#,
    );
    let diff = of_texts(TRACE, &edited(&edits));
    assert_eq!(diff.places().len(), 1);
    let first = diff.first().unwrap();
    assert_eq!(first.path, "supervise.1/supervisor_tools.1/ConductResearch.2/researcher.2");
    assert_eq!((first.super_step, first.graph.as_str()), (Some(4), "deep_research/researcher"));
    assert!(format!("{diff:#}").contains("\n  super-step 3: report.1\n    - request 2 messages"), "{diff:#}");
}

#[test]
fn a_sibling_that_differs_by_itself_is_shown_too() {
    let diff =
        of_texts(TRACE, &edited(&[("sha256 952be444aee8", "sha256 a"), ("sha256 73b2349466e3", "sha256 b")]));
    let paths: Vec<&str> = diff.places().iter().map(|place| place.path.as_str()).collect();
    let of = |path: &str| format!("supervise.1/supervisor_tools.1/{path}");
    assert_eq!(paths, [of("ConductResearch.1/researcher.2"), of("ConductResearch.2/researcher.1")]);
}

#[test]
fn another_value_of_the_configuration_comes_first() {
    shown(
        &[("token_budget = 1000000", "token_budget = 500"), ("sha256 c021487b3eba", "sha256 aaaaaaaaaaaa")],
        "
first divergence: config token_budget

root (graph deep_research)
  - config token_budget = 1000000
  + config token_budget = 500
and 1 later request that follows from it",
    );
}

#[test]
fn one_more_turn_is_shown_as_steps_that_are_only_in_one() {
    let finish = "finish tool_calls, 100 + 10 tokens, 0 µ$";
    let think = format!(
        "calls think_tool {{}}\n            {finish}\n        super-step 5\n          supervisor_tools.2\n            \
         think_tool.1 op think {{}}\n              text = \"ok\"\n        super-step 6\n          supervisor.3 model \
         extractive\n            request 7 messages, 3 tools, sha256 aaaaaaaaaaaa\n            calls ResearchComplete {{}}"
    );
    shown(
        &[
            ("calls ResearchComplete {}", &think),
            ("super-step 5\n          supervisor_tools.2", "super-step 7\n          supervisor_tools.3"),
            ("steps 5, super_steps 5, turns 2", "steps 7, super_steps 7, turns 3"),
        ],
        r#"
first divergence: super-step 4, supervise.1/supervisor.2

supervise.1 (graph deep_research/supervisor)
  super-step 4: supervisor.2
    - calls ResearchComplete {}
    + calls think_tool {}
  super-step 5: supervisor_tools.2/think_tool.1
    + think_tool.1 op think {}
  super-step 5: supervisor_tools.2/ResearchComplete.1
    - ResearchComplete.1
  super-step 6: supervisor.3
    + supervisor.3 model extractive
    +   calls ResearchComplete {}
  super-step 7: supervisor_tools.3
    + supervisor_tools.3
    +   ResearchComplete.1
and 1 sum that follows from it"#,
    );
}

#[test]
fn a_researcher_that_failed_is_shown_with_its_exit() {
    shown(
        &[
            (
                "sha256 30f52066cc9f\n                    text \"Found.\"\n                    finish stop, 100 + 10 tokens, 0 µ$",
                "sha256 30f52066cc9f\n                    failed: refusal: not this",
            ),
            ("exit no_tool_calls (attempt 1), findings 1", "exit model_error (attempt 1), findings 0"),
            ("findings 2\n        counters", "findings 1\n        counters"),
        ],
        r#"
first divergence: super-step 4, supervise.1/supervisor_tools.1/ConductResearch.2/researcher.2

supervise.1/supervisor_tools.1/ConductResearch.2 (graph deep_research/researcher)
  super-step 4: researcher.2
    + failed: refusal: not this
    - text "Found."
  - exit no_tool_calls (attempt 1), findings 1
  + exit model_error (attempt 1), findings 0
and 2 sums that follow from it"#,
    );
}

#[test]
fn of_a_long_text_only_the_words_that_differ_are_shown() {
    let long = "The tower stands on a hill and is seen from afar. ".repeat(50);
    let with =
        |metres: &str| edited(&[("60 m [1] and 80 m [2].", &format!("{long}It has {metres} m. {long}"))]);
    let diff = of_texts(&with("60"), &with("70"));
    assert_eq!(
        diff.to_string(),
        "first divergence: super-step 4, cite.1

root (graph deep_research)
  super-step 4: cite.1
    - result text … on a hill and is seen from afar. It has 60 m. The tower stands on a hill and is se…
    + result text … on a hill and is seen from afar. It has 70 m. The tower stands on a hill and is se…"
    );
}

#[test]
fn traces_of_different_graphs_are_told_as_that() {
    let diff = of_texts(TRACE, UNRELATED);
    let text = diff.to_string();
    assert!(text.starts_with(
        "first divergence: graph\n\nroot (graph quick_answer)\n  - graph deep_research\n  + graph"
    ));
    assert!(text.lines().count() < 10 && text.contains("that follow from it"), "{text}");
}

#[test]
fn a_long_difference_is_cut_and_keeps_the_exits() {
    let diff = of_texts(TRACE, LIMIT);
    let text = diff.to_string();
    assert!(text.lines().count() <= 70, "{text}");
    assert!(text.contains("+ exit iteration_limit (attempt 1) by limit max_researcher_iterations"), "{text}");
    let all = format!("{diff:#}");
    assert!(all.lines().count() > text.lines().count() && !all.contains("more place"), "{all}");
}

#[test]
fn what_follows_is_shown_where_there_is_nothing_else() {
    let diff = of_texts(TRACE, &edited(&[("used 10 model calls", "used 11 model calls")]));
    assert_eq!(diff.first().unwrap().changes[0].what, "used");
    assert!(diff.follows().is_empty());
}

#[test]
fn ids_times_and_the_header_of_a_snapshot_are_no_difference() {
    let body = TRACE.splitn(3, "---\n").nth(2).unwrap();
    let timed = body.replace("brief.1 model extractive", "brief.1 model extractive 12 ms");
    let diff = of_texts(TRACE, &format!("run 01981c2e\n{timed}"));
    assert!(diff.is_empty() && diff.first().is_none(), "{diff:#}");
    assert_eq!(diff.to_string(), "no difference");
}

#[test]
fn in_whole_requests_the_same_change_of_a_prompt_is_told_once() {
    let trace = |prompt: &str, answer: &str| {
        format!(
            "status succeeded\ngraph g\n  super-step 1\n    a.1 model m\n      system: \"You are {prompt} today.\"\n      \
             user: \"Why?\"\n      text \"{answer}\"\n      finish stop, 1 + 1 tokens, 0 µ$\n  super-step 2\n    a.2 model m\n      \
             system: \"You are {prompt} today.\"\n      user: \"Why?\"\n      assistant: \"{answer}\"\n      \
             user: \"Go on.\"\n      text \"Done.\"\n      finish stop, 1 + 1 tokens, 0 µ$\n"
        )
    };
    let diff = of_texts(&trace("terse", "Because."), &trace("verbose", "Because it is so."));
    assert_eq!(
        diff.to_string(),
        "first divergence: super-step 1, a.1

root (graph g)
  super-step 1: a.1
    - system: \"You are terse today.\"
    + system: \"You are verbose today.\"
    - text \"Because.\"
    + text \"Because it is so.\"
and 1 later request that follows from it"
    );
}

#[test]
fn fields_of_a_result_may_be_called_like_the_words_of_a_trace() {
    for field in ["graph", "exit", "status", "report", "used", "returns", "tool", "text", "input", "a.1"] {
        let trace = |value: &str| {
            format!(
                "status succeeded\ngraph g\n  super-step 1\n    a.1 op look {{}}\n      {field} = \"{value}\"\n      \
                 zeal = 1\n  used 0 tokens\n"
            )
        };
        let diff = of_texts(&trace("old"), &trace("new"));
        let place = diff.first().unwrap();
        assert_eq!((&*place.path, &*place.graph, place.changes.len()), ("a.1", "g", 1), "{field}: {diff}");
        let change = &place.changes[0];
        assert_eq!(change.what, format!("result {field}"), "{diff}");
        assert_eq!(change.after, Some(format!("{field} = \"new\"")), "{diff}");
    }
}

#[test]
fn any_texts_can_be_compared() {
    assert!(of_texts("", "").is_empty());
    let odd =
        "  deep\nsuper-step x\n\u{1F600}\n = \nsuper-step 1\n.1\na.1\n\t\nfinish\nexit\nrequest\nmessage ms";
    assert!(of_texts(odd, odd).is_empty());
    assert!(!of_texts(odd, TRACE).is_empty());
    let nested: String = (0..2_000).map(|depth| format!("{}a.1\n", " ".repeat(depth))).collect();
    assert!(!format!("{:#}", of_texts(&nested, TRACE)).is_empty());
    // Cut anywhere, both ways round.
    for (end, _) in TRACE.char_indices().step_by(97) {
        let diff = of_texts(TRACE, &TRACE[..end]);
        assert!(!diff.is_empty());
        assert!(!of_texts(&TRACE[..end], TRACE).is_empty());
    }
}

#[test]
fn a_trace_is_told_from_what_only_looks_like_lines() {
    let trace = "run 1\nstatus succeeded\nconfig a = 1\ngraph g\n  super-step 1\n    a.1\n  used 0 tokens\n";
    assert!(is_trace(trace) && !is_cut_off(trace));
    let snapshot = format!("---\nsource: x\n---\n{}", trace.trim_start_matches("run 1\n"));
    assert!(is_trace(&snapshot) && !is_cut_off(&snapshot));
    for text in
        ["", "# Graphs\n\ngraph g\n", "status quo\nof things\ngraph g\n", "run it\n", "graph g\n  used 0\n"]
    {
        assert!(!is_trace(text), "{text}");
    }
    let cut = trace.trim_end_matches("  used 0 tokens\n");
    assert!(is_trace(cut) && is_cut_off(cut));
    let inner = format!("{cut}      graph inner\n        used 0 tokens\n");
    assert!(is_cut_off(&inner), "only the root's sums are the end");
}
