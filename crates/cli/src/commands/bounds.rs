//! `deepgraph bounds`: the worst case of a run, proved before it starts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use deepgraph_graph::{Bound, Bounds, Figure, Measure, Named, ScopeBounds};
use serde::Serialize;

use crate::config::{self, Wanted};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::form::Form;
use crate::graphs;
use crate::screen::{self, Screen};
use crate::when;

/// Options of `bounds`.
#[derive(Debug, Args)]
#[command(
    about = "Prove the worst case of a run: model calls, tool calls, child graphs, tokens",
    long_about = "Work out, from a graph and its configuration alone, how much a run can do at most: for an instance of \
                  each graph and for the whole run, model calls, tool calls, ops, questions, child graphs, tokens and \
                  money. Whatever models, tools and people do, there is never more. Nothing is run.\n\n\
                  Each figure comes with the limits that it follows from. What has no bound is listed with the limit \
                  that would bound it. Figures with retries count every attempt that `retry` and `truncate` allow, and each \
                  of them once for every model that is asked in turn (`fallback_models`).\n\n\
                  With --check the exit status is 1 where model calls, op runs or child graphs are unbounded, and 0 \
                  otherwise.",
    after_help = "Examples:\n  deepgraph bounds\n  deepgraph bounds deep_research --set max_researcher_iterations=3\n  \
                  deepgraph bounds my-graph.yaml --check\n  deepgraph bounds my-graph.yaml --format json"
)]
pub struct Options {
    /// Graph file, folder with a graph.yaml, or name of a stock graph
    #[arg(value_name = "FILE|NAME", default_value = graphs::DEFAULT)]
    graph: String,
    /// Set one value of the configuration; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Values of the configuration: a YAML or JSON mapping
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Exit with status 1 where what costs money is unbounded
    #[arg(long)]
    check: bool,
    /// Form of the figures
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl Options {
    fn form(&self) -> Form {
        if self.json { Form::Json } else { self.format }
    }
}

/// Carries the command out.
pub fn carry_out(options: &Options) -> Result<ExitStatus, CliError> {
    let screen = Screen::plain();
    let bundle = graphs::bundle(&options.graph, &screen)?;
    let wanted =
        Wanted { set: options.set.clone(), model: None, file: options.config.clone(), ..Wanted::default() };
    let effective = config::effective(&bundle, &wanted, &std::env::vars_os().collect())?;
    effective.doubts.iter().for_each(|doubt| screen.warn(doubt));
    let bounds =
        deepgraph_graph::bounds_with_fallbacks(&bundle, &effective.values, effective.fallbacks.len());
    let unbounded = bounds.unbounded();
    match options.form() {
        Form::Text => screen::print(text(&bounds).trim_end())?,
        Form::Json => {
            let document = Document { version: 1, bounds: &bounds, unbounded: &unbounded };
            screen::print(&serde_json::to_string_pretty(&document).unwrap_or_default())?;
        }
    }
    if !options.check || unbounded.is_empty() {
        return Ok(ExitStatus::Succeeded);
    }
    let names: Vec<&str> = unbounded.iter().map(|measure| measure.title()).collect();
    screen.complain(&format!("unbounded: {}", names.join(", ")));
    Ok(ExitStatus::DIFFERS)
}

/// What programs are told.
#[derive(Debug, Serialize)]
struct Document<'b> {
    /// Of this form.
    version: u32,
    #[serde(flatten)]
    bounds: &'b Bounds,
    /// What costs money and has no bound.
    unbounded: &'b [Measure],
}

/// The columns of the table: what an instance does itself.
const COLUMNS: [(Measure, &str); 7] = [
    (Measure::SuperSteps, "super-steps"),
    (Measure::Turns, "turns"),
    (Measure::ModelCalls, "model calls"),
    (Measure::ModelAttempts, "with retries"),
    (Measure::ToolCalls, "tool calls"),
    (Measure::OpRuns, "op runs"),
    (Measure::Questions, "questions"),
];

/// What the reasons are given of.
const REASONS: [Measure; 6] = [
    Measure::ModelCalls,
    Measure::ModelAttempts,
    Measure::ToolCalls,
    Measure::OpRuns,
    Measure::Questions,
    Measure::Starts,
];

fn text(bounds: &Bounds) -> String {
    let mut out = format!("The worst case of a run of {}\n\n", bounds.graph);
    out += &table(bounds);
    out += "\nThe whole run\n";
    out += &whole(bounds);
    for scope in &bounds.scopes {
        out += &format!("\nAn instance of {}\n", name(scope));
        out += &reasons(scope);
    }
    let open = open(bounds);
    if !open.is_empty() {
        out += "\nNot bounded\n";
        out += &open;
    }
    out
}

/// One row a graph: how many instances, and what each does itself.
fn table(bounds: &Bounds) -> String {
    let mut rows: Vec<Vec<String>> = vec![
        ["graph", "in all", "at once"]
            .into_iter()
            .chain(COLUMNS.iter().map(|(_, title)| *title))
            .map(str::to_owned)
            .collect(),
    ];
    for scope in &bounds.scopes {
        let mut row = vec![name(scope).to_owned(), shown(&scope.instances), shown(&scope.at_once)];
        row.extend(COLUMNS.iter().map(|(measure, _)| scope.own.get(measure).map(shown).unwrap_or_default()));
        rows.push(row);
    }
    let mut run = vec!["whole run".to_owned(), String::new(), String::new()];
    run.extend(COLUMNS.iter().map(|(m, _)| bounds.run.in_all.get(m).map(shown).unwrap_or_default()));
    rows.push(run);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..COLUMNS.len() + 3).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn whole(bounds: &Bounds) -> String {
    let run = &bounds.run;
    let at = |measure: Measure| run.in_all.get(&measure);
    let mut rows: Vec<(&str, String)> = Vec::new();
    for (title, measure, retried) in [
        ("model calls", Measure::ModelCalls, Some(Measure::ModelAttempts)),
        ("op runs", Measure::OpRuns, Some(Measure::OpAttempts)),
        ("child graphs", Measure::Starts, None),
        ("questions", Measure::Questions, None),
    ] {
        let Some(figure) = at(measure) else { continue };
        let mut row = shown(figure);
        if let Some(retried) = retried.and_then(at).filter(|r| r.bound != figure.bound) {
            row += &format!(", with all retries {}", shown(retried));
        }
        if let Some(at_once) = run.at_once.get(&measure).filter(|_| figure.bound != Bound::AtMost(0)) {
            row += &format!("; at once {}", shown(at_once));
        }
        rows.push((title, row));
    }
    let ops: Vec<String> = run.ops.iter().map(|(op, figure)| format!("{op} {}", shown(figure))).collect();
    if !ops.is_empty() {
        rows.insert(2, ("", ops.join(", ")));
    }
    let tokens = at(Measure::Tokens).map(shown).unwrap_or_default();
    rows.push(("tokens", tokens));
    let money = at(Measure::CostMicroUsd).map(|figure| match figure.bound {
        Bound::AtMost(micro) => when::money(micro),
        other => other.to_string(),
    });
    rows.push(("money", money.unwrap_or_default()));
    lines(&rows)
}

/// Where the figures of one instance come from.
fn reasons(scope: &ScopeBounds) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for measure in REASONS {
        let Some(figure) = scope.own.get(&measure).filter(|figure| is_number(figure)) else { continue };
        rows.push((measure.title(), format!("{} = {}", shown(figure), figure.why)));
    }
    let below = scope.with_children.get(&Measure::ModelCalls).filter(|figure| is_number(figure));
    if let Some(figure) = below.filter(|_| !scope.starts.is_empty()) {
        rows.push(("model calls with all below", format!("{} = {}", shown(figure), figure.why)));
    }
    let each = |named: &[Named]| {
        let all = named.iter().map(|named| format!("{} {}", named.name, shown(&named.figure)));
        all.collect::<Vec<_>>().join(", ")
    };
    if !scope.tools.is_empty() {
        rows.push(("calls", each(&scope.tools)));
    }
    rows.push(("visits", each(&scope.visits)));
    lines(&rows)
}

/// What has no bound, and what would bound it; each reason once.
fn open(bounds: &Bounds) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut told: BTreeMap<&str, usize> = BTreeMap::new();
    let of_run = bounds.run.in_all.iter();
    for (measure, figure) in of_run.filter(|(_, f)| matches!(f.bound, Bound::Unbounded | Bound::Unknown)) {
        let at = *told.entry(&figure.why).or_insert_with(|| {
            reasons.push((&figure.why, Vec::new()));
            reasons.len() - 1
        });
        if let Some((_, measures)) = reasons.get_mut(at) {
            measures.push(measure.title());
        }
    }
    // What a total names only the first reason of.
    for scope in &bounds.scopes {
        for tool in scope.tools.iter().filter(|tool| tool.figure.bound == Bound::Unbounded) {
            let is_told = reasons.iter().any(|(why, _)| why.ends_with(&*tool.figure.why));
            if !is_told {
                reasons.push((&tool.figure.why, vec!["tool calls"]));
            }
        }
    }
    reasons.iter().map(|(why, measures)| format!("  {}\n    {why}\n", measures.join(", "))).collect()
}

/// The name of a graph, without the root's before it.
fn name(scope: &ScopeBounds) -> &str {
    scope.graph.split_once('/').map_or(&*scope.graph, |(first, rest)| {
        // A graph of another file goes by its path.
        if first.contains('.') || rest.contains('.') { &scope.graph } else { rest }
    })
}

fn is_number(figure: &Figure) -> bool {
    matches!(figure.bound, Bound::AtMost(n) if n > 0)
}

fn shown(figure: &Figure) -> String {
    match figure.bound {
        Bound::AtMost(number) => when::number(number),
        Bound::MoreThan(_) => "more than 10^18".to_owned(),
        other => other.to_string(),
    }
}

fn lines(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(title, _)| title.len()).max().unwrap_or(0);
    rows.iter().map(|(title, text)| format!("  {title:width$}  {text}\n")).collect()
}
