//! Statements: what a passage says, one thing at a time, with the label under which it says it.
//!
//! A sentence of prose is a statement without label. A line `Area › total: 176,215 sq km` is one with the labels
//! `Area`, `total`; a cell of a table is one with the labels of its row and its column.

use std::ops::Range;

use super::blocks::{Block, BlockKind, blocks, trimmed};
use super::figures;
use super::sentences::split;
use super::words::is_written_without_spaces;

/// A statement of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What it is about, outermost first; empty for prose.
    pub labels: Vec<String>,
    /// Where it stands, label and all.
    pub range: Range<usize>,
    /// Where that stands which it says: the range without the label, or one cell of a row.
    pub value: Range<usize>,
}

impl Statement {
    /// Labels and value on one line: `Area › total: 176,215 sq km`.
    pub fn line(&self, text: &str) -> String {
        let value = text.get(self.value.clone()).unwrap_or("");
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let label = self.labels.join(SEPARATOR);
        match label.as_str() {
            "" => value,
            question if question.ends_with('?') => format!("{question} {value}"),
            label => format!("{label}: {value}"),
        }
    }
}

/// Stands between the parts of a label.
pub const SEPARATOR: &str = " › ";

/// The longest part of a label, in words.
const LONGEST_LABEL: usize = 12;

/// The longest label, in bytes: each statement below it has it.
const LONGEST_LABEL_BYTES: usize = 400;

/// The longest question that is taken for the heading of its answer, in words.
const LONGEST_QUESTION: usize = 20;

/// The statements of a text, in order. Headings say nothing by themselves.
pub fn statements(text: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut table = Table::default();
    let mut above: Option<String> = None;
    let blocks = blocks(text);
    for (i, block) in blocks.iter().enumerate() {
        if !matches!(block.kind, BlockKind::Row | BlockKind::RowRule) {
            table = Table::default();
        }
        // What stands above a list, or a question right above its answer, is a label to it.
        let is_under = block.kind == BlockKind::Item || (block.kind == BlockKind::Line && !block.is_apart);
        if !is_under || (block.kind == BlockKind::Line && !above.as_deref().is_some_and(|a| a.ends_with('?')))
        {
            above = None;
        }
        match block.kind {
            BlockKind::Heading | BlockKind::RowRule => {}
            BlockKind::Row => {
                let is_head = blocks.get(i + 1).is_some_and(|next| next.kind == BlockKind::RowRule);
                table.read(text, block, is_head, &mut found);
            }
            BlockKind::Line | BlockKind::Item => match heading(text, block, blocks.get(i + 1)) {
                Some(label) => above = Some(label),
                None if text[block.range.clone()].contains(FIELD) => {
                    let next = blocks.get(i + 1).and_then(|next| text.get(next.range.clone()));
                    push_fields(text, block.range.clone(), next.unwrap_or(""), &mut found);
                }
                None => push_labelled(text, block.range.clone(), above.as_deref(), &mut found),
            },
        }
    }
    found
}

/// The byte after the label of a line and its colon, if it has one: short, no sentence, something behind it.
pub fn label_end(line: &str) -> Option<usize> {
    let line_end = line.find('\n').unwrap_or(line.len());
    for (at, colon) in line[..line_end].match_indices([':', '：']) {
        let end = at + colon.len();
        let behind = &line[end..];
        let marks = behind.len() - behind.trim_start_matches(['*', '_']).len();
        // No space follows a colon of full width.
        if colon == ":" && !behind[marks..].starts_with([' ', '\t']) {
            continue;
        }
        let label = &line[..at];
        let is_short_part = |part: &str| words_of(part) <= LONGEST_LABEL;
        let is_short = at <= LONGEST_LABEL_BYTES
            && !label.trim().is_empty()
            && label.split(SEPARATOR).all(is_short_part);
        let is_sentence =
            label.contains(". ") || label.contains(['?', '!', ';', '。']) || label.contains("://");
        let says = !behind[marks..line_end.saturating_sub(end).max(marks)].trim().is_empty();
        return (is_short && !is_sentence && says).then_some(end + marks);
    }
    None
}

/// How many words a text has, by the spaces between them; two characters are a word where none are written.
fn words_of(text: &str) -> usize {
    let unspaced = text.chars().filter(|c| is_written_without_spaces(*c)).count();
    text.split_whitespace().count() + unspaced / 2
}

/// What a line that says nothing itself is to those below it: a label with nothing behind its colon, or a question
/// with its answer on the next line.
fn heading(text: &str, block: &Block, next: Option<&Block>) -> Option<String> {
    let line = &text[block.range.clone()];
    let is_answered = next.is_some_and(|next| next.kind == BlockKind::Line && !next.is_apart);
    let is_question = is_answered
        && line.ends_with('?')
        && line.len() <= LONGEST_LABEL_BYTES
        && line.split_whitespace().count() <= LONGEST_QUESTION;
    label_only(line).or_else(|| is_question.then(|| clean(line)))
}

/// The label of a line that has nothing behind its colon.
fn label_only(line: &str) -> Option<String> {
    let label = line.trim_end_matches(['*', '_']).strip_suffix([':', '：'])?;
    let is_label = label.len() <= LONGEST_LABEL_BYTES
        && words_of(label) <= LONGEST_LABEL
        && !label.contains(['.', '?', '!', '。', '\n']);
    is_label.then(|| clean(label))
}

/// The parts of a label, without emphasis.
fn label_parts(label: &str) -> Vec<String> {
    label.split(SEPARATOR.trim()).map(clean).filter(|part| !part.is_empty()).collect()
}

fn clean(label: &str) -> String {
    label.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | ':' | '：')).to_owned()
}

/// The sentences of a block, with the labels before them.
fn push_labelled(text: &str, range: Range<usize>, above: Option<&str>, found: &mut Vec<Statement>) {
    let mut labels: Vec<String> = above.map(str::to_owned).into_iter().collect();
    let mut value = range.clone();
    while let Some(end) = label_end(&text[value.clone()]).filter(|_| labels.len() < 6) {
        labels.extend(label_parts(&text[value.start..value.start + end]));
        value = trimmed(text, value.start + end..value.end);
    }
    let mut start = range.start;
    for sentence in split(text, value) {
        found.push(Statement { labels: labels.clone(), range: start..sentence.end, value: sentence.clone() });
        start = sentence.end;
        start = trimmed(text, start..range.end).start;
    }
}

/// Stands between the fields of a row that is written as a line: `Vessel: Tern | Year: 2024`.
const FIELD: &str = " | ";
/// The most fields at the beginning of such a row that name what it is about.
const NAMING_FIELDS: usize = 3;

/// The fields of a row that is written as a line. The first ones without figures name the row; a row of headings,
/// which the next row repeats, says nothing.
fn push_fields(text: &str, row: Range<usize>, next: &str, found: &mut Vec<Statement>) {
    let mut start = row.start;
    let mut fields: Vec<(String, Range<usize>)> = Vec::new();
    for part in text[row.clone()].split(FIELD) {
        let whole = trimmed(text, start..start + part.len());
        let end = label_end(&text[whole.clone()]).unwrap_or(0);
        fields.push((
            clean(&text[whole.start..whole.start + end]),
            trimmed(text, whole.start + end..whole.end),
        ));
        start += part.len() + FIELD.len();
    }
    let first = fields.first().map_or("", |(_, value)| &text[value.clone()]);
    let has_labels = fields.iter().any(|(label, _)| !label.is_empty());
    if !has_labels && next.starts_with(&format!("{first}: ")) {
        return;
    }
    let is_name = |value: &Range<usize>| figures::find(&text[value.clone()]).is_empty();
    let names = fields
        .iter()
        .take(NAMING_FIELDS)
        .take_while(|(_, value)| is_name(value))
        .count()
        .min(fields.len() - 1);
    let name =
        fields[..names.max(1)].iter().map(|(_, value)| &text[value.clone()]).collect::<Vec<_>>().join(", ");
    if name.len() > LONGEST_LABEL_BYTES {
        found.push(Statement { labels: Vec::new(), range: row.clone(), value: row });
        return;
    }
    for (label, value) in fields.iter().skip(names.max(1)).filter(|(_, value)| !value.is_empty()) {
        let labels = [name.clone(), label.clone()].into_iter().filter(|l| !l.is_empty()).collect();
        found.push(Statement { labels, range: row.clone(), value: value.clone() });
    }
}

/// A Markdown table that is being read.
#[derive(Default)]
struct Table {
    head: Vec<String>,
}

impl Table {
    fn read(&mut self, text: &str, row: &Block, is_head: bool, found: &mut Vec<Statement>) {
        let cells = cells(text, row.range.clone());
        if is_head {
            self.head = cells.iter().map(|cell| clean(&text[cell.clone()])).collect();
            return;
        }
        let Some((first, rest)) = cells.split_first() else { return };
        let name = clean(&text[first.clone()]);
        if rest.is_empty() {
            push_labelled(text, first.clone(), None, found);
        }
        if name.len() > LONGEST_LABEL_BYTES {
            found.push(Statement { labels: Vec::new(), range: row.range.clone(), value: row.range.clone() });
            return;
        }
        for (i, cell) in rest.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let column =
                self.head.get(i + 1).filter(|head| rest.len() > 1 && head.len() <= LONGEST_LABEL_BYTES);
            let labels =
                [Some(&name), column].into_iter().flatten().filter(|l| !l.is_empty()).cloned().collect();
            found.push(Statement { labels, range: row.range.clone(), value: cell.clone() });
        }
    }
}

/// The cells of a row of a Markdown table. A `|` after a backslash does not end a cell.
pub fn cells(text: &str, row: Range<usize>) -> Vec<Range<usize>> {
    let inner = &text[row.clone()];
    let mut found = Vec::new();
    let mut start: Option<usize> = None;
    let mut before = ' ';
    for (at, c) in inner.char_indices() {
        if c == '|' && before != '\\' {
            if let Some(start) = start {
                found.push(trimmed(text, row.start + start..row.start + at));
            }
            start = Some(at + 1);
        }
        before = c;
    }
    if let Some(start) = start.filter(|start| !inner[*start..].trim().is_empty()) {
        found.push(trimmed(text, row.start + start..row.end));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        statements(text).iter().map(|s| s.line(text)).collect()
    }

    #[test]
    fn records_have_labels() {
        let text = "Area › total: 176,215 sq km\nland: arable: 12.6% (2023 est.)\nhttps://example.org/a: b\nNo label";
        let found = statements(text);
        assert_eq!(found[0].labels, ["Area", "total"]);
        assert_eq!(&text[found[0].value.clone()], "176,215 sq km");
        assert_eq!(&text[found[0].range.clone()], "Area › total: 176,215 sq km");
        assert_eq!(found[1].labels, ["land", "arable"]);
        assert!(found[2].labels.is_empty() && found[3].labels.is_empty());
    }

    #[test]
    fn a_long_value_is_one_statement_a_sentence() {
        let text = "Background: It began in 1726. Brazil annexed it.";
        let found = statements(text);
        assert_eq!(lines(text), ["Background: It began in 1726.", "Background: Brazil annexed it."]);
        assert_eq!(&text[found[0].range.clone()], "Background: It began in 1726.");
        assert_eq!(&text[found[1].range.clone()], "Brazil annexed it.");
    }

    #[test]
    fn emphasis_and_lists_are_understood() {
        assert_eq!(lines("- **Exports:** copper\n- **Imports**: oil"), ["Exports: copper", "Imports: oil"]);
        assert_eq!(
            lines("Main exports:\n- copper\n- fish\nOther"),
            ["Main exports: copper", "Main exports: fish", "Other"]
        );
    }

    #[test]
    fn a_question_is_the_label_of_its_answer() {
        let text = "What does it cost?\nIt costs 5 euros. That is all.\n\nNothing else.";
        assert_eq!(
            lines(text),
            ["What does it cost? It costs 5 euros.", "What does it cost? That is all.", "Nothing else."]
        );
    }

    #[test]
    fn cells_have_the_labels_of_row_and_column() {
        let text =
            "| Country | Population | Area |\n|---|---|---|\n| Chile | 18 million | |\n\n| Capital | Lima |";
        assert_eq!(lines(text), ["Chile › Population: 18 million", "Capital: Lima"]);
        assert_eq!(&text[statements(text)[0].range.clone()], "| Chile | 18 million | |");
    }

    #[test]
    fn no_text_breaks_it() {
        for text in
            ["", ":", ": :", "|", "||", "|\\|", "a:\u{301} b", "****: x", "a: b: c: d: e: f: g: h: i", "x:\n"]
        {
            for statement in statements(text) {
                let _ = statement.line(text);
            }
        }
    }
}
