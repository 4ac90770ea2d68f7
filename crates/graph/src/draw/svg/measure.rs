//! How much room a text takes.
//!
//! A picture has no font of its own: whoever shows it takes what is there. Widths are estimates per character, of
//! the wide fonts among the usual ones (DejaVu Sans, Verdana), so that other fonts leave a little room and none
//! runs over. Fonts of fixed width differ by few hundredths of the size, and their estimate is nearly exact.

/// Width of each character of a font of fixed width, in shares of its size.
const FIXED: f64 = 0.61;

/// A kind of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    /// Names: proportional and bold.
    Name,
    /// Titles and remarks: proportional.
    Text,
    /// What stands in the graph file: of fixed width.
    Code,
}

impl Face {
    /// The size, in pixels.
    pub fn size(self) -> f64 {
        match self {
            Face::Name => 13.0,
            Face::Text | Face::Code => 11.0,
        }
    }

    /// The height of a row, in pixels.
    pub fn row(self) -> f64 {
        match self {
            Face::Name => 17.0,
            Face::Text | Face::Code => 14.0,
        }
    }

    /// The estimated width of a text, in pixels.
    pub fn width(self, text: &str) -> f64 {
        let share: f64 = text.chars().map(|c| self.share(c)).sum();
        share * self.size()
    }

    /// The estimated width of a character, in shares of the size.
    fn share(self, c: char) -> f64 {
        match (self, c) {
            _ if is_mark(c) => 0.0,
            _ if is_wide(c) => 1.05,
            (Face::Code, _) => FIXED,
            (Face::Text, _) => proportional(c),
            (Face::Name, _) => proportional(c) * 1.1,
        }
    }
}

/// The width of a character in a wide proportional font.
fn proportional(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | ' ' | '!' | 'I' => 0.36,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '\\' | '-' | '"' => 0.43,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        'A'..='Z' | '+' | '<' | '>' | '=' | '≤' | '×' => 0.8,
        _ => 0.64,
    }
}

/// Whether a character is drawn on the one before.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' | '\u{20d0}'..='\u{20ff}')
}

/// Whether a character takes a square: Chinese, Japanese and Korean writing, pictographs.
fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}')
}

/// A text in rows of at most `most` pixels and at most `rows` of them; the last ends in `…` where that is not
/// all. Rows break at spaces, and within words that are longer than a row.
pub(super) fn wrapped(text: &str, face: Face, most: f64, rows: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut row = String::new();
    for word in text.split_whitespace().flat_map(|word| pieces(word, face, most)) {
        let joined = if row.is_empty() { word.clone() } else { format!("{row} {word}") };
        if face.width(&joined) <= most {
            row = joined;
        } else {
            found.push(std::mem::replace(&mut row, word));
        }
    }
    found.extend((!row.is_empty()).then_some(row));
    if found.len() > rows {
        found.truncate(rows);
        if let Some(last) = found.last_mut() {
            while !last.is_empty() && face.width(last) + face.width("…") > most {
                last.pop();
            }
            last.truncate(last.trim_end().len());
            last.push('…');
        }
    }
    found
}

/// A word in pieces that fit. Names break behind their points, bars and slashes where there are some.
fn pieces(word: &str, face: Face, most: f64) -> Vec<String> {
    let mut found = Vec::new();
    let mut piece = String::new();
    for c in word.chars() {
        if !piece.is_empty() && face.width(&piece) + face.share(c) * face.size() > most {
            let joint = piece.rfind(['.', '_', '/', '-', ',', '(']).map_or(0, |at| at + 1);
            let rest = if joint * 3 > piece.len() { piece.split_off(joint) } else { String::new() };
            found.push(std::mem::replace(&mut piece, rest));
        }
        piece.push(c);
    }
    found.extend((!piece.is_empty()).then_some(piece));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fit_and_the_last_says_that_there_is_more() {
        let text = "result.data.need_clarification and result.data.question";
        let rows = wrapped(text, Face::Code, 200.0, 3);
        assert_eq!(rows, ["result.data.need_", "clarification and", "result.data.question"]);
        let rows = wrapped(text, Face::Code, 200.0, 2);
        assert_eq!(rows, ["result.data.need_", "clarification and…"]);
        assert!(rows.iter().all(|row| Face::Code.width(row) <= 200.0), "{rows:?}");
        assert_eq!(wrapped("", Face::Text, 100.0, 2), Vec::<String>::new());
        let long = "x".repeat(5000);
        assert_eq!(wrapped(&long, Face::Name, 100.0, 2).len(), 2);
    }

    #[test]
    fn wide_writing_takes_more_room_and_marks_none() {
        assert!(Face::Code.width("漢字") > Face::Code.width("ab"));
        assert_eq!(Face::Text.width("e\u{301}"), Face::Text.width("e"));
        assert!(Face::Name.width("mW") > Face::Name.width("il"));
    }
}
