//! Where mistakes are collected.

use std::collections::BTreeSet;

use super::{Diagnostic, Diagnostics, Severity, code};
use crate::source::{FileText, Place, SourceError};

/// More than these are not shown: whoever has so many mends some and looks again.
const MAX: usize = 200;

/// More than these are not even kept.
const MAX_KEPT: usize = 2000;

/// Collects mistakes. Errors and warnings apart, so that no number of warnings takes the place of an error.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
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
        let list = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        if list.len() > MAX_KEPT {
            // The last place is overwritten again and again.
            self.dropped += 1;
            list.pop();
        }
        list.push(new);
        let last = list.len() - 1;
        &mut list[last]
    }

    /// Adds what keeps a source from being read.
    pub fn unread(&mut self, file: &FileText, errors: impl IntoIterator<Item = SourceError>) {
        for e in errors {
            self.error(e.code, file, e.place, e.message).hint(e.help.map(str::to_owned));
        }
    }

    /// How many there are by now.
    pub fn len(&self) -> usize {
        self.errors.len() + self.warnings.len() + self.dropped
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// All of them: by position, each once, errors before warnings of the same place.
    pub fn finish(self, first: &FileText) -> Diagnostics {
        let mut list = self.errors;
        list.extend(self.warnings);
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
            // Where not all are shown, errors are.
            list.sort_by_key(|d| d.severity);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_among_any_number_of_warnings_is_kept_and_shown() {
        let file = FileText::new("graph.yaml", "");
        let mut sink = Sink::default();
        let place = |line| Place { line, column: 1 };
        for line in 1..=MAX_KEPT + 10 {
            sink.warning(code::UNUSED, &file, place(line), format!("warning {line}"));
        }
        sink.error(code::CONFLICT, &file, place(MAX_KEPT + 11), "the error");
        for line in 1..=10 {
            sink.warning(code::UNUSED, &file, place(MAX_KEPT + 11 + line), "a later warning");
        }
        assert!(sink.has_errors());
        let shown = sink.finish(&file);
        assert_eq!(shown.0.len(), MAX + 1);
        assert_eq!(shown.0[0].message, "the error");
    }
}
