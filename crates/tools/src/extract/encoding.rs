//! Whether bytes are text, and in which encoding.

use std::str::Utf8Error;

use crate::report::SkipReason;

/// How many bytes are looked at to tell text from other data.
const SAMPLE: usize = 64 * 1024;

/// The text of a file and the byte at which it begins, which is past a byte order mark.
pub fn decode(bytes: &[u8]) -> Result<(&str, usize), SkipReason> {
    let base = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let body = bytes.get(base..).unwrap_or_default();
    let sample = body.get(..SAMPLE).unwrap_or(body);
    if let Some(encoding) = wide_encoding(sample) {
        return Err(SkipReason::NotUtf8 { encoding: encoding.into() });
    }
    if sample.contains(&0) {
        return Err(SkipReason::Binary);
    }
    match std::str::from_utf8(body) {
        Ok(text) => Ok((text, base)),
        Err(_) if is_binary(sample) => Err(SkipReason::Binary),
        Err(error) => Err(SkipReason::NotUtf8 { encoding: narrow_encoding(body, base, error) }),
    }
}

/// UTF-16 and UTF-32, told by their byte order mark or by where their zero bytes stand.
pub fn wide_encoding(sample: &[u8]) -> Option<&'static str> {
    match sample {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Some("UTF-32"),
        [0xFF, 0xFE, ..] => return Some("UTF-16 (little endian)"),
        [0xFE, 0xFF, ..] => return Some("UTF-16 (big endian)"),
        _ => {}
    }
    let zeros = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let many = sample.len() / 4;
    // Latin letters in UTF-16: nearly every second byte is zero and the others hardly ever are.
    if odd > many && even * 20 < odd {
        Some("UTF-16 (little endian)")
    } else if even > many && odd * 20 < even {
        Some("UTF-16 (big endian)")
    } else {
        None
    }
}

/// Text has hardly any control characters besides those of layout.
pub fn is_binary(sample: &[u8]) -> bool {
    let control = |byte: &&u8| {
        (**byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x1B)) || **byte == 0x7F
    };
    sample.iter().filter(control).count() * 50 > sample.len()
}

fn narrow_encoding(body: &[u8], base: usize, error: Utf8Error) -> String {
    let at = base + error.valid_up_to();
    let before = body.get(..error.valid_up_to()).unwrap_or_default();
    // In another encoding the very first letter beyond ASCII fails as a rule.
    if before.is_ascii() {
        format!("Latin-1 or another 8-bit encoding (byte {at} is not UTF-8)")
    } else {
        format!("UTF-8 that was damaged (byte {at} does not fit)")
    }
}
