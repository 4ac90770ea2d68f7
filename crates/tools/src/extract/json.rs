//! JSON and JSON Lines: lines of `Key › key: value`, joined along the keys.

use crate::mapped::Mapped;
use crate::passage::{FULL_PASSAGE, MAX_PASSAGE, Origin, Passage, split};
use crate::report::{MAX_LINES_TOLD, SkipReason};

use super::date::{iso_date, names_a_date};
use super::json_title::{self, Names};
use super::json_tree::{self, Kind, Node};
use super::{Extracted, stem};

/// Reads a JSON document: one value, or a list of records.
pub fn extract(name: &str, text: &str, base: usize) -> Result<Extracted, SkipReason> {
    let root = match json_tree::read(text, text) {
        Ok(root) => root,
        Err(detail) => {
            // Some call a file of records, one a line, `.json` too.
            let lines = extract_lines(name, text, base).ok().filter(|found| found.broken.is_none());
            return lines.ok_or(SkipReason::Broken { format: "JSON".into(), detail });
        }
    };
    let origin = Origin::file(text, base);
    let mut found = Extracted { title: stem(name), ..Extracted::default() };
    match root {
        None => {}
        Some(Node { kind: Kind::List(records), .. }) => {
            for record in &records {
                found.passages.extend(record_passages(&origin, record));
            }
        }
        Some(root) => {
            let Names { title, others } = json_title::names(&root);
            found.title = title.unwrap_or(found.title);
            found.names = others.join(" ");
            found.date = date(&root);
            found.passages = passages(&origin, &root, &mut Vec::new());
        }
    }
    Ok(found)
}

/// Reads a file with a record on each line. Broken lines are told in [`Extracted::broken`].
pub fn extract_lines(name: &str, text: &str, base: usize) -> Result<Extracted, SkipReason> {
    let origin = Origin::file(text, base);
    let mut found = Extracted { title: stem(name), ..Extracted::default() };
    let mut records = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        match json_tree::read(line, text) {
            Ok(record) => records.extend(record.map(|record| Node { key: number.to_string(), ..record })),
            Err(error) => note_broken(&mut found.broken, number, error),
        }
    }
    json_tree::name_records(&mut records);
    for record in &records {
        found.passages.extend(record_passages(&origin, record));
    }
    Ok(found)
}

fn note_broken(broken: &mut Option<SkipReason>, at: u64, error: String) {
    match broken {
        Some(SkipReason::BrokenRecords { count, lines, .. }) => {
            *count += 1;
            if lines.len() < MAX_LINES_TOLD {
                lines.push(at);
            }
        }
        _ => {
            let lines = vec![at];
            *broken = Some(SkipReason::BrokenRecords { count: 1, line: at, detail: error, lines });
        }
    }
}

/// The passages of one record, under its own title and date. Its key is its name or its number.
fn record_passages(origin: &Origin<'_>, record: &Node) -> Vec<Passage> {
    let is_number = record.key.bytes().all(|byte| byte.is_ascii_digit());
    let title = json_title::names(record).title.or_else(|| (!is_number).then(|| record.key.clone()));
    let date = date(record);
    let section = if title.is_some() { String::new() } else { format!("record {}", record.key) };
    // The key is told already.
    let content = Node { key: String::new(), ..record.clone() };
    let mut found = passages(origin, &content, &mut vec![section]);
    for passage in &mut found {
        passage.title = title.clone();
        passage.date = date.clone();
    }
    found
}

fn date(node: &Node) -> Option<String> {
    let dates = node.children().iter().filter(|field| names_a_date(&field.key));
    dates.filter_map(Node::leaf).find_map(|leaf| iso_date(leaf.text()))
}

/// The passages of a value whose keys so far are `path`.
fn passages(origin: &Origin<'_>, node: &Node, path: &mut Vec<String>) -> Vec<Passage> {
    let mut found = Vec::new();
    if node.leaf().is_some() {
        single(origin, std::slice::from_ref(node), path, &mut found);
    } else {
        walk(origin, node.children(), path, &mut found);
    }
    found
}

/// Joins neighbours that fit into one passage, and goes into those that are too large for one.
fn walk(origin: &Origin<'_>, nodes: &[Node], path: &mut Vec<String>, found: &mut Vec<Passage>) {
    let (mut first, mut size) = (0, 0);
    for (number, node) in nodes.iter().enumerate() {
        let own = text_size(node, 0);
        if size + own > FULL_PASSAGE {
            group(origin, nodes.get(first..number).unwrap_or_default(), path, found);
            (first, size) = (number, 0);
        }
        if own <= MAX_PASSAGE {
            size += own;
            continue;
        }
        first = number + 1;
        if node.leaf().is_some() {
            single(origin, std::slice::from_ref(node), path, found);
        } else {
            path.push(node.key.clone());
            walk(origin, node.children(), path, found);
            path.pop();
        }
    }
    group(origin, nodes.get(first..).unwrap_or_default(), path, found);
}

/// Bytes of the lines of a node, keys included.
fn text_size(node: &Node, above: usize) -> usize {
    let keys = above + node.key.len() + 5;
    match &node.kind {
        Kind::Leaf(text) => keys + text.len(),
        Kind::Object(nodes) | Kind::List(nodes) => nodes.iter().map(|node| text_size(node, keys)).sum(),
    }
}

/// One passage for several small nodes.
fn group(origin: &Origin<'_>, nodes: &[Node], path: &[String], found: &mut Vec<Passage>) {
    let mut lines = Vec::new();
    for node in nodes {
        leaves(node, &mut Vec::new(), &mut lines);
    }
    let Some(common) = lines.iter().map(|(keys, _)| keys.as_slice()).reduce(common_start) else { return };
    let (common, shared) = (common.to_vec(), common.len());
    let mut text = Mapped::default();
    for (keys, value) in &lines {
        if !text.is_empty() {
            text.push_added("\n");
        }
        let label = label(keys.get(shared..).unwrap_or_default(), value.text());
        if !label.is_empty() {
            text.push_added(&label);
            text.push_added(": ");
        }
        text.push(value);
    }
    let section: Vec<String> = path.iter().cloned().chain(common).filter(|key| !key.is_empty()).collect();
    found.extend(origin.passage(&section, &text));
}

/// One leaf, cut where it is too long.
fn single(origin: &Origin<'_>, leaf: &[Node], path: &[String], found: &mut Vec<Passage>) {
    for node in leaf {
        let section: Vec<String> =
            path.iter().chain([&node.key]).filter(|key| !key.is_empty()).cloned().collect();
        let parts = node.leaf().map(split).unwrap_or_default();
        found.extend(parts.iter().filter_map(|part| origin.passage(&section, part)));
    }
}

/// All leaves of a node with their keys, in order.
fn leaves<'a>(node: &'a Node, keys: &mut Vec<String>, lines: &mut Vec<(Vec<String>, &'a Mapped)>) {
    keys.push(node.key.clone());
    match &node.kind {
        Kind::Leaf(text) => {
            let keys = keys.iter().filter(|key| !key.is_empty()).cloned().collect();
            lines.push((keys, text));
        }
        Kind::Object(nodes) | Kind::List(nodes) => nodes.iter().for_each(|node| leaves(node, keys, lines)),
    }
    keys.pop();
}

fn common_start<'a>(a: &'a [String], b: &'a [String]) -> &'a [String] {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    a.get(..same).unwrap_or_default()
}

/// The keys before a value. What the value itself begins with (`note` before "note: …") is not said twice.
fn label(keys: &[String], value: &str) -> String {
    let Some((last, above)) = keys.split_last() else { return String::new() };
    let said = value.split_once(':').map(|(said, _)| said.trim().to_lowercase()).unwrap_or_default();
    let lower = last.to_lowercase();
    let last = match lower.strip_suffix(said.as_str()) {
        Some(rest) if !said.is_empty() && last.is_char_boundary(rest.len()) => {
            last.get(..rest.len()).unwrap_or_default().trim_end_matches([':', ' '])
        }
        _ => last,
    };
    let keys = above.iter().map(String::as_str).chain([last]).filter(|key| !key.is_empty());
    keys.collect::<Vec<_>>().join(" › ")
}
