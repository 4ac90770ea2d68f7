//! JSON and JSON Lines.

use super::*;

const COUNTRY: &str = r#"{
  "Introduction": {"Background": {"text": "<p>Veldt was founded in 1870.</p><p>It is an island.</p>"}},
  "Geography": {
    "Area": {"total ": {"text": "176,215 sq km"}, "land": {"text": "175,015 sq km"}},
    "Capital": {"name": {"text": "Ob"}},
    "Climate": {"text": "cold", "note": "<b>note:</b> and wet"}
  },
  "Government": {
    "Country name": {
      "conventional long form": {"text": "Kingdom of Veldt"},
      "conventional short form": {"text": "Veldt"},
      "local short form": {"text": "V&eacute;ldt"}
    }
  },
  "Economy": {
    "Real GDP per capita": {
      "Real GDP per capita 2024": {"text": "$33,000 (2024 est.)"},
      "note": "<b>note:</b> data in 2021 dollars"
    },
    "Rates": {"urban: total": {"text": "total: 81.4%"}}, "Nothing": null, "Empty": {"text": ""}
  }
}
"#;

#[test]
fn lines_carry_their_keys() {
    let found = checked("x/ve.json", COUNTRY);
    assert_eq!(found.title, "Veldt");
    assert_eq!(found.names, "Kingdom of Veldt Véldt");
    let text = texts(&found).join("\n");
    for line in [
        "Background: Veldt was founded in 1870.\nIt is an island.",
        "Area › total: 176,215 sq km",
        "Climate: cold\n",
        "Climate: note: and wet",
        "Real GDP per capita › Real GDP per capita 2024: $33,000 (2024 est.)",
        "Real GDP per capita: note: data in 2021 dollars",
        "Rates › urban: total: 81.4%",
    ] {
        assert!(text.contains(line), "{line:?} in {text}");
    }
    assert!(!text.contains("Nothing") && !text.contains("Empty"), "{text}");
}

#[test]
fn values_are_found_inside_their_quotes() {
    let found = checked("x/ve.json", COUNTRY);
    assert_eq!(bytes_of(COUNTRY, &found, "176,215 sq km"), "176,215 sq km");
    assert_eq!(bytes_of(COUNTRY, &found, "$33,000 (2024 est.)"), "$33,000 (2024 est.)");
    assert_eq!(bytes_of(COUNTRY, &found, "Véldt"), "V&eacute;ldt");
    assert_eq!(bytes_of(COUNTRY, &found, "It is an island."), "It is an island.");
    // A key is ours to write: what touches only keys gives the whole passage.
    assert!(bytes_of(COUNTRY, &found, "conventional long form").contains("Kingdom of Veldt"));
}

#[test]
fn large_objects_are_cut_along_their_keys() {
    let rows: Vec<String> = (0..60)
        .map(|n| {
            format!(
                r#""Topic {n}": {{"figure {n}": {{"text": "{n} units of the thing"}}, "year": 19{n:02}}}"#
            )
        })
        .collect();
    let file = format!(r#"{{"name": "Veldt", "Small": {{"a": 1}}, "Large": {{{}}}}}"#, rows.join(", "));
    let found = checked("a.json", &file);
    assert!(found.passages.len() > 3);
    assert_eq!(found.passages[0].text, "name: Veldt\nSmall › a: 1");
    assert!(
        found.passages.iter().skip(1).all(|passage| passage.section == "Large"),
        "{:?}",
        sections(&found)
    );
    assert!(
        bytes_of(&file, &found, "Topic 31 › figure 31: 31 units of the thing")
            .ends_with("31 units of the thing")
    );
}

#[test]
fn a_passage_below_one_key_has_it_as_section() {
    let long = "A sentence of some length about the harbour. ".repeat(40);
    let file = format!(
        r#"{{"Economy": {{"Overview": {{"text": "{long}"}}, "Rate": {{"2023": "1%", "2024": "2%"}}}}}}"#
    );
    let found = checked("a.json", &file);
    let last = found.passages.last().unwrap();
    assert_eq!((last.section.as_str(), last.text.as_str()), ("Economy › Rate", "2023: 1%\n2024: 2%"));
    assert_eq!(found.passages[0].section, "Economy › Overview");
    assert!(found.passages[0].text.starts_with("A sentence") && found.passages[0].pieces.is_empty());
}

#[test]
fn escapes_lead_to_their_bytes() {
    let file = r#"{"title": "Caf\u00e9 \ud83d\ude00 \"Ob\"", "path": "a\/b\\c", "lines": "one\ntwo", "odd": "\ud800x"}"#;
    let found = checked("a.json", file);
    assert_eq!(found.title, "Café 😀 \"Ob\"");
    assert_eq!(bytes_of(file, &found, "Café"), r"Caf\u00e9");
    assert_eq!(bytes_of(file, &found, "😀 \"Ob\""), r#"\ud83d\ude00 \"Ob\""#);
    assert_eq!(bytes_of(file, &found, "a/b\\c"), r"a\/b\\c");
    assert_eq!(bytes_of(file, &found, "one\ntwo"), r"one\ntwo");
    assert!(texts(&found).join("").contains("\u{fffd}x"));
}

#[test]
fn less_than_is_not_markup() {
    let file = r#"{"a": "x < y and 5<6", "b": "AT&T <b>bold</b>", "c": "Catholic <1%, x <y", "d": "R & D"}"#;
    let text = texts(&checked("a.json", file)).join("\n");
    assert_eq!(text, "a: x < y and 5<6\nb: AT&T bold\nc: Catholic <1%, x <y\nd: R & D");
}

#[test]
fn lists_of_values_and_of_records() {
    let file =
        r#"{"tags": ["a", "b", 3], "staff": [{"name": "Ann", "pay": 3}, {"pay": 4}], "grid": [[1, 2], [3]]}"#;
    let found = checked("data.json", file);
    assert_eq!(found.title, "data");
    assert_eq!(
        texts(&found)[0],
        "tags: a, b, 3\nstaff › Ann › name: Ann\nstaff › Ann › pay: 3\nstaff › 2 › pay: 4\ngrid: 1, 2, 3"
    );
    assert_eq!(bytes_of(file, &found, "a, b, 3"), r#"a", "b", 3"#);
}

#[test]
fn records_have_their_own_titles_and_dates() {
    let list = r#"[{"title": "First", "date": "2024-01-02", "text": "One."}, {"text": "Two."}, 7]"#;
    let lines =
        "{\"title\": \"First\", \"date\": \"2024-01-02\", \"text\": \"One.\"}\r\n\n{\"text\": \"Two.\"}\n7";
    for (name, file) in [("a.json", list), ("a.jsonl", lines), ("lines.json", lines)] {
        let found = checked(name, file);
        let first = &found.passages[0];
        assert_eq!((first.title.as_deref(), first.date.as_deref()), (Some("First"), Some("2024-01-02")));
        assert_eq!(first.text, "title: First\ndate: 2024-01-02\nOne.");
        assert_eq!(found.passages[1].title, None);
        assert!(found.passages[1].section.starts_with("record "), "{:?}", sections(&found));
        assert_eq!(bytes_of(file, &found, "Two."), "Two.");
        assert_eq!(found.passages.len(), 3);
    }
}

#[test]
fn records_without_a_name_go_by_their_first_field() {
    let wrapped =
        r#"{"offers": [{"supplier": "Norvane", "price": 18}, {"supplier": "Corrigan", "price": 20}]}"#;
    let text = texts(&checked("a.json", wrapped)).join("\n");
    assert!(text.contains("Corrigan › price: 20"), "{text}");
    let titles = |name: &str, file: &str| -> Vec<Option<String>> {
        checked(name, file).passages.into_iter().map(|passage| passage.title).collect()
    };
    let named = [Some("Chile".to_owned()), Some("Peru".to_owned())];
    assert_eq!(titles("a.json", r#"[{"country": "Chile", "n": 1}, {"country": "Peru", "n": 2}]"#), named);
    assert_eq!(
        titles("a.jsonl", "{\"country\": \"Chile\", \"n\": 1}\n{\"country\": \"Peru\", \"n\": 2}"),
        named
    );
    // The same text twice tells nothing apart.
    assert_eq!(titles("a.json", r#"[{"kind": "note", "n": 1}, {"kind": "note", "n": 2}]"#), [None, None]);
}

#[test]
fn titles_of_records() {
    let title = |file: &str| checked("folder/stem.json", file).title;
    assert_eq!(title(r#"{"id": 7, "Name": "Veldt", "text": "x"}"#), "Veldt");
    assert_eq!(title(r#"{"headline": "Ice in May", "name": "x"}"#), "x");
    assert_eq!(title(r#"{"id": 7, "text": "x"}"#), "stem");
    assert_eq!(title(r#"{"data": {"full name": "Veldt"}, "x": 1}"#), "Veldt");
    // A list holds many: none of them is what the whole is about.
    assert_eq!(title(r#"{"items": [{"name": "Ann"}]}"#), "stem");
    // Names of other things, far down.
    assert_eq!(title(r#"{"gov": {"capital": {"name": "Ob"}}}"#), "stem");
    let forms = |short: &str, long: &str| {
        title(&format!(
            r#"{{"Gov": {{"Country name": {{"conventional long form": {{"text": "{long}"}}, "conventional short form": {{"text": "{short}"}}}}}}}}"#
        ))
    };
    assert_eq!(forms("Veldt", "Kingdom of Veldt"), "Veldt");
    assert_eq!(forms("none", "Kingdom of Veldt"), "Kingdom of Veldt");
    assert_eq!(forms("VLD", "Kingdom of Veldt"), "Kingdom of Veldt");
    assert_eq!(forms("The Veldtian", "Veldtian Republic"), "Veldtian Republic");
    assert_eq!(forms("The Veldt", "Kingdom of The Veldt"), "The Veldt");
    assert_eq!(forms("C&ocirc;te", "none"), "Côte");
    let note = "(once called by quite another name, and that for a long time)";
    assert_eq!(forms(&format!("Veldt {note}"), "none"), "Veldt");
}

#[test]
fn broken_lines_are_told_and_the_others_read() {
    let file = "{\"a\": 1}\n{\"a\": \n\n{\"a\": 3}\nnonsense\n";
    let found = checked("a.jsonl", file);
    assert_eq!(texts(&found), ["1", "3"]);
    let broken = found.broken.unwrap().to_string();
    assert!(broken.starts_with("the records at lines 2, 5 are broken, that at line 2:"), "{broken}");
    let none = extract("a.jsonl", b"{\"a\": \nnonsense\n").unwrap_err();
    assert!(!none.is_partial() && none.to_string().contains("broken JSON: at line 1"), "{none}");
}

#[test]
fn deep_nesting_is_told_not_a_crash() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let file = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        let error = extract("a.json", file.as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains("nested deeper than 128 levels") || error.contains("recursion limit"),
            "{error}"
        );
    }
}
