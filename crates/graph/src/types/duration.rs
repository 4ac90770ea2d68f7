//! Durations as text.

use std::time::Duration;

use deepgraph_protocol::Value;

/// The units, with their seconds. The only table of them.
const UNITS: [(&str, f64); 7] =
    [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0), ("w", 604800.0)];

/// Units that are written, and known to be too fine.
const TOO_FINE: [&str; 2] = ["us", "ns"];

/// Whether it is the name of a unit.
pub(crate) fn is_unit(name: &str) -> bool {
    UNITS.iter().any(|(unit, _)| *unit == name)
}

/// Seconds of a text such as `30m`, `500ms`, `1.5h`, `2d` or `1h30m`; none where it is no duration.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() || rest.len() > 40 {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        seconds += number.parse::<f64>().ok()? * factor;
        rest = tail;
    }
    // Milliseconds are the finest unit; rounding to them keeps 0.1 + 0.2 readable.
    let seconds = (seconds * 1000.0).round() / 1000.0;
    if !seconds.is_finite() || seconds > 1.0e12 {
        return None;
    }
    Some(if seconds.fract() == 0.0 { Value::Int(seconds as i64) } else { Value::from(seconds) })
}

/// A length of time, in the greatest unit up to hours that it is a whole number of. What is no whole number of
/// milliseconds is written in a unit that [`parse`] does not read: it is refused, and never taken for another length.
pub(crate) fn text(time: Duration) -> String {
    let seconds = time.as_secs();
    match (time.subsec_nanos(), seconds % 60, seconds % 3600) {
        (0, 0, 0) if seconds > 0 => format!("{}h", seconds / 3600),
        (0, 0, _) if seconds > 0 => format!("{}m", seconds / 60),
        (0, ..) => format!("{seconds}s"),
        (nanos, ..) if nanos % 1_000_000 == 0 => format!("{}ms", time.as_millis()),
        (nanos, ..) if nanos % 1000 == 0 => format!("{}us", time.as_micros()),
        _ => format!("{}ns", time.as_nanos()),
    }
}

/// Whether a text is a length of time in a unit that is too fine.
pub(crate) fn is_too_fine(text: &str) -> bool {
    let unit = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    unit.len() < text.trim().len() && TOO_FINE.contains(&unit)
}
