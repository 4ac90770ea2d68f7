//! `deepgraph tune`: many runs under several values of one setting.

use clap::Args;
use deepgraph_protocol::Spent;
use deepgraph_store::{RunRecord, Store};
use deepgraph_trace::Row;
use deepgraph_trace::refold::{Conditions, Matching, WhatIf, refold, what_if};
use serde_json::json;

use crate::args::Global;
use crate::branch;
use crate::conditions;
use crate::damaged;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::form::Form;
use crate::graphs;
use crate::home::Home;
use crate::screen::{self, Screen};
use crate::when::{self, counted, number};

/// The threshold of the gain stop in the stock graphs, and the values that it is tried with.
const GAIN: &str = "gain_threshold";
const GAIN_VALUES: [&str; 7] = ["0", "0.005", "0.01", "0.02", "0.03", "0.05", "0.1"];

/// Options of `tune`.
#[derive(Debug, Args)]
#[command(
    about = "Tell what many runs would have been under several values of one setting",
    long_about = "Tell for each value of a setting how many of your runs would have stopped earlier, the same, or gone on, \
                  and what share of their findings, facts, tokens, money and steps they would have kept. As with whatif, the \
                  records answer: nothing is asked or paid again.\n\n\
                  How to read it: go down the table from the value that your runs had. Take the value that keeps nearly \
                  all findings and facts for clearly fewer tokens. Shares are over the runs that would have stopped earlier or the \
                  same; runs that would have gone on are counted apart, since nobody knows what lay ahead of them: to \
                  judge a lower threshold, let some runs go with it.",
    after_help = "Examples:\n  deepgraph tune\n  deepgraph tune gain_threshold=0.01,0.02,0.05 --since 30d\n  \
                  deepgraph tune max_react_tool_calls=4,6,8,10 --graph deep_research --limit 200\n  \
                  deepgraph tune token_budget=20000,50000 01981c2e 01981c3f --format json"
)]
pub struct Options {
    /// The setting with the values to try, KEY=V1,V2,...; gain_threshold alone is tried with 0, 0.005, 0.01, 0.02, 0.03,
    /// 0.05 and 0.1
    #[arg(value_name = "KEY=V1,V2,...", default_value = GAIN)]
    setting: String,
    /// These runs [default: all that are over]
    run: Vec<String>,
    /// Runs of this graph only, as it was given or by its own name
    #[arg(long, value_name = "NAME")]
    graph: Option<String>,
    /// Runs that were started within this time only, such as 30d or 12h
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// How many runs at most, the newest first
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// What the runs would have been under one value.
#[derive(Clone, Debug, Default)]
struct Line {
    value: String,
    earlier: u64,
    same: u64,
    gone_on: u64,
    /// Of the runs that would not have gone on: as it would have been, and as it was.
    findings: (u64, u64),
    facts: (u64, u64),
    steps: (u64, u64),
    used: (Spent, Spent),
}

impl Options {
    fn form(&self) -> Form {
        if self.json { Form::Json } else { self.format }
    }
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let (key, values) = read(&options.setting)?;
    let store = Home::find(global)?.kept()?;
    let screen = Screen::plain();
    let mut lines: Vec<Line> =
        values.iter().map(|value| Line { value: value.clone(), ..Line::default() }).collect();
    let (mut runs, mut without) = (0, 0);
    let mut wrong: Option<CliError> = None;
    for record in records(options, &*store)? {
        match fold(&*store, &record, &key, &values) {
            Ok(Some(folded)) => {
                runs += 1;
                lines.iter_mut().zip(folded).for_each(|(line, what_if)| line.add(&what_if));
            }
            Ok(None) => without += 1,
            // The values themselves do not fit.
            Err(error @ (CliError::Config(_) | CliError::BadSetting { .. } | CliError::NotJudged { .. })) => {
                wrong = Some(error)
            }
            Err(error) => screen.warn(&format!("run {} is left out: {error}", record.run_id)),
        }
    }
    if let (0, Some(error)) = (runs, wrong) {
        return Err(error);
    }
    let text = match options.form() {
        Form::Json => as_json(&key, &lines, runs, without),
        Form::Text => as_text(&key, &lines, runs, without),
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

/// The key and the values to try.
fn read(setting: &str) -> Result<(String, Vec<String>), CliError> {
    let wrong = || CliError::BadSetting { text: setting.to_owned() };
    match setting.split_once('=') {
        None if setting.trim() == GAIN => {
            Ok((GAIN.to_owned(), GAIN_VALUES.iter().map(|v| (*v).to_owned()).collect()))
        }
        None => Err(wrong()),
        Some((key, values)) => {
            let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
            let is_whole = !key.trim().is_empty() && values.iter().all(|value| !value.is_empty());
            if is_whole { Ok((key.trim().to_owned(), values)) } else { Err(wrong()) }
        }
    }
}

/// The runs that are meant.
fn records(options: &Options, store: &dyn Store) -> Result<Vec<RunRecord>, CliError> {
    let limit = usize::try_from(options.limit).unwrap_or(usize::MAX);
    let since = options.since.as_deref().map(conditions::length_of_time).transpose();
    let since = since.map_err(|problem| CliError::Config(vec![format!("--since: {problem}")]))?;
    if !options.run.is_empty() {
        let named: Result<Vec<RunRecord>, _> = options.run.iter().map(|run| store.find_run(run)).collect();
        return Ok(named?);
    }
    let now = branch::now();
    let begun = since.map(|seconds| now.saturating_sub((seconds * 1000.0) as i64));
    let is_meant = |record: &RunRecord| {
        record.status.is_terminal()
            && begun.is_none_or(|begun| record.created_at >= begun)
            && options.graph.as_ref().is_none_or(|graph| *graph == record.graph || is_named(record, graph))
    };
    // Filtered before they are counted: a limit of 100 is 100 runs that are meant.
    let all = damaged::newest(store, branch::MOST_RUNS)?;
    Ok(all.into_iter().filter(is_meant).take(limit).collect())
}

/// Whether the graph of a run has this name of its own, whatever it was given as.
fn is_named(record: &RunRecord, graph: &str) -> bool {
    graphs::stored_bundle(record).is_ok_and(|bundle| *bundle.root().name == *graph)
}

/// A run under each value; none where its graph does not have the key, or it was never started.
fn fold(
    store: &dyn Store,
    record: &RunRecord,
    key: &str,
    values: &[String],
) -> Result<Option<Vec<WhatIf>>, CliError> {
    let bundle = graphs::stored_bundle(record)?;
    let rows = store.entries(&record.run_id, 0)?;
    let rows: Vec<Row<'_>> = rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry }).collect();
    if rows.is_empty() || !bundle.config.contains_key(key) {
        return Ok(None);
    }
    let (recorded, latest) = (conditions::recorded(&rows), conditions::latest(&rows));
    let folded = values.iter().map(|value| {
        let (bundle, config) = (bundle.clone(), recorded.clone());
        let set = conditions::to_try(&bundle, &latest, &[format!("{key}={value}")])?;
        let conditions = Conditions { bundle: bundle.clone(), config, set, matching: Matching::ByIdUnseen };
        Ok(what_if(&refold(&bundle, &rows, &conditions)?))
    });
    folded.collect::<Result<Vec<WhatIf>, CliError>>().map(Some)
}

impl Line {
    fn add(&mut self, what_if: &WhatIf) {
        let (Some(steps), Some(used), Some(found)) = (what_if.steps, what_if.used, what_if.found) else {
            self.gone_on += 1;
            return;
        };
        if what_if.is_unchanged() {
            self.same += 1;
        } else {
            self.earlier += 1;
        }
        let before = &what_if.found_recorded;
        for (sum, now, was) in [
            (&mut self.findings, found.findings, before.findings),
            (&mut self.facts, found.facts, before.facts),
            (&mut self.steps, steps, what_if.steps_recorded),
        ] {
            sum.0 += now;
            sum.1 += was;
        }
        self.used.0 += used;
        self.used.1 += what_if.used_recorded;
    }

    /// Shares of findings, facts, tokens, money and steps; none where there is nothing to have a share of.
    fn shares(&self) -> [Option<f64>; 5] {
        let share = |(now, was): (u64, u64)| (was > 0).then(|| now as f64 / was as f64);
        let (now, was) = (&self.used.0, &self.used.1);
        [
            share(self.findings),
            share(self.facts),
            share((now.tokens, was.tokens)),
            share((now.cost_micro_usd, was.cost_micro_usd)),
            share(self.steps),
        ]
    }
}

fn as_json(key: &str, lines: &[Line], runs: u64, without: u64) -> String {
    let rows: Vec<_> = lines
        .iter()
        .map(|line| {
            let [findings, facts, tokens, cost, steps] = line.shares();
            json!({
                "value": line.value,
                "earlier": line.earlier,
                "same": line.same,
                "gone_on": line.gone_on,
                "findings": line.findings.0,
                "findings_recorded": line.findings.1,
                "facts": line.facts.0,
                "facts_recorded": line.facts.1,
                "steps": line.steps.0,
                "steps_recorded": line.steps.1,
                "used": line.used.0,
                "used_recorded": line.used.1,
                "shares": {"findings": findings, "facts": facts, "tokens": tokens, "cost": cost, "steps": steps},
            })
        })
        .collect();
    let answer = json!({"version": 1, "key": key, "runs": runs, "runs_without_key": without, "values": rows});
    serde_json::to_string_pretty(&answer).unwrap_or_default()
}

fn as_text(key: &str, lines: &[Line], runs: u64, without: u64) -> String {
    if runs == 0 {
        let left_out = if without > 0 {
            format!(": the graphs of {} have no key {key}", counted(without, "run", "runs"))
        } else {
            String::new()
        };
        return format!("There are no runs to look at{left_out}");
    }
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let width = lines.iter().map(|line| line.value.len()).chain([key.len()]).max().unwrap_or(0);
    let mut text = format!(
        "{key:>width$}  {:>7}  {:>5}  {:>7}  {:>13}  {:>10}  {:>8}  {:>8}  {:>8}\n",
        "EARLIER", "SAME", "GONE ON", "FINDINGS KEPT", "FACTS KEPT", "TOKENS", "MONEY", "STEPS"
    );
    for line in lines {
        let [findings, facts, tokens, cost, steps] = line.shares().map(share);
        text.push_str(&format!(
            "{:>width$}  {:>7}  {:>5}  {:>7}  {findings:>13}  {facts:>10}  {tokens:>8}  {cost:>8}  {steps:>8}\n",
            line.value, line.earlier, line.same, line.gone_on
        ));
    }
    text.push_str(&format!("\nover {}", counted(runs, "run", "runs")));
    if without > 0 {
        text.push_str(&format!("; {} left out: no key {key}", number(without)));
    }
    if let Some(most) = lines.iter().map(|line| &line.used.1).max_by_key(|used| used.tokens) {
        let tokens = counted(most.tokens, "token", "tokens");
        text.push_str(&format!("; they used {tokens}, {}", when::cost(most)));
    }
    if lines.iter().any(|line| line.gone_on > 0) {
        text.push_str(
            "\nShares are over the runs that would not have gone on: of those that would have, nobody knows what lay ahead",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_a_key_and_values() {
        let (key, values) = read("gain_threshold=0.01, 0.02").unwrap();
        assert_eq!((&*key, values), ("gain_threshold", vec!["0.01".to_owned(), "0.02".to_owned()]));
        assert_eq!(read("gain_threshold").unwrap().1.len(), GAIN_VALUES.len());
        for wrong in ["", "tokens", "=1", "tokens=", "tokens=1,,2"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
