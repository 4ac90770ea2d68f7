//! The text of a body: by its byte order mark, by what its headers or the page say, by what its bytes look like. What
//! is said is often wrong, so it is held against the bytes.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, GB18030, GBK, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::extract::encoding::{is_binary, wide_encoding};

/// Bytes in which a page says how it is encoded.
const HEAD: usize = 4096;
/// Bytes that are looked at to tell text from other data, and to tell an encoding by how it is used.
const SAMPLE: usize = 256 * 1024;

/// A text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'b> {
    /// The text. Borrowed: the bytes of the body are its text.
    pub text: Cow<'b, str>,
    /// The byte of the body at which a borrowed text begins: behind a byte order mark.
    pub base: usize,
    /// Name of the encoding.
    pub encoding: &'static str,
    /// Whether characters had to be replaced.
    pub damaged: bool,
}

/// The text of a body. `said`: the `Content-Type`; `cut`: the body ends too early; `host` helps to guess by country.
/// None: it is no text.
pub fn decode<'b>(body: &'b [u8], said: Option<&str>, cut: bool, host: Option<&str>) -> Option<Decoded<'b>> {
    let body = if cut { without_half_character(body) } else { body };
    if let Some((encoding, length)) = Encoding::for_bom(body) {
        return Some(decoded(body, encoding, length));
    }
    let sample = body.get(..SAMPLE).unwrap_or(body);
    if let Some(wide) = wide_encoding(sample) {
        return match wide {
            "UTF-16 (little endian)" => Some(decoded(body, UTF_16LE, 0)),
            "UTF-16 (big endian)" => Some(decoded(body, UTF_16BE, 0)),
            _ => None,
        };
    }
    if sample.contains(&0) || is_binary(sample) {
        return None;
    }
    let said = said.and_then(label).or_else(|| label(&head(body))).and_then(|label| encoding(&label));
    Some(decoded(body, choose(body, sample, said, host), 0))
}

/// The encoding that fits what is said and what is there.
fn choose(
    body: &[u8],
    sample: &[u8],
    said: Option<&'static Encoding>,
    host: Option<&str>,
) -> &'static Encoding {
    let is_seven_bit = said.is_some_and(|said| said.name() == "ISO-2022-JP");
    if !is_seven_bit && std::str::from_utf8(body).is_ok() {
        // Text of another encoding is hardly ever valid UTF-8.
        return UTF_8;
    }
    let guess = || guess(sample, host);
    match said {
        None => guess(),
        Some(said) if said == UTF_8 => {
            if is_mostly_utf8(sample) {
                UTF_8
            } else {
                guess()
            }
        }
        // Servers say it of everything, and all bytes are letters in it.
        Some(said) if said == WINDOWS_1252 => {
            let guess = guess();
            let high = sample.iter().filter(|byte| **byte >= 0x80).count();
            let is_other = !guess.is_single_byte() && fits(sample, guess) && high * 5 > sample.len();
            if is_other || is_mostly_utf8(sample) { if is_other { guess } else { UTF_8 } } else { said }
        }
        Some(said) if fits(sample, said) => said,
        Some(said) => {
            let guess = guess();
            if fits(sample, guess) { guess } else { said }
        }
    }
}

fn guess(sample: &[u8], host: Option<&str>) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, true);
    let country = host.and_then(|host| host.rsplit('.').next()).map(str::to_ascii_lowercase);
    // The detector takes only what can be a top-level domain.
    let country = country.filter(|country| country.bytes().all(|byte| byte.is_ascii_lowercase()));
    detector.guess(country.as_deref().map(str::as_bytes), Utf8Detection::Allow)
}

/// Whether bytes are text of an encoding without a fault, but for the cut at the end.
fn fits(sample: &[u8], encoding: &'static Encoding) -> bool {
    let whole = sample.get(..sample.len().saturating_sub(4)).unwrap_or(sample);
    let fault = |bytes: &[u8]| encoding.decode_without_bom_handling_and_without_replacement(bytes).is_none();
    // One character of up to four bytes may be cut.
    !fault(sample) || (0..4).any(|more| sample.get(..whole.len() + more).is_some_and(|part| !fault(part)))
}

/// Whether most of what is not ASCII is UTF-8: then the rest is damage.
fn is_mostly_utf8(sample: &[u8]) -> bool {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in sample.utf8_chunks() {
        good += chunk.valid().chars().filter(|char| !char.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > bad * 4
}

/// A body that was cut, without the bytes of a character whose rest is missing.
fn without_half_character(body: &[u8]) -> &[u8] {
    match std::str::from_utf8(body) {
        Err(error) if error.error_len().is_none() => body.get(..error.valid_up_to()).unwrap_or(body),
        _ => body,
    }
}

fn decoded<'b>(body: &'b [u8], encoding: &'static Encoding, base: usize) -> Decoded<'b> {
    let bytes = body.get(base..).unwrap_or_default();
    let (text, damaged) = encoding.decode_without_bom_handling(bytes);
    Decoded { text, base, encoding: encoding.name(), damaged }
}

/// The start of a body as ASCII.
fn head(body: &[u8]) -> String {
    let head = body.get(..HEAD).unwrap_or(body);
    head.iter().map(|byte| char::from(*byte).to_ascii_lowercase()).collect()
}

/// What stands behind `charset=` or, in XML, `encoding=`.
fn label(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let xml = text.trim_start().strip_prefix("<?xml").and_then(|rest| rest.split('>').next());
    let rest = match xml.and_then(|xml| xml.split_once("encoding")) {
        Some((_, rest)) => rest,
        None => text.split_once("charset")?.1,
    };
    let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = rest.find(|char: char| !(char.is_ascii_alphanumeric() || "-_:.+".contains(char)));
    rest.get(..end.unwrap_or(rest.len())).filter(|label| !label.is_empty()).map(str::to_owned)
}

fn encoding(label: &str) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label.as_bytes()).filter(|encoding| *encoding != REPLACEMENT)?;
    // A page that could be read so far is not in UTF-16, whatever it says.
    match encoding {
        wide if wide == UTF_16LE || wide == UTF_16BE => None,
        // What is said to be GBK is often its larger sister.
        gbk if gbk == GBK => Some(GB18030),
        encoding => Some(encoding),
    }
}

#[cfg(test)]
mod tests;
