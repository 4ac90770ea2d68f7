//! Markup, style sheets and program text, by their signs.

/// Share of signs among the characters that are no space from which a text is markup.
const SIGNS: f64 = 0.15;
/// Signs that it has at least.
const FEWEST: usize = 10;
/// How many signs that prose has too count for each that it has not.
const SHARED: usize = 2;
/// The longest name of a character in markup: `&thinsp;`.
const LONGEST_NAME: usize = 10;

/// Whether a text is markup, a style sheet or a program. The signs of Markdown are none, nor are those of sums (`$5`), of
/// formulas (`E = mc^2;`) and of comparisons (`< 5`).
pub(super) fn is_markup(text: &str) -> bool {
    let mut signs = Signs::default();
    let mut chars = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or('\n', |(_, next)| *next);
        signs.read(before, c, next, text.get(at + c.len_utf8()..).unwrap_or(""));
        before = c;
    }
    let count = signs.own + signs.shared.min(SHARED * signs.own);
    count >= FEWEST && count as f64 >= SIGNS * signs.visible as f64
}

/// Signs of a text while it is read.
#[derive(Default)]
struct Signs {
    /// Those that prose has not.
    own: usize,
    /// Those that formulas and lists have too.
    shared: usize,
    visible: usize,
    in_tag: bool,
}

impl Signs {
    fn read(&mut self, before: char, c: char, next: char, rest: &str) {
        self.visible += usize::from(!c.is_whitespace());
        let is_own = match c {
            '{' | '}' | '\\' => true,
            '<' => {
                self.in_tag = next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
                self.in_tag
            }
            '>' => std::mem::take(&mut self.in_tag),
            ';' => !next.is_whitespace() || matches!(before, ')' | '}' | ']'),
            '=' => matches!(next, '"' | '\'' | '{' | '[' | '(' | '=' | '>') || before == '=',
            '$' => next.is_ascii_alphabetic() || matches!(next, '{' | '('),
            '&' => next == '&' || before == '&' || is_named(rest),
            _ => false,
        };
        self.own += usize::from(is_own);
        self.shared += usize::from(!is_own && (c == '=' || (c == ';' && next == '\n')));
    }
}

/// Whether the name of a character stands here, behind its `&`: `amp;`, `#39;`.
fn is_named(rest: &str) -> bool {
    let name =
        rest.bytes().take(LONGEST_NAME).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    name > 1 && rest[name..].starts_with(';')
}
