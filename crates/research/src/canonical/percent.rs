//! The normal form of percent-encoding: RFC 3986, section 6.2.2.

/// A part of a URL with unreserved characters plain and hexadecimal digits in upper case.
pub fn normal(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('%') {
        push_plain(&mut out, before);
        match after.get(..2).and_then(byte) {
            Some(byte) if is_unreserved(byte) => {
                out.push(char::from(byte));
                rest = after.get(2..).unwrap_or_default();
            }
            Some(byte) => {
                push_encoded(&mut out, byte);
                rest = after.get(2..).unwrap_or_default();
            }
            // A lone percent sign means itself.
            None => {
                out.push_str("%25");
                rest = after;
            }
        }
    }
    push_plain(&mut out, rest);
    out
}

/// The bytes that a part stands for, as text; what is no UTF-8 is replaced.
pub fn decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        match after.get(..2).and_then(byte) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(b'%');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text as part of a path: all but unreserved characters and `keep` is encoded.
pub fn encoded(text: &str, keep: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_unreserved(byte) || keep.contains(&byte) {
            out.push(char::from(byte));
        } else {
            push_encoded(&mut out, byte);
        }
    }
    out
}

fn push_plain(out: &mut String, text: &str) {
    for char in text.chars() {
        if char.is_ascii() && !char.is_ascii_control() && !matches!(char, ' ' | '"' | '<' | '>' | '`' | '#') {
            out.push(char);
        } else {
            let mut buffer = [0; 4];
            for byte in char.encode_utf8(&mut buffer).bytes() {
                push_encoded(out, byte);
            }
        }
    }
}

fn push_encoded(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    for half in [byte >> 4, byte & 15] {
        out.push(DIGITS.get(usize::from(half)).map_or('0', |digit| char::from(*digit)));
    }
}

fn byte(digits: &str) -> Option<u8> {
    let are_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    are_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
