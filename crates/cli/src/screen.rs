//! Standard output and standard error. Neither may be there to the end: who reads may have gone.

use std::io::{self, ErrorKind, IsTerminal, Write};

use indicatif::{MultiProgress, ProgressDrawTarget};

use crate::error::CliError;

/// Standard error, with progress lines at its bottom where it is a terminal.
#[derive(Clone, Debug)]
pub struct Screen {
    bars: Option<MultiProgress>,
    colour: bool,
}

impl Screen {
    /// Without progress lines.
    pub fn plain() -> Screen {
        Screen { bars: None, colour: has_colour() }
    }

    /// With progress lines, where standard error is a terminal that can show them.
    pub fn live() -> Screen {
        let bars = is_live_terminal().then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));
        Screen { bars, ..Screen::plain() }
    }

    /// The progress lines; none where there can not be any.
    pub fn bars(&self) -> Option<&MultiProgress> {
        self.bars.as_ref()
    }

    /// Writes a text of its own lines to standard error, above the progress lines.
    pub fn say(&self, text: &str) {
        let text = printable(text);
        match &self.bars {
            Some(bars) if !bars.is_hidden() => drop(bars.println(text)),
            _ => drop(writeln!(io::stderr(), "{text}")),
        }
    }

    /// An error.
    pub fn complain(&self, text: &str) {
        self.say(&format!("{} {text}", self.mark(RED, "error:")));
    }

    /// Something that is probably not meant, or that the user should know.
    pub fn warn(&self, text: &str) {
        self.say(&format!("{} {text}", self.mark(YELLOW, "warning:")));
    }

    /// The text in bold, where colour is wanted.
    pub fn bold(&self, text: &str) -> String {
        self.mark("1", text)
    }

    fn mark(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Takes the progress lines away while something else needs the terminal.
    pub fn pause(&self) {
        if let Some(bars) = &self.bars {
            let _ = bars.clear();
            bars.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    /// Puts the progress lines back.
    pub fn go_on(&self) {
        if let Some(bars) = &self.bars {
            bars.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

const RED: &str = "1;31";
const YELLOW: &str = "1;33";

fn is_live_terminal() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Colour on terminals only, and not where `NO_COLOR` says no.
fn has_colour() -> bool {
    is_live_terminal() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
}

/// A text without characters that would move the cursor or change the terminal: they may come from documents and
/// models. Our own colours are let through.
fn printable(text: &str) -> String {
    let own = ["\u{1b}[1;31m", "\u{1b}[1;33m", "\u{1b}[1m", "\u{1b}[0m"];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(code) = own.iter().find(|code| rest.starts_with(**code)) {
            out.push_str(code);
            rest = &rest[code.len()..];
            continue;
        }
        out.push(if is_harmless(c) { c } else { '\u{fffd}' });
        rest = &rest[c.len_utf8()..];
    }
    out
}

fn is_harmless(c: char) -> bool {
    matches!(c, '\n' | '\t') || !c.is_control()
}

/// A text on one line, without control characters, at most `most` characters of it.
pub fn one_line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Writes a text to standard output and ends it with a line break. On a terminal it is made harmless. That nobody
/// reads any more is no error.
///
/// # Errors
///
/// Standard output can not be written.
pub fn print(text: &str) -> Result<(), CliError> {
    print_to_reader(text).map(drop)
}

/// The same. Whether somebody reads it: who has more to print may leave it then.
///
/// # Errors
///
/// Standard output can not be written.
pub fn print_to_reader(text: &str) -> Result<bool, CliError> {
    let text = if io::stdout().is_terminal() { printable(text) } else { text.to_owned() };
    match write_out(&text) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).map_err(CliError::Stdout),
    }
}

/// The same, as it is.
///
/// # Errors
///
/// Standard output can not be written, which is not that nobody reads any more.
pub fn print_raw(text: &str) -> io::Result<()> {
    written(write_out(text))
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let line_break = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{line_break}").and_then(|()| out.flush())
}

/// That nobody reads any more is no error of ours.
pub fn written(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Whether what goes to standard output is seen by nobody although no one asked for that: a program that is started
/// without a standard output has the null device in its place, open for reading too. Some programs that start others
/// leave them the same, so it is no error.
pub fn stdout_leads_nowhere() -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::fs;
        use std::os::unix::fs::MetadataExt;
        let device = |path: &str| fs::metadata(path).ok().map(|found| found.rdev());
        let is_null = device("/proc/self/fd/1").is_some_and(|own| device("/dev/null") == Some(own));
        let info = fs::read_to_string("/proc/self/fdinfo/1").unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        // The lowest two bits are the mode; 2 is for reading and writing.
        is_null && flags.is_some_and(|flags| flags & 3 == 2)
    }
    #[cfg(not(target_os = "linux"))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_outside_can_not_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\r\nc\td\u{9b}"), "a\u{fffd}[2Jb\u{fffd}\nc\td\u{fffd}");
        assert_eq!(printable("\u{1b}[1;31merror:\u{1b}[0m é"), "\u{1b}[1;31merror:\u{1b}[0m é");
    }

    #[test]
    fn lines_are_cut_by_characters() {
        assert_eq!(one_line("a\n  b\tc", 10), "a b c");
        assert_eq!(one_line("äöüß", 3), "äö…");
        assert_eq!(one_line("", 0), "");
        assert_eq!(one_line("x\u{1b}[2Jy", 20), "x\u{fffd}[2Jy");
    }
}
