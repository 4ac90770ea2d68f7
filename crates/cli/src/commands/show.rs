//! `deepgraph show`: one run, from its record.

use std::fmt::Write as _;
use std::sync::Arc;

use clap::Args;
use deepgraph_graph::Bundle;
use deepgraph_protocol::Exit;
use deepgraph_runtime::Question;
use deepgraph_store::RunRecord;
use serde_json::json;

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::home::Home;
use crate::screen::{self, one_line};
use crate::settings::Settings;
use crate::{ask, config, explain, finish, graphs, report, stored, when};

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
    let text = if options.json {
        as_json(&record, &bundle, &questions)
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
        as_text(&record, &status, &settings, &bundle, &questions)
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

fn as_json(record: &RunRecord, bundle: &Bundle, questions: &[Question]) -> String {
    let mut shown = serde_json::to_value(record).unwrap_or_default();
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("bundle");
        fields.insert("bundleHash".into(), json!(&*bundle.hash));
        fields.insert("text".into(), json!(report::text(bundle, &record.output)));
        let questions =
            questions.iter().map(|q| json!({"id": q.id, "question": q.text, "schema": q.shape.schema}));
        fields.insert("questions".into(), questions.collect());
    }
    serde_json::to_string_pretty(&shown).unwrap_or_default()
}

fn as_text(
    record: &RunRecord,
    status: &str,
    settings: &Settings,
    bundle: &Arc<Bundle>,
    questions: &[Question],
) -> String {
    let mut out = String::new();
    record_lines(&mut out, record, status, settings);
    let table = config::table(&settings.config, &settings.origins);
    section(&mut out, "Configuration", &table);
    section(&mut out, "Exits", &exits(&record.exits, bundle));
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
    if let Some(step) = &record.current_step {
        lines.push(("last step", step.to_string()));
    }
    if record.cancel_requested {
        lines.push(("cancel", "requested".to_owned()));
    }
    lines.extend(settings.docs.iter().map(|path| ("documents", path.clone())));
    if let Some(url) = &settings.base_url {
        lines.push(("base URL", url.clone()));
    }
    for (name, text) in lines {
        let _ = writeln!(out, "{name:10} {text}");
    }
}

/// A line for each instance, with how it ended; the root's with what that means.
fn exits(exits: &[Exit], bundle: &Bundle) -> String {
    let mut lines = String::new();
    for exit in exits {
        let scope = if exit.scope.is_root() { "(root)" } else { exit.scope.as_str() };
        let graph = exit.graph.rsplit('/').next().unwrap_or_default();
        let limit = exit
            .limit
            .as_ref()
            .map_or(String::new(), |l| format!(", {} at {} of {}", l.name, l.value, l.bound));
        let findings =
            exit.findings.map_or(String::new(), |n| format!(", {}", when::counted(n, "finding", "findings")));
        let also: String = exit.also.iter().map(|reason| format!(", also {reason}")).collect();
        let _ = writeln!(lines, "{graph:14} {:22} {scope}{limit}{findings}{also}", exit.reason.name());
    }
    if let Some(root) = exits.iter().find(|exit| exit.scope.is_root()) {
        let _ = writeln!(lines, "\nResearch ended by {}: {}", root.reason, explain::exit(root, bundle));
    }
    lines
}
