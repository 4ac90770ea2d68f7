//! The blocks of a text: paragraphs whose lines belong together, list items, headings, table rows, lines of records.

use std::ops::Range;

/// A run of text that sentences do not cross.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it stands, without the marks of lists and headings; may hold line breaks.
    pub range: Range<usize>,
    /// What it is.
    pub kind: BlockKind,
    /// Whether a blank line stands before it.
    pub is_apart: bool,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Prose, or one line of a record.
    Line,
    /// A list item.
    Item,
    /// A Markdown heading.
    Heading,
    /// A row of a Markdown table.
    Row,
    /// The line under the head of a Markdown table.
    RowRule,
}

/// Lines at least this long, in bytes, may have been wrapped by an editor.
const WRAPPED: usize = 55;

/// The blocks of a text, in order.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_apart = false;
    for line in lines(text) {
        let content = &text[line.clone()];
        if content.trim().is_empty() {
            is_apart = true;
            continue;
        }
        let block = block(text, line, is_apart);
        match blocks.last_mut() {
            Some(last) if continues(text, last, &block) => last.range.end = block.range.end,
            _ => blocks.push(block),
        }
        is_apart = false;
    }
    blocks
}

/// The lines of a text without their ends.
pub fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..start + line.trim_end_matches(['\n', '\r']).len()
    })
}

/// A range without the white space at its ends.
pub fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let content = &text[range.clone()];
    let start = range.start + content.len() - content.trim_start().len();
    start..(start + content.trim().len()).max(start)
}

fn block(text: &str, line: Range<usize>, is_apart: bool) -> Block {
    let range = trimmed(text, line);
    let content = &text[range.clone()];
    let (mark, kind) = mark(content);
    let range = trimmed(text, range.start + mark..range.end);
    Block { range, kind, is_apart }
}

/// Length of the mark that a line starts with, and what it makes of the line.
fn mark(line: &str) -> (usize, BlockKind) {
    if line.starts_with('|') && line.len() > 1 {
        let is_rule = line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
        return (0, if is_rule { BlockKind::RowRule } else { BlockKind::Row });
    }
    let hashes = line.len() - line.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with([' ', '\t']) {
        return (hashes, BlockKind::Heading);
    }
    match item_mark(line) {
        0 => (0, BlockKind::Line),
        len => (len, BlockKind::Item),
    }
}

/// Length of a list mark: `- `, `* `, `• `, `1. `, `12) `, `(a) `, `b) `; 0 where there is none.
pub fn item_mark(line: &str) -> usize {
    let mark = line.split_whitespace().next().unwrap_or("");
    let is_bullet = matches!(mark, "-" | "*" | "+" | "•" | "–" | "·");
    let inner = mark.trim_start_matches('(').trim_end_matches([')', '.']);
    let is_closed = mark.len() > inner.len() && mark.ends_with([')', '.']);
    let is_number = !inner.is_empty() && inner.len() <= 3 && inner.bytes().all(|b| b.is_ascii_digit());
    let is_letter = inner.len() == 1 && inner.bytes().all(|b| b.is_ascii_lowercase()) && mark.ends_with(')');
    if line.len() > mark.len() && (is_bullet || (is_closed && (is_number || is_letter))) {
        mark.len()
    } else {
        0
    }
}

/// Whether a line carries on the block before it: prose that was wrapped at a width.
fn continues(text: &str, last: &Block, next: &Block) -> bool {
    let joins = matches!(last.kind, BlockKind::Line | BlockKind::Item) && next.kind == BlockKind::Line;
    if !joins || next.is_apart {
        return false;
    }
    let (before, after) = (&text[last.range.clone()], &text[next.range.clone()]);
    let last_line = before.lines().next_back().unwrap_or("");
    let ends_item = last.kind == BlockKind::Item && before.ends_with(['.', '!', '?', ';', '。']);
    let opens_list = before.ends_with([':', '?']);
    let is_labelled = super::statements::label_end(after).is_some();
    last_line.len() >= WRAPPED && !ends_item && !opens_list && !is_labelled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(&str, BlockKind)> {
        blocks(text).into_iter().map(|b| (&text[b.range], b.kind)).collect()
    }

    #[test]
    fn wrapped_prose_is_one_block_and_records_are_one_a_line() {
        use BlockKind::*;
        let prose =
            "The certificate of the gateway expired on the night of 14\nMarch, and nobody was told.\nNew";
        assert_eq!(parts(prose).len(), 2);
        assert_eq!(
            parts("total: 176,215 sq km\nland: 175,015 sq km\r\n\nCoastline"),
            [("total: 176,215 sq km", Line), ("land: 175,015 sq km", Line), ("Coastline", Line)]
        );
    }

    #[test]
    fn markdown_is_known_by_its_marks() {
        use BlockKind::*;
        assert_eq!(
            parts("# One\n- a\n  wrapped\n12) b\n|x|y|\n|--|:-|\n|1|2|\n#no\n-no"),
            [
                ("One", Heading),
                ("a", Item),
                ("wrapped", Line),
                ("b", Item),
                ("|x|y|", Row),
                ("|--|:-|", RowRule),
                ("|1|2|", Row),
                ("#no", Line),
                ("-no", Line)
            ]
        );
        assert_eq!(parts("\n \n"), []);
    }
}
