//! Texts that nobody meant.

use super::{ITEMS, SAMPLE, sample};
use crate::testing::try_load;
use crate::*;

/// A generator of numbers that is the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Pieces that are likely to meet a weak spot.
const PIECES: [&str; 34] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "'",
    "|",
    ">",
    "- ",
    "\n",
    "\n  ",
    "\t",
    "#",
    "&a ",
    "*a",
    "!x ",
    "null",
    "{{",
    "}}",
    "{% for x in y %}",
    "{% endfor %}",
    "ü漢\u{1f600}",
    "\u{0}",
    "\u{feff}",
    "99999999999999999999",
    "-1",
    "next",
    "config.",
    "result.",
    "args.x",
    "to: [a, a]",
    "exit: inherit",
];

/// Graphs of other files and of itself, tools of servers, channels that are kept.
const CALLING: &str = r#"deepgraph: 1
config: {model: {type: string, default: x}, depth: {type: integer, default: 2, minimum: 1}}
state:
  q: string
  m: {type: messages, persist: thread}
  last: {type: string, optional: true, persist: "last/{{ q }}"}
input: [q]
output: [last]
mcp:
  crm: {url: "https://{{ secret.HOST }}/mcp", headers: {k: "{{ secret.KEY }}"}}
  files: {command: [serve, "-x"], env: {a: b}}
tools:
  crm: {call: crm.*, only: [find, put], effect: read, answer: "{{ result.text }}", update: {last: args.name}}
  read: {call: files.read, approve: args.path == "a"}
limits:
  turns: {count: turns, max: 3, exit: step_limit}
  crm: {count: [crm, read], max: 4, refuse: true}
start: [{if: last, to: deep}, a]
nodes:
  a: {model: config.model, messages: m, tools: [crm, read], next: r}
  r: {run_tools: a, next: [{if: limits.crm.left == 0, to: other}, a]}
  other: {call: lib.yaml, input: {q: q}, config: {model: y}, update: {last: result.q}, next: deep}
  deep: {call: "sample.yaml#level", input: {q: q}, next: {exit: inherit}}
graphs:
  level:
    config: {depth: {type: integer, default: 2, minimum: 1}}
    state: {q: string}
    input: [q]
    limits: {depth: {count: depth, max: config.depth, refuse: true}}
    start: again
    nodes: {again: {call: level, input: {q: q}, on_error: {exit: completed}}}
"#;

/// What it calls.
const LIB: &str = "deepgraph: 1\nconfig: {model: string}\nstate: {q: string}\ninput: [q]\noutput: [q]\nstart: a\nnodes: {a: {model: config.model, prompt: p, update: {q: result.text}}}\n";

fn load_mangled(text: &str) -> Result<Loaded, Diagnostics> {
    let mut files = sample();
    files.insert("sample.yaml".to_owned(), text.to_owned());
    files.insert("lib.yaml".to_owned(), LIB.to_owned());
    load("sample.yaml", &files, &OpTable::stock())
}

#[test]
fn no_text_makes_it_panic() {
    for sample in [SAMPLE, ITEMS, CALLING] {
        let whole = load_mangled(sample);
        assert!(whole.is_ok(), "{}", whole.unwrap_err());
        mangle(sample);
    }
}

fn mangle(sample_text: &str) {
    let mut numbers = Numbers(7);
    let chars: Vec<char> = sample_text.chars().collect();
    let lines: Vec<&str> = sample_text.lines().collect();
    for round in 0..600 {
        let text: String = match round % 3 {
            // Letters taken out, doubled or replaced.
            0 => {
                let mut text = chars.clone();
                for _ in 0..=numbers.below(4) {
                    let at = numbers.below(text.len());
                    let end = (at + numbers.below(12)).min(text.len());
                    let piece: Vec<char> = PIECES[numbers.below(PIECES.len())].chars().collect();
                    text.splice(at..end, piece);
                }
                text.into_iter().collect()
            }
            // Lines swapped, taken out or moved in.
            1 => {
                let mut text = lines.clone();
                for _ in 0..=numbers.below(3) {
                    let (a, b) = (numbers.below(text.len()), numbers.below(text.len()));
                    text.swap(a, b);
                    text.remove(numbers.below(text.len()));
                }
                text.join("\n")
            }
            // A value from elsewhere in the file.
            _ => {
                let mut text: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
                for _ in 0..=numbers.below(3) {
                    let (a, b) = (numbers.below(text.len()), numbers.below(text.len()));
                    let value = text[b].split_once(": ").map_or("x", |(_, v)| v).to_owned();
                    if let Some((key, _)) = text[a].clone().split_once(": ") {
                        text[a] = format!("{key}: {value}");
                    }
                }
                text.join("\n")
            }
        };
        match load_mangled(&text) {
            Ok(loaded) => assert!(crate::Drawing::of(&loaded.bundle).mermaid().starts_with("flowchart")),
            Err(e) => {
                assert!(e.errors() > 0, "refused without a reason:\n{text}");
                assert!(!e.to_string().is_empty());
                let lines = text.lines().count().max(LIB.lines().count()) + 1;
                assert!(e.iter().all(|d| d.line >= 1 && d.line <= lines && d.column >= 1), "{e}\n{text}");
            }
        }
    }
}

#[test]
fn bytes_without_any_sense_are_refused() {
    let mut numbers = Numbers(11);
    for _ in 0..300 {
        let length = numbers.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| numbers.below(256) as u8).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(try_load(&text).is_err());
        let pieces: String = (0..length).map(|_| PIECES[numbers.below(PIECES.len())]).collect();
        assert!(try_load(&pieces).is_err());
    }
}
