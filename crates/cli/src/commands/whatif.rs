//! `deepgraph whatif`: what a run would have been under other limits.

use clap::Args;
use deepgraph_graph::Bundle;
use deepgraph_protocol::StepId;
use deepgraph_trace::Row;
use deepgraph_trace::refold::{
    Change, Conditions, FoundCounts, Matching, Missed, MissedKind, ScopeChange, WhatIf, refold, what_if,
};
use serde_json::json;

use crate::args::Global;
use crate::conditions::{self, Changed};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::form::Form;
use crate::journals;
use crate::screen::{self, one_line};
use crate::when::{self, counted, number};

/// How many findings that would have been missed are shown.
const SHOWN: usize = 20;

/// Options of `whatif`.
#[derive(Debug, Args)]
#[command(
    about = "Tell what a run would have been under other limits",
    long_about = "Tell where a run would have stopped under other limits, what that would have saved, and which of its \
                  findings would have been missed. The run's own record answers: nothing is asked or paid again, and the \
                  run stays as it is. Where it would have gone on, that is said and no more, since nobody knows what lay \
                  ahead.\n\n\
                  A recorded reply stands for the same step, whatever it would have been asked: how many replies that \
                  concerns is told. So this is for limits (thresholds, budgets, counts) and for what conditions read; a \
                  key that only models and prompts read is refused.\n\n\
                  A run that went on as further attempts is compared attempt by attempt, with the values that each had. \
                  One that would have gone on, as the next one did, is taken as it was.",
    after_help = "Examples:\n  deepgraph whatif last --set gain_threshold=0.05\n  \
                  deepgraph whatif 01981c2e --set max_researcher_iterations=3 --set token_budget=20000\n  \
                  deepgraph whatif run.jsonl --set gain_threshold=0.01 --format json\n\n\
                  Over many runs: deepgraph tune"
)]
pub struct Options {
    /// The run: its id, the beginning of it, or `last`; or a journal file
    run: String,
    /// Another value of the configuration; may be repeated
    #[arg(long, value_name = "KEY=VALUE", required = true)]
    set: Vec<String>,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Name everything that would have been missed, however much
    #[arg(long)]
    all: bool,
}

impl Options {
    fn form(&self) -> Form {
        if self.json { Form::Json } else { self.format }
    }
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let journals = journals::named(&options.run, global)?;
    let rows: Vec<Row<'_>> =
        journals.journal.rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry }).collect();
    let bundle = journals.bundle.clone();
    let set = conditions::to_try(&bundle, &conditions::latest(&rows), &options.set)?;
    let changed = conditions::changed(&conditions::of_attempts(&rows), &set);
    let config = conditions::recorded(&rows);
    let conditions = Conditions { bundle, config, set, matching: Matching::ById };
    let folded = refold(&journals.bundle, &rows, &conditions)?;
    let what_if = what_if(&folded);
    let run = journals.journal.run.clone().unwrap_or_else(|| options.run.clone());
    let most = if options.all { usize::MAX } else { SHOWN };
    let text = match options.form() {
        Form::Json => as_json(&run, &changed, &what_if, most),
        Form::Text => as_text(&run, &changed, &what_if, &journals.bundle, most),
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

fn as_json(run: &str, changed: &[Changed], what_if: &WhatIf, most: usize) -> String {
    let mut answer = json!({
        "version": 1,
        "run": run,
        "set": changed,
        "is_unchanged": what_if.is_unchanged(),
        "missed_count": what_if.missed.len(),
    });
    if let (Some(answer), Ok(serde_json::Value::Object(fields))) =
        (answer.as_object_mut(), serde_json::to_value(what_if))
    {
        answer.extend(fields);
    }
    answer["missed"] =
        serde_json::to_value(what_if.missed.iter().take(most).collect::<Vec<_>>()).unwrap_or_default();
    serde_json::to_string_pretty(&answer).unwrap_or_default()
}

fn as_text(run: &str, changed: &[Changed], what_if: &WhatIf, bundle: &Bundle, most: usize) -> String {
    let mut lines = vec![format!("run {run}")];
    lines.extend(changed.iter().map(|changed| format!("under {changed}")));
    if changed.is_empty() {
        lines.push("under the values that it had".to_owned());
    }
    lines.push(String::new());
    if what_if.is_unchanged() {
        lines.push(format!(
            "nothing would have been otherwise: the same {}, the same exits",
            counted(what_if.steps_recorded, "step", "steps")
        ));
        return lines.join("\n");
    }
    lines.extend(what_if.changes.iter().map(|change| told(change, bundle)));
    if !what_if.as_they_were.is_empty() {
        let attempts: Vec<String> = what_if.as_they_were.iter().map(ToString::to_string).collect();
        lines.push(format!(
            "attempts taken as they were, since they would have gone on, as the next one did: {}",
            attempts.join(", ")
        ));
    }
    if let Some(refused) = &what_if.not_begun {
        lines.push(format!("attempt {} would have been refused: {}", refused.attempt, refused.why));
    }
    lines.push(String::new());
    lines.extend(amounts(what_if));
    if what_if.is_open_ended {
        lines.push(
            "What would have been used and found, and what saved or missed, nobody knows: the record ends there."
                .to_owned(),
        );
    }
    if !what_if.otherwise.is_empty() {
        let steps: Vec<&str> = what_if.otherwise.iter().take(6).map(|step| step.as_str()).collect();
        let more = if what_if.otherwise.len() > 6 { ", ..." } else { "" };
        lines.push(format!(
            "{} would have been asked something else; the recorded replies stand for theirs: {}{more}",
            counted(what_if.otherwise.len() as u64, "step", "steps"),
            steps.join(", ")
        ));
    }
    if !what_if.missed.is_empty() {
        lines.push(String::new());
        lines.push("would have been missed:".to_owned());
        lines.extend(what_if.missed.iter().take(most).map(missed));
        let left = what_if.missed.len().saturating_sub(most);
        if left > 0 {
            lines.push(format!("  and {} more (--all)", number(left as u64)));
        }
    }
    lines.join("\n")
}

/// Where an instance ends otherwise.
fn told(change: &ScopeChange, bundle: &Bundle) -> String {
    let scope = if change.scope.is_root() { "the run" } else { change.scope.as_str() };
    let before = match &change.recorded {
        Some(exit) => format!("it ended by {}", exit.reason),
        None => "it was not over".to_owned(),
    };
    // Its own steps are told without its path.
    let own = |step: &StepId| {
        let above = change.scope.step();
        above.and_then(|above| step.below(&above).map(str::to_owned)).unwrap_or_else(|| step.to_string())
    };
    match &change.change {
        Change::NotStarted => format!("{scope} would not have been started"),
        Change::Stops { after, exit } => {
            let place = after
                .as_ref()
                .map_or("before its first step".to_owned(), |step| format!("after {}", own(step)));
            let limit = exit.limit.as_ref().map_or(String::new(), |hit| format!(" (limit {})", hit.name));
            let why = crate::advice::what(exit, bundle);
            let why = why.split(';').next().unwrap_or_default();
            format!("{scope} would have ended {place} by {}{limit}: {why}; {before}", exit.reason)
        }
        Change::Closes { after, reason, asks } => {
            let place = after
                .as_ref()
                .map_or("before its first step".to_owned(), |step| format!("after {}", own(step)));
            format!(
                "{scope} would have ended {place} by {reason}; what follows, {}, was not recorded; {before}",
                own(asks)
            )
        }
        Change::GoesOn { after, asks } => {
            let place = after
                .as_ref()
                .map_or("from its start".to_owned(), |step| format!("after step {}", own(step)));
            format!(
                "{scope} would have gone on {place}, with {}: nobody knows what lay ahead; {before}",
                own(asks)
            )
        }
    }
}

/// Steps, tokens, money and what was found, as they were and as they would have been; nothing where that is not known.
fn amounts(what_if: &WhatIf) -> Vec<String> {
    let (Some(steps), Some(used), Some(found)) = (what_if.steps, &what_if.used, &what_if.found) else {
        return Vec::new();
    };
    let before = &what_if.used_recorded;
    let of = |name: &str, now: u64, was: u64, gone: &str| {
        let less = was.saturating_sub(now);
        let less = if less > 0 { format!(" ({} {gone})", number(less)) } else { String::new() };
        format!("{name:9} {} of {}{less}", number(now), number(was))
    };
    let mut lines = vec![
        of("steps", steps, what_if.steps_recorded, "saved"),
        of("tokens", used.tokens, before.tokens, "saved"),
    ];
    lines.push(if before.cost_unknown > 0 {
        format!("{:9} {} of {}", "money", when::cost(used), when::cost(before))
    } else {
        let saved = before.cost_micro_usd.saturating_sub(used.cost_micro_usd);
        let saved = if saved > 0 { format!(" ({} saved)", when::money(saved)) } else { String::new() };
        format!(
            "{:9} {} of {}{saved}",
            "money",
            when::money(used.cost_micro_usd),
            when::money(before.cost_micro_usd)
        )
    });
    let FoundCounts { findings, facts, passages } = what_if.found_recorded;
    let rows = [
        ("findings", found.findings, findings),
        ("facts", found.facts, facts),
        ("passages", found.passages, passages),
    ];
    let rows = rows.into_iter().filter(|(_, _, was)| *was > 0);
    lines.extend(rows.map(|(name, now, was)| of(name, now, was, "missed")));
    lines
}

fn missed(missed: &Missed) -> String {
    let kind = match missed.kind {
        MissedKind::Finding => "finding",
        MissedKind::Fact => "fact",
        MissedKind::Passage => "passage",
    };
    let source = if missed.source.is_empty() { String::new() } else { format!("  [{}]", missed.source) };
    format!("  {kind:8} {}{source}", one_line(&missed.text, 140))
}
