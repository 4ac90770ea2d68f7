//! Amounts and moments as people read them.

use deepgraph_protocol::{Meter, Millis, Spent};

/// A number with its thousands apart: `1 000 000`. The spaces do not break.
pub(super) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{a0}');
        }
        out.push(digit);
    }
    out
}

/// "1 step", "2 steps".
pub(super) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{}\u{a0}{}", number(n), if n == 1 { one } else { many })
}

/// A length of time: `250 ms`, `2.4 s`, `3 min 5 s`, `1 h 30 min`.
pub(super) fn duration(ms: Millis) -> String {
    let ms = ms.max(0);
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => {
            let tenths = ms / 100;
            format!("{}.{} s", tenths / 10, tenths % 10)
        }
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
        _ => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// The time of day, UTC: `09:30:00.125`.
pub(super) fn clock(at: Millis) -> String {
    let of_day = at.rem_euclid(86_400_000);
    let (hours, minutes) = (of_day / 3_600_000, of_day / 60_000 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{:03}", of_day / 1000 % 60, of_day % 1000)
}

/// A moment: `2025-01-14 09:30:00 UTC`; its number where it is out of the calendar.
pub(super) fn moment(at: Millis) -> String {
    match deepgraph_engine::date_of(at) {
        date if date.is_empty() => format!("{at} ms after 1970"),
        date => format!("{date} {} UTC", &clock(at)[..8]),
    }
}

/// Money: `$0.50`, with as many digits as small amounts need.
pub(super) fn money(micro_usd: u64) -> String {
    let digits = format!("{:06}", micro_usd % 1_000_000);
    let cents = digits.trim_end_matches('0');
    format!("${}.{cents:0<2}", number(micro_usd / 1_000_000))
}

/// What was paid: never 0 for "unknown".
pub(super) fn cost(spent: &Spent) -> String {
    match (spent.cost_unknown, spent.cost_micro_usd) {
        (0, known) => money(known),
        (_, 0) => "unknown".to_owned(),
        (_, known) => format!("at least {}", money(known)),
    }
}

/// A size: `240 B`, `4.8 kB`, `1.2 MB`.
pub(super) fn size(bytes: usize) -> String {
    let tenths = |unit: usize| format!("{}.{}", bytes / unit, bytes * 10 / unit % 10);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        _ => format!("{} MB", tenths(1_000_000)),
    }
}

/// A figure of a limit in base units (calls, tokens, micro-dollars, milliseconds). A limit without meter counts names
/// or gain; gain, in parts per million, can not be told from a count here and is written as the number it is.
pub(super) fn of_limit(meter: Option<Meter>, n: u64) -> String {
    match meter {
        Some(Meter::CostUsd) => money(n),
        Some(Meter::ActiveTime | Meter::WallTime | Meter::TurnTime) => {
            duration(Millis::try_from(n).unwrap_or(Millis::MAX))
        }
        Some(
            Meter::Turns
            | Meter::PaidTurns
            | Meter::ModelCalls
            | Meter::ToolCalls
            | Meter::SuperSteps
            | Meter::Steps
            | Meter::Depth
            | Meter::Tokens
            | Meter::ToolFailures
            | Meter::RepeatedCalls,
        )
        | None => number(n),
    }
}

/// A bound in the unit of the graph file, in base units.
pub(super) fn in_base_units(meter: Option<Meter>, bound: f64) -> u64 {
    let scale = meter.map_or(1.0, Meter::base_units);
    (bound * scale).round() as u64
}

/// `part` of `whole` as a percentage with three digits behind the point: `12.500`. 0 where there is no whole.
pub(super) fn percent(part: i64, whole: i64) -> String {
    if whole <= 0 {
        return "0".to_owned();
    }
    let thousandths = i128::from(part.clamp(0, whole)) * 100_000 / i128::from(whole);
    match thousandths % 1000 {
        0 => (thousandths / 1000).to_string(),
        rest => format!("{}.{rest:03}", thousandths / 1000),
    }
}

/// The beginning of a text: at most so many bytes, whole characters.
pub(super) fn up_to(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// At most `most` characters of a text, on one line.
pub(super) fn head(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut left = most;
    for word in text.split_whitespace() {
        let space = usize::from(!line.is_empty());
        let length = word.chars().count() + space;
        if length > left {
            line.extend(" ".repeat(space).chars().chain(word.chars()).take(left));
            line.push('…');
            return line;
        }
        left -= length;
        line.push_str(&" "[..space]);
        line.push_str(word);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(number), ["0", "999", "1\u{a0}000", "1\u{a0}234\u{a0}567"]);
        assert_eq!(
            [0, 999, 1_000, 2_449, 65_000, 5_400_000, -5].map(duration),
            ["0 ms", "999 ms", "1.0 s", "2.4 s", "1 min 5 s", "1 h 30 min", "0 ms"]
        );
        assert_eq!([0, 500_000, 1_234, 12_000_000].map(money), ["$0.00", "$0.50", "$0.001234", "$12.00"]);
        assert_eq!([7, 4_819, 1_250_000].map(size), ["7 B", "4.8 kB", "1.2 MB"]);
        assert_eq!((moment(0), clock(-1)), ("1970-01-01 00:00:00 UTC".into(), "23:59:59.999".into()));
        assert_eq!(moment(i64::MAX), format!("{} ms after 1970", i64::MAX));
    }

    #[test]
    fn unknown_cost_is_never_zero() {
        let spent = |cost_micro_usd, cost_unknown| Spent { cost_micro_usd, cost_unknown, ..Spent::default() };
        assert_eq!(cost(&spent(0, 0)), "$0.00");
        assert_eq!(cost(&spent(0, 1)), "unknown");
        assert_eq!(cost(&spent(250_000, 2)), "at least $0.25");
    }

    #[test]
    fn shares_are_exact_and_within_the_whole() {
        assert_eq!([percent(1, 8), percent(1, 3), percent(1, 1)], ["12.500", "33.333", "100"]);
        assert_eq!([percent(-1, 8), percent(9, 8), percent(1, 0)], ["0", "100", "0"]);
        assert_eq!(percent(i64::MAX - 1, i64::MAX), "99.999");
    }

    #[test]
    fn heads_are_one_line_of_whole_characters() {
        assert_eq!(head("  a\n b\tc ", 10), "a b c");
        assert_eq!(head("äöü ßxyz", 5), "äöü ß…");
        assert_eq!(head("äöü ßxyz", 3), "äöü…");
        assert_eq!(head("abc", 3), "abc");
        assert_eq!(head("", 3), "");
    }
}
