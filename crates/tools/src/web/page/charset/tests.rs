//! Said, sniffed and wrong encodings.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, ISO_2022_JP, SHIFT_JIS, WINDOWS_1251};

use super::*;

const GERMAN: &str =
    "Die Prüfung der Größe ergab für alle Häuser höhere Werte als üblich; das übrige Öl wird geprüft.";
const JAPANESE: &str =
    "日本語の文章です。この文書は文字コードの判定を試すために書かれました。東京は日本の首都です。";
const RUSSIAN: &str = "Москва является столицей России и крупнейшим городом страны по численности населения.";
const KOREAN: &str = "서울은 대한민국의 수도이며 가장 큰 도시이다. 이 문서는 문자 인코딩을 시험한다.";
const CHINESE: &str = "北京是中华人民共和国的首都，也是全国的政治中心和文化中心，历史悠久。";

fn bytes(text: &str, encoding: &'static Encoding) -> Vec<u8> {
    let (bytes, _, faults) = encoding.encode(text);
    assert!(!faults, "the text is of the encoding");
    bytes.into_owned()
}

fn text(body: &[u8], said: Option<&str>) -> String {
    decode(body, said, false, None).expect("a text").text.into_owned()
}

#[test]
fn what_is_said_is_taken() {
    for (words, encoding, said) in [
        (GERMAN, WINDOWS_1252, "text/html; charset=ISO-8859-1"),
        (GERMAN, UTF_8, "text/html; charset=\"utf-8\""),
        (JAPANESE, SHIFT_JIS, "text/html;charset=Shift_JIS"),
        (JAPANESE, EUC_JP, "text/html;charset=euc-jp"),
        (JAPANESE, ISO_2022_JP, "text/html;charset=iso-2022-jp"),
        (RUSSIAN, WINDOWS_1251, "text/plain; charset = windows-1251"),
        (CHINESE, GBK, "text/html; charset=gb2312"),
    ] {
        assert_eq!(text(&bytes(words, encoding), Some(said)), words, "{said}");
    }
}

#[test]
fn a_page_says_it_itself() {
    for head in [
        "<html><head><meta charset=\"shift_jis\"></head>",
        "<html><meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'>",
        "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><html>",
    ] {
        let page = format!("{head}{JAPANESE}");
        assert_eq!(text(&bytes(&page, SHIFT_JIS), Some("text/html")), page, "{head}");
    }
}

#[test]
fn what_is_not_said_is_sniffed() {
    for (words, encoding) in [
        (GERMAN, WINDOWS_1252),
        (JAPANESE, SHIFT_JIS),
        (JAPANESE, EUC_JP),
        (RUSSIAN, WINDOWS_1251),
        (KOREAN, EUC_KR),
        (CHINESE, GBK),
        (GERMAN, UTF_8),
    ] {
        assert_eq!(text(&bytes(words, encoding), None), words, "{}", encoding.name());
    }
    assert!(BIG5.is_ascii_compatible());
}

#[test]
fn what_is_said_wrongly_is_found_out() {
    for (words, encoding, said) in [
        (GERMAN, WINDOWS_1252, "text/html; charset=utf-8"),
        (JAPANESE, SHIFT_JIS, "text/html; charset=utf-8"),
        (JAPANESE, SHIFT_JIS, "text/html; charset=iso-8859-1"),
        (GERMAN, UTF_8, "text/html; charset=iso-8859-1"),
        (JAPANESE, UTF_8, "text/html; charset=shift_jis"),
        (RUSSIAN, UTF_8, "text/html; charset=windows-1251"),
        (RUSSIAN, WINDOWS_1251, "text/html; charset=utf-8"),
        (JAPANESE, EUC_JP, "text/html; charset=shift_jis"),
        (GERMAN, UTF_8, "text/html; charset=no-such-thing"),
        (GERMAN, UTF_8, "text/html; charset=utf-16"),
    ] {
        assert_eq!(text(&bytes(words, encoding), Some(said)), words, "{} as {said}", encoding.name());
    }
}

#[test]
fn marks_at_the_start_decide() {
    let mut utf8 = b"\xEF\xBB\xBF".to_vec();
    utf8.extend(GERMAN.as_bytes());
    let decoded = decode(&utf8, Some("text/html; charset=iso-8859-1"), false, None).expect("a text");
    assert_eq!((decoded.text.as_ref(), decoded.base), (GERMAN, 3));
    assert!(matches!(decoded.text, Cow::Borrowed(_)));
    let wide = |mark: &[u8], of: fn(u16) -> [u8; 2]| {
        let mut bytes = mark.to_vec();
        bytes.extend(GERMAN.encode_utf16().flat_map(of));
        bytes
    };
    for body in [
        wide(b"\xFF\xFE", u16::to_le_bytes),
        wide(b"\xFE\xFF", u16::to_be_bytes),
        wide(b"", u16::to_le_bytes),
        wide(b"", u16::to_be_bytes),
    ] {
        assert_eq!(text(&body, Some("text/html; charset=utf-8")), GERMAN);
    }
}

#[test]
fn damage_is_told_and_a_cut_is_none() {
    let mut damaged = JAPANESE.as_bytes().to_vec();
    damaged.insert(9, 0xFF);
    let decoded = decode(&damaged, Some("text/html; charset=utf-8"), false, None).expect("a text");
    assert!(decoded.damaged && decoded.encoding == "UTF-8");
    let cut = &JAPANESE.as_bytes()[..31];
    let decoded = decode(cut, None, true, None).expect("a text");
    assert!(!decoded.damaged && JAPANESE.starts_with(decoded.text.as_ref()));
}

#[test]
fn what_is_no_text_is_none() {
    for body in [&b"\x00\x01\x02\x03"[..], b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", b"\x01\x02\x03\x04\x05\x06abc"] {
        assert_eq!(decode(body, None, false, None), None, "{body:?}");
    }
    assert_eq!(text(b"", None), "");
}
