//! A mistake as text.

use std::fmt;

use super::Diagnostic;

/// The longest part of a line that is shown.
const WIDTH: usize = 120;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}[{}]: {}", self.severity.name(), self.code, self.message)?;
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "{margin}--> {}:{}:{}", self.file, self.line, self.column)?;
        if !self.source.trim().is_empty() {
            let (shown, before, width) = self.window();
            writeln!(f, "{margin} |")?;
            writeln!(f, "{number} | {shown}")?;
            writeln!(f, "{margin} | {}{}", " ".repeat(before), "^".repeat(width))?;
        }
        if let Some(help) = &self.help {
            writeln!(f, "{margin} = help: {help}")?;
        }
        Ok(())
    }
}

impl Diagnostic {
    /// The first column behind the word where the mistake is, from 1, in characters; none where there is no line to
    /// show.
    pub fn end_column(&self) -> Option<usize> {
        let width = self.word().count().max(1);
        (!self.source.is_empty()).then(|| self.column + width)
    }

    /// The word where the mistake is.
    fn word(&self) -> impl Iterator<Item = char> {
        let word = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        self.source.chars().skip(self.column.saturating_sub(1)).take_while(word)
    }

    /// The part of the line to show, how many columns stand before the caret, and how long the caret is.
    fn window(&self) -> (String, usize, usize) {
        let chars: Vec<char> = self.source.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
        let column = self.column.saturating_sub(1).min(chars.len());
        let from = if chars.len() <= WIDTH { 0 } else { column.saturating_sub(WIDTH / 3) };
        let to = chars.len().min(from + WIDTH);
        let width = self.word().count().min(to.saturating_sub(column)).max(1);
        (chars.get(from..to).unwrap_or_default().iter().collect(), column - from, width)
    }
}
