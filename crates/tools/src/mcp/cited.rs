//! The text of a result as passages that can be cited.

use std::fmt::Write;
use std::ops::Range;
use std::time::SystemTime;

use deepgraph_protocol::{Map, Source, Span, Value};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::passage::{FULL_PASSAGE, MAX_PASSAGE};

/// How much of an answer can be cited, in bytes. Models see less of one anyway.
const MOST_BYTES: usize = 64 * 1024;

/// The longest value in the name of a result, in characters.
const LONGEST_VALUE: usize = 80;

/// The longest arguments in the name of a result, in characters.
const LONGEST_NAME: usize = 200;

/// A call, and the text that it brought.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The name of the tool on it.
    pub tool: &'a str,
    /// What the tool was called with.
    pub arguments: &'a Map,
    /// The URI of the resource that the text is, where the server says so.
    pub resource: Option<&'a str>,
    /// The text, verbatim.
    pub text: &'a str,
}

/// The passages of a result: pieces of its text, cut between lines, word for word. Their ids are derived from server, tool,
/// arguments and text. They have no URL: nothing was fetched here, whatever the server says.
///
/// With them comes the rest of the text, where it is too long to be cited as a whole.
pub fn passages<'a>(said: &Said<'a>) -> (Vec<Source>, &'a str) {
    let end = cut(said.text, MOST_BYTES);
    let (text, rest) = said.text.split_at(end);
    let key = key(said);
    let source = |(number, range): (usize, Range<usize>)| Source {
        id: format!("{key}-{number}"),
        document: document(said, &key),
        title: format!("{} of {}", said.tool, said.server),
        span: Span {
            start: range.start as u64,
            end: range.end as u64,
            line: text[..range.start].matches('\n').count() as u64 + 1,
            page: None,
        },
        text: text[range].to_owned(),
        fetched: Some(now()),
        hash: Some(hex(&Sha256::digest(said.text.as_bytes()), 32)),
        found: Some(format!("{}: {}", said.server, said.tool)),
        ..Source::default()
    };
    ((1..).zip(ranges(text)).map(source).collect(), rest)
}

/// Eight hexadecimal digits of SHA-256 over the call and what it brought.
fn key(said: &Said<'_>) -> String {
    let arguments = Value::from(said.arguments.clone()).to_json_text();
    let mut hash = Sha256::new();
    for part in [said.server, said.tool, &arguments, said.text] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize(), 4)
}

/// `files: read_text_file(path: notes.txt)`, or the URI of the resource.
fn document(said: &Said<'_>, key: &str) -> String {
    let uri = said
        .resource
        .filter(|uri| uri.contains(':') && !uri.contains(|c: char| c.is_whitespace() || c.is_control()));
    if let Some(uri) = uri {
        return uri.to_owned();
    }
    let mut is_cut = false;
    let mut arguments = String::new();
    for (name, value) in said.arguments {
        let value = match value.as_str() {
            Some(text) => text.to_owned(),
            None => value.to_json_text(),
        };
        let value = shortened(&value, LONGEST_VALUE, &mut is_cut);
        let comma = if arguments.is_empty() { "" } else { ", " };
        arguments.push_str(&format!("{comma}{name}: {value}"));
    }
    let mut arguments = shortened(&arguments, LONGEST_NAME, &mut is_cut);
    if is_cut {
        // Two calls that differ only in what is cut are two documents.
        arguments.push_str(&format!(" #{key}"));
    }
    format!("{}: {}({arguments})", said.server, said.tool)
}

/// A text on one line, cut to so many characters.
fn shortened(text: &str, most: usize, is_cut: &mut bool) -> String {
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => {
            *is_cut = true;
            format!("{}…", &line[..at])
        }
        None => line,
    }
}

/// Where the passages of a text stand: whole lines, up to [`FULL_PASSAGE`] bytes together; blank lines end one that is
/// half full, and none has blank lines around it.
fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut current = 0..0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let mut from = at;
        at += line.len();
        let is_blank = line.trim().is_empty();
        let is_full = at - current.start > FULL_PASSAGE || (is_blank && current.len() > FULL_PASSAGE / 2);
        if is_full && !current.is_empty() {
            ranges.push(current);
            current = from..from;
        }
        while at - from > MAX_PASSAGE {
            let to = from + cut(&text[from..at], MAX_PASSAGE);
            ranges.push(from..to);
            from = to;
            current = from..from;
        }
        current.end = at;
    }
    ranges.push(current);
    ranges.into_iter().map(|range| trimmed(text, range)).filter(|range| !range.is_empty()).collect()
}

/// A range without blank lines before it and blanks behind it.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    let end = range.start + part.trim_end().len();
    let leading: usize =
        part.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    (range.start + leading).min(end)..end
}

/// Where a text is cut that is longer than so many bytes: behind its last line there, else its last word.
fn cut(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let head = &text[..end];
    let line = head.rfind('\n').map(|at| at + 1);
    line.or_else(|| head.rfind(' ').map(|at| at + 1)).filter(|at| *at > 0).unwrap_or(end)
}

fn hex(bytes: &[u8], most: usize) -> String {
    bytes.iter().take(most).fold(String::new(), |mut text, byte| {
        // Writing into a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// RFC 3339, in UTC, to the second.
fn now() -> String {
    Timestamp::try_from(SystemTime::now())
        .ok()
        .and_then(|now| Timestamp::from_second(now.as_second()).ok())
        .map(|now| now.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(path: &str) -> Map {
        Map::from([("path".into(), Value::from(path)), ("head".into(), Value::Int(5))])
    }

    fn said<'a>(arguments: &'a Map, text: &'a str) -> Said<'a> {
        Said { server: "files", tool: "read_text_file", arguments, resource: None, text }
    }

    #[test]
    fn a_passage_tells_where_it_comes_from() {
        let arguments = arguments("notes.txt");
        let (sources, rest) = passages(&said(&arguments, "\nThe tide turns.\n"));
        let [source] = sources.as_slice() else { panic!("one passage: {sources:?}") };
        assert_eq!(source.document, "files: read_text_file(head: 5, path: notes.txt)");
        assert_eq!((&*source.title, &*source.text), ("read_text_file of files", "The tide turns."));
        assert_eq!((source.span.start, source.span.end, source.span.line), (1, 16, 2));
        assert_eq!((source.url.as_deref(), source.found.as_deref()), (None, Some("files: read_text_file")));
        assert_eq!(source.hash.as_ref().map(String::len), Some(64));
        assert!(source.fetched.as_ref().is_some_and(|time| time.ends_with('Z')), "{source:?}");
        assert!(deepgraph_research::passage::is_hashed_id(&source.id) && rest.is_empty());
    }

    #[test]
    fn ids_depend_on_the_call_and_on_what_it_brought() {
        let (one, other) = (arguments("a"), arguments("b"));
        let id = |said: Said<'_>| passages(&said).0.remove(0).id;
        let first = id(said(&one, "text"));
        assert_eq!(first, id(said(&one, "text")));
        for changed in [
            said(&other, "text"),
            said(&one, "texts"),
            Said { server: "file", ..said(&one, "text") },
            Said { tool: "read", ..said(&one, "text") },
        ] {
            assert_ne!(first, id(changed));
        }
    }

    #[test]
    fn a_resource_is_named_by_its_uri_and_long_arguments_are_cut() {
        let long = arguments(&"x\n".repeat(300));
        let document = |said: Said<'_>| passages(&said).0.remove(0).document;
        let cut = document(said(&long, "text"));
        assert!(cut.chars().count() < 150 && cut.contains("… #") && !cut.contains('\n'), "{cut}");
        let uri = Some("file:///notes.txt");
        assert_eq!(document(Said { resource: uri, ..said(&long, "text") }), "file:///notes.txt");
        let odd = Some("file:///a b\n[x-1]");
        assert!(document(Said { resource: odd, ..said(&long, "text") }).starts_with("files: "));
    }

    #[test]
    fn long_texts_are_cut_and_every_passage_is_of_the_text() {
        let lines: String = (0..200)
            .map(|n| format!("Line {n} of ünïcode.\n{}", if n % 7 == 0 { "\n" } else { "" }))
            .collect();
        for text in [lines, "word ".repeat(1000), "ü".repeat(3000), String::new(), "\n \n".into()] {
            let none = Map::new();
            let (sources, rest) = passages(&said(&none, &text));
            assert_eq!(rest, "");
            let mut end = 0;
            for source in &sources {
                let (from, to) = (source.span.start as usize, source.span.end as usize);
                assert!(from >= end && source.text.len() <= MAX_PASSAGE, "{source:?}");
                assert_eq!(text.get(from..to), Some(&*source.text));
                assert!(text[end..from].trim().is_empty(), "nothing is lost");
                end = to;
            }
            assert!(text[end..].trim().is_empty());
        }
        let huge = "A line of an answer.\n".repeat(5000);
        let none = Map::new();
        let (sources, rest) = passages(&said(&none, &huge));
        assert!(sources.len() > 50 && rest.starts_with("A line of") && huge.len() - rest.len() <= MOST_BYTES);
    }
}
