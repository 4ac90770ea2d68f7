//! Attempts as text: of steps, and how those of an instance ended.

use deepgraph_protocol::{ReportOutcome, StepError};

use super::Printer;
use crate::tree::{Attempt, ScopeTrace, Sending};

impl Printer {
    /// An attempt of a step that failed.
    pub(super) fn attempt(&mut self, attempt: &Attempt, depth: usize) {
        let then = if attempt.fail_over { "; the next model is asked" } else { "" };
        self.line(depth, format_args!("attempt {} failed: {}{then}", attempt.number, attempt.error));
        self.sending(&attempt.sent, depth + 1);
    }

    /// Which model was asked, where it is not the configured one, and what was cut from the request.
    pub(super) fn sending(&mut self, sent: &Sending, depth: usize) {
        if let Some(model) = &sent.model {
            self.line(depth, format_args!("asked {model}"));
        }
        if let Some(told) = sent.cut_told() {
            self.line(depth, format_args!("{told}"));
        }
    }

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
