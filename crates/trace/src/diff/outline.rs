//! The text of a trace as an outline.

/// A line and what is indented below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// What it is among the lines beside it.
    pub key: Key,
    /// The line without its indentation, without times.
    pub text: String,
    /// For a step: the number of its super-step.
    pub super_step: Option<u64>,
    /// What stands below it.
    pub below: Vec<Item>,
}

/// What a line is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// `status succeeded`
    Status,
    /// `config KEY = VALUE`
    Config(String),
    /// `graph NAME`
    Graph,
    /// `input NAME = VALUE`
    Input(String),
    /// `output NAME = VALUE`
    Output(String),
    /// `exit REASON (attempt N)`, and how the `finally` stage went
    Exit,
    /// `report complete`, `finally complete`
    Report,
    /// `report error ...`
    ReportError,
    /// `detail "..."`
    Detail,
    /// `counters ...`, `used ...`, `last step ...`: they follow from the steps
    Sum(String),
    /// `NAME.N ...`
    Step(String),
    /// `request 4 messages, 3 tools, sha256 ...`
    Request,
    /// `system: "..."` and so on; its place among the messages is found by comparing
    Message,
    /// `tool NAME SCHEMA`, a tool that a request offers
    Offered(String),
    /// `returns NAME SCHEMA`
    Returns,
    /// `calls NAME ARGUMENTS`; its place is found by comparing
    Calls,
    /// `text "..."` or `data ...`
    Reply(String),
    /// `finish stop, 100 + 10 tokens, 0 µ$`
    Finish,
    /// `attempt N failed: ...`
    Attempt(String),
    /// `refused: ...`, `malformed: ...`, `failed: ...`
    Outcome,
    /// `NAME = VALUE`, what a step gave
    Result(String),
    /// Any other line.
    #[default]
    Other,
}

/// Reads a text. Super-steps are not items: their steps know their number.
pub fn read(text: &str) -> Vec<Item> {
    let mut lines = body(text).lines().filter(|line| !line.trim().is_empty()).peekable();
    let mut items = Vec::new();
    while lines.peek().is_some() {
        items.extend(level(&mut lines, 0, None, &Key::Other, 0));
    }
    items.retain(|item| !(item.key == Key::Other && item.text.starts_with("run ")));
    items
}

/// A text without the header of a snapshot file.
pub(super) fn body(text: &str) -> &str {
    let header = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let after_header =
        header.and_then(|rest| rest.split_once("\n---\n").or_else(|| rest.split_once("\n---\r\n")));
    after_header.map_or(text, |(_, body)| body)
}

/// Deeper nesting than any run has: what is deeper is read as if it stood there.
const DEEPEST: usize = 400;

/// The lines that are indented at least so far, as items. `above` is what the line above them is.
fn level<'t, I>(
    lines: &mut std::iter::Peekable<I>,
    indent: usize,
    super_step: Option<u64>,
    above: &Key,
    depth: usize,
) -> Vec<Item>
where
    I: Iterator<Item = &'t str>,
{
    let mut items: Vec<Item> = Vec::new();
    while let Some(line) = lines.next_if(|line| depth >= DEEPEST || indent_of(line) >= indent) {
        let (own, text) = (indent_of(line), line.trim());
        let number = super_step_number(text);
        let key = if number.is_some() { Key::Other } else { key(text, matches!(above, Key::Step(_))) };
        let below = match depth < DEEPEST {
            true => level(lines, own + 1, number, &key, depth + 1),
            false => Vec::new(),
        };
        if number.is_some() {
            items.extend(below);
            continue;
        }
        let text = match key {
            Key::Step(_) => without_time(text),
            _ => text,
        };
        let super_step = super_step.filter(|_| matches!(key, Key::Step(_)));
        items.push(Item { key, text: text.to_owned(), super_step, below });
    }
    items
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The number in `super-step 3 (finally)`.
fn super_step_number(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("super-step ")?;
    rest.strip_suffix(" (finally)").unwrap_or(rest).parse().ok()
}

/// A step's line without ` 12 ms` at its end.
fn without_time(text: &str) -> &str {
    let Some((rest, number)) = text.strip_suffix(" ms").and_then(|rest| rest.rsplit_once(' ')) else {
        return text;
    };
    if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) { rest } else { text }
}

/// What a line is, by its first word. `NAME = VALUE` is looked for first below a step: fields of a result may be called
/// anything, such as `graph` or `exit`, and no other line there has ` = ` behind its first word.
fn key(text: &str, is_below_step: bool) -> Key {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    if is_below_step && !word.is_empty() && rest.starts_with("= ") {
        return Key::Result(word.to_owned());
    }
    let name = || rest.split_once(" = ").map(|(name, _)| name.to_owned());
    match word {
        "status" => return Key::Status,
        "config" => {
            if let Some(name) = name() {
                return Key::Config(name);
            }
        }
        "graph" => return Key::Graph,
        "input" => {
            if let Some(name) = name() {
                return Key::Input(name);
            }
        }
        "output" => {
            if let Some(name) = name() {
                return Key::Output(name);
            }
        }
        "exit" => return Key::Exit,
        "report" if rest.starts_with("error ") => return Key::ReportError,
        "report" | "finally" => return Key::Report,
        "detail" if rest.starts_with('"') => return Key::Detail,
        "counters" | "used" => return Key::Sum(word.to_owned()),
        "last" if rest.starts_with("step ") => return Key::Sum("last step".to_owned()),
        "request" if rest.contains(" messages, ") => return Key::Request,
        "system:" | "user:" | "assistant:" | "tool:" => return Key::Message,
        "returns" => return Key::Returns,
        "calls" => return Key::Calls,
        "text" | "data" => return Key::Reply(word.to_owned()),
        "finish" => return Key::Finish,
        "attempt" if rest.contains("failed:") => {
            return Key::Attempt(rest.split(' ').next().unwrap_or_default().to_owned());
        }
        "refused:" | "malformed:" | "failed:" => return Key::Outcome,
        "=" => return Key::Result(String::new()),
        "tool" => return Key::Offered(rest.split(' ').next().unwrap_or_default().to_owned()),
        _ => {}
    }
    if let Some((name, number)) = word.rsplit_once('.')
        && !name.is_empty()
        && number.parse::<u64>().is_ok()
    {
        return Key::Step(word.to_owned());
    }
    match text.split_once(" = ") {
        Some((name, _)) if !name.contains(' ') => Key::Result(name.to_owned()),
        _ => Key::Other,
    }
}

impl Item {
    /// The line and all below it, indented.
    pub fn whole(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text.truncate(text.trim_end().len());
        text
    }

    fn write(&self, text: &mut String, depth: usize) {
        text.extend(std::iter::repeat_n("  ", depth));
        text.push_str(&self.text);
        text.push('\n');
        self.below.iter().for_each(|item| item.write(text, depth + 1));
    }

    /// What the line is, as people call it.
    pub fn what(&self) -> String {
        let first = || self.text.split(' ').next().unwrap_or_default().trim_end_matches(':').to_owned();
        match &self.key {
            Key::Config(name) => format!("config {name}"),
            Key::Input(name) => format!("input {name}"),
            Key::Output(name) => format!("output {name}"),
            Key::Offered(name) => format!("tool {name}"),
            Key::Sum(name) | Key::Reply(name) => name.clone(),
            Key::Step(_) => "step".to_owned(),
            Key::Message => format!("{} message", first()),
            Key::ReportError => "report error".to_owned(),
            Key::Attempt(number) => format!("attempt {number}"),
            Key::Outcome => "outcome".to_owned(),
            Key::Result(name) if !name.is_empty() => format!("result {name}"),
            Key::Result(_) => "result".to_owned(),
            _ => first(),
        }
    }
}

impl Item {
    /// What tells of a step that is only in one trace: its line, what was said and called, how its parts ended.
    pub fn told(&self) -> Vec<String> {
        let mut lines = vec![self.text.clone()];
        let has_text = self.below.iter().any(|item| item.key == Key::Reply("text".to_owned()));
        for item in &self.below {
            let shown: Vec<String> = match &item.key {
                // The data of a reply is its text, read.
                Key::Reply(part) if part == "data" && has_text => continue,
                Key::Reply(_) | Key::Calls | Key::Outcome | Key::Attempt(_) | Key::Exit | Key::Input(_) => {
                    vec![item.text.clone()]
                }
                Key::Step(_) if matches!(self.key, Key::Step(_)) => item.told(),
                Key::Graph => item.told(),
                _ => continue,
            };
            lines.extend(shown.into_iter().map(|line| format!("  {line}")));
        }
        let steps = self.below.iter().filter(|item| matches!(item.key, Key::Step(_))).count();
        if self.key == Key::Graph && steps > 0 {
            let at = lines.iter().position(|line| line.starts_with("  exit")).unwrap_or(lines.len());
            lines.insert(at, format!("  ({steps} {})", if steps == 1 { "step" } else { "steps" }));
        }
        lines
    }
}
