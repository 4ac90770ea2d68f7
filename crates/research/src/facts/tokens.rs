//! A proposition as words, signs and figures in order: what is left of it without its form.

use std::iter::once;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::attached::open_unit;
use crate::text::figures::{Amount, Figure};

/// A piece of a proposition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word: as it is written, and in the form in which words are compared.
    Word { raw: String, low: String },
    /// A unit behind a figure, in its one form.
    Unit(String),
    /// A sign that says something: `<`, `±`, `+`, `/`.
    Sign(char),
    /// A figure in its one form, and whether it may be a time: `day` for a date with its day.
    Figure { text: String, time: Option<Time> },
    /// What stands between a label and its value: a colon, a dash, "is", "are".
    Is,
    /// A comma, a semicolon, a bracket. It only parts what is beside it.
    Break(char),
}

/// How exact a time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    Year,
    Month,
    Day,
}

impl Token {
    /// The word in the form in which words are compared; "" for all else.
    pub fn word(&self) -> &str {
        if let Token::Word { low, .. } = self { low } else { "" }
    }
}

/// The tokens of a text with its figures.
pub(super) fn tokens(text: &str, figures: &[Figure]) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let last_star = chars.windows(2).rposition(|two| !two[0].1.is_whitespace() && two[1].1 == '*');
    let mut reader = Reader { text, chars, at: 0, last_star, ..Reader::default() };
    for figure in figures {
        reader.read_up_to(figure.at);
        reader.put_figure(figure);
    }
    reader.read_up_to(text.len());
    reader.done()
}

/// A text while it is read.
#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    chars: Vec<(usize, char)>,
    /// Place in `chars`.
    at: usize,
    tokens: Vec<Token>,
    /// The byte where the last word or figure ended.
    end: usize,
    /// Place in `chars` before the last `*` that can close an emphasis.
    last_star: Option<usize>,
    in_stars: bool,
    in_quotes: bool,
    in_single_quotes: bool,
    /// Whether the last token is an `Is` that was written as a sign.
    ends_with_sign: bool,
}

impl Reader<'_> {
    fn char(&self, at: usize) -> char {
        self.chars.get(at).map_or(' ', |(_, c)| *c)
    }

    fn before(&self) -> char {
        if self.at == 0 { ' ' } else { self.char(self.at - 1) }
    }

    fn byte(&self, at: usize) -> usize {
        self.chars.get(at).map_or(self.text.len(), |(byte, _)| *byte)
    }

    fn read_up_to(&mut self, end: usize) {
        while self.byte(self.at) < end {
            if is_of_word(self.char(self.at)) {
                self.read_word(end);
            } else {
                self.read_sign(end);
            }
        }
    }

    fn read_word(&mut self, end: usize) {
        let mut raw = String::new();
        while self.byte(self.at) < end {
            let (c, next) = (self.char(self.at), self.char(self.at + 1));
            let is_inside = is_of_word(next) && self.byte(self.at + 1) < end && !raw.is_empty();
            if is_of_word(c) || (c == '\'' && is_inside) {
                raw.push(c);
            } else if matches!(c, '.' | ',') && is_inside {
                let digits = raw.ends_with(|c: char| c.is_ascii_digit()) && next.is_ascii_digit();
                let letters = c == '.' && raw.ends_with(char::is_alphabetic) && next.is_alphabetic();
                match (digits, letters) {
                    // `1.2.3` is a name.
                    (true, _) => raw.push(c),
                    // `U.S.` is `US`.
                    (false, true) => {}
                    (false, false) => break,
                }
            } else if !is_invisible(c) {
                break;
            }
            self.at += 1;
        }
        self.end = self.byte(self.at);
        self.put_word(&raw);
    }

    fn put_word(&mut self, raw: &str) {
        // Numerals of other forms stay: `x²` is not `x2`.
        let plain = raw.chars().flat_map(|c| {
            let keeps = c.is_numeric() && !c.is_ascii_digit();
            let (same, other) = if keeps { (Some(c), None) } else { (None, Some(once(c).nfkc())) };
            same.into_iter().chain(other.into_iter().flatten())
        });
        let raw: String = plain.nfc().collect();
        let low = raw.to_lowercase();
        match low.as_str() {
            "" | "the" => {}
            "is" | "are" if self.tokens.last() == Some(&Token::Is) => self.ends_with_sign = false,
            "is" | "are" => self.put(Token::Is),
            _ => self.put(Token::Word { raw, low }),
        }
    }

    fn put(&mut self, token: Token) {
        self.ends_with_sign = false;
        self.tokens.push(token);
    }

    fn put_figure(&mut self, figure: &Figure) {
        let written = self.text.get(figure.at..figure.end()).unwrap_or("");
        let behind = self.text.get(figure.end()..).unwrap_or("");
        let mut text = canonical(figure, written);
        // `A$12` is not `$12`.
        let is_joined = self.end == figure.at && !self.tokens.is_empty() && !written.starts_with('-');
        if is_joined && let Some(Token::Word { low, .. }) = self.tokens.last() {
            text = format!("{low}{text}");
            self.tokens.pop();
        }
        // In accounts `(5)` is a loss.
        let time = time(figure);
        if time.is_none() && behind.starts_with(')') && self.text[..figure.at].ends_with('(') {
            text = format!("({text})");
        }
        self.put(Token::Figure { text, time });
        while self.byte(self.at) < figure.end() {
            self.at += 1;
        }
        self.end = figure.end();
    }

    /// Reads one character that is of no word.
    fn read_sign(&mut self, end: usize) {
        let (before, c, next) = (self.before(), self.char(self.at), self.char(self.at + 1));
        let is_next = |of: fn(char) -> bool| of(next);
        match c {
            '-' | '–' | '—' | '−' => return self.read_dash(end),
            '*' => return self.read_stars(),
            ':' if matches!(next, ':' | '/') || before == ':' => self.put(Token::Sign(c)),
            ':' if before.is_ascii_digit() && next.is_ascii_digit() => self.put(Token::Sign(c)),
            ':' | '›' | '|' | '=' => self.put_is(),
            ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '、' => self.put(Token::Break(c)),
            '&' => self.put(Token::Word { raw: "and".to_owned(), low: "and".to_owned() }),
            '.' if is_next(|c| c.is_ascii_digit()) && !is_of_word(before) => self.put(Token::Sign(c)),
            '!' if is_next(|c| c == '=' || is_of_word(c)) => self.put(Token::Sign(c)),
            '~' if next == '~' || before == '~' => {}
            '"' => {
                // Behind a figure it is inches, unless it closes a quotation.
                if before.is_ascii_digit() && !self.in_quotes {
                    self.put(Token::Sign(c));
                } else {
                    self.in_quotes = !self.in_quotes;
                }
            }
            '\'' => {
                if before.is_ascii_digit() && !self.in_single_quotes {
                    self.put(Token::Sign(c));
                } else {
                    self.in_single_quotes = is_of_word(next) && !is_of_word(before);
                }
            }
            c if is_nothing(c) => {}
            c => self.put(Token::Sign(c)),
        }
        self.at += 1;
    }

    /// A dash with space beside it, or a long one, stands between a label and its value; one between two figures makes
    /// them a range; one before a word or a figure is a minus; others join words as a space does.
    fn read_dash(&mut self, end: usize) {
        let (before, first, start) = (self.before(), self.char(self.at), self.byte(self.at));
        while matches!(self.char(self.at), '-' | '–' | '—' | '−') {
            self.at += 1;
        }
        let next = self.char(self.at);
        let between = self.text.get(self.end..start).unwrap_or("");
        let is_behind_figure =
            matches!(self.tokens.last(), Some(Token::Figure { .. })) && between.trim().is_empty();
        let gap = self.text.get(self.byte(self.at)..end).unwrap_or("");
        let is_before_figure = end < self.text.len() && gap.trim().is_empty();
        if is_behind_figure && is_before_figure {
            self.put(Token::Sign('-'));
        } else if first == '—' || (before.is_whitespace() && next.is_whitespace()) {
            self.put_is();
        } else if !is_of_word(before) && !matches!(before, ')' | ']' | '.' | ',') && is_of_word(next) {
            self.put(Token::Sign('-'));
        }
    }

    /// Stars around words are emphasis: `**main**`. Others are kept: `A*`, `5 * 3`.
    fn read_stars(&mut self) {
        let before = self.before();
        while self.char(self.at) == '*' {
            self.at += 1;
        }
        let next = self.char(self.at);
        let opens = !is_of_word(before) && !next.is_whitespace() && self.last_star >= Some(self.at);
        if self.in_stars && !before.is_whitespace() {
            self.in_stars = false;
        } else if !self.in_stars && opens {
            self.in_stars = true;
        } else {
            self.put(Token::Sign('*'));
        }
    }

    fn put_is(&mut self) {
        if !self.tokens.is_empty() && self.tokens.last() != Some(&Token::Is) {
            self.put(Token::Is);
            self.ends_with_sign = true;
        }
    }

    fn done(mut self) -> Vec<Token> {
        if self.ends_with_sign {
            self.tokens.pop();
        }
        self.tokens
    }
}

/// One text for all ways to write a figure, with the unit that its amount leaves open.
fn canonical(figure: &Figure, written: &str) -> String {
    match (&figure.amount, open_unit(written)) {
        (Amount::Number(number, _), Some(unit)) => format!("{number}{unit}"),
        _ => figure.canonical(),
    }
}

fn time(figure: &Figure) -> Option<Time> {
    match figure.amount {
        Amount::Date { day: Some(_), .. } => Some(Time::Day),
        Amount::Date { .. } => Some(Time::Month),
        Amount::Number(..) => figure.year().map(|_| Time::Year),
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Characters that say nothing: space, quotation marks, the ends of sentences, marks of text that is laid out.
fn is_nothing(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '.' | '!' | '¡' | '¿' | '…' | '。' | '｡' | '_' | '`' | '•' | '·' | '®' | '™')
        || matches!(c, '“' | '”' | '„' | '«' | '»' | '‹' | '「' | '」' | '『' | '』' | '‚')
        || is_invisible(c)
}

/// Characters that say how a text is laid out: soft hyphens, joiners, marks of direction.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0xAD | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060 | 0xFEFF)
}
