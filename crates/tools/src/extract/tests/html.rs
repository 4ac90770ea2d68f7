//! Web pages.

use super::*;

const PAGE: &str = r#"<!DOCTYPE html>
<html><head><title>Veldt &amp; its port</title>
<meta property="article:published_time" content="2023-02-01T08:00:00+01:00">
<style>p { color: red }</style><script>var hidden = "<p>no</p>";</script></head>
<body><nav><a href="/">Start</a> <p>Menu</p></nav>
<h1>Veldt &amp; its port</h1>
<p>The port of <b>Veldt</b>
   has R&eacute;my&#39;s 3&nbsp;piers.</p>
<h2>Trade</h2>
<ul><li>Wool: 40&#160;t</li><li>Salt</li></ul>
<table><tr><th>Year</th><th>Ships</th></tr><tr><td>2022</td><td>1,204</td></tr></table>
<table><tr><th>Depth</th><td>14 m</td></tr><tr><th>Ice</th><td>until<br>May</td></tr></table>
<h3>Fees</h3>
<dl><dt>Small boats</dt><dd>4 crowns</dd><dt>Others</dt><dd>9 crowns</dd></dl>
<!-- <p>not this</p> -->
</body></html>
"#;

#[test]
fn a_page_is_read_as_a_reader_sees_it() {
    let found = checked("veldt.html", PAGE);
    assert_eq!((found.title.as_str(), found.date.as_deref()), ("Veldt & its port", Some("2023-02-01")));
    assert_eq!(sections(&found), ["", "Trade", "Trade › Fees"]);
    assert_eq!(texts(&found)[0], "The port of Veldt has Rémy's 3 piers.");
    let trade = "Wool: 40 t\nSalt\n\nYear | Ships\nYear: 2022 | Ships: 1,204\n\nDepth: 14 m\nIce: until May";
    assert_eq!(texts(&found)[1], trade);
    assert_eq!(texts(&found)[2], "Small boats: 4 crowns\nOthers: 9 crowns");
}

#[test]
fn its_words_are_found_in_the_file() {
    let found = checked("veldt.html", PAGE);
    assert_eq!(bytes_of(PAGE, &found, "1,204"), "1,204");
    assert_eq!(bytes_of(PAGE, &found, "Rémy's"), "R&eacute;my&#39;s");
    assert_eq!(bytes_of(PAGE, &found, "3 piers"), "3&nbsp;piers");
    assert_eq!(bytes_of(PAGE, &found, "Veldt has"), "Veldt</b>\n   has");
    assert_eq!(bytes_of(PAGE, &found, "9 crowns"), "9 crowns");
}

#[test]
fn windows_line_ends_keep_the_places() {
    let page = PAGE.replace('\n', "\r\n");
    let found = checked("veldt.html", &page);
    assert_eq!(bytes_of(&page, &found, "1,204"), "1,204");
    assert_eq!(bytes_of(&page, &found, "9 crowns"), "9 crowns");
}

#[test]
fn what_is_not_closed_does_not_hide_the_rest() {
    let page = "<nav><a>Menu</a><h1>Title<p>Text one.<p>Text two.<table><tr><td>a<td>b<tr><td>c";
    let found = checked("a.html", page);
    let text = texts(&found).join("\n");
    for words in ["Text one.", "Text two.", "a | b", "c"] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn tables_for_layout_are_read_like_other_text() {
    let page = "<table><tr><td>left</td><td><h2>News</h2><p>Ice.</p><table><tr><th>Day</th><td>May 3</td></tr></table></td></tr></table><p>End.</p>";
    let found = checked("a.html", page);
    assert_eq!((found.title.as_str(), texts(&found)), ("News", vec!["left\n\nIce.\n\nDay: May 3\n\nEnd."]));
}

#[test]
fn broken_and_hostile_markup_is_no_panic() {
    let nested = format!("<p>x{}", "<div><table><tr><td>".repeat(3000));
    let files = [
        "<",
        "<p",
        "<p>a &",
        "a &#xFFFFFFFF; b",
        "</p></p>x<td>y</td></table>",
        "<title>t",
        "<td colspan=99999999>x",
        "<table><tr><td colspan=-1>x</td><td colspan=0>y</td></tr>",
        "<pre>a\n  b</pre>",
        &nested,
    ];
    for file in files {
        if let Ok(found) = extract("a.html", file.as_bytes()) {
            found.passages.iter().for_each(|passage| check_words(file, passage));
        }
    }
}

#[test]
fn what_says_that_it_is_hidden_is_left_out() {
    let seen = |page: &str| texts(&checked("a.html", page)).join("|");
    for hidden in [
        "<div hidden>no <p>no</p> <div>no</div> no</div>",
        "<div hidden=\"until-found\"><br>no<img>no</div>",
        "<p hidden>no <b>no</b>",
        "<span style=\"color: red; DISPLAY : none !important\">no</span>",
        "<ul hidden><li>no<li>no <ul><li>no</li></ul></ul>",
        "<section style=\"visibility:hidden\"><table><tr><td>no<td>no</table></section>",
        "<div hidden><p>no<ul><li>no</li></ul></p>no</div>",
    ] {
        assert_eq!(
            seen(&format!("<div><p>Before.</p>{hidden}<p>After.</p></div>")),
            "Before.\n\nAfter.",
            "{hidden}"
        );
    }
    assert_eq!(seen("<div><p hidden>no</div><p>After."), "After.");
    assert_eq!(seen("<ul><li hidden>no<li>Yes.</ul>"), "Yes.");
    assert_eq!(seen("<table><tr><td hidden>no<td>Yes.<tr hidden><td>no<tr><td>Too.</table>"), "Yes.\nToo.");
    assert_eq!(seen("<body style=\"display:none\"><input hidden>All <br hidden>of it."), "All of it.");
}

#[test]
fn a_line_break_in_a_sentence_is_a_space() {
    let page = "<p>The Tern tower<br>is 20&nbsp;metres<br/>tall.</p><p>Rook: 14 m<br>Tern: 20 m</p><pre>a<br>b</pre>";
    let found = checked("a.html", page);
    assert_eq!(texts(&found), ["The Tern tower is 20 metres tall.\n\nRook: 14 m\nTern: 20 m\n\na\nb"]);
    assert_eq!(bytes_of(page, &found, "tower is 20 metres"), "tower<br>is 20&nbsp;metres");
}

#[test]
fn a_page_is_known_without_its_ending() {
    let found = checked("download", "<!doctype html><title>T</title><p>Text <i>here</i>.");
    assert_eq!((found.title.as_str(), texts(&found)), ("T", vec!["Text here."]));
}
