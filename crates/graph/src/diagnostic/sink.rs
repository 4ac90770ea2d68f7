//! Where mistakes are collected.

use std::collections::BTreeSet;

use super::{Diagnostic, Diagnostics, Severity, code};
use crate::source::{FileText, Place};

/// More than these are not shown: whoever has so many mends some and looks again.
const MAX: usize = 200;

/// More than these are not even kept.
const MAX_KEPT: usize = 2000;

/// Collects mistakes.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    list: Vec<Diagnostic>,
    /// How many were not kept.
    dropped: usize,
}

impl Sink {
    /// Adds an error. The caller may add help to it.
    pub fn error(
        &mut self,
        code: &'static str,
        file: &FileText,
        at: Place,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.add(Severity::Error, code, file, at, message.into())
    }

    /// Adds a warning.
    pub fn warning(
        &mut self,
        code: &'static str,
        file: &FileText,
        at: Place,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.add(Severity::Warning, code, file, at, message.into())
    }

    fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        file: &FileText,
        at: Place,
        message: String,
    ) -> &mut Diagnostic {
        let source = file.line(at.line).chars().take(2000).collect();
        let (line, column) = (at.line, at.column);
        let new =
            Diagnostic { severity, code, file: file.name.clone(), line, column, message, help: None, source };
        if self.list.len() > MAX_KEPT {
            // The last place is overwritten again and again.
            self.dropped += 1;
            self.list.pop();
        }
        self.list.push(new);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// How many there are by now.
    pub fn len(&self) -> usize {
        self.list.len() + self.dropped
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// All of them: by position, each once, errors before warnings of the same place.
    pub fn finish(self, first: &FileText) -> Diagnostics {
        let mut list = self.list;
        let rank = |d: &Diagnostic| (*d.file != *first.name, d.file.clone(), d.line, d.column, d.severity);
        list.sort_by_cached_key(|d| (rank(d), d.code));
        // A value with a tag is not what was meant, so nothing else is said of it.
        let place = |d: &Diagnostic| (d.file.clone(), d.line, d.column);
        let tagged: BTreeSet<_> = list.iter().filter(|d| d.code == code::TAG).map(place).collect();
        list.retain(|d| d.code == code::TAG || !tagged.contains(&place(d)));
        let mut seen = BTreeSet::new();
        list.retain(|d| seen.insert((d.file.clone(), d.line, d.column, d.code, d.message.clone())));
        if list.len() > MAX {
            let rest = list.len() - MAX + self.dropped;
            list.truncate(MAX);
            if let Some(last) = list.last().cloned() {
                let message = format!("and {rest} more");
                list.push(Diagnostic { code: code::TOO_MANY, message, help: None, ..last });
            }
        }
        Diagnostics(list)
    }
}

impl Diagnostic {
    /// Adds what to do.
    pub(crate) fn help(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }

    /// Adds what to do, if there is something to say.
    pub(crate) fn hint(&mut self, help: Option<String>) {
        self.help = help;
    }
}
