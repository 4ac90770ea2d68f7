//! Mistakes of a case file, told as those of graph files are: with file, line and what to do.

use std::fmt;
use std::sync::Arc;

use deepgraph_graph::{Diagnostic, Diagnostics, Severity};

use super::tree::Place;

/// The code of a mistake in a case file.
const CODE: &str = "case";

/// All mistakes of a case file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes(pub Diagnostics);

impl Mistakes {
    pub(crate) fn of(diagnostics: Diagnostics) -> Mistakes {
        Mistakes(diagnostics)
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Mistakes {}

/// Where the mistakes of one file are collected.
pub(crate) struct Sink {
    file: Arc<str>,
    lines: Vec<String>,
    list: Vec<Diagnostic>,
}

impl Sink {
    pub(crate) fn new(file: &str, text: &str) -> Sink {
        Sink { file: file.into(), lines: text.lines().map(str::to_owned).collect(), list: Vec::new() }
    }

    pub(crate) fn error(&mut self, at: Place, message: impl Into<String>) {
        self.error_with_help(at, message, None);
    }

    pub(crate) fn error_with_help(&mut self, at: Place, message: impl Into<String>, help: Option<String>) {
        let source = self.lines.get(at.line.saturating_sub(1)).cloned().unwrap_or_default();
        self.list.push(Diagnostic {
            severity: Severity::Error,
            code: CODE,
            file: self.file.clone(),
            line: at.line,
            column: at.column,
            message: message.into(),
            help,
            source,
        });
    }

    /// Nothing where there is no mistake; else all, by position.
    pub(crate) fn finish(mut self) -> Result<(), Mistakes> {
        if self.list.is_empty() {
            return Ok(());
        }
        self.list.sort_by_key(|d| (d.line, d.column));
        Err(Mistakes(Diagnostics(self.list)))
    }
}

/// "did you mean `x`?", or the names that there are.
pub(crate) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    let likeness = |other: &str| strsim::normalized_damerau_levenshtein(name, other);
    let nearest = known
        .clone()
        .into_iter()
        .map(|other| (likeness(other), other))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .fold(None, |best: Option<(f64, &str)>, found| match best {
            Some(best) if best.0 >= found.0 => Some(best),
            _ => Some(found),
        });
    match nearest {
        Some((_, nearest)) => Some(format!("did you mean \"{nearest}\"?")),
        None => {
            let all: Vec<&str> = known.into_iter().collect();
            (!all.is_empty()).then(|| format!("there is: {}", all.join(", ")))
        }
    }
}
