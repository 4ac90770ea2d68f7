//! From text to tree. What YAML makes easy to get wrong is refused here.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::{Key, Kind, Node, Place, Scalar, Style};
use crate::diagnostic::code;
use crate::nearest::shortened;

/// The longest file that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The deepest nesting.
const MAX_DEPTH: usize = 48;

/// Why a text has no tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceError {
    pub code: &'static str,
    pub place: Place,
    pub message: String,
    pub help: Option<&'static str>,
}

type Result<T> = std::result::Result<T, SourceError>;

fn error(
    code: &'static str,
    place: Place,
    message: impl Into<String>,
    help: Option<&'static str>,
) -> SourceError {
    SourceError { code, place, message: message.into(), help }
}

/// What a text holds, and what is wrong with it.
pub(crate) struct Parsed {
    /// The tree; none where it could not be read to its end.
    pub node: Option<Node>,
    /// What is refused, in the order of the text.
    pub errors: Vec<SourceError>,
}

/// Reads the one document of a YAML or JSON text.
pub(crate) fn parse(text: &str) -> Parsed {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut events = Events { parser: Parser::new_from_str(text), text, depth: 0, errors: Vec::new() };
    match document(&mut events) {
        // An alias has no value, and a mapping lacks what is merged in: what is said of the rest could be wrong.
        Ok(_) if events.errors.iter().any(|e| matches!(e.code, code::ANCHOR | code::MERGE_KEY)) => {
            Parsed { node: None, errors: events.errors }
        }
        Ok(node) => Parsed { node: Some(node), errors: events.errors },
        Err(last) => {
            events.errors.push(last);
            Parsed { node: None, errors: events.errors }
        }
    }
}

fn document(events: &mut Events<'_>) -> Result<Node> {
    let text = events.text;
    let start = Place { line: 1, column: 1 };
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; at most {MAX_BYTES} are read", text.len());
        return Err(error(code::TOO_LARGE, start, message, None));
    }
    refuse_control_characters(text)?;
    let node = match events.document()? {
        Some(node) => node,
        None => return Err(error(code::EMPTY, start, "the file is empty", None)),
    };
    events.expect_end()?;
    Ok(node)
}

/// NUL ends the text for the parser, so what follows would be lost without a word.
fn refuse_control_characters(text: &str) -> Result<()> {
    for (index, line) in text.split('\n').enumerate() {
        let bad = |c: char| c.is_control() && !matches!(c, '\t' | '\r' | '\u{85}');
        if let Some(column) = line.chars().position(bad) {
            let place = Place { line: index + 1, column: column + 1 };
            return Err(error(code::SYNTAX, place, "a control character, which YAML does not allow", None));
        }
    }
    Ok(())
}

/// The parser's events, taken one by one.
struct Events<'t> {
    parser: Parser<'t, StrInput<'t>>,
    text: &'t str,
    depth: usize,
    /// Mistakes after which reading goes on.
    errors: Vec<SourceError>,
}

impl<'t> Events<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Place)> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, place(&span))),
            Some(Err(scan)) => Err(self.scan_error(&scan)),
            None => Ok((Event::StreamEnd, Place { line: 1, column: 1 })),
        }
    }

    /// The first document; none where there is none, or nothing in it.
    fn document(&mut self) -> Result<Option<Node>> {
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                Event::StreamEnd | Event::DocumentEnd => return Ok(None),
                Event::Scalar(text, ScalarStyle::Plain, 0, None) if text.is_empty() => return Ok(None),
                other => return self.node(other, at).map(Some),
            }
        }
    }

    fn expect_end(&mut self) -> Result<()> {
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(()),
                Event::DocumentStart(_) => {
                    let help = Some("a graph file is one document: take out the line `---`");
                    return Err(error(code::DOCUMENTS, at, "a second document begins here", help));
                }
                _ => {}
            }
        }
    }

    fn node(&mut self, event: Event<'t>, at: Place) -> Result<Node> {
        let kind = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_marks(anchor, tag.is_some(), at);
                scalar(text, style)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_marks(anchor, tag.is_some(), at);
                self.deeper(at)?;
                let items = self.items()?;
                self.depth -= 1;
                Kind::List(items)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_marks(anchor, tag.is_some(), at);
                self.deeper(at)?;
                let entries = self.entries()?;
                self.depth -= 1;
                Kind::Map(entries)
            }
            Event::Alias(_) => {
                self.errors.push(anchors(at));
                Kind::Null
            }
            _ => return Err(error(code::SYNTAX, at, "a value is missing here", None)),
        };
        Ok(Node { kind, place: at })
    }

    fn deeper(&mut self, at: Place) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error(code::TOO_DEEP, at, format!("nested more than {MAX_DEPTH} deep"), None));
        }
        Ok(())
    }

    fn items(&mut self) -> Result<Vec<Node>> {
        let mut items = Vec::new();
        loop {
            let (event, at) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(items);
            }
            items.push(self.node(event, at)?);
        }
    }

    fn entries(&mut self) -> Result<Vec<(Key, Node)>> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        let mut known = BTreeSet::new();
        loop {
            let (event, at) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(entries);
            }
            let key = self.key(event, at)?;
            let (event, at) = self.next()?;
            let value = self.node(event, at)?;
            if known.insert(key.name.clone()) {
                entries.push((key, value));
                continue;
            }
            let message = format!("the key \"{}\" is here a second time", shortened(&key.name));
            let help = Some("a key stands once in a mapping");
            self.errors.push(error(code::DUPLICATE_KEY, key.place, message, help));
        }
    }

    fn key(&mut self, event: Event<'t>, at: Place) -> Result<Key> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_marks(anchor, tag.is_some(), at);
                if style == ScalarStyle::Plain && text == "<<" {
                    let help = Some("write the keys out");
                    self.errors.push(error(code::MERGE_KEY, at, "merge keys are not read", help));
                }
                Ok(Key { name: text.into(), place: at })
            }
            Event::Alias(_) => Err(anchors(at)),
            _ => {
                let help = Some("a template that begins with `{{` stands in quotes: \"{{ ... }}\"");
                Err(error(code::SYNTAX, at, "a key must be text", help))
            }
        }
    }

    fn refuse_marks(&mut self, anchor: usize, tagged: bool, at: Place) {
        if tagged {
            let help = Some("a text that begins with `!` stands in quotes; \"not\" is written `not`");
            self.errors.push(error(code::TAG, at, "tags are not read", help));
        } else if anchor > 0 {
            self.errors.push(anchors(at));
        }
    }

    /// The tab that a mistake in a line comes from. Of one in a text over several lines the parser names the line
    /// where the text begins.
    fn tab(&self, number: usize, line: &str, info: &str) -> Option<Place> {
        if let Some(column) = tab_in_indentation(line) {
            return Some(Place { line: number, column });
        }
        // A tab behind words of the same line is another mistake.
        if !info.contains("tab") || line.trim_end().contains('\t') {
            return None;
        }
        let below = (1..).zip(self.text.lines()).skip(number).filter(|(_, line)| !line.trim().is_empty());
        let mut tabs =
            below.filter_map(|(line, text)| Some(Place { line, column: tab_in_indentation(text)? }));
        tabs.next()
    }

    fn scan_error(&self, scan: &ScanError) -> SourceError {
        let at = mark(scan.marker().line(), scan.marker().col());
        let line = self.text.lines().nth(at.line.saturating_sub(1)).unwrap_or("");
        if let Some(place) = self.tab(at.line, line, scan.info()) {
            return error(code::TAB, place, "a tab in the indentation", Some("indent with spaces"));
        }
        // Inside `{ ... }` a mistake is told at the end of the construct; the usual cause is this one.
        let help = line.contains(['{', '[']).then_some(
            "an expression that holds `[ ] { } ,` or `: ` stands in quotes or on a line of its own",
        );
        error(code::SYNTAX, at, format!("not valid YAML: {}", scan.info()), help)
    }
}

/// The column of a tab in the indentation of a line.
fn tab_in_indentation(line: &str) -> Option<usize> {
    let indent = line.chars().take_while(|c| c.is_whitespace());
    indent.into_iter().position(|c| c == '\t').map(|before| before + 1)
}

fn anchors(at: Place) -> SourceError {
    error(code::ANCHOR, at, "anchors and aliases are not read", Some("write the value out"))
}

fn place(span: &Span) -> Place {
    mark(span.start.line(), span.start.col())
}

fn mark(line: usize, column: usize) -> Place {
    Place { line: line.max(1), column: column + 1 }
}

/// What a scalar stands for: only `true`, `false`, `null`, `~` and numbers are more than text.
fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Kind {
    let style = match style {
        ScalarStyle::Plain => match resolve(&text) {
            Some(kind) => return kind,
            None => Style::Plain,
        },
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
    };
    Kind::Text(Scalar { text: Arc::from(text), style })
}

fn resolve(text: &str) -> Option<Kind> {
    match text {
        "" | "~" | "null" => return Some(Kind::Null),
        "true" => return Some(Kind::Bool(true)),
        "false" => return Some(Kind::Bool(false)),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut chars = digits.chars();
    let first = chars.next()?;
    // 007 and 1.2.3 are texts; 0x10 as well.
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+');
    let leading_zero = first == '0' && chars.next().is_some_and(|c| c.is_ascii_digit());
    if !(first.is_ascii_digit() || first == '.') || leading_zero || !digits.chars().all(numeric) {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Kind::Int(whole));
    }
    text.parse::<f64>().ok().filter(|f| f.is_finite()).map(Kind::Float)
}
