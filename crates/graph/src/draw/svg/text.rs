//! Texts and numbers as XML has them.

/// A text of XML: its own signs escaped, and a space for what no XML file may hold.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// An attribute's value in quotes.
pub(super) fn attribute(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// A number with at most one digit behind the point.
pub(super) fn number(n: f64) -> String {
    let tenths = (n * 10.0).round();
    let text = format!("{:.1}", if tenths == 0.0 { 0.0 } else { tenths / 10.0 });
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_xml_are_escaped_and_others_stay() {
        assert_eq!(
            escaped("a < b && c > \"d\" 'e' ü漢\u{0}\u{1b}\n"),
            "a &lt; b &amp;&amp; c &gt; &quot;d&quot; 'e' ü漢   "
        );
    }

    #[test]
    fn numbers_are_short() {
        for (n, text) in
            [(0.0, "0"), (-0.01, "0"), (3.0, "3"), (3.12, "3.1"), (-2.25, "-2.3"), (1e4, "10000")]
        {
            assert_eq!(number(n), text);
        }
    }
}
