//! `deepgraph resume`: go on with a run.

mod again;
mod other_graph;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use deepgraph_graph::Bundle;
use deepgraph_protocol::StepId;
use deepgraph_runtime::{Question, RunError, Work, assigned};
use deepgraph_store::{RunId, RunRecord, Store};

use self::other_graph::Under;
use crate::args::Global;
use crate::documents;
use crate::drive::{DriveOptions, Driver};
use crate::error::CliError;
use crate::exit_status::{ExitStatus, TABLE};
use crate::graphs;
use crate::home::Home;
use crate::report;
use crate::settings::Settings;
use crate::stored;
use crate::{secrets, session};

/// Options of `resume`.
#[derive(Debug, Args)]
#[command(
    about = "Go on with a run that was interrupted, waits for an answer, or ended at a limit",
    long_about = "Go on with a run that was interrupted, waits for an answer, or ended at a limit. Graph, documents, models and \
                  configuration are those that it was started with; no step that is committed is carried out again. \
                  Of a run that is over, the report is shown again.\n\n\
                  A run that is over goes on, as its next attempt, where --set, --model or --from is given: after a limit \
                  with a higher one (--set KEY=VALUE), after an error where that came (--from research), or with its \
                  report alone (--from report). What it used and counted stays, and nothing that is done is paid for \
                  again, but for the report.\n\n\
                  Whether a tool may be called is answered by yes or no; `no: REASON` tells the model why, and \
                  `edit {...}` runs the call with these arguments instead. Secrets of MCP servers are taken from the \
                  environment again.",
    after_help = format!("Examples:\n  \
        deepgraph resume last\n  \
        deepgraph resume 01981c2e --answer \"approve\"\n  \
        deepgraph resume last --answer yes\n  \
        deepgraph resume last --set max_researcher_iterations=12\n  \
        deepgraph resume last --from report --set final_report_model=openai::gpt-4.1\n  \
        deepgraph resume last --graph ./graph.yaml --dry-run\n  \
        deepgraph resume last --answer \"ask_user.1=The island's own figures\" --out report.md\n\n{TABLE}")
)]
pub struct Options {
    /// The run: its id, the beginning of it, or `last`
    run: String,
    /// Answer to the open question, or STEP=TEXT to the one of that id; may be repeated
    #[arg(long, value_name = "TEXT")]
    answer: Vec<String>,
    /// Documents in place of those that the run was started with, such as the same ones in another place
    #[arg(long, value_name = "PATH")]
    docs: Vec<PathBuf>,
    /// Configuration file that names MCP servers of the run (services.mcp), as config.yaml of --home does: only these are
    /// started. Nothing else is taken from it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Go on under another version of the graph: a graph file, folder or stock graph. That is another run, which begins with
    /// the steps of RUN that are asked the same under it; the first that is not is named. RUN stays as it is
    #[arg(long, value_name = "FILE|NAME", conflicts_with = "answer")]
    graph: Option<String>,
    /// With --graph: only tell what would be taken over
    #[arg(long, requires = "graph")]
    dry_run: bool,
    #[command(flatten)]
    again: again::AgainOptions,
    #[command(flatten)]
    drive: DriveOptions,
}

/// Carries the command out.
pub fn carry_out(options: Options, global: &Global) -> Result<ExitStatus, CliError> {
    let home = Home::find(global)?;
    let store = home.kept()?;
    let record = store.find_run(&options.run)?;
    let bundle = graphs::stored_bundle(&record)?;
    let driver = Driver::new(options.drive.clone(), home, store.clone())?;
    let mut settings = Settings::of(&record)?;
    let config = options.config.as_deref();
    options.drive.apply(&mut settings)?;
    if let Some(recording) = &settings.replay {
        driver.spares(Path::new(recording))?;
    }
    if let Some(graph) = &options.graph {
        if !options.docs.is_empty() {
            settings.docs = documents::absolute(&options.docs);
        }
        let under = Under { graph, own: config, is_dry: options.dry_run };
        return other_graph::go_on(&driver, &*store, &record, &bundle, settings, &under);
    }
    if options.again.is_wanted() {
        if !options.docs.is_empty() {
            settings.docs = documents::absolute(&options.docs);
        }
        return options.again.go_on(&driver, &*store, &record, &bundle, settings, config);
    }
    if options.drive.record.is_some() {
        if record.attempt > 1 {
            return Err(CliError::RecordsOneAttempt { run: record.run_id.to_string() });
        }
        // Before anything is shown or paid for.
        secrets::of_run(&bundle, &record, &settings.key_env)?;
    }
    if record.status.is_terminal() && !stored::broke_off(&bundle, &*store, &record)? {
        let shown = show_again(&driver, &*store, &record, &bundle, &options.answer)?;
        driver.write_recording(&record.run_id, &bundle, &settings.key_env)?;
        return Ok(shown);
    }
    if let Some(recording) = settings.replay {
        return Err(CliError::Replay { run: record.run_id.to_string(), recording });
    }
    let held = driver.hold(&record.run_id)?;
    if !options.docs.is_empty() {
        settings.docs = documents::absolute(&options.docs);
    }
    let rows = store.entries(&record.run_id, 0)?;
    let open = stored::questions(&bundle, &rows, &record)?;
    let answers = answers(&record.run_id, &options.answer, &open)?;
    let of_servers = driver.servers(&bundle, &settings, config)?;
    let ready = driver.ready(&bundle, &settings)?;
    secrets::note_key(&*store, &record, &bundle, &settings)?;
    session::with(|session| {
        session.prepare(&bundle, &of_servers)?;
        // The process may have ended between the record and the first entry.
        let work = Work::of(&record, bundle.clone(), answers)?;
        driver.drive(session, held, ready, &record.run_id, &bundle, work)
    })
}

fn show_again(
    driver: &Driver,
    store: &dyn Store,
    record: &RunRecord,
    bundle: &Arc<Bundle>,
    answers: &[String],
) -> Result<ExitStatus, CliError> {
    if !answers.is_empty() {
        let problem = format!("run {} is over, so there is no question to answer", record.run_id);
        return Err(CliError::Answer { problem, open: Vec::new() });
    }
    let end = stored::end(bundle, store, record)?;
    driver.screen.say(&over_again(record, report::text(bundle, &end.output).is_some()));
    Ok(driver.end_of(&record.run_id, bundle, None).over(record.status, &end))
}

/// What is there of a run that is over.
fn over_again(record: &RunRecord, has_report: bool) -> String {
    let (run, status) = (&record.run_id, record.status);
    if has_report {
        return format!("run {run} is over ({status}); this is its report again");
    }
    format!(
        "run {run} is over ({status}) and has no report. How it ended: deepgraph show {run}\n\
         All that was found, step by step: deepgraph trace {run}"
    )
}

/// Which answer is for which question.
fn answers(
    run: &RunId,
    given: &[String],
    open: &[Question],
) -> Result<Vec<(Option<StepId>, String)>, CliError> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let refused = |problem: String| CliError::Answer {
        problem,
        open: open.iter().map(|q| format!("{}: {}", q.id, q.text.trim())).collect(),
    };
    let given = given.iter().map(|text| split(text, open)).collect();
    let assigned = assigned(run, given, open).map_err(|error| match error {
        RunError::NotAsked { open, .. } if open.is_empty() => {
            refused("no question is open in this run, so there is nothing to answer".to_owned())
        }
        RunError::NotAsked { problem, .. } => refused(format!(
            "{problem}. To one of several questions, and where an answer begins like an id, it is given as --answer \
             STEP=TEXT. What is open:"
        )),
        other => other.into(),
    })?;
    match assigned.iter().find(|(_, text)| text.trim().is_empty()) {
        Some((id, _)) => Err(refused(format!("the answer to {id} is empty. It has to say something:"))),
        None => Ok(assigned.into_iter().map(|(id, text)| (Some(id), text)).collect()),
    }
}

/// `STEP=TEXT`, where STEP has the form of an id or is the name of what asks; else the whole text is an answer.
fn split(text: &str, open: &[Question]) -> (Option<StepId>, String) {
    let means_step =
        |id: &str| is_step_id(id) || open.iter().any(|q| q.id.as_str() == id || name_of(q) == id);
    match text.split_once('=').map(|(id, answer)| (id.trim(), answer)) {
        Some((id, answer)) if means_step(id) => (Some(StepId::new(id)), answer.to_owned()),
        _ => (None, text.to_owned()),
    }
}

/// What the id of an approval has behind that of the call.
const APPROVAL: &str = "/approval";

/// The name of the node or tool that asks, or that of the tool whose call is to be approved.
fn name_of(question: &Question) -> &str {
    let id = question.id.as_str();
    let step = id.strip_suffix(APPROVAL).unwrap_or(id);
    let last = step.rsplit('/').next().unwrap_or(step);
    last.rsplit_once('.').map_or(last, |(name, _)| name)
}

/// Whether a text has the form of a question's id: names with their numbers, such as `plan.1/ask_user.2`.
fn is_step_id(text: &str) -> bool {
    let text = text.strip_suffix(APPROVAL).unwrap_or(text);
    let is_name = |name: &str| {
        name.chars().any(char::is_alphabetic)
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    text.split('/').all(|segment| {
        segment.rsplit_once('.').is_some_and(|(name, number)| is_name(name) && number.parse::<u64>().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::{OutputShape, Value};

    use super::*;

    fn open(ids: &[&str]) -> Vec<Question> {
        let question = |id: &&str| Question {
            id: StepId::new(*id),
            text: "which?".into(),
            shape: OutputShape { name: "answer".into(), schema: Value::Null },
            complaint: None,
        };
        ids.iter().map(question).collect()
    }

    fn read(given: &[&str], ids: &[&str]) -> Result<Vec<(String, String)>, String> {
        let given: Vec<String> = given.iter().map(|g| (*g).to_owned()).collect();
        let read = answers(&RunId::new(), &given, &open(ids)).map_err(|e| e.to_string())?;
        Ok(read.into_iter().map(|(id, text)| (id.map_or(String::new(), |id| id.to_string()), text)).collect())
    }

    fn pair(id: &str, text: &str) -> (String, String) {
        (id.to_owned(), text.to_owned())
    }

    #[test]
    fn one_open_question_needs_no_id() {
        assert_eq!(read(&["yes"], &["ask.1"]).unwrap(), [pair("ask.1", "yes")]);
        assert_eq!(read(&["a=b"], &["ask.1"]).unwrap(), [pair("ask.1", "a=b")]);
        assert_eq!(read(&["ask.1=a=b"], &["ask.1"]).unwrap(), [pair("ask.1", "a=b")]);
        assert_eq!(read(&[], &["ask.1"]).unwrap(), []);
        assert_eq!(read(&["2 + 2 = 4"], &["ask.1"]).unwrap(), [pair("ask.1", "2 + 2 = 4")]);
        assert_eq!(read(&["ask.1=ask.9=x"], &["ask.1"]).unwrap(), [pair("ask.1", "ask.9=x")]);
    }

    #[test]
    fn answers_to_other_questions_and_empty_ones_are_refused() {
        for given in ["ask.9=hi", "ask.11=hi", "ask=hi", " plan.2/ask-it.9 =hi"] {
            let error = read(&[given], &["ask.1"]).unwrap_err();
            assert!(error.contains("asks nothing") && error.contains("ask.1: which?"), "{given}: {error}");
        }
        for given in ["", " \n", "ask.1=", "ask.1= "] {
            let error = read(&[given], &["ask.1"]).unwrap_err();
            assert!(error.contains("the answer to ask.1 is empty"), "{given}: {error}");
        }
    }

    #[test]
    fn approvals_are_answered_by_their_id_as_well() {
        let id = "act.1/send.1/approval";
        assert_eq!(read(&["yes"], &[id]).unwrap(), [pair(id, "yes")]);
        assert_eq!(read(&[&format!("{id}=no: why?")], &[id]).unwrap(), [pair(id, "no: why?")]);
        for other in ["act.2/send.1/approval=yes", "act.1/send.1=yes", "send=yes"] {
            let error = read(&[other], &[id]).unwrap_err();
            assert!(error.contains(&format!("{id}: which?")), "{other}: {error}");
        }
    }

    #[test]
    fn several_are_answered_by_id() {
        let ids = ["a.1/ask.1", "b.1/ask.1"];
        let both = read(&["b.1/ask.1=two", "a.1/ask.1=one"], &ids).unwrap();
        assert_eq!(both, [pair("a.1/ask.1", "one"), pair("b.1/ask.1", "two")]);
        let error = read(&["yes"], &ids).unwrap_err();
        assert!(error.contains("STEP=TEXT") && error.contains("b.1/ask.1: which?"), "{error}");
        assert!(read(&["a.1/ask.1=x", "a.1/ask.1=y"], &ids).unwrap_err().contains("twice"));
        assert!(read(&["yes"], &[]).unwrap_err().contains("no question is open"));
    }
}
