//! How attempts of an instance ended, as text.

use deepgraph_protocol::{ReportOutcome, StepError};

use super::Printer;
use crate::tree::ScopeTrace;

impl Printer {
    /// The attempts that were over after so many super-steps.
    pub(super) fn earlier(&mut self, scope: &ScopeTrace, super_steps: usize, depth: usize) {
        for earlier in scope.earlier.iter().filter(|earlier| earlier.super_steps == super_steps) {
            self.exit(&earlier.exit, depth);
            self.report(scope, earlier.report, earlier.report_error.as_ref(), depth);
            let next = earlier.exit.attempt + 1;
            self.line(depth, format_args!("attempt {next} goes on with the {}", earlier.then_from.name()));
            // Those below get the same values, where their callers do not say otherwise.
            for (key, value) in earlier.then_set.iter().filter(|_| scope.scope.is_root()) {
                self.line(depth + 1, format_args!("config {key} = {value}"));
            }
        }
    }

    pub(super) fn report(
        &mut self,
        scope: &ScopeTrace,
        report: Option<ReportOutcome>,
        error: Option<&StepError>,
        depth: usize,
    ) {
        if let Some(report) = report {
            let stage = if scope.scope.is_root() { "report" } else { "finally" };
            self.line(depth, format_args!("{stage} {report}"));
        }
        if let Some(error) = error {
            self.line(depth, format_args!("report error {error}"));
        }
    }
}
