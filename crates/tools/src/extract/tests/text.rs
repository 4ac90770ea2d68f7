//! Plain text, Markdown and CSV.

use super::*;

#[test]
fn plain_text_is_verbatim() {
    let file =
        "Harbour notes\n\nThe harbour of Veldt is 14 m deep.\nIt freezes in winter.\n\n\n  Indented end.\n";
    let found = checked("notes/harbour.txt", file);
    assert_eq!(found.title, "Harbour notes");
    assert_eq!(bytes_of(file, &found, "14 m deep"), "14 m deep");
    assert_eq!(bytes_of(file, &found, "Indented end."), "Indented end.");
}

#[test]
fn lines_that_were_broken_to_fit_are_put_together() {
    let file = "The harbour of Veldt was dug by hand between 1870\nand 1874, and it has been deepened four times since\nthen. It is open.\n";
    let found = checked("a.txt", file);
    assert_eq!(
        texts(&found),
        [
            "The harbour of Veldt was dug by hand between 1870 and 1874, and it has been deepened four times since then. It is open."
        ]
    );
    assert_eq!(bytes_of(file, &found, "1870 and 1874"), "1870\nand 1874");
}

#[test]
fn the_longest_line_of_a_short_paragraph_was_not_broken() {
    let file = "Battery ferries for Vessa Island: questions and answers\nDate: 2025-02-10\n\nThis sheet was handed out at the public meeting in the school hall of Lindholm\non 10 February.\n";
    let found = checked("a.txt", file);
    assert!(texts(&found)[0].contains("questions and answers\nDate"), "{found:?}");
    assert!(texts(&found)[0].contains("Lindholm on 10 February."), "{found:?}");
}

#[test]
fn short_lines_and_lists_stay_lines() {
    let file = "Bread\nMilk\n1. Rye flour, of the mill at the river if they have it\n2. Yeast\n";
    assert_eq!(texts(&checked("a.txt", file)), [file.trim_end()]);
}

#[test]
fn a_sentence_is_no_title() {
    assert_eq!(checked("log/harbour depth.txt", "The harbour is deep.\n").title, "harbour depth");
    assert_eq!(checked("log/index.txt", "The harbour is deep.\n").title, "log/index");
    assert_eq!(checked("log/uy", "The harbour is deep.\n").title, "log/uy");
}

#[test]
fn windows_line_ends_and_a_byte_order_mark() {
    let file = "\u{feff}# Veldt\r\n\r\nA port\r\nof 3 piers.\r\n\r\n## Depth\r\n\r\n14 m.\r\n";
    for name in ["a.md", "a.txt"] {
        let found = checked(name, file);
        assert_eq!(bytes_of(file, &found, "14 m"), "14 m");
        assert!(texts(&found).iter().all(|text| !text.contains('\r')), "{found:?}");
    }
    assert_eq!(checked("a.md", file).title, "Veldt");
}

#[test]
fn markdown_headings_are_sections() {
    let file = "# Veldt\n\nA port.\n\n## Economy\n\n### Trade\n\nExports are *wool* and `salt` ([source](http://x.y)).\n\n## Port\n\nDeep.\n";
    let found = checked("veldt.md", file);
    assert_eq!(found.title, "Veldt");
    assert_eq!(sections(&found), ["", "Economy › Trade", "Port"]);
    assert_eq!(texts(&found)[1], "Exports are wool and salt (source).");
    assert_eq!(bytes_of(file, &found, "salt"), "salt");
    assert_eq!(bytes_of(file, &found, "wool and salt"), "wool* and `salt");
}

#[test]
fn markdown_without_marks_is_verbatim() {
    let found = checked("a.md", "# A\n\nOne line.\n\nAnother line.\n");
    assert_eq!(texts(&found), ["One line.\n\nAnother line."]);
    assert!(found.passages[0].pieces.is_empty());
}

#[test]
fn markdown_front_matter() {
    let file = "---\ntitle: \"Veldt in figures\"\ndate: 2024-05-31T10:00:00Z\ntags: [a, b]\n---\n\n# Other\n\nText.\n";
    let found = checked("a.md", file);
    assert_eq!((found.title.as_str(), found.date.as_deref()), ("Veldt in figures", Some("2024-05-31")));
    assert_eq!(texts(&found), ["Text."]);
}

#[test]
fn markdown_tables_lists_code_and_html() {
    let file = "# T\n\n| Town | People |\n|---|---:|\n| Veldt | 12,000 |\n| Ob &amp; Un | 7 |\n\n- one\n- two\n  - three\n\n```\nlet x  = 1;\n```\n\n<div>inside <b>html</b></div>\n";
    let found = checked("t.md", file);
    let text = texts(&found).join("\n");
    assert!(text.contains("Town: Veldt | People: 12,000"), "{text}");
    assert!(text.contains("Town: Ob & Un | People: 7"), "{text}");
    assert!(text.contains("one\ntwo\nthree"), "{text}");
    assert!(text.contains("let x  = 1;"), "{text}");
    assert!(text.contains("inside html"), "{text}");
    assert_eq!(bytes_of(file, &found, "12,000"), "12,000");
    assert_eq!(bytes_of(file, &found, "inside html"), "inside <b>html");
}

#[test]
fn a_heading_without_text_is_found_too() {
    let found = checked("a.md", "# Veldt\n\n## Population: 12,000\n\n## Port\n\nDeep.\n");
    assert_eq!(texts(&found), ["Population: 12,000", "Deep."]);
    assert_eq!(sections(&found), ["", "Port"]);
    assert_eq!(texts(&checked("b.md", "# Only this\n")), ["Only this"]);
}

#[test]
fn csv_rows_say_their_headings() {
    let file = "country,people,note\nVeldt,\"12,000\",\"said \"\"about\"\"\nby the mayor\"\nOb,7,\n";
    let found = checked("data/towns.csv", file);
    assert_eq!(found.title, "towns");
    let text = texts(&found).join("\n");
    assert!(text.contains("country: Veldt | people: 12,000 | note: said \"about\"\nby the mayor"), "{text}");
    assert!(text.contains("country: Ob | people: 7"), "{text}");
    assert_eq!(bytes_of(file, &found, "12,000"), "12,000");
    assert_eq!(bytes_of(file, &found, "said \"about\"\nby the mayor"), "said \"\"about\"\"\nby the mayor");
}

#[test]
fn what_stands_between_the_values_is_seen() {
    let cases = [
        ("tower;height\nRook tower;14,5 m\nTern tower;20,0 m\n", "tower: Rook tower | height: 14,5 m"),
        ("tower\theight\nRook, the tower\t14 m\n", "tower: Rook, the tower | height: 14 m"),
        ("tower,note\nRook tower,old; tall\nTern tower,new; low\n", "tower: Rook tower | note: old; tall"),
        ("tower;note;height\n\"Rook; a tower\";a, b;14\n", "tower: Rook; a tower | note: a, b | height: 14"),
        ("a,b;c\n1,2;3\n", "a: 1 | b;c: 2;3"),
    ];
    for (file, row) in cases {
        let text = texts(&checked("x.csv", file)).join("\n");
        assert!(text.contains(row), "{file:?}: {text}");
    }
    assert_eq!(
        texts(&checked("x.csv", "just one; sentence\nand another\n")),
        ["just one; sentence\nand another"]
    );
}

#[test]
fn tab_separated_values_and_uneven_rows() {
    let file = "a\tb\n1\t2\n3\n4\t5\t6\n";
    let text = texts(&checked("x.tsv", file)).join("\n");
    assert_eq!(text, "a | b\na: 1 | b: 2\n3\n4 | 5 | 6");
}

#[test]
fn a_date_line_at_the_beginning_dates_a_text() {
    let dated = |text: &str| super::super::plain::date(text);
    assert_eq!(dated("Questions\nDate: 2025-02-10\n\nText.").as_deref(), Some("2025-02-10"));
    assert_eq!(dated("Updated: 2025-03-01T10:00:00Z\nText.").as_deref(), Some("2025-03-01"));
    assert_eq!(dated("Date: soon\nText: 2025-02-10\n"), None);
    assert_eq!(dated(&format!("{}Date: 2025-02-10\n", "line\n".repeat(30))), None, "far down it is content");
}
