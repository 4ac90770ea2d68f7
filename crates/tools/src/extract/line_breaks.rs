//! Lines that `<br>` ended: parts of one sentence, or lines of their own.

use crate::mapped::Mapped;

/// Most words of what may stand before the colon of a line such as `Price: 3 million`.
const LABEL_WORDS: usize = 4;

/// The lines of a paragraph, put together where the sentence goes on.
pub fn joined(lines: &[Mapped]) -> Vec<Mapped> {
    let lines: Vec<Mapped> = lines.iter().map(Mapped::trim).collect();
    let texts: Vec<&str> = lines.iter().map(Mapped::text).collect();
    let is_list = is_list(&texts);
    let mut joined: Vec<Mapped> = Vec::new();
    let mut before = "";
    for line in &lines {
        match joined.last_mut() {
            // An empty line keeps those around it apart.
            Some(last)
                if !before.is_empty() && !line.is_empty() && !is_list && goes_on(before, line.text()) =>
            {
                last.push_added(" ");
                last.push(line);
            }
            _ if line.is_empty() => {}
            _ => joined.push(line.clone()),
        }
        before = line.text();
    }
    joined
}

/// Whether the lines look like a list or an address: each begins like something new and none ends a sentence.
fn is_list(lines: &[&str]) -> bool {
    let mut filled = lines.iter().filter(|line| !line.is_empty());
    filled.all(|line| !begins_small(line) && !ends_sentence(line))
}

/// Whether a sentence goes on from a line to the next.
fn goes_on(before: &str, next: &str) -> bool {
    let has_ended = ends_sentence(before) || before.ends_with([':', ';']);
    let are_fields = has_label(before) && has_label(next);
    !(has_ended || are_fields || begins_item(next))
}

fn ends_sentence(line: &str) -> bool {
    line.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»']).ends_with(['.', '!', '?', '…', '。'])
}

fn begins_small(line: &str) -> bool {
    line.chars().next().is_some_and(char::is_lowercase)
}

fn begins_item(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let number = first.strip_suffix(['.', ')']);
    matches!(first, "-" | "*" | "+" | "•" | "·" | "–" | "—")
        || first.starts_with('•')
        || number.is_some_and(|number| {
            number.chars().count() == 1 || number.bytes().all(|byte| byte.is_ascii_digit())
        })
}

fn has_label(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(label, _)| label.split_whitespace().count() <= LABEL_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined_texts(lines: &[&str]) -> Vec<String> {
        let lines: Vec<Mapped> = lines.iter().map(|line| Mapped::verbatim(line, 0)).collect();
        joined(&lines).iter().map(|line| line.text().to_owned()).collect()
    }

    #[test]
    fn a_sentence_goes_on_over_line_breaks() {
        assert_eq!(joined_texts(&["The Tern tower", "is 20 metres"]), ["The Tern tower is 20 metres"]);
        assert_eq!(
            joined_texts(&["The Tern tower in", "Veldt has", "20 metres. It is", "old."]),
            ["The Tern tower in Veldt has 20 metres. It is old."]
        );
        assert_eq!(joined_texts(&["It is old.", "It is tall."]), ["It is old.", "It is tall."]);
        assert_eq!(joined_texts(&["It is old", "", "and tall."]), ["It is old", "and tall."]);
        assert_eq!(joined_texts(&["", "One.", ""]), ["One."]);
        assert_eq!(joined_texts(&["", ""]), Vec::<String>::new());
    }

    #[test]
    fn lists_and_addresses_stay_lines() {
        for lines in [
            &["Wool", "Salt", "Ice"][..],
            &["12 Quay Road", "Veldt"],
            &["Range: 54 km", "Price: 18.4 million"],
            &["range: 54 km.", "price: 18.4 million."],
            &["- wool", "- salt."],
            &["1. wool", "2. salt is dear."],
            &["we sell:", "wool", "salt."],
        ] {
            let expected = if lines.len() == 3 && lines[0].ends_with(':') { 2 } else { lines.len() };
            assert_eq!(joined_texts(lines).len(), expected, "{lines:?}");
        }
    }
}
