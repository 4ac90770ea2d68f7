//! The documents of a run: indexing them, and telling which were left out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use deepgraph_graph::{Bundle, Call, Callee, Verb};
use deepgraph_tools::{Corpus, IndexProgress, IndexReport};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::error::CliError;
use crate::progress::{Format, emit};
use crate::screen::{Screen, one_line};
use crate::when::counted;

/// How many left-out documents are named where not all are wanted.
const NAMED: usize = 20;

/// Opens the documents, none where no paths are given, and tells what was indexed and what was left out.
///
/// # Errors
///
/// A path does not exist or can not be read; the index can not be used.
pub fn open(
    paths: &[PathBuf],
    index: &Path,
    all_skipped: bool,
    format: Format,
    screen: &Screen,
) -> Result<Option<(Arc<Corpus>, IndexReport)>, CliError> {
    if paths.is_empty() {
        return Ok(None);
    }
    let bar = screen.bars().filter(|_| format == Format::Lines).map(|bars| bars.add(bar()));
    let opened = Corpus::open(paths, index, &mut |step: IndexProgress<'_>| {
        if let Some(bar) = &bar {
            bar.set_length(step.total as u64);
            bar.set_position(step.done as u64);
            bar.set_message(one_line(step.document, 200));
        }
    });
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let (corpus, report) = opened?;
    tell(&report, all_skipped, format, screen);
    Ok(Some((Arc::new(corpus), report)))
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("indexing {pos} of {len}  {wide_msg}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn tell(report: &IndexReport, all_skipped: bool, format: Format, screen: &Screen) {
    if format == Format::Json {
        let skipped = report.skipped.iter();
        let skipped: Vec<_> = skipped
            .map(|s| {
                let (reason, partial) = (s.reason.to_string(), s.reason.is_partial());
                json!({"document": s.document, "kind": s.reason, "reason": reason, "partial": partial})
            })
            .collect();
        emit(&json!({
            "type": "documents",
            "documents": report.documents,
            "passages": report.passages,
            "indexed_now": report.indexed_now,
            "skipped": skipped,
            "linked": report.linked,
        }));
    }
    if let Some(why) = &report.in_memory {
        screen.warn(&format!("the index is kept in memory and made again next time: {why}"));
    }
    if format != Format::Json {
        skipped(report, all_skipped).iter().for_each(|line| screen.warn(line));
        linked(report).iter().for_each(|line| screen.warn(line));
    }
    if format == Format::Lines {
        let documents = counted(report.documents as u64, "document", "documents");
        let passages = counted(report.passages as u64, "passage", "passages");
        let read = match report.indexed_now {
            0 => String::new(),
            n => format!(", {n} of them read now"),
        };
        screen.say(&format!("{documents} with {passages}{read}"));
    }
}

/// What is said of links that lead out of the folders.
fn linked(report: &IndexReport) -> Option<String> {
    let first = report.linked.first()?;
    let links = counted(report.linked.len() as u64, "link leads", "links lead");
    Some(format!(
        "{links} out of the folder, such as {}; what is there is searched too",
        one_line(first, 300)
    ))
}

/// A line for each document that was left out, wholly or in part; of many, the first and how to see all.
fn skipped(report: &IndexReport, all: bool) -> Vec<String> {
    let shown = if all { report.skipped.len() } else { NAMED.min(report.skipped.len()) };
    let mut lines: Vec<String> = report
        .skipped
        .iter()
        .take(shown)
        .map(|skipped| {
            let document = one_line(&skipped.document, 300);
            match skipped.reason.is_partial() {
                true => format!("{document} is used, but not all of it: {}", skipped.reason),
                false => format!("{document} was left out: {}", skipped.reason),
            }
        })
        .collect();
    let rest = (report.skipped.len() - shown) as u64;
    if rest > 0 {
        let more = counted(rest, "more document was", "more documents were");
        lines.push(format!("{more} left out, wholly or in part; --list-skipped names all of them"));
    }
    lines
}

/// The paths as they will still be right when the run is resumed from elsewhere. One that does not exist is left as it
/// was given, for the message.
pub fn absolute(paths: &[PathBuf]) -> Vec<String> {
    let real = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
    paths.iter().map(|path| real(path).to_string_lossy().into_owned()).collect()
}

/// Whether the graph searches documents.
pub fn are_wanted(bundle: &Bundle) -> bool {
    let is_search =
        |call: &Call| matches!(&call.callee, Callee::Op(op) if matches!(&**op, "search" | "read"));
    bundle.graphs.iter().any(|graph| {
        let tools = graph.tools.iter().filter_map(|tool| tool.call.as_ref());
        let nodes =
            graph.nodes.iter().filter_map(|n| if let Verb::Call(call) = &n.verb { Some(call) } else { None });
        tools.chain(nodes).any(is_search)
    })
}

#[cfg(test)]
mod tests {
    use deepgraph_tools::{SkipReason, Skipped};

    use super::*;

    fn report(skipped: usize) -> IndexReport {
        let one = |n| Skipped { document: format!("{n}.bin"), reason: SkipReason::Binary };
        IndexReport { skipped: (0..skipped).map(one).collect(), ..IndexReport::default() }
    }

    #[test]
    fn documents_that_were_left_out_are_named() {
        assert_eq!(skipped(&report(1), false), ["0.bin was left out: it is a binary file"]);
        let lines = skipped(&report(NAMED + 1), false);
        assert_eq!(lines.len(), NAMED + 1);
        assert!(
            lines[NAMED].starts_with("1 more document was left out")
                && lines[NAMED].contains("--list-skipped")
        );
        assert_eq!(skipped(&report(50), true).len(), 50);
    }

    #[test]
    fn a_document_that_is_used_in_part_is_not_said_to_be_left_out() {
        let reason = SkipReason::BrokenRecords { count: 1, line: 3, detail: "EOF".into(), lines: vec![3] };
        let found = IndexReport {
            skipped: vec![Skipped { document: "a.jsonl".into(), reason }],
            ..IndexReport::default()
        };
        let line = "a.jsonl is used, but not all of it: the record at line 3 is broken: EOF";
        assert_eq!(skipped(&found, false), [line]);
    }

    #[test]
    fn links_out_of_the_folder_are_told() {
        assert_eq!(linked(&IndexReport::default()), None);
        let found = IndexReport { linked: vec!["a.md".into(), "b".into()], ..IndexReport::default() };
        let line = "2 links lead out of the folder, such as a.md; what is there is searched too";
        assert_eq!(linked(&found).as_deref(), Some(line));
    }
}
