//! Numbers, without rounding.

use std::fmt;

use super::{Amount, Figure, Unit};

/// A decimal number of any length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    negative: bool,
    /// Digits before the point, without leading zeros; "0" for none.
    whole: String,
    /// Digits after the point, without trailing zeros.
    fraction: String,
    /// The place of the last digit that was written, as a power of ten: 5 for `3.4 million`.
    last_place: i32,
    /// Whether it was written as a run of digits alone.
    bare: bool,
}

impl Number {
    /// From digits before and after the point, and the power of ten that they are multiplied by.
    pub(super) fn new(negative: bool, whole: &str, fraction: &str, power: u32) -> Number {
        let power = power as usize;
        let mut digits: String = whole.to_owned() + fraction;
        while digits.len() < whole.len() + power {
            digits.push('0');
        }
        let (before, after) = digits.split_at(whole.len() + power);
        let before = before.trim_start_matches('0');
        Number {
            negative,
            whole: if before.is_empty() { "0".to_owned() } else { before.to_owned() },
            fraction: after.trim_end_matches('0').to_owned(),
            last_place: power as i32 - i32::try_from(fraction.len()).unwrap_or(i32::MAX),
            bare: power == 0 && fraction.is_empty(),
        }
    }

    /// Whether two numbers are the same but for their sign.
    pub fn is_same_size(&self, other: &Number) -> bool {
        self.whole == other.whole && self.fraction == other.fraction
    }

    /// Whether `exact`, rounded or cut to the last place that this number shows, is this number.
    pub fn is_rounded_from(&self, exact: &Number) -> bool {
        let (Ok(mine), Ok(theirs)) = (self.magnitude().parse::<f64>(), exact.magnitude().parse::<f64>())
        else {
            return false;
        };
        // Whole numbers ending in zeros were as likely rounded there: "about 3,400,000".
        let digits = self.whole.len() as i32;
        let zeros = digits - self.whole.trim_end_matches('0').len() as i32;
        let place = if self.fraction.is_empty() { self.last_place.max(zeros) } else { self.last_place };
        let step = 10f64.powi(place.min(300));
        // With two digits or more, people also cut ("over 3.4") and round up ("nearly 3.5").
        let margin = if digits - place >= 2 { step } else { step / 2.0 };
        mine > 0.0 && (mine - theirs).abs() < margin
    }

    /// The year, if it was written as four digits from 1000 to 2999.
    pub(super) fn as_year(&self) -> Option<u32> {
        let year = self.whole.parse().ok()?;
        (self.bare && !self.negative && (1000..3000).contains(&year)).then_some(year)
    }

    fn magnitude(&self) -> String {
        format!("{}.{}", self.whole, self.fraction)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let point = if self.fraction.is_empty() { "" } else { "." };
        write!(f, "{sign}{}{point}{}", self.whole, self.fraction)
    }
}

/// Signs and words of money: what stands before a number, what stands behind it, the sign.
const MONEY: &[(&[&str], &[&str], &str)] = &[
    (&["US$", "USD", "$"], &["USD", "US dollars", "dollars", "dollar"], "$"),
    (&["€", "EUR"], &["€", "EUR", "euros", "euro"], "€"),
    (&["£", "GBP"], &["£", "GBP", "pounds sterling", "pounds"], "£"),
    (&["¥", "JPY"], &["¥", "JPY", "yen"], "¥"),
    (&["₹", "INR"], &["₹", "INR", "rupees"], "₹"),
    (&["CHF"], &["CHF", "Swiss francs"], "CHF"),
];

const SCALES: &[(&str, u32)] =
    &[("thousand", 3), ("million", 6), ("billion", 9), ("trillion", 12), ("mn", 6), ("bn", 9), ("tn", 12)];

/// Scales that are written at a sum of money without a space.
const SHORT_SCALES: &[(&str, u32)] = &[("k", 3), ("K", 3), ("m", 6), ("M", 6), ("b", 9), ("B", 9), ("T", 12)];

const PERCENT: &[&str] = &["%", "percentage points", "percent", "per cent", "pct"];

/// The number whose first digit stands at `start`, and where to look on; no number where the digits belong to a
/// name such as `4x4` or `1.2.3`.
pub(super) fn at(text: &str, start: usize) -> (Option<Figure>, usize) {
    let digits_end = start + digits_len(&text[start..]);
    let Some((whole, fraction, plain)) = read_digits(&text[start..digits_end]) else {
        return (None, digits_end);
    };
    let word_end = digits_end + attached(&text[digits_end..]);
    if text[digits_end..word_end].bytes().any(|b| b.is_ascii_digit()) {
        return (None, word_end);
    }
    let (money, mut at) = money_before(text, start);
    let (power, mut end) = scale(text, digits_end, money.is_some());
    let (unit, unit_end) = unit_behind(text, end, money);
    end = unit_end;
    let negative = is_minus(text, at);
    if negative {
        at -= text[..at].chars().next_back().map_or(0, char::len_utf8);
    }
    let mut number = Number::new(negative, &whole, &fraction, power);
    number.bare &= plain;
    (Some(Figure { at, len: end - at, amount: Amount::Number(number, unit) }), end)
}

/// In ranges such as `10–12 %` and `$10-12 million`, the unit and scale of one end hold for the other.
pub(super) fn share_units(text: &str, figures: &mut [Figure]) {
    for i in 1..figures.len() {
        let (head, tail) = figures.split_at_mut(i);
        let (Some(left), Some(right)) = (head.last_mut(), tail.first_mut()) else { continue };
        if !matches!(text.get(left.end()..right.at), Some("-" | "–" | "—" | " to " | " – ")) {
            continue;
        }
        if let (Amount::Number(_, a), Amount::Number(_, b)) = (&mut left.amount, &mut right.amount) {
            match (*a, *b) {
                (Unit::Plain, Unit::Percent) => *a = Unit::Percent,
                (Unit::Money(sign), Unit::Plain) => *b = Unit::Money(sign),
                _ => {}
            }
        }
    }
}

/// Whether the letters before `at` are the code of a currency: `USD31`.
pub(super) fn is_currency_code_before(text: &str, at: usize) -> bool {
    money_before(text, at).0.is_some()
}

/// Length of the run of digits and separators between digits.
fn digits_len(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let separates = matches!(c, ',' | '.' | '\'' | '’' | '\u{a0}' | '\u{2009}' | '\u{202f}');
        let joined = separates && chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if !c.is_ascii_digit() && !joined {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// Digits before and after the point, and whether there was no separator; none if it is no number (`1.2.3`).
fn read_digits(run: &str) -> Option<(String, String, bool)> {
    let groups: Vec<&str> = run.split(|c: char| !c.is_ascii_digit()).collect();
    let separators: Vec<char> = run.chars().filter(|c| !c.is_ascii_digit()).collect();
    let (&last, before) = groups.split_last()?;
    let Some((&last_separator, inner)) = separators.split_last() else {
        return Some((last.to_owned(), String::new(), true));
    };
    let grouped = |groups: &[&str]| {
        groups.iter().skip(1).all(|g| g.len() == 3) && groups.first().is_some_and(|g| g.len() <= 3)
    };
    let same = |separators: &[char]| separators.windows(2).all(|w| w[0] == w[1]);
    let thousands = same(&separators) && grouped(&groups) && (last_separator != '.' || !inner.is_empty());
    if thousands {
        return Some((groups.concat(), String::new(), false));
    }
    let is_point = matches!(last_separator, '.' | ',') && !inner.contains(&last_separator);
    let groups_before = inner.is_empty() || (same(inner) && grouped(before));
    (is_point && groups_before).then(|| (before.concat(), last.to_owned(), false))
}

/// Length of the letters and digits that follow without a space.
fn attached(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len())
}

/// The sign or code of money that ends at `start` and where it begins.
fn money_before(text: &str, start: usize) -> (Option<&'static str>, usize) {
    let before = text[..start].trim_end_matches([' ', '\u{a0}']);
    if start - before.len() > 2 {
        return (None, start);
    }
    for (prefixes, _, sign) in MONEY {
        for prefix in *prefixes {
            let Some(rest) = before.strip_suffix(prefix) else { continue };
            let is_code = prefix.starts_with(|c: char| c.is_alphabetic());
            let ends_word = is_code && rest.ends_with(char::is_alphanumeric);
            let spaced_sign = !is_code && before.len() != start && *sign == "$";
            if !ends_word && !spaced_sign {
                return (Some(sign), rest.len());
            }
        }
    }
    (None, start)
}

/// The power of ten that a number is multiplied by, and the byte after the word that says so.
fn scale(text: &str, end: usize, is_money: bool) -> (u32, usize) {
    let rest = &text[end..];
    let word = rest.trim_start_matches([' ', '\u{a0}', '-']);
    let gap = rest.len() - word.len();
    let length = attached(word);
    let name = word[..length].to_lowercase();
    if gap <= 2
        && let Some((_, power)) = SCALES.iter().find(|(scale, _)| name == *scale)
    {
        return (*power, end + gap + length);
    }
    let short = SHORT_SCALES.iter().find(|(scale, _)| is_money && gap == 0 && &word[..length] == *scale);
    short.map_or((0, end), |(_, power)| (*power, end + length))
}

/// The unit behind a number, and the byte after it.
pub(super) fn unit_behind(text: &str, end: usize, money: Option<&'static str>) -> (Unit, usize) {
    if let Some(sign) = money {
        return (Unit::Money(sign), end);
    }
    let rest = &text[end..];
    let word = rest.trim_start_matches([' ', '\u{a0}', '-']);
    let gap = rest.len() - word.len();
    if gap > 2 {
        return (Unit::Plain, end);
    }
    let stands = |name: &str| {
        word.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
            && !(name.ends_with(char::is_alphabetic)
                && word[name.len()..].starts_with(|c: char| c.is_alphanumeric()))
    };
    if let Some(name) = PERCENT.iter().find(|name| stands(name)) {
        return (Unit::Percent, end + gap + name.len());
    }
    for (_, suffixes, sign) in MONEY {
        if let Some(name) = suffixes.iter().find(|name| stands(name)) {
            return (Unit::Money(sign), end + gap + name.len());
        }
    }
    (Unit::Plain, end)
}

/// Whether a minus stands before `at`, and no dash of a range.
fn is_minus(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev();
    matches!(before.next(), Some('-' | '−'))
        && before.next().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '|' | ':'))
}
