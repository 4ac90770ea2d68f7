//! Text that remembers where it was taken from.

use std::ops::Range;

/// A run of text and the bytes of the origin that it was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First byte in the text.
    pub at: usize,
    /// Length in the text.
    pub len: usize,
    /// First byte in the origin.
    pub start: usize,
    /// The byte after the last in the origin.
    pub end: usize,
}

impl Run {
    /// Whether text and origin have the same length, so that the run can be cut byte by byte.
    pub fn is_even(&self) -> bool {
        self.end - self.start == self.len
    }

    /// The part of the run that stands in `from..to` of the text. An uneven run keeps its whole origin.
    fn cut(&self, from: usize, to: usize) -> Option<Run> {
        let (first, last) = (self.at.max(from), (self.at + self.len).min(to));
        if first >= last {
            return None;
        }
        let (start, end) = if self.is_even() {
            (self.start + (first - self.at), self.end - (self.at + self.len - last))
        } else {
            (self.start, self.end)
        };
        Some(Run { at: first, len: last - first, start, end })
    }
}

/// A text and the runs of it that come from an origin, in order. What no run covers was added by us.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapped {
    text: String,
    runs: Vec<Run>,
}

impl Mapped {
    /// A verbatim part of the origin.
    pub fn verbatim(text: &str, start: usize) -> Mapped {
        let mut mapped = Mapped::default();
        mapped.push_even(text, start);
        mapped
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The runs, in order of the text.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Length of the text in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Appends text that stands in the origin from `start` on, byte for byte or with bytes replaced one by one.
    pub fn push_even(&mut self, text: &str, start: usize) {
        self.push_run(text, start, start + text.len());
    }

    /// Appends text for which `start..end` of the origin stands, such as an unescaped character.
    pub fn push_run(&mut self, text: &str, start: usize, end: usize) {
        if text.is_empty() {
            return;
        }
        let run = Run { at: self.text.len(), len: text.len(), start, end: end.max(start) };
        self.text.push_str(text);
        self.add(run);
    }

    /// Appends text that does not stand in the origin.
    pub fn push_added(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends another text of the same origin.
    pub fn push(&mut self, other: &Mapped) {
        let at = self.text.len();
        self.text.push_str(&other.text);
        for run in &other.runs {
            self.add(Run { at: at + run.at, ..*run });
        }
    }

    fn add(&mut self, run: Run) {
        if let Some(last) = self.runs.last_mut()
            && last.is_even()
            && run.is_even()
            && last.at + last.len == run.at
            && last.end == run.start
        {
            last.len += run.len;
            last.end = run.end;
            return;
        }
        self.runs.push(run);
    }

    /// A part of the text. The range must lie on character borders; what lies outside is cut off.
    pub fn slice(&self, range: Range<usize>) -> Mapped {
        let to = range.end.min(self.text.len());
        let from = range.start.min(to);
        let Some(text) = self.text.get(from..to) else { return Mapped::default() };
        let first = self.runs.partition_point(|run| run.at + run.len <= from);
        let runs = self.runs.get(first..).unwrap_or_default();
        let runs = runs.iter().take_while(|run| run.at < to).filter_map(|run| run.cut(from, to));
        Mapped { text: text.into(), runs: runs.map(|run| Run { at: run.at - from, ..run }).collect() }
    }

    /// Without white space at both ends.
    pub fn trim(&self) -> Mapped {
        let start = self.text.len() - self.text.trim_start().len();
        self.slice(start..start + self.text.trim().len())
    }

    /// The same text with the origin of its origin: `self` was taken from `outer.text()`.
    pub fn through(&self, outer: &Mapped) -> Mapped {
        let mut result = Mapped { text: String::with_capacity(self.text.len()), runs: Vec::new() };
        for run in &self.runs {
            result.text.push_str(self.text.get(result.text.len()..run.at).unwrap_or_default());
            let origin = outer.slice(run.start..run.end);
            let text = self.text.get(run.at..run.at + run.len).unwrap_or_default();
            if origin.len() == text.len() {
                result.push(&Mapped { text: text.into(), runs: origin.runs });
            } else if let (Some(first), Some(last)) = (origin.runs.first(), origin.runs.last()) {
                result.push_run(text, first.start, last.end);
            } else {
                result.push_added(text);
            }
        }
        result.text.push_str(self.text.get(result.text.len()..).unwrap_or_default());
        result
    }
}

/// Appends text with white space collapsed to single spaces, as a browser shows it.
#[derive(Debug, Default)]
pub struct Collapser {
    text: Mapped,
    /// A space that is due before the next word, and the byte it stands for.
    space: Option<Option<usize>>,
}

impl Collapser {
    /// Appends a text.
    pub fn push(&mut self, part: &Mapped) {
        let mut word_start = None;
        for (at, char) in part.text().char_indices() {
            match (char.is_whitespace(), word_start) {
                (true, Some(start)) => {
                    self.push_word(&part.slice(start..at));
                    word_start = None;
                    self.space(part, at, char);
                }
                (true, None) => self.space(part, at, char),
                (false, None) => word_start = Some(at),
                (false, Some(_)) => {}
            }
        }
        if let Some(start) = word_start {
            self.push_word(&part.slice(start..part.len()));
        }
    }

    /// Appends text with its white space as it is.
    pub fn push_raw(&mut self, part: &Mapped) {
        self.space = None;
        self.text.push(part);
    }

    /// Makes sure that a space stands before the next word.
    pub fn push_space(&mut self) {
        if self.space.is_none() && !self.text.is_empty() {
            self.space = Some(None);
        }
    }

    fn space(&mut self, part: &Mapped, at: usize, char: char) {
        if self.space.is_none() && !self.text.is_empty() {
            let origin = part.slice(at..at + char.len_utf8());
            let run = origin.runs().first();
            self.space = Some(run.filter(|run| run.len == 1 && run.is_even()).map(|run| run.start));
        }
    }

    fn push_word(&mut self, word: &Mapped) {
        match self.space.take() {
            Some(Some(start)) => self.text.push_even(" ", start),
            Some(None) => self.text.push_added(" "),
            None => {}
        }
        self.text.push(word);
    }

    /// Whether there is no text yet.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What was appended so far; the collapser is empty after that.
    pub fn take(&mut self) -> Mapped {
        self.space = None;
        std::mem::take(&mut self.text)
    }
}

#[cfg(test)]
mod tests;
