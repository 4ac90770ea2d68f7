//! Progress on a terminal: a line for every graph instance at work, side by side, and one for the whole run. Behind what
//! an instance does stands what its model is writing; below all, the end of what is written for the whole run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Event, ScopePath, StepId};
use deepgraph_runtime::{Observer, Told};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::preview::Written;
use super::scopes::Scopes;
use super::words::{is_notable, waits, words};
use crate::screen::{Screen, one_line};
use crate::when::counted;

/// The most instances that have a line of their own; the others are counted.
const LINES: usize = 12;

/// How many lines of what is written for the whole run are shown.
const REPORT_LINES: usize = 4;

/// How often the sign turns that says that the program is alive. It tells nothing of progress.
const TURN: Duration = Duration::from_millis(120);

/// Keeps the lines.
pub struct Live {
    scopes: Scopes,
    screen: Screen,
    bars: MultiProgress,
    total: ProgressBar,
    /// Instances at work, in the order in which they started; those that have a line, with it.
    open: Vec<ScopePath>,
    lines: BTreeMap<ScopePath, ProgressBar>,
    /// What models are writing.
    written: Written,
    /// The lines that show what is written for the whole run.
    report: Vec<ProgressBar>,
}

impl Live {
    pub fn new(bundle: Arc<Bundle>, screen: Screen, bars: MultiProgress) -> Live {
        let total = bars.add(ProgressBar::new_spinner().with_style(style("{spinner} {wide_msg}")));
        total.enable_steady_tick(TURN);
        let scopes = Scopes::new(bundle);
        let (open, lines, written, report) = Default::default();
        Live { scopes, screen, bars, total, open, lines, written, report }
    }

    fn note(&mut self, event: &Event) {
        self.scopes.note(event);
        self.written.note(event);
        match event {
            Event::ScopeStarted { scope, .. } if !scope.is_root() => self.open.push(scope.clone()),
            Event::ScopeEnded { scope, .. } => {
                self.open.retain(|open| open != scope);
                if let Some(line) = self.lines.remove(scope) {
                    line.finish_and_clear();
                    self.bars.remove(&line);
                }
            }
            _ => {}
        }
    }

    /// Gives lines to those that lack one while there is room, and puts the present words on all of them.
    fn draw(&mut self) {
        for scope in &self.open {
            if self.lines.len() < LINES && !self.lines.contains_key(scope) {
                let line = ProgressBar::new_spinner().with_style(style("  {spinner} {wide_msg}"));
                let line = self.bars.insert_before(&self.total, line);
                line.enable_steady_tick(TURN);
                self.lines.insert(scope.clone(), line);
            }
        }
        for (scope, line) in &self.lines {
            if let Some(view) = self.scopes.get(scope) {
                let steps = counted(view.done, "step", "steps");
                let written = self.written.last_lines(1, |step| self.scopes.scope_of(step) == *scope);
                let phase = match written.first() {
                    Some(text) => format!("{}: {}", one_line(&view.phase, 60), one_line(text, 300)),
                    None => one_line(&view.phase, 300),
                };
                line.set_message(format!("{:13} {:>9}  {phase}", view.label, steps));
            }
        }
        self.total.set_message(self.sum());
        self.draw_report();
    }

    /// Shows the end of what is written for the whole run, such as its report.
    fn draw_report(&mut self) {
        let lines = self.written.last_lines(REPORT_LINES, |step| self.scopes.scope_of(step).is_root());
        while self.report.len() > lines.len() {
            if let Some(line) = self.report.pop() {
                line.finish_and_clear();
                self.bars.remove(&line);
            }
        }
        for (at, text) in lines.iter().enumerate() {
            if at == self.report.len() {
                let line = ProgressBar::new_spinner().with_style(style("    {wide_msg}"));
                self.report.push(self.bars.add(line));
            }
            if let Some(line) = self.report.get(at) {
                line.set_message(one_line(text, 300));
            }
        }
    }

    /// The line of the whole run.
    fn sum(&self) -> String {
        let root = self.scopes.get(&ScopePath::root());
        let phase = root.map_or_else(String::new, |view| one_line(&view.phase, 100));
        let steps = counted(self.scopes.done, "step", "steps");
        let hidden = self.open.len().saturating_sub(self.lines.len());
        let more = if hidden > 0 { format!(", {hidden} more at work") } else { String::new() };
        format!("{phase}: {steps} done{more}")
    }
}

impl Observer for Live {
    fn told(&mut self, told: &Told) {
        self.note(&told.event);
        if told.replayed {
            return;
        }
        if is_notable(&told.event)
            && let Some((scope, text)) = words(&told.event, &self.scopes)
        {
            let label = self.scopes.get(&scope).map_or("", |view| &view.label);
            self.screen.say(&format!("{label}: {text}"));
        }
        self.draw();
    }

    fn preview(&mut self, step: &StepId, piece: &str) {
        self.written.push(step, piece);
        self.draw();
    }

    fn waits(&mut self, step: &StepId, model: &str, ms: u64) {
        if let Some(text) = waits(step, model, ms) {
            let label = self.scopes.get(&self.scopes.scope_of(step)).map_or("", |view| &view.label);
            self.screen.say(&format!("{label}: {text}"));
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        for line in self.lines.values().chain(&self.report).chain([&self.total]) {
            line.finish_and_clear();
        }
        let _ = self.bars.clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are ours; a test reads them.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
