//! What is told at the end of a run: status, how research ended, how the report went, what was used.

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Exit, ExitClass, ReportOutcome, RunStatus, ScopeEnd};
use deepgraph_store::RunId;
use deepgraph_tools::IndexReport;

use crate::advice::Adviser;
use crate::advice::outlook::Outlook;
use crate::screen::one_line;
use crate::searches::FailedSearches;
use crate::when::{self, counted};
use crate::writes;

/// A block of lines, each with its name in front.
pub fn block(
    run: &RunId,
    status: RunStatus,
    end: &ScopeEnd,
    bundle: &Bundle,
    outlook: Option<&dyn Outlook>,
    documents: Option<&IndexReport>,
    searches: Option<&FailedSearches>,
) -> Vec<(String, String)> {
    let adviser = Adviser::new(run.as_str(), bundle, outlook, &end.exit, &end.children);
    let mut lines = vec![("status".to_owned(), status.to_string())];
    lines.push(("research".to_owned(), research(&adviser, &end.exit)));
    lines.extend(searches.map(|failed| ("searches".to_owned(), failed.to_string())));
    if end.exit.findings == Some(0) && !matches!(end.exit.class, ExitClass::Cancelled | ExitClass::Waiting) {
        let why = match searches.filter(|failed| failed.is_all()) {
            Some(_) => "none: nothing could be searched, so nothing can be said of what there is",
            None => "none: nothing that was read answers the question",
        };
        lines.push(("findings".to_owned(), why.to_owned()));
    }
    if end.exit.attempt > 1 {
        let text = format!("{}, with all that the earlier ones did and used", end.exit.attempt);
        lines.push(("attempt".to_owned(), text));
    }
    lines.extend(children(&end.children));
    lines.extend(adviser.groups().into_iter().map(|line| (String::new(), line)));
    lines.push(("report".to_owned(), report(run, end, &adviser)));
    let used = &end.settled;
    let calls = counted(used.model_calls, "model call", "model calls");
    let tools = counted(used.tool_calls, "tool call", "tool calls");
    let tokens = counted(used.tokens, "token", "tokens");
    lines.push(("used".to_owned(), format!("{calls}, {tools}, {tokens}, {}", when::cost(used))));
    if let Some(found) = documents.filter(|found| !found.skipped.is_empty()) {
        lines.push(("documents".to_owned(), searched(found)));
    }
    lines.extend(writes::lines(std::iter::once(&end.exit).chain(&end.children)));
    lines.push(("run".to_owned(), format!("{run}: see `deepgraph show {run}`")));
    lines
}

/// `17 were searched (1 of them in part), 3 were left out (see above)`.
fn searched(found: &IndexReport) -> String {
    let mut text = format!("{} searched", counted(found.documents as u64, "was", "were"));
    let (in_part, left_out) = (found.in_part().count() as u64, found.left_out().count() as u64);
    if in_part > 0 {
        text.push_str(&format!(", {} of them in part", when::number(in_part)));
    }
    if left_out > 0 {
        text.push_str(&format!(", {}", counted(left_out, "was left out", "were left out")));
    }
    text + " (see above)"
}

/// The lines as text, names in one column.
pub fn align(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let rows: Vec<String> = lines.iter().map(|(name, text)| format!("{name:width$}  {text}")).collect();
    rows.join("\n")
}

fn research(adviser: &Adviser<'_>, exit: &Exit) -> String {
    let mut text = format!("ended by {}: {}", exit.reason, adviser.research());
    if !exit.also.is_empty() {
        let also: Vec<&str> = exit.also.iter().map(|reason| reason.name()).collect();
        text.push_str(&format!(" (at the same moment also {})", also.join(", ")));
    }
    text
}

/// A line for each graph below the root: how often it ended how, in delegation order.
fn children(exits: &[Exit]) -> Vec<(String, String)> {
    let mut graphs: Vec<(&str, Vec<(&str, u64)>)> = Vec::new();
    for exit in exits {
        let name = exit.graph.rsplit('/').next().unwrap_or_default();
        let at = graphs.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            graphs.push((name, Vec::new()));
            graphs.len() - 1
        });
        let reasons = &mut graphs[at].1;
        match reasons.iter_mut().find(|(known, _)| *known == exit.reason.name()) {
            Some((_, count)) => *count += 1,
            None => reasons.push((exit.reason.name(), 1)),
        }
    }
    let line = |(name, reasons): (&str, Vec<(&str, u64)>)| {
        let total: u64 = reasons.iter().map(|(_, count)| count).sum();
        let name = if total == 1 { name.to_owned() } else { format!("{name}s") };
        let reasons: Vec<String> =
            reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        (name, reasons.join(", "))
    };
    graphs.into_iter().map(line).collect()
}

fn report(run: &RunId, end: &ScopeEnd, adviser: &Adviser<'_>) -> String {
    let error = end.report_error.as_ref().map(|error| one_line(&error.to_string(), 600));
    let because = |error: Option<String>| error.map_or_else(String::new, |error| format!(": {error}"));
    let again = || {
        let command = adviser.report_again(end.report_error.as_ref());
        command.map_or_else(String::new, |command| format!("; to write it again: {command}"))
    };
    match end.report {
        None => "none: the graph has no report stage".to_owned(),
        Some(ReportOutcome::Complete) => "complete".to_owned(),
        Some(ReportOutcome::Skipped) if end.exit.findings == Some(0) => {
            let next = without_findings(end.exit.class);
            format!("skipped: nothing was found to report; {next}; what was tried: deepgraph trace {run}")
        }
        Some(ReportOutcome::Skipped) => {
            format!(
                "skipped: this end does not pass the report stage; for what was found see `deepgraph trace {run}`"
            )
        }
        Some(ReportOutcome::Partial) => match error {
            Some(error) => format!("partial: {error}{}", again()),
            None => format!(
                "partial: it went a way that the graph keeps for failures, or a text was cut{}",
                again()
            ),
        },
        Some(ReportOutcome::Failed) => {
            format!("failed{}; what was found is kept: deepgraph trace {run}{}", because(error), again())
        }
    }
}

/// What to do where nothing was found. What ended the research too early is told with the research.
fn without_findings(class: ExitClass) -> &'static str {
    match class {
        ExitClass::Error | ExitClass::Budget | ExitClass::Cap | ExitClass::Cancelled | ExitClass::Waiting => {
            "what lets the research go on is told above"
        }
        _ => {
            "ask again with documents that have the answer (--docs), with the web (--web), or in other words"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use deepgraph_protocol::{ErrorKind, ExitReason, Map, ScopePath, Spent, StepError};

    use super::*;
    use crate::graphs;

    fn exit(graph: &str, reason: ExitReason) -> Exit {
        Exit {
            scope: ScopePath::root(),
            graph: graph.into(),
            attempt: 1,
            class: reason.class().unwrap(),
            reason,
            limit: None,
            counters: BTreeMap::new(),
            last_step: None,
            detail: None,
            also: Vec::new(),
            findings: Some(3),
            unknown_writes: Box::default(),
            not_undone: Box::default(),
            clocks: Default::default(),
        }
    }

    fn text(end: &ScopeEnd) -> String {
        let bundle = graphs::load_named(graphs::DEFAULT).unwrap().unwrap_or_else(|m| panic!("{m}")).bundle;
        align(&block(&RunId::new(), RunStatus::Succeeded, end, &bundle, None, None, None))
    }

    #[test]
    fn documents_that_are_used_in_part_are_not_counted_as_left_out() {
        use deepgraph_tools::{SkipReason, Skipped};
        let skipped = |reason| Skipped { document: "a".into(), reason };
        let broken = SkipReason::BrokenRecords { count: 1, line: 3, detail: "EOF".into(), lines: vec![3] };
        let mut found =
            IndexReport { documents: 2, skipped: vec![skipped(broken)], ..IndexReport::default() };
        assert_eq!(searched(&found), "2 were searched, 1 of them in part (see above)");
        found.skipped.push(skipped(SkipReason::Binary));
        assert_eq!(searched(&found), "2 were searched, 1 of them in part, 1 was left out (see above)");
    }

    #[test]
    fn exits_and_report_are_told_apart() {
        let researcher = |reason| exit("deep_research/researcher", reason);
        let mut end = ScopeEnd {
            exit: exit("deep_research", ExitReason::ResearchComplete),
            report: Some(ReportOutcome::Complete),
            report_error: None,
            output: Map::new(),
            persisted: Map::new(),
            writes: Vec::new(),
            settled: Spent {
                model_calls: 35,
                tool_calls: 1,
                tokens: 12_345,
                cost_unknown: 35,
                ..Spent::default()
            },
            children: vec![
                exit("deep_research/supervisor", ExitReason::ResearchComplete),
                researcher(ExitReason::NoToolCalls),
                researcher(ExitReason::ToolCallCap),
                researcher(ExitReason::NoToolCalls),
            ],
        };
        let said = text(&end);
        for line in [
            "status       succeeded",
            "research     ended by research_complete: the model said that the question is covered",
            "supervisor   1 research_complete",
            "researchers  2 no_tool_calls, 1 tool_call_cap",
            "report       complete",
            "used         35 model calls, 1 tool call, 12 345 tokens, cost unknown (35 calls of unknown price)",
        ] {
            assert!(said.lines().any(|l| l == line), "{line}\n{said}");
        }
        end.report = Some(ReportOutcome::Failed);
        end.report_error = Some(StepError::new(ErrorKind::Refusal, "no"));
        end.exit.findings = Some(0);
        let said = text(&end);
        assert!(said.contains("report       failed: refusal: no; what was found is kept"), "{said}");
        assert!(said.contains("findings     none"), "{said}");
        end.report = Some(ReportOutcome::Skipped);
        let said = text(&end);
        assert!(
            said.contains("report       skipped: nothing was found to report; ask again with documents"),
            "{said}"
        );
        end.exit.class = ExitClass::Budget;
        let said = text(&end);
        assert!(
            said.contains("nothing was found to report; what lets the research go on is told above"),
            "{said}"
        );
        end.exit.findings = Some(1);
        assert!(text(&end).contains("for what was found see `deepgraph trace"));
    }
}
