//! What can not be read, and why.

use super::*;
use crate::report::SkipReason;

fn reason(name: &str, bytes: &[u8]) -> SkipReason {
    extract(name, bytes).unwrap_err()
}

#[test]
fn empty_files() {
    assert_eq!(reason("a.txt", b""), SkipReason::Empty);
    assert_eq!(reason("a.json", b" \n\t"), SkipReason::Empty);
    assert_eq!(reason("a.md", b"\xEF\xBB\xBF\n"), SkipReason::Empty);
}

#[test]
fn files_without_text() {
    assert_eq!(reason("a.html", b"<html><script>x()</script></html>"), SkipReason::NoText);
    assert_eq!(reason("a.json", b"{\"a\": null, \"b\": []}"), SkipReason::NoText);
}

#[test]
fn other_encodings() {
    let utf16 = |text: &str, little: bool| -> Vec<u8> {
        text.encode_utf16()
            .flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() })
            .collect()
    };
    let little = [b"\xFF\xFE".to_vec(), utf16("Grüße aus Veldt", true)].concat();
    let cases: [(&[u8], &str); 6] = [
        (
            b"Gr\xFC\xDFe aus Veldt, und noch mehr Text",
            "Latin-1 or another 8-bit encoding (byte 2 is not UTF-8)",
        ),
        (
            "Grüße\u{e4}".as_bytes().strip_suffix(b"\xA4").unwrap(),
            "UTF-8 that was damaged (byte 7 does not fit)",
        ),
        (&little, "UTF-16 (little endian)"),
        (&utf16("Plain words without a mark", true), "UTF-16 (little endian)"),
        (&utf16("Plain words without a mark", false), "UTF-16 (big endian)"),
        (b"\xFF\xFE\0\0a\0\0\0", "UTF-32"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(reason("a.txt", bytes), SkipReason::NotUtf8 { encoding: expected.into() });
    }
}

#[test]
fn binary_files() {
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect();
    for bytes in [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], b"PK\x03\x04\x14\0\0\0\x08\0", b"text\0text", &noise]
    {
        assert_eq!(reason("a.bin", bytes), SkipReason::Binary);
        assert_eq!(reason("a.md", bytes), SkipReason::Binary);
    }
}

#[test]
fn broken_json() {
    let reason = reason("a.json", b"{\"a\": 1,\n \"b\": }").to_string();
    assert!(reason.starts_with("it is broken JSON: expected value at line 2 column 7"), "{reason}");
}

#[test]
fn reasons_are_sentences() {
    let reason = SkipReason::TooLarge { bytes: 51 * 1024 * 1024 };
    assert_eq!(reason.to_string(), "it is too large: 51 MB, at most 50 MB");
    let broken = |count, lines: &[u64]| {
        SkipReason::BrokenRecords { count, line: 7, detail: "EOF".into(), lines: lines.into() }.to_string()
    };
    assert_eq!(broken(1, &[7]), "the record at line 7 is broken: EOF");
    assert_eq!(broken(2, &[7, 9]), "the records at lines 7, 9 are broken, that at line 7: EOF");
    assert_eq!(broken(5, &[7, 9]), "the records at lines 7, 9 and 3 more are broken, that at line 7: EOF");
}

#[test]
fn no_bytes_make_a_panic() {
    let seeds: [&[u8]; 6] = [
        b"# T\n\n| a | b |\n|--|--|\n| 1 | 2 |\n",
        b"<p>a &eacute;<table><tr><th>x<td>y",
        b"{\"a\": [1, {\"b\": \"\\u00e9\"}]}",
        b"a,b\n\"1\",2\n",
        b"---\ntitle: x\n---\n- a\n",
        "é字\u{301} x\r\n\r\ny".as_bytes(),
    ];
    for seed in seeds {
        for at in 0..seed.len() {
            for byte in [0, b'<', b'&', b'"', b'\\', b'[', b'{', b'\n', b'\r', 0xFF] {
                let mut bytes = seed.to_vec();
                bytes[at] = byte;
                for name in ["a.md", "a.html", "a.json", "a.jsonl", "a.csv", "a.txt"] {
                    let _ = extract(name, &bytes);
                    let _ = extract(name, &bytes[..at]);
                }
            }
        }
    }
}
