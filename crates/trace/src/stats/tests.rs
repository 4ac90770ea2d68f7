use deepgraph_protocol::ExitClass;

use super::*;
use crate::figures::{Cost, GainFigures, InstanceFigures, Stop};

fn stop(name: &str) -> Option<Stop> {
    let reason = ExitReason::of(name);
    let class = reason.class().unwrap_or(ExitClass::Completion);
    Some(Stop { reason, class, limit: None })
}

fn run(steps: u64, by: &str, gains: &[f64]) -> Figures {
    let limit = GainFigures { limit: "gain".into(), per_step: gains.to_vec(), ..GainFigures::default() };
    Figures {
        steps,
        tokens: steps * 100,
        sources: 3,
        final_gain: gains.last().copied(),
        stop: stop(by),
        instances: vec![InstanceFigures {
            gains: vec![limit],
            stop: stop("no_tool_calls"),
            ..InstanceFigures::default()
        }],
        ..Figures::default()
    }
}

fn of(runs: &[Figures]) -> Option<Summary> {
    let mut gathered = Gathered::default();
    runs.iter().for_each(|run| gathered.add(run));
    gathered.summary()
}

#[test]
fn percentiles_are_values_that_came() {
    let tens: Vec<u64> = (1..=10).collect();
    for (values, percent, wanted) in [
        (&tens[..], 50, Some(5)),
        (&tens[..], 90, Some(9)),
        (&tens[..], 91, Some(10)),
        (&tens[..], 100, Some(10)),
        (&tens[..], 0, Some(1)),
        (&[7], 50, Some(7)),
        (&[7], 90, Some(7)),
        (&[1, 9], 50, Some(1)),
        (&[1, 9], 51, Some(9)),
        (&[15, 20, 35, 40, 50], 40, Some(20)),
        (&[], 50, None),
    ] {
        assert_eq!(percentile(values, percent), wanted, "{percent} of {values:?}");
    }
}

#[test]
fn no_runs_have_no_summary_and_one_run_is_its_own() {
    assert_eq!(of(&[]), None);
    let one = of(&[run(4, "research_complete", &[])]).unwrap();
    assert_eq!((one.runs, one.steps.p50, one.steps.p90, one.tokens.p90), (1, 4, 4, 400));
    assert_eq!((one.final_gain, one.sources, one.capped.flagged), (None, 3.0, false));
    assert_eq!(one.stops, [Share { reason: "research_complete".into(), runs: 1, share: 1.0 }]);
}

#[test]
fn stops_have_shares_and_gains_a_mean_of_those_that_have_one() {
    let runs = [
        run(1, "gain_saturated", &[0.5, 0.01]),
        run(2, "gain_saturated", &[0.03]),
        run(3, "deadline", &[]),
        run(4, "cancelled", &[]),
    ];
    let summary = of(&runs).unwrap();
    let stops: Vec<(&str, u64, f64)> =
        summary.stops.iter().map(|s| (s.reason.as_str(), s.runs, s.share)).collect();
    assert_eq!(stops, [("gain_saturated", 2, 0.5), ("cancelled", 1, 0.25), ("deadline", 1, 0.25)]);
    assert_eq!(summary.final_gain, Some(Mean { runs: 2, mean: 0.02 }));
}

#[test]
fn cost_is_told_of_runs_whose_price_is_known_whole() {
    let mut known = run(1, "completed", &[]);
    known.cost = Cost { known_micro_usd: 700, unknown_calls: 0 };
    let mut unknown = run(1, "completed", &[]);
    unknown.cost = Cost { known_micro_usd: 900, unknown_calls: 2 };
    let summary = of(&[known, unknown.clone()]).unwrap();
    assert_eq!((summary.cost_micro_usd.map(|c| c.p90), summary.cost_unknown), (Some(700), 1));
    assert_eq!(of(&[unknown]).unwrap().cost_micro_usd, None);
}

#[test]
fn churn_is_summed_up_over_the_runs_that_have_it() {
    let churn = |late| ChurnCounts { sub_questions: 4, asked_late: late, rewrites: 2, idle_rewrites: 1 };
    let with = |late| Figures { churn: Some(churn(late)), ..run(1, "completed", &[]) };
    let summary = of(&[with(1), run(1, "completed", &[]), with(2)]).unwrap();
    let wanted = ChurnCounts { sub_questions: 8, asked_late: 3, rewrites: 4, idle_rewrites: 2 };
    assert_eq!(summary.churn, Some(wanted));
    assert_eq!(of(&[run(1, "completed", &[])]).unwrap().churn, None);
}

#[test]
fn a_class_that_caps_end_with_nothing_new_is_flagged() {
    let capped = |last| run(9, "step_limit", &[0.4, last]);
    let flagged = |runs: &[Figures]| of(runs).unwrap().capped.flagged;
    assert!(flagged(&[capped(0.0), run(2, "gain_saturated", &[0.01])]));
    assert!(!flagged(&[capped(0.2)]), "it still brought something");
    assert!(!flagged(&[capped(0.0), run(2, "completed", &[0.0]), run(2, "completed", &[0.0])]), "a third");
    assert!(!flagged(&[run(9, "step_limit", &[])]), "nothing is known of its gain");
    // The whole research came to its end, and a cap ended the researcher.
    let mut inner = run(9, "research_complete", &[0.4, 0.001]);
    inner.instances[0].stop = stop("tool_call_cap");
    let summary = of(&[inner]).unwrap();
    assert_eq!((summary.capped.runs, summary.capped.final_gain), (1, Some(0.001)));
    assert!(summary.capped.flagged);
}
