//! `deepgraph show`: one run, from its record.

use std::fmt::Write as _;
use std::sync::Arc;

use clap::Args;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Exit, ReportOutcome};
use deepgraph_runtime::Question;
use deepgraph_store::RunRecord;
use serde_json::json;

use crate::advice::Adviser;
use crate::advice::outlook::Outlook;
use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::figures::{RunFigures, clocks_in_words};
use crate::home::Home;
use crate::screen::{self, one_line};
use crate::settings::Settings;
use crate::{advice, ask, config, finish, graphs, report, spending, stored, when, writes};

/// Options of `show`.
#[derive(Debug, Args)]
#[command(
    about = "Show a run: its record, exits, report, citations and open questions",
    after_help = "Examples:\n  deepgraph show last\n  deepgraph show 01981c2e --json"
)]
pub struct Options {
    /// The run: its id, the beginning of it, or `last`
    run: String,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let home = Home::find(global)?;
    let store = home.kept()?;
    let record = store.find_run(&options.run)?;
    let bundle = graphs::stored_bundle(&record)?;
    let rows = if record.status.is_terminal() { Vec::new() } else { store.entries(&record.run_id, 0)? };
    let questions = stored::questions(&bundle, &rows, &record)?;
    let settings = Settings::of(&record)?;
    let figures = RunFigures::of(&record, &bundle, &*store).map_err(|error| error.to_string());
    let outlook = advice::outlook(&*store, &record, &bundle);
    let outlook = outlook.as_ref().map(|of_run| of_run as &dyn Outlook);
    let text = if options.json {
        as_json(&record, home.is_interrupted(&record), &bundle, &questions, &figures)
    } else {
        let status = match home.is_interrupted(&record) {
            true => {
                format!("interrupted: its process is gone; go on with deepgraph resume {}", record.run_id)
            }
            false if stored::broke_off(&bundle, &*store, &record)? => {
                format!("{}: {}", record.status, stored::BROKE_OFF)
            }
            false => record.status.to_string(),
        };
        as_text(&record, &status, &settings, &bundle, outlook, &questions, &figures)
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

fn as_json(
    record: &RunRecord,
    is_interrupted: bool,
    bundle: &Bundle,
    questions: &[Question],
    figures: &Result<RunFigures, String>,
) -> String {
    let mut shown = serde_json::to_value(record).unwrap_or_default();
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("bundle");
        fields.insert("interrupted".into(), json!(is_interrupted));
        fields.insert("bundleHash".into(), json!(&*bundle.hash));
        fields.insert("text".into(), json!(report::text(bundle, &record.output)));
        let questions =
            questions.iter().map(|q| json!({"id": q.id, "question": q.text, "schema": q.shape.schema}));
        fields.insert("questions".into(), questions.collect());
        fields.insert("figures".into(), json!(figures.as_ref().ok()));
    }
    serde_json::to_string_pretty(&shown).unwrap_or_default()
}

fn as_text(
    record: &RunRecord,
    status: &str,
    settings: &Settings,
    bundle: &Arc<Bundle>,
    outlook: Option<&dyn Outlook>,
    questions: &[Question],
    figures: &Result<RunFigures, String>,
) -> String {
    let mut out = String::new();
    record_lines(&mut out, record, status, settings);
    let table = config::table(&settings.config, &settings.origins);
    section(&mut out, "Configuration", &table);
    section(&mut out, "Exits", &exits(record, bundle, outlook));
    section(&mut out, "Not undone", &writes::not_undone(&record.exits).join("\n"));
    section(&mut out, "Not known whether it was done", &writes::unknown(&record.exits).join("\n"));
    section(&mut out, "Time", &clocks(&record.exits));
    let down =
        settings.servers_down.iter().map(|down| format!("{}: {}\n", down.server, one_line(&down.why, 600)));
    section(&mut out, "MCP servers that were down", &down.collect::<String>());
    let told = match figures {
        Ok(figures) => figures.text(),
        Err(why) => format!("They can not be told: {}", one_line(why, 600)),
    };
    section(&mut out, "Figures", &told);
    section(
        &mut out,
        "Spending",
        &figures.as_ref().map(|figures| spending::text(&figures.spending)).unwrap_or_default(),
    );
    let asked: Vec<String> = questions.iter().map(ask::shown).collect();
    if !asked.is_empty() {
        let how = finish::how_to_answer(&record.run_id, questions);
        section(&mut out, "Open questions", &format!("{}\n\n{how}\n", asked.join("\n\n")));
    }
    if let Some(text) = report::text(bundle, &record.output) {
        section(&mut out, "Report", &text);
    }
    let citations: Vec<String> = report::citations(&record.output)
        .iter()
        .map(|c| {
            format!(
                "[{}] {}, {}: \"{}\"\n",
                c.number,
                c.document,
                report::place(&c.span),
                one_line(&c.quote, 300)
            )
        })
        .collect();
    section(&mut out, "Citations", &citations.concat());
    out
}

fn section(out: &mut String, title: &str, text: &str) {
    if !text.trim().is_empty() {
        // Writing to a text can not fail.
        let _ = write!(out, "\n{title}\n{}\n{}\n", "-".repeat(title.len()), text.trim_end());
    }
}

fn record_lines(out: &mut String, record: &RunRecord, status: &str, settings: &Settings) {
    let cost = match record.cost_cents {
        Some(cents) => when::money(cents.saturating_mul(10_000)),
        None if record.status.is_terminal() => "unknown".to_owned(),
        None => "not known before the end".to_owned(),
    };
    let report = match (record.report, record.status.is_terminal()) {
        (Some(outcome), _) => outcome.to_string(),
        (None, true) => "none".to_owned(),
        (None, false) => "not yet".to_owned(),
    };
    let mut lines = vec![
        ("run", record.run_id.to_string()),
        ("status", status.to_owned()),
        ("question", one_line(&record.question, 1000)),
        ("graph", record.graph.clone()),
        ("started", format!("{} UTC", when::moment(record.created_at))),
        ("changed", format!("{} UTC", when::moment(record.updated_at))),
        ("steps", record.completed_steps.to_string()),
        ("report", report),
        ("cost", cost),
    ];
    if record.attempt > 1 {
        lines.push(("attempt", format!("{}: it was over before and went on", record.attempt)));
    }
    if let Some(step) = &record.current_step {
        lines.push(("last step", step.to_string()));
    }
    if record.cancel_requested {
        lines.push(("cancel", "requested".to_owned()));
    }
    if let Some(choice) = &settings.intent {
        lines.push(("intent", format!("{}: {}", choice.name, one_line(&choice.why, 300))));
    }
    lines.extend(settings.docs.iter().map(|path| ("documents", path.clone())));
    if let Some(url) = &settings.base_url {
        lines.push(("base URL", url.clone()));
    }
    for (name, text) in lines {
        let _ = writeln!(out, "{name:10} {text}");
    }
}

/// A line for each instance whose time was measured, with where it went. What a caller worked is what those below it
/// took as well, their waits included: where the time of the whole run went is one of its figures.
fn clocks(exits: &[Exit]) -> String {
    let mut lines = String::new();
    let last = |exit: &&Exit| !exits.iter().any(|e| e.scope == exit.scope && e.attempt > exit.attempt);
    for exit in exits.iter().filter(|exit| !exit.clocks.is_zero()).filter(last) {
        let scope = if exit.scope.is_root() { "(root)" } else { exit.scope.as_str() };
        let graph = exit.graph.rsplit('/').next().unwrap_or_default();
        let (wall, went) = (when::duration(exit.clocks.wall_ms), clocks_in_words(exit.clocks));
        let _ = writeln!(lines, "{graph:14} {wall:22} {scope}: {went}");
    }
    lines
}

/// A line for each instance, with how it ended; the root's with what that means.
fn exits(record: &RunRecord, bundle: &Bundle, outlook: Option<&dyn Outlook>) -> String {
    let mut lines = String::new();
    for exit in &record.exits {
        let scope = if exit.scope.is_root() { "(root)" } else { exit.scope.as_str() };
        let graph = exit.graph.rsplit('/').next().unwrap_or_default();
        let limit = exit
            .limit
            .as_ref()
            .map_or(String::new(), |l| format!(", {} at {} of {}", l.name, l.value, l.bound));
        let findings =
            exit.findings.map_or(String::new(), |n| format!(", {}", when::counted(n, "finding", "findings")));
        let also: String = exit.also.iter().map(|reason| format!(", also {reason}")).collect();
        let several = record.exits.iter().any(|e| e.scope == exit.scope && e.attempt != exit.attempt);
        let attempt = if several { format!(", attempt {}", exit.attempt) } else { String::new() };
        let _ =
            writeln!(lines, "{graph:14} {:22} {scope}{attempt}{limit}{findings}{also}", exit.reason.name());
    }
    let last = |exit: &&Exit| !record.exits.iter().any(|e| e.scope == exit.scope && e.attempt > exit.attempt);
    let (root, below): (Vec<Exit>, Vec<Exit>) =
        record.exits.iter().filter(last).cloned().partition(|exit| exit.scope.is_root());
    if let Some(root) = root.first() {
        let adviser = Adviser::new(record.run_id.as_str(), bundle, outlook, root, &below);
        let _ = writeln!(lines, "\nResearch ended by {}: {}", root.reason, adviser.research());
        for line in adviser.groups() {
            let _ = writeln!(lines, "{line}");
        }
        if let Some(outcome @ (ReportOutcome::Partial | ReportOutcome::Failed)) = record.report
            && let Some(command) = adviser.report_again(None)
        {
            let _ = writeln!(lines, "The report is {outcome}; to write it again: {command}");
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::{Clocks, ExitClass, ExitReason, ScopePath};

    use super::*;

    fn exit(scope: &str, clocks: Clocks) -> Exit {
        Exit {
            scope: ScopePath::new(scope),
            graph: "deep_research/researcher".into(),
            attempt: 1,
            reason: ExitReason::Completed,
            class: ExitClass::Completion,
            limit: None,
            counters: Default::default(),
            last_step: None,
            detail: None,
            also: Vec::new(),
            findings: None,
            unknown_writes: Box::default(),
            not_undone: Box::default(),
            clocks,
        }
    }

    #[test]
    fn the_time_of_each_instance_is_told_by_what_it_went_to() {
        let waited = Clocks { wall_ms: 95_000, active_ms: 30_000, backoff_ms: 5_000, human_ms: 60_000 };
        let worked = Clocks { wall_ms: 7_000, active_ms: 7_000, ..Clocks::default() };
        let exits = [exit("", waited), exit("go.1", worked), exit("of.an.old.run", Clocks::default())];
        assert_eq!(
            clocks(&exits),
            "researcher     1 min 35 s             (root): 30 s working, 5 s in back-off, 1 min waiting for a person\n\
             researcher     7 s                    go.1: 7 s working\n"
        );
    }
}
