//! Moments and amounts as people read them.

use deepgraph_protocol::{Millis, Spent};

/// A moment as `2025-01-14 09:30:00`, UTC; its number where it is out of the calendar.
pub fn moment(at: Millis) -> String {
    match jiff::Timestamp::from_millisecond(at) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => at.to_string(),
    }
}

/// A length of time: `1 h 30 min`, `12 s`, `250 ms`.
pub fn duration(millis: u64) -> String {
    let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
    let seconds = millis / 1000 % 60;
    match (hours, minutes, seconds) {
        (0, 0, 0) => format!("{millis} ms"),
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// A length of time with its parts of a second, where it is short enough for them to matter: `2.5 s`, `1 min 1 s`.
pub fn exactly(millis: u64) -> String {
    match (millis, millis % 1000) {
        (1000..60_000, 1..) => {
            let parts = format!("{:03}", millis % 1000);
            format!("{}.{} s", millis / 1000, parts.trim_end_matches('0'))
        }
        _ => duration(millis),
    }
}

/// Money: `$0.50`, with as many digits as small amounts need.
pub fn money(micro_usd: u64) -> String {
    let (dollars, rest) = (micro_usd / 1_000_000, micro_usd % 1_000_000);
    let digits = format!("{rest:06}");
    let shown = digits.trim_end_matches('0');
    format!("${dollars}.{shown:0<2}")
}

/// A number with its thousands apart: `1 000 000`.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let all: Vec<String> = (!head.is_empty()).then(|| head.to_owned()).into_iter().chain(groups).collect();
    all.join(" ")
}

/// "1 step", "2 steps".
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

/// What was paid. Calls of unknown price are never taken for free ones.
pub fn cost(used: &Spent) -> String {
    match (used.cost_unknown, used.cost_micro_usd) {
        (0, known) => format!("cost {}", money(known)),
        (calls, 0) => format!("cost unknown ({} of unknown price)", counted(calls, "call", "calls")),
        (calls, known) => {
            format!("cost at least {} ({} of unknown price)", money(known), counted(calls, "call", "calls"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_for_people() {
        assert_eq!(
            [0, 1_500, 61_000, 1_800_000, 5_400_000, 7_200_000].map(duration),
            ["0 ms", "1 s", "1 min 1 s", "30 min", "1 h 30 min", "2 h"]
        );
        assert_eq!([40, 2_500, 3_000, 61_500].map(exactly), ["40 ms", "2.5 s", "3 s", "1 min 1 s"]);
        assert_eq!(
            [0, 500_000, 1_234, 12_000_000, 1_230_000].map(money),
            ["$0.00", "$0.50", "$0.001234", "$12.00", "$1.23"]
        );
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(number), ["0", "12", "999", "1 000", "1 234 567"]);
        assert_eq!(moment(0), "1970-01-01 00:00:00");
        assert_eq!(moment(i64::MAX), i64::MAX.to_string());
    }

    #[test]
    fn unknown_cost_is_never_zero() {
        let used = |cost_micro_usd, cost_unknown| Spent { cost_micro_usd, cost_unknown, ..Spent::default() };
        assert_eq!(cost(&used(0, 0)), "cost $0.00");
        assert_eq!(cost(&used(0, 1)), "cost unknown (1 call of unknown price)");
        assert_eq!(cost(&used(250_000, 2)), "cost at least $0.25 (2 calls of unknown price)");
    }
}
