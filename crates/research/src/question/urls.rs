//! Addresses of pages in a question: they are to be read, and their words ask nothing.

use std::ops::Range;

/// The addresses in a text, each once, in order.
pub fn urls(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for url in ranges(text).into_iter().filter_map(|range| text.get(range)) {
        if !found.contains(&url) {
            found.push(url);
        }
    }
    found
}

/// The text without them, and without what only speaks of them: "in URL", "(URL)".
pub fn without_urls(text: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for range in ranges(text) {
        let before = text.get(at..range.start).unwrap_or_default().trim_end_matches(['<', '(', '[', '"']);
        at = range.end;
        let rest = text.get(at..).unwrap_or_default();
        at += rest.len() - rest.trim_start_matches(['>', ')', ']', '"']).len();
        let word = before.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
        let is_about_it = LEADING.contains(&word.trim_start_matches('(').to_lowercase().as_str());
        let kept = if is_about_it { before.trim_end().trim_end_matches(word) } else { before };
        out.push_str(kept);
        // "What does URL say about the crew" asks about the crew.
        let rest = text.get(at..).unwrap_or_default().trim_start();
        if let Some(says) = SAYS.iter().find(|says| rest.to_lowercase().starts_with(*says)) {
            at = text.len() - rest.len() + says.len();
            let head = out.trim_end();
            if ["what does", "what do"].iter().any(|asks| head.to_lowercase().ends_with(asks)) {
                let cut = head.to_lowercase().rfind("what do").filter(|cut| head.is_char_boundary(*cut));
                out.truncate(cut.unwrap_or(0));
            }
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Words before an address that go with it.
const LEADING: [&str; 12] =
    ["in", "on", "at", "from", "of", "see", "with", "by", "to", "per", "using", "summarise"];
/// How a question goes on that asks what a page says of a thing.
const SAYS: [&str; 4] = ["say about ", "says about ", "tell about ", "tell us about "];

/// Where the addresses stand.
fn ranges(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let mut found: Vec<Range<usize>> = Vec::new();
    let starts = lower.match_indices("http").map(|(at, _)| at);
    for start in starts {
        let rest = lower.get(start..).unwrap_or_default();
        let is_url = rest.starts_with("http://") || rest.starts_with("https://");
        let is_inside = found.last().is_some_and(|last| start < last.end);
        if !is_url || is_inside {
            continue;
        }
        let ends = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '[' | ']');
        let length = rest.find(ends).unwrap_or(rest.len());
        let url = rest.get(..length).unwrap_or_default();
        found.push(start..start + without_end(url).len());
    }
    found
}

/// An address without the marks of the sentence behind it.
fn without_end(url: &str) -> &str {
    let mut url = url;
    loop {
        let shorter = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '…']);
        let is_open = shorter.matches('(').count() >= shorter.matches(')').count();
        let shorter = if is_open { shorter } else { shorter.strip_suffix(')').unwrap_or(shorter) };
        if shorter.len() == url.len() {
            return url;
        }
        url = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_and_leave_what_is_asked() {
        for (text, found, rest) in [
            ("What does http://a.test/x say about crew training?", vec!["http://a.test/x"], "crew training?"),
            (
                "Range of the N60 (see https://a.test/b_(c)).",
                vec!["https://a.test/b_(c)"],
                "Range of the N60 .",
            ),
            ("the N60 range in HTTPS://a.test/q, please", vec!["HTTPS://a.test/q"], "the N60 range , please"),
            ("<http://a.test> and http://a.test", vec!["http://a.test"], " and "),
            ("What is http and https?", vec![], "What is http and https?"),
            ("", vec![], ""),
        ] {
            assert_eq!(urls(text), found, "{text}");
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words(&without_urls(text)), words(rest), "{text}");
        }
    }
}
