//! The stock graphs.

use super::*;

fn iterations(n: i64) -> Bounds {
    under(&stock_graph("deep_research"), &[("max_researcher_iterations", Value::Int(n))])
}

#[test]
fn deep_research_is_bounded_by_its_iterations() {
    for n in [1, 3, 6] {
        let bounds = iterations(n);
        let n = u64::try_from(n).expect("it is positive");
        // At most `n` calls of the supervisor count, and at most five researchers start in one turn.
        assert_eq!(instances(&bounds, "researcher"), format!("{n} in all, {} at once", n.min(5)));
        assert_eq!(instances(&bounds, "supervisor"), "1 in all, 1 at once");
        // Clarify thrice at most (two questions), brief, plan, report; each with 3 attempts and 2 overflows. Ops: cite,
        // and assemble where the report fails, three attempts each.
        let root = "model 6 (30), tools 0, ops 2 (6), questions 3, starts 1";
        assert_eq!(own(&bounds, "deep_research"), root);
        // Twelve turns. Of think, `n` in three attempts. Nothing counts ResearchComplete.
        let supervisor = format!("model 12 (60), tools oo, ops {n} ({}), questions 0, starts {n}", 3 * n);
        assert_eq!(own(&bounds, "supervisor"), supervisor);
        // Twenty turns and the handoff.
        assert_eq!(
            own(&bounds, "researcher"),
            "model 21 (105), tools oo, ops oo (oo), questions 0, starts 0"
        );
        assert_eq!(tools(&bounds, "researcher"), "think_tool oo, search 10, read 10");
        let (calls, attempts) = (6 + 12 + 21 * n, 30 + 60 + 105 * n);
        let all = format!("model {calls} ({attempts}), tools oo, ops oo (oo), questions 3, starts {}", n + 1);
        assert_eq!(run(&bounds), all);
        let op = |name: &str| short(&bounds.run.ops[name]);
        assert_eq!((op("search"), op("read")), ((10 * n).to_string(), (10 * n).to_string()));
        assert_eq!((op("cite"), op("handoff"), op("think")), ("1".into(), n.to_string(), "oo".into()));
        assert_eq!(bounds.unbounded(), [Measure::OpRuns]);
    }
}

#[test]
fn the_reasons_name_the_limits() {
    let bounds = iterations(6);
    let of = |name: &str| &scope(&bounds, name).own;
    assert_eq!(
        why(of("researcher"), Measure::ModelAttempts),
        "20 (turns, max_researcher_turns) × 5 + 5 (finally)"
    );
    assert_eq!(why(of("supervisor"), Measure::Starts), "6 (max_researcher_iterations)");
    let below = &scope(&bounds, "supervisor").with_children;
    assert_eq!(why(below, Measure::ModelCalls), "12 of its own + 6 (researcher) × 21");
    let tokens = &bounds.run.in_all[&Measure::Tokens];
    assert_eq!(
        (tokens.bound, &*tokens.why),
        (Bound::AtMost(1_000_000), "1000000 (token_budget), which covers all below")
    );
    // What is kept for the report is not granted.
    assert_eq!(short(&below[&Measure::Tokens]), "850000");
    let open = why(&bounds.run.in_all, Measure::OpRuns);
    assert!(open.contains("in researcher") && open.contains("a limit on think_tool"), "{open}");
}

#[test]
fn ways_that_the_configuration_closes_are_not_counted() {
    let set = [("clarify", Value::from("never"))];
    let bounds = under(&stock_graph("deep_research"), &set);
    assert_eq!(
        visits(&bounds, "deep_research"),
        "brief 1, plan 1, review_plan 1, supervise 1, report 1, too_long 1, assemble 1, cite 1"
    );
    assert_eq!(own(&bounds, "deep_research"), "model 3 (15), tools 0, ops 2 (6), questions 1, starts 1");
}

#[test]
fn quick_answer_is_bounded_by_its_turns_and_calls() {
    let bounds = under(&stock_graph("quick_answer"), &[]);
    // Ten turns and the answer; eight calls; handoff and cite.
    let all = "model 11 (55), tools 8, ops 10 (30), questions 0, starts 0";
    assert_eq!((own(&bounds, "quick_answer").as_str(), run(&bounds).as_str()), (all, all));
    assert_eq!(tools(&bounds, "quick_answer"), "search 8, read 8");
    assert_eq!(visits(&bounds, "quick_answer"), "open 1, agent 10, act 10, answer 1, hand_over 1, cite 1");
    assert_eq!(bounds.unbounded(), []);
    let fewer = under(&stock_graph("quick_answer"), &[("max_turns", Value::Int(2))]);
    assert_eq!(run(&fewer), "model 3 (15), tools 8, ops 10 (30), questions 0, starts 0");
}
