//! Text of others on its way into a model's prompt: without what people do not see, and behind a fence.
//!
//! Each line of a web page has [`QUOTE`] before it. A fence of that kind can not be closed from inside, and it holds
//! where a text is cut in the middle.

use super::{is_hashed_id, is_head};

/// Stands before each line of a web page.
pub const QUOTE: &str = "> ";

/// A line of a local document: a `\` before it where it looks like the head of a block.
pub(super) fn push_line(out: &mut String, line: &str) {
    if is_head(line.trim_start_matches('\\')) {
        out.push('\\');
    }
    out.push_str(line);
    out.push('\n');
}

/// The lines of a web page behind the fence.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    for line in visible(text).split(is_line_break) {
        let line = without_marks(line);
        out.push_str(if line.is_empty() { QUOTE.trim_end() } else { QUOTE });
        out.push_str(&line);
        out.push('\n');
    }
}

/// A line of a web page without the fence; none where it is not behind it.
pub(super) fn unquoted(line: &str) -> Option<&str> {
    line.strip_prefix(QUOTE).or_else(|| (line == QUOTE.trim_end()).then_some(""))
}

/// What ends a line for whoever reads the text, whatever `lines` takes for one.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A line in which nothing passes for the citation of a source: `[k7f2qa-14]` has a `\` before it.
fn without_marks(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        out.push_str(&rest[..open]);
        let inner = rest[open + 1..].split(']').next().unwrap_or("");
        if inner.split([',', ';', ' ']).any(|id| is_hashed_id(id.trim())) && !out.ends_with('\\') {
            out.push('\\');
        }
        out.push('[');
        rest = &rest[open + 1..];
    }
    out + rest
}

/// A text without characters that people do not see but models read: zero-width and tag characters, marks that turn
/// the direction of writing, selectors of variants in runs, control characters. Joiners that Arabic, Indic and emoji
/// need between two characters stay.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        let is_kept = match c {
            '\n' | '\t' => true,
            // The end of a line is told by the character behind it, and a lone one is a line break.
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                    last = '\n';
                }
                false
            }
            '\u{200c}' | '\u{200d}' => is_joined(last) && chars.peek().copied().is_some_and(is_joined),
            '\u{fe00}'..='\u{fe0f}' => {
                !matches!(last, '\u{fe00}'..='\u{fe0f}') && !last.is_ascii_alphabetic()
            }
            c => !is_unseen(c),
        };
        if is_kept {
            out.push(c);
            last = c;
        }
    }
    out
}

/// Whether a joiner beside this character can be seen.
fn is_joined(c: char) -> bool {
    !c.is_ascii() && !c.is_whitespace() && !matches!(c, '\u{200c}' | '\u{200d}') && !is_unseen(c)
}

/// Characters without a shape of their own.
fn is_unseen(c: char) -> bool {
    let breaks = matches!(c, '\u{b}' | '\u{c}' | '\u{85}');
    (c.is_control() && !breaks)
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
                | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_do_not_see_is_left_out() {
        let tagged: String = "hi".chars().filter_map(|c| char::from_u32(0xe0000 + c as u32)).collect();
        let selected: String = (0xe0100..0xe0110).filter_map(char::from_u32).collect();
        assert_eq!(visible(&format!("a{tagged}b{selected}c")), "abc");
        assert_eq!(
            visible("i\u{200b}g\u{200d}n\u{2060}o\u{feff}r\u{ad}e \u{202e}x\u{202c}\u{1b}[2J\0"),
            "ignore x[2J"
        );
        assert_eq!(visible("a\u{fe0f}\u{fe0e}\u{fe0f}b"), "ab");
    }

    #[test]
    fn what_is_seen_stays() {
        for text in
            ["می\u{200c}خواهم", "👩\u{200d}🔬", "❤\u{fe0f}", "a\tb\nc", "क्\u{200d}ष", "naïve €5 — “x”"]
        {
            assert_eq!(visible(text), text, "{text}");
        }
        assert_eq!(visible("a\r\nb\rc"), "a\nb\nc");
    }

    #[test]
    fn every_line_however_it_ends_stands_behind_the_fence() {
        let mut out = String::new();
        push_quoted(&mut out, "a\nb\rc\u{2028}d\u{85}e\u{b}f\r\ng\n\n> h");
        assert!(out.lines().all(|line| unquoted(line).is_some()), "{out:?}");
        assert_eq!(out.lines().count(), 9);
        assert!(out.ends_with("> g\n>\n> > h\n"), "{out:?}");
    }

    #[test]
    fn page_text_cites_nothing() {
        assert_eq!(
            without_marks("so [k7f2qa-14], [a b], [x][234567-1, 1], \\[k7f2qa-1]"),
            "so \\[k7f2qa-14], [a b], [x]\\[234567-1, 1], \\[k7f2qa-1]"
        );
        assert_eq!(without_marks("[[k7f2qa-14]] [k7f2qa-14"), "[\\[k7f2qa-14]] \\[k7f2qa-14");
    }
}
