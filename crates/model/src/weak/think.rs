//! Thoughts that a model writes into its answer: `<think>...</think>` and its kin are taken out.
//!
//! Rules. A thought goes from an opening tag to the next closing tag, whichever of the known ones. Tags in code (a fenced
//! block, or behind an odd number of backticks in a line) and tags in quotation marks are text, so an answer that talks
//! about `<think>` keeps it. A closing tag without an opening one ends a thought that began with the reply, or behind the
//! thought before: what stands there is dropped. (In a fence that is so only for a tag alone on its line, in a fence in
//! which no tag was opened: thoughts leave fences open.) An opening tag that is never closed takes the rest of the reply
//! if it stands at the beginning of a line; in the middle of a line it is text.

/// The known pairs. Small letters stand for capital ones as well.
const TAGS: [(&str, &str); 6] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
];

/// Marks that quote a tag where they stand on both sides of it.
const QUOTES: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('“', '”'), ('«', '»')];

/// A reply without its thoughts, put together from its pieces. However it is cut into pieces, it comes to the same.
#[derive(Default)]
pub(crate) struct Thoughts {
    /// The text so far.
    out: String,
    /// What may be the beginning of a tag.
    held: String,
    /// What was read since a thought was opened, the opening tag included, and whether that began a line.
    thought: Option<(String, bool)>,
    /// Where the text behind the last thought begins.
    after: usize,
    /// How much of the text was given out.
    shown: usize,
    line: Line,
    any: bool,
}

/// What is known of the line that the text ends in, and of the fence around it.
#[derive(Clone, Copy)]
struct Line {
    /// Nothing but blanks so far.
    is_blank: bool,
    backticks: usize,
    /// Backticks or tildes that it began with, and whether there is nothing behind them yet.
    fence: usize,
    is_fence: bool,
    in_fence: bool,
    /// Whether a tag was opened in the fence.
    opened_in_fence: bool,
}

impl Default for Line {
    fn default() -> Line {
        Line {
            is_blank: true,
            backticks: 0,
            fence: 0,
            is_fence: false,
            in_fence: false,
            opened_in_fence: false,
        }
    }
}

/// What stands at a place of the text.
enum Found {
    Open(usize),
    Close(usize),
    /// An opening tag in a fence: text.
    Quoted,
    /// It depends on what comes next.
    Unclear,
    Nothing,
}

impl Thoughts {
    /// Takes a piece in and gives the text that is surely none of a thought.
    pub(crate) fn push(&mut self, piece: &str) -> &str {
        self.held.push_str(piece);
        self.read(false);
        self.shown = self.shown.min(self.out.len());
        let new = self.out.get(self.shown..).unwrap_or_default();
        self.shown = self.out.len();
        new
    }

    /// The whole text, and whether anything was taken out.
    pub(crate) fn end(mut self) -> (String, bool) {
        self.read(true);
        if let Some((thought, begins_line)) = self.thought.take() {
            if begins_line {
                self.any = true;
            } else {
                self.out.push_str(&thought);
            }
        }
        if !self.any {
            return (self.out, false);
        }
        (self.out.trim().to_owned(), true)
    }

    fn read(&mut self, is_end: bool) {
        let text = std::mem::take(&mut self.held);
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let step = rest.chars().next().map_or(1, char::len_utf8);
            match self.find(rest, is_end) {
                Found::Unclear => {
                    self.held = rest.to_owned();
                    return;
                }
                Found::Open(length) if self.thought.is_none() => {
                    let tag = rest.get(..length).unwrap_or_default().to_owned();
                    self.thought = Some((tag, self.line.is_blank));
                    at += length;
                }
                Found::Close(length) => {
                    self.close();
                    at += length;
                }
                found => {
                    self.line.opened_in_fence |= matches!(found, Found::Quoted);
                    self.keep(rest.get(..step).unwrap_or_default());
                    at += step;
                }
            }
        }
    }

    /// Looks at the beginning of the rest of the text.
    fn find(&self, rest: &str, is_end: bool) -> Found {
        if !rest.starts_with(['<', '◁', '[']) {
            return Found::Nothing;
        }
        for (open, close) in TAGS {
            for (tag, opens) in [(open, true), (close, false)] {
                match begins(rest, tag) {
                    Some(true) => {
                        let behind = rest.get(tag.len()..).and_then(|behind| behind.chars().next());
                        if behind.is_none() && !is_end && self.thought.is_none() {
                            return Found::Unclear;
                        }
                        return self.judge(tag.len(), opens, behind);
                    }
                    None if !is_end => return Found::Unclear,
                    _ => {}
                }
            }
        }
        Found::Nothing
    }

    /// What a tag is where it stands.
    fn judge(&self, length: usize, opens: bool, behind: Option<char>) -> Found {
        if self.thought.is_some() {
            return if opens { Found::Nothing } else { Found::Close(length) };
        }
        let before = self.out.chars().next_back();
        let is_quoted = QUOTES.iter().any(|(left, right)| before == Some(*left) && behind == Some(*right));
        if is_quoted || self.line.backticks % 2 == 1 {
            return Found::Nothing;
        }
        if self.line.in_fence {
            let is_alone = self.line.is_blank && behind.is_none_or(|c| c == '\n' || c == '\r');
            let ends_thought = is_alone && !self.line.opened_in_fence;
            return match opens {
                true => Found::Quoted,
                false if ends_thought => Found::Close(length),
                false => Found::Nothing,
            };
        }
        if opens { Found::Open(length) } else { Found::Close(length) }
    }

    fn close(&mut self) {
        self.any = true;
        if self.thought.take().is_none() {
            // It was opened before the reply began, or not at all.
            self.out.truncate(self.after);
            self.line = Line::default();
        }
        self.after = self.out.len();
    }

    fn keep(&mut self, piece: &str) {
        if let Some((thought, _)) = &mut self.thought {
            thought.push_str(piece);
            return;
        }
        // The blanks behind a thought that began the reply are no part of it.
        if self.any && self.out.is_empty() && piece.trim().is_empty() {
            return;
        }
        self.line.pass(piece);
        self.out.push_str(piece);
    }
}

impl Line {
    fn pass(&mut self, piece: &str) {
        for c in piece.chars() {
            self.backticks += usize::from(c == '`');
            match c {
                '\n' => {
                    let toggles = self.fence >= 3;
                    *self = Line {
                        in_fence: self.in_fence != toggles,
                        opened_in_fence: self.opened_in_fence && !toggles,
                        ..Line::default()
                    };
                }
                '`' | '~' if self.is_blank || self.is_fence => {
                    self.fence += 1;
                    self.is_fence = true;
                    self.is_blank = false;
                }
                _ => {
                    self.is_fence = false;
                    self.is_blank &= c.is_whitespace();
                }
            }
        }
    }
}

/// Whether a text begins with a tag, in whatever case; none where it ends within it.
fn begins(text: &str, tag: &str) -> Option<bool> {
    let (text, tag) = (text.as_bytes(), tag.as_bytes());
    let same = text.iter().zip(tag).all(|(a, b)| a == b || a.to_ascii_lowercase() == *b);
    if same && text.len() < tag.len() { None } else { Some(same) }
}

/// A text without its thoughts; none where it has none.
pub(crate) fn without_thoughts(text: &str) -> Option<String> {
    if !text.contains(['<', '◁', '[']) {
        return None;
    }
    let mut thoughts = Thoughts::default();
    thoughts.push(text);
    let (text, any) = thoughts.end();
    any.then_some(text)
}
