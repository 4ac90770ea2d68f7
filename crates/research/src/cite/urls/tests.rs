use super::*;

/// Label and target of each link.
fn read(text: &str) -> Vec<(String, String)> {
    let mut notes = Notes::default();
    notes.read(text, false);
    let of = |link: &Link| {
        (text[link.label.clone()].to_owned(), link.target.clone().unwrap_or_else(|| "?".into()))
    };
    links(text, &notes).iter().map(of).collect()
}

fn bare_of(text: &str) -> Vec<String> {
    read(text).into_iter().map(|(_, target)| target).collect()
}

#[test]
fn bare_urls_end_where_the_sentence_goes_on() {
    for (text, url) in [
        ("See https://a.example/b.", "https://a.example/b"),
        ("(https://a.example/b_(c))", "https://a.example/b_(c)"),
        ("(see http://a.example/b), so", "http://a.example/b"),
        ("**https://a.example/?q=1&b=2**", "https://a.example/?q=1&b=2"),
        ("HTTPS://A.example/x's", "HTTPS://A.example/x's"),
        ("www.a.example!", "www.a.example"),
        ("at `https://a.example/x` there", "https://a.example/x"),
        ("| https://a.example/x|", "https://a.example/x"),
        ("doi:10.1000/182.", "doi:10.1000/182"),
        ("DOI: 10.1000/abc(1)", "10.1000/abc(1)"),
        ("example.org/reports/2024, so", "example.org/reports/2024"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("«https://a.example/ü»", "https://a.example/ü"),
    ] {
        assert_eq!(bare_of(text), [url], "{text}");
    }
}

#[test]
fn other_words_are_none() {
    for text in [
        "km/h",
        "and/or",
        "uy.json",
        "1.5/2",
        "10.5/3",
        "a@b.org/x",
        "Node.js/Deno",
        "e.g. x/y",
        "v10.1000",
        "south-america/uy.json",
        "https://",
        "[sic] (no)",
        "[a](b.md)",
        "[id-1]",
        "3.10/4",
    ] {
        assert_eq!(read(text), [], "{text}");
    }
}

#[test]
fn markdown_and_html_links_have_labels() {
    for (text, label, url) in [
        ("the [port](https://a.example/b) is", "port", "https://a.example/b"),
        ("[a [b] c](https://a.example/b_(c) \"T\")", "a [b] c", "https://a.example/b_(c)"),
        ("[x](<https://a.example/b>)", "x", "https://a.example/b"),
        ("![map](https://a.example/m.png)", "map", "https://a.example/m.png"),
        ("[https://a.example](https://b.example/x)", "", "https://b.example/x"),
        ("<https://a.example/b>", "", "https://a.example/b"),
        ("<a class=\"x\" href=\"https://a.example/b\">port</a>", "port", "https://a.example/b"),
        ("[port](www.a.example/b)", "port", "www.a.example/b"),
        ("[port](10.1000/182)", "port", "10.1000/182"),
    ] {
        assert_eq!(read(text), [(label.to_owned(), url.to_owned())], "{text}");
    }
}

#[test]
fn notes_are_followed() {
    let text = "A [port][p] and more.[^1] [2] [3] [^9]\n\n[p]: https://a.example/p\n[^1]: Title, https://a.example/1\n[2] Two https://a.example/2\n";
    let found = read(text);
    assert_eq!(found[0], ("port".to_owned(), "https://a.example/p".to_owned()));
    assert_eq!(found[1], (String::new(), "Title, https://a.example/1".to_owned()));
    assert_eq!(found[2].1, "Two https://a.example/2");
    assert_eq!(found[3].1, "?", "a footnote that is not there: {found:?}");
    let mut notes = Notes::default();
    notes.read("1. Title - https://a.example/1\n2) k7f2qa-3\n- [3] x", true);
    assert_eq!(notes.texts.keys().collect::<Vec<_>>(), ["1", "2", "3"]);
}
