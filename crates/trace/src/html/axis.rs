//! Axes of time: round moments and their places.

use deepgraph_protocol::Millis;

use super::amount::{duration, percent};

/// Ticks that an axis has at most.
const TICKS: i64 = 8;

/// Round times after the start, each with its place in percent of the length.
pub(super) fn ticks(length: Millis) -> Vec<(String, String)> {
    let step = tick_step(length);
    let after = (0..=length / step).map(|n| n * step);
    // The last one would stand out of the picture.
    let inside = after.filter(|at| i128::from(*at) * 100 <= i128::from(length) * 94);
    inside.map(|at| (percent(at, length), tick_label(at))).collect()
}

/// A round step for at most [`TICKS`] ticks.
fn tick_step(length: Millis) -> Millis {
    const ROUND: [Millis; 20] = [
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
        600_000, 1_800_000, 3_600_000,
    ];
    let most = |step: &&Millis| length / **step <= TICKS;
    let hours = || 3_600_000 * (length / 3_600_000 / TICKS + 1);
    ROUND.iter().find(most).copied().unwrap_or_else(hours)
}

fn tick_label(after: Millis) -> String {
    match after {
        0 => "0".to_owned(),
        1..1_000 => format!("{after} ms"),
        ms if ms < 60_000 && ms % 1000 != 0 => format!("{}.{} s", ms / 1000, ms / 100 % 10),
        ms if ms < 60_000 => format!("{} s", ms / 1000),
        ms if ms < 3_600_000 && ms % 60_000 == 0 => format!("{} min", ms / 60_000),
        ms => duration(ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let labels = |length| ticks(length).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(1), ["0"]);
        assert_eq!(labels(8), ["0", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms", "6 ms", "7 ms"]);
        assert_eq!(labels(5_093), ["0", "1 s", "2 s", "3 s", "4 s"]);
        assert_eq!(labels(1_500), ["0", "200 ms", "400 ms", "600 ms", "800 ms", "1 s", "1.2 s", "1.4 s"]);
        assert_eq!(labels(200_000), ["0", "30 s", "1 min", "1 min 30 s", "2 min", "2 min 30 s", "3 min"]);
        for length in [1, 999, 86_400_000 * 400, Millis::MAX / 2] {
            assert!((1..=9).contains(&labels(length).len()), "{length}: {:?}", labels(length));
        }
    }
}
