//! What is written right at a word or a figure and changes what it says: `C++`, `< 5`, `±5`, `A$12`.

use super::figures::Figure;

/// A word with the signs behind it that make another name of it: `C++`, `C#`.
pub fn with_signs<'t>(text: &'t str, at: usize, word: &str) -> &'t str {
    let behind = text.get(at + word.len()..).unwrap_or("");
    let signs = behind.len() - behind.trim_start_matches(['+', '#']).len();
    text.get(at..at + word.len() + signs).unwrap_or("")
}

/// The signs and letters that stand before a figure and belong to it: those without a space between, and the signs of
/// comparison with one. Brackets and quotes only open it.
fn before_figure(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or("");
    let tied =
        before.rsplit(|c: char| c.is_whitespace() || "([{\"'“„«:;,|/".contains(c)).next().unwrap_or("");
    let apart = before.trim_end().chars().next_back().filter(|c| "<>≤≥≈~±+=−-".contains(*c));
    match (tied.trim_matches(['*', '_']), apart) {
        ("", Some(sign)) => sign.to_string(),
        (tied, _) => tied.to_owned(),
    }
}

/// Units inside a figure that its amount does not tell apart, and what they are: a pound may be a weight, a rupee is one of
/// several currencies, percentage points are no per cent.
const OPEN_UNITS: &[(&str, &str)] = &[("point", "pt"), ("pound", "pound"), ("rupee", "rupee")];

/// What is written at and in a figure and its amount does not tell.
pub fn signs_of(text: &str, figure: &Figure) -> String {
    let written = text.get(figure.at..figure.end()).unwrap_or("");
    before_figure(text, figure.at) + open_unit(written).unwrap_or("")
}

/// The unit in a figure as it is written that its amount does not tell; none where the amount says all.
pub fn open_unit(written: &str) -> Option<&'static str> {
    let written = written.to_lowercase();
    let is_it = |word: &str| written.contains(word) && !written.contains("sterling");
    OPEN_UNITS.iter().find(|(word, _)| is_it(word)).map(|(_, unit)| *unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_belong_to_what_they_stand_at() {
        for (text, expected) in [
            ("< 5 kg", "<"),
            ("<5 kg", "<"),
            ("±5", "±"),
            ("A$5", "A$"),
            ("(5)", ""),
            ("**5**", ""),
            ("of 5", ""),
            ("5", ""),
        ] {
            assert_eq!(before_figure(text, text.find('5').unwrap_or(0)), expected, "{text}");
        }
        assert_eq!(with_signs("in C++ now", 3, "C"), "C++");
        assert_eq!(with_signs("in C now", 3, "C"), "C");
        assert_eq!((with_signs("", 9, "x"), before_figure("é", 1)), ("", String::new()));
    }
}
