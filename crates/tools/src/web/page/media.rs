//! Kinds of content: which are read, told by the `Content-Type` and by the first bytes.

use url::Url;

use crate::extract::{Format, looks_like_html};

/// What a `Content-Type` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A format that is read.
    Format(Format),
    /// Nothing that could be relied on: the bytes and the name in the URL decide.
    Nothing,
    /// A kind that is not read.
    Other(String),
}

/// What a `Content-Type` says. Plain text is often said of what is more than that, so there the name decides.
pub fn said(content_type: Option<&str>) -> Said {
    let kind = essence(content_type.unwrap_or_default());
    let format = match kind.as_str() {
        ""
        | "text/plain"
        | "application/octet-stream"
        | "binary/octet-stream"
        | "application/download"
        | "application/x-download"
        | "application/force-download"
        | "application/xml"
        | "text/xml"
        | "unknown/unknown" => {
            return Said::Nothing;
        }
        "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => Format::Html,
        "application/pdf" | "application/x-pdf" | "text/pdf" => Format::Pdf,
        "text/markdown" | "text/x-markdown" => Format::Markdown,
        "text/csv" | "application/csv" => Format::Csv(b','),
        "text/tab-separated-values" => Format::Csv(b'\t'),
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines" => {
            Format::JsonLines
        }
        "application/json" | "text/json" | "application/x-json" => Format::Json,
        kind if kind.ends_with("+json") => Format::Json,
        // Mark-up that would be read with its tags, and what is no text to read.
        kind if kind.ends_with("+xml") || matches!(kind, "text/css" | "text/javascript") => {
            return Said::Other(kind.into());
        }
        kind if kind.starts_with("text/") => Format::Text,
        kind => return Said::Other(kind.into()),
    };
    Said::Format(format)
}

/// The format of a body. What its first bytes say goes before what is said of it.
///
/// # Errors
///
/// The kind, where it is not read.
pub fn format(content_type: Option<&str>, url: &Url, body: &[u8]) -> Result<Format, String> {
    let said = said(content_type);
    if let Said::Other(kind) = said {
        return Err(kind);
    }
    if let Some((_, kind)) = SIGNATURES.iter().find(|(signature, _)| body.starts_with(signature)) {
        return Err((*kind).to_owned());
    }
    if body.trim_ascii_start().starts_with(b"%PDF-") {
        return Ok(Format::Pdf);
    }
    let kind = match said {
        Said::Format(format) => return Ok(format),
        _ => essence(content_type.unwrap_or_default()),
    };
    if body.get(..1024).unwrap_or(body).windows(5).any(|window| window == b"%PDF-") {
        return Ok(Format::Pdf);
    }
    // What says that it is plain text is not run, so it is no page: it shows the source of one.
    if kind != "text/plain" && (looks_like_html(body) || is_xhtml(body)) {
        return Ok(Format::Html);
    }
    if kind.ends_with("/xml") {
        return Err(kind);
    }
    let extension = url.path().rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    Ok(match extension.map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
        Some("md" | "markdown") => Format::Markdown,
        Some("json" | "geojson") => Format::Json,
        Some("jsonl" | "ndjson") => Format::JsonLines,
        Some("csv") => Format::Csv(b','),
        Some("tsv") => Format::Csv(b'\t'),
        _ => Format::Text,
    })
}

/// What files of kinds that are not read begin with: no text does.
const SIGNATURES: [(&[u8], &str); 10] = [
    (b"\x1f\x8b\x08", "a gzip archive"),
    (b"PK\x03\x04", "a ZIP archive, as office documents and e-books are"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office document"),
];

/// An XML declaration with a page behind it.
fn is_xhtml(body: &[u8]) -> bool {
    let start = body.get(..512).unwrap_or(body);
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    start.trim_start().starts_with("<?xml") && (start.contains("<!doctype html") || start.contains("<html"))
}

/// A `Content-Type` without its parameters, in lower case.
fn essence(content_type: &str) -> String {
    content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_formats() {
        for (kind, path, body, expected) in [
            ("text/html; charset=utf-8", "/a", "", Ok(Format::Html)),
            ("Application/PDF", "/a", "", Ok(Format::Pdf)),
            ("application/ld+json", "/a", "", Ok(Format::Json)),
            ("text/csv", "/a", "", Ok(Format::Csv(b','))),
            ("text/plain", "/read.me.md", "# x", Ok(Format::Markdown)),
            ("text/plain", "/a.html", "<!doctype html><p>x", Ok(Format::Text)),
            ("", "/a", " <!DOCTYPE html><p>x", Ok(Format::Html)),
            ("application/octet-stream", "/paper", "%PDF-1.7", Ok(Format::Pdf)),
            ("text/xml", "/a", "<?xml version=\"1.0\"?>\n<html>", Ok(Format::Html)),
            ("text/xml", "/a", "<?xml version=\"1.0\"?>\n<rss>", Err("text/xml".into())),
            ("application/rss+xml", "/a", "", Err("application/rss+xml".into())),
            ("image/png", "/a", "", Err("image/png".into())),
            ("video/mp4", "/a", "", Err("video/mp4".into())),
            ("application/zip", "/a", "", Err("application/zip".into())),
            ("text/x-python", "/a", "", Ok(Format::Text)),
            ("text/html", "/a", "%PDF-1.4\n1 0 obj", Ok(Format::Pdf)),
            ("text/plain", "/a", "\r\n%PDF-1.4", Ok(Format::Pdf)),
            ("text/html", "/a", "<p>A file begins with %PDF-1.4", Ok(Format::Html)),
            (
                "text/html",
                "/a",
                "PK\u{3}\u{4}x",
                Err("a ZIP archive, as office documents and e-books are".into()),
            ),
            ("text/markdown", "/a", "GIF89a", Err("a GIF image".into())),
        ] {
            let url = Url::parse("https://example.com").expect("a URL").join(path).expect("a path");
            assert_eq!(format(Some(kind), &url, body.as_bytes()), expected, "{kind} {path}");
        }
    }

    #[test]
    fn first_bytes_go_before_what_is_said() {
        let url = Url::parse("https://example.com/a").expect("a URL");
        for (signature, kind) in SIGNATURES {
            for said in ["text/html", "text/plain", "application/octet-stream", "application/pdf", ""] {
                assert_eq!(format(Some(said), &url, signature), Err(kind.to_owned()), "{said}");
            }
        }
    }
}
