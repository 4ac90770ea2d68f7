//! What a JSON record is about, told by its fields.

use super::json_tree::{Kind, Node, own_name};

/// Longest name, in letters. Longer ones lose what stands in brackets at their end.
const LONGEST_NAME: usize = 60;

/// The names of a record.
#[derive(Debug, Default, PartialEq)]
pub struct Names {
    /// The one to call it by.
    pub title: Option<String>,
    /// Others that stand beside it.
    pub others: Vec<String>,
}

/// The names of a record: its own field `title`, `name`, `headline` or `label`; else what stands under a key that
/// speaks of a name, as near to the top as there is. A short form goes before a long one, unless it is an
/// abbreviation.
pub fn names(root: &Node) -> Names {
    if let Some(title) = own_name(root) {
        return Names { title: Some(shortened(&title)), others: Vec::new() };
    }
    let mut candidates = Vec::new();
    collect(root, &mut Vec::new(), &mut candidates);
    // Sorting keeps the order of the document among equals.
    candidates.sort_by_key(|candidate| candidate.rank);
    let Some(best) = candidates.first() else { return Names::default() };
    let beside =
        || candidates.iter().skip(1).filter(|other| other.parent == best.parent).map(|other| other.text);
    let title = beside().find(|long| is_noun_of(best.text, long)).unwrap_or(best.text);
    Names { title: Some(shortened(title)), others: beside().map(str::to_owned).collect() }
}

/// Whether a long form adds the noun to a short form that is a mere adjective: "The Dominican", "Dominican Republic".
fn is_noun_of(short: &str, long: &str) -> bool {
    let noun = short.strip_prefix("The ").and_then(|adjective| long.strip_prefix(adjective));
    noun.is_some_and(|noun| noun.starts_with(' '))
}

struct Candidate<'a> {
    /// Kind of key, then depth: the lower the better.
    rank: (u8, usize),
    parent: Vec<&'a str>,
    text: &'a str,
}

/// Objects below objects. What stands in a list is one of many, and not what the whole is about.
fn collect<'a>(node: &'a Node, path: &mut Vec<&'a str>, candidates: &mut Vec<Candidate<'a>>) {
    let Kind::Object(fields) = &node.kind else { return };
    for field in fields {
        if let Some(text) = field.leaf().map(|leaf| leaf.text())
            && is_name(text)
            && let Some(kind) = kind_of_key(path, &field.key, text)
        {
            candidates.push(Candidate { rank: (kind, path.len()), parent: path.clone(), text });
        }
        path.push(&field.key);
        collect(field, path, candidates);
        path.pop();
    }
}

/// Texts that stand where a name would, but are none.
fn is_name(text: &str) -> bool {
    let nothing =
        matches!(text.to_lowercase().as_str(), "none" | "n/a" | "na" | "null" | "unknown" | "-" | "");
    !nothing && !text.contains('\n') && text.chars().count() <= 3 * LONGEST_NAME
}

/// How well a key says that its value is the name of the record. None: it does not.
fn kind_of_key(path: &[&str], key: &str, text: &str) -> Option<u8> {
    let key = key.to_lowercase();
    let under_name = path.last().is_some_and(|parent| has_word(parent, "name"));
    let local = key.contains("local") || key.contains("native") || key.contains("former");
    if under_name && !local && key.contains("short") {
        return Some(if is_abbreviation(text) { 2 } else { 0 });
    }
    if under_name && !local && (key.contains("long") || key.contains("full") || key.contains("official")) {
        return Some(1);
    }
    if under_name
        && ["form", "name", "former", "abbreviation", "acronym", "alias", "also"]
            .iter()
            .any(|w| has_word(&key, w))
    {
        return Some(4);
    }
    // A plain name far down is that of something else, such as an author or a capital.
    let near = path.len() <= 1;
    (near && (has_word(&key, "name") || has_word(&key, "title"))).then_some(3)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|part| part.eq_ignore_ascii_case(word))
}

fn is_abbreviation(text: &str) -> bool {
    text.len() <= 5 && text.chars().all(|c| c.is_uppercase() || c == '.')
}

fn shortened(name: &str) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    match name.split_once(" (") {
        Some((short, _)) if name.chars().count() > LONGEST_NAME && !short.is_empty() => short.into(),
        _ => name,
    }
}
