//! What models are writing just now. It is never state: it is forgotten when its step is done or has to be done again.

use std::collections::BTreeMap;

use deepgraph_protocol::{Event, StepId};

/// How much of the end of a text is kept, in bytes.
const KEPT: usize = 2000;

/// The longest piece of a line that is shown, in characters.
const WIDTH: usize = 90;

/// The ends of the texts that are being written, by step.
#[derive(Debug, Default)]
pub struct Written(BTreeMap<StepId, String>);

impl Written {
    /// Takes one more piece in.
    pub fn push(&mut self, step: &StepId, piece: &str) {
        let text = self.0.entry(step.clone()).or_default();
        text.push_str(piece);
        if text.len() > 2 * KEPT {
            let from = text.len() - KEPT;
            let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            text.drain(..from);
        }
    }

    /// Forgets what a step wrote once that is committed, or was in vain.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::StepCompleted { step }
            | Event::AttemptFailed { step, .. }
            | Event::StepFailed { step, .. } => drop(self.0.remove(step)),
            _ => {}
        }
    }

    /// The last lines of what is written in one instance, oldest first; none where nothing is.
    pub fn last_lines(&self, most: usize, is_of: impl Fn(&StepId) -> bool) -> Vec<&str> {
        let Some((_, text)) = self.0.iter().find(|(step, _)| is_of(step)) else { return Vec::new() };
        let lines = text.lines().rev().filter(|line| !line.trim().is_empty());
        let mut lines: Vec<&str> = lines.flat_map(|line| pieces(line).into_iter().rev()).take(most).collect();
        lines.reverse();
        lines
    }
}

/// A line in pieces that fit a terminal, so that the end of a long one is seen.
fn pieces(line: &str) -> Vec<&str> {
    let borders = line.char_indices().map(|(at, _)| at).step_by(WIDTH);
    let mut ends = borders.clone().skip(1).chain([line.len()]);
    borders.filter_map(|from| line.get(from..ends.next()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_text_is_kept_until_its_step_is_done() {
        let mut written = Written::default();
        let (one, other) = (StepId::new("report.1"), StepId::new("go.1/write.1"));
        for piece in ["# Ti", "tle\n\n", "First.\nSec", "ond"] {
            written.push(&one, piece);
        }
        written.push(&other, &"日本".repeat(5000));
        let of = |step: &StepId| step.clone();
        let lines = |written: &Written, step: &StepId, most| -> Vec<String> {
            let step = of(step);
            written.last_lines(most, |s| *s == step).into_iter().map(str::to_owned).collect()
        };
        assert_eq!(lines(&written, &one, 2), ["First.", "Second"]);
        assert_eq!(lines(&written, &one, 9), ["# Title", "First.", "Second"]);
        assert_eq!(lines(&written, &other, 2)[0].chars().count(), WIDTH, "a long line is shown in pieces");
        written.note(&Event::StepCompleted { step: one.clone() });
        assert!(lines(&written, &one, 2).is_empty());
        assert_eq!(lines(&written, &other, 1).len(), 1);
    }
}
