//! Addresses as whoever renders a report reads them: without escapes, entities and what people do not see.

use crate::passage::visible;

/// Names of characters in HTML that addresses are hidden behind.
const NAMED: [(&str, char); 9] = [
    ("colon;", ':'),
    ("sol;", '/'),
    ("bsol;", '\\'),
    ("period;", '.'),
    ("amp;", '&'),
    ("lt;", '<'),
    ("gt;", '>'),
    ("Tab;", '\t'),
    ("NewLine;", '\n'),
];

/// The target of a link as Markdown and HTML read it.
pub(in crate::cite) fn decoded(target: &str) -> String {
    let mut out = String::with_capacity(target.len());
    let mut rest = target;
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        let (meant, length) = match c {
            '\\' if behind.starts_with(|c: char| c.is_ascii_punctuation() && c != '\\') => {
                rest = behind;
                continue;
            }
            '&' => entity(behind).map_or((c, 1), |(meant, length)| (meant, 1 + length)),
            c => (c, c.len_utf8()),
        };
        // Browsers take both slashes, the full-width colon is another one for people, and line breaks are left out.
        match meant {
            '\\' => out.push('/'),
            '：' => out.push(':'),
            '\t' | '\n' | '\r' => {}
            meant => out.push(meant),
        }
        rest = &rest[length..];
    }
    visible(&out)
}

/// The character of an entity, and the bytes behind its `&`.
fn entity(text: &str) -> Option<(char, usize)> {
    if let Some(number) = text.strip_prefix('#') {
        let hex = number.strip_prefix(['x', 'X']);
        let digits = hex.unwrap_or(number);
        let length = digits.bytes().take_while(|b| b.is_ascii_hexdigit()).count().min(7);
        let value = u32::from_str_radix(digits.get(..length)?, if hex.is_some() { 16 } else { 10 }).ok()?;
        let end = usize::from(digits[length..].starts_with(';'));
        return Some((char::from_u32(value)?, 1 + usize::from(hex.is_some()) + length + end));
    }
    NAMED.iter().find(|(name, _)| text.starts_with(name)).map(|(name, c)| (*c, name.len()))
}

/// Whether a target leads out of the report: it has a scheme, or a host.
pub(in crate::cite) fn leads_out(target: &str) -> bool {
    let target = decoded(target);
    let target = target.trim();
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = scheme.is_some_and(|scheme| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    });
    has_scheme || target.starts_with("//") || super::is_url(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_as_renderers_read_them() {
        for target in [
            "https\\://a.example/b",
            "https&#58;//a.example/b",
            "https&#x3A;&#47;/a.example/b",
            "https&colon;//a.example/b",
            "https:\\\\a.example\\b",
            "ht\u{200b}tps://a.example/b",
        ] {
            assert_eq!(decoded(target), "https://a.example/b", "{target}");
        }
        assert_eq!(decoded("a&b&#;&#x110000;"), "a&b&#;&#x110000;");
    }

    #[test]
    fn what_leads_out_is_told_from_places_in_the_report() {
        for target in
            ["https:a.example", "//a.example", "mailto:a@b.example", "\\\\a.example/x", "javascript:x"]
        {
            assert!(leads_out(target), "{target}");
        }
        for target in ["#part", "notes.md", "a/b.md", "", "C:/x"] {
            assert!(!leads_out(target), "{target}");
        }
    }
}
