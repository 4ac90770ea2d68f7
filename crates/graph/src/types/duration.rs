//! Durations as text.

use deepgraph_protocol::Value;

const UNITS: [(&str, f64); 7] =
    [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0), ("w", 604800.0)];

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
