//! Helpers of this crate's tests.

use std::collections::BTreeMap;

use crate::{Bundle, Diagnostic, Diagnostics, Loaded, OpTable, Severity, load};

/// Files in memory: the graph file and others.
pub(crate) fn files(text: &str, others: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([("t.yaml".to_owned(), text.to_owned())]);
    files.extend(others.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    files
}

pub(crate) fn try_load(text: &str) -> Result<Loaded, Diagnostics> {
    load("t.yaml", &files(text, &[]), &OpTable::stock())
}

/// The bundle of a file that has no mistakes and gives no warnings.
pub(crate) fn clean(text: &str) -> Bundle {
    match try_load(text) {
        Ok(loaded) if loaded.warnings.is_empty() => loaded.bundle,
        Ok(loaded) => panic!("{}", loaded.warnings),
        Err(e) => panic!("{e}"),
    }
}

/// Loads the first of several files.
pub(crate) fn load_first(list: &[(&str, &str)], ops: &OpTable) -> Result<Loaded, Diagnostics> {
    let all = list.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    load(list[0].0, &all.collect::<BTreeMap<String, String>>(), ops)
}

/// All that is said of several files, each with its file before it.
pub(crate) fn said_of(list: &[(&str, &str)], ops: &OpTable) -> Vec<String> {
    let said = match load_first(list, ops) {
        Ok(loaded) => loaded.warnings,
        Err(e) => e,
    };
    said.iter().map(|d| format!("{}: {}", d.file, line(d))).collect()
}

/// All that is said of a file: `CODE LINE:COLUMN MESSAGE`, and ` | HELP` where there is help.
pub(crate) fn said(text: &str) -> Vec<String> {
    let list = match try_load(text) {
        Ok(loaded) => loaded.warnings,
        Err(e) => e,
    };
    list.iter().map(line).collect()
}

pub(crate) fn line(d: &Diagnostic) -> String {
    let help = d.help.as_ref().map(|h| format!(" | {h}")).unwrap_or_default();
    let mark = if d.severity == Severity::Warning { "~" } else { "" };
    format!("{mark}{} {}:{} {}{help}", d.code, d.line, d.column, d.message)
}

/// Compares what is said with what should be, case by case; a wanted text may end in `...`.
pub(crate) fn compare(cases: &[(&str, String, &[&str])]) {
    let mut wrong = String::new();
    for (name, text, wanted) in cases {
        let found = said(text);
        let fits = found.len() == wanted.len()
            && found.iter().zip(*wanted).all(|(f, w)| match w.strip_suffix("...") {
                Some(start) => f.starts_with(start),
                None => f == w,
            });
        if !fits {
            wrong +=
                &format!("{name}:\n{text}\nfound:\n{}\nwanted:\n{}\n\n", found.join("\n"), wanted.join("\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
