//! The summary as text.

use std::fmt::Write as _;

use deepgraph_trace::stats::{Percentiles, Summary};

use super::{Class, Stats};
use crate::figures::{churn_in_words, share};
use crate::when;

/// A block for each class.
pub fn text(stats: &Stats) -> String {
    let mut out = String::new();
    // Writing to a text can not fail.
    for class in &stats.classes {
        let name = class.class.as_deref().unwrap_or("(no class)");
        let runs = when::counted(class.summary.runs, "run", "runs");
        let _ = writeln!(out, "{} · {name}: {runs}", class.graph);
        lines(&mut out, &class.summary);
        flag(&mut out, class);
        out.push('\n');
    }
    if stats.classes.is_empty() {
        out.push_str("There are no runs to sum up.\n");
    }
    if stats.going_on > 0 {
        let are = when::counted(stats.going_on, "run is", "runs are");
        let _ = writeln!(out, "{are} not over and not counted: deepgraph runs");
    }
    if stats.unreadable > 0 {
        let runs = when::counted(stats.unreadable, "run", "runs");
        let _ = writeln!(out, "{runs} can not be read and not counted: see above");
    }
    out
}

fn lines(out: &mut String, summary: &Summary) {
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:11} {text}");
    };
    line("steps", both(summary.steps, when::number));
    line("tokens", both(summary.tokens, when::number));
    let unknown = match summary.cost_unknown {
        0 => String::new(),
        runs => format!("unknown in {}", when::counted(runs, "run", "runs")),
    };
    let known = summary.cost_micro_usd.map(|cost| both(cost, when::money));
    line(
        "cost",
        known.into_iter().chain(Some(unknown).filter(|text| !text.is_empty())).collect::<Vec<_>>().join("; "),
    );
    let stops: Vec<String> =
        summary.stops.iter().map(|stop| format!("{} {}", share(stop.share), stop.reason)).collect();
    line("ended by", stops.join(", "));
    if let Some(gain) = summary.final_gain {
        let runs = when::counted(gain.runs, "run", "runs");
        line("final gain", format!("{} on average, of {runs}", share(gain.mean)));
    }
    if let Some(churn) = summary.churn.filter(|churn| churn.sub_questions + churn.rewrites > 0) {
        line("churn", churn_in_words(churn));
    }
    line("sources", format!("{} on average", tenths(summary.sources)));
}

/// `median 12, 90th percentile 30`.
fn both(of: Percentiles, shown: impl Fn(u64) -> String) -> String {
    format!("median {}, 90th percentile {}", shown(of.p50), shown(of.p90))
}

fn tenths(value: f64) -> String {
    let text = format!("{value:.1}");
    text.trim_end_matches(".0").to_owned()
}

fn flag(out: &mut String, class: &Class) {
    let capped = class.summary.capped;
    if !capped.flagged {
        return;
    }
    let runs = format!("{} of {}", capped.runs, when::counted(class.summary.runs, "run", "runs"));
    let gain = share(capped.final_gain.unwrap_or(0.0));
    let named = class.class.as_ref().map_or(String::new(), |name| format!(" under intents.{name}.set"));
    let _ = writeln!(
        out,
        "  ! {runs} went on to a cap on steps or calls although the last step brought only {gain} of new facts: let the \
         gain end them. Raise the threshold of the gain limit (gain_threshold){named}, or lower the cap"
    );
}
