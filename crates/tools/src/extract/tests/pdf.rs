//! PDF. The files are made here, object by object.

use super::*;
use crate::report::SkipReason;

/// A PDF of objects, the first of which is the catalog and the last perhaps the description.
fn pdf(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut file = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let table = file.len();
    file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for place in places {
        file.push_str(&format!("{place:010} 00000 n \n"));
    }
    let size = objects.len() + 1;
    file.push_str(&format!("trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n"));
    file.into_bytes()
}

fn stream(dictionary: &str, content: &str) -> String {
    format!("<< {dictionary} /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// A PDF with a page for each text; a line for each of its lines.
fn pages(texts: &[&str], info: &str) -> Vec<u8> {
    let kids: Vec<String> = (0..texts.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), texts.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (number, text) in texts.iter().enumerate() {
        let content = 5 + 2 * number;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        let lines: Vec<String> = text.lines().map(|line| format!("({line}) Tj 0 -14 Td")).collect();
        objects.push(stream("", &format!("BT /F1 12 Tf 72 720 Td {} ET", lines.join(" "))));
    }
    let number = objects.len() + 1;
    objects.push(info.to_owned());
    pdf(&objects, &format!("/Info {number} 0 R"))
}

#[test]
fn pages_and_places() {
    let file = pages(
        &["The port of Veldt.\nIt is 14 m deep.", "Exports in 2023 came to 40 t."],
        "<< /Title (Veldt in figures) /CreationDate (D:20240531120000Z) >>",
    );
    let found = extract("a.pdf", &file).unwrap();
    assert_eq!((found.title.as_str(), found.date.as_deref()), ("Veldt in figures", Some("2024-05-31")));
    let pages: Vec<Option<u64>> = found.passages.iter().map(|passage| passage.span.page).collect();
    assert_eq!(pages, [Some(1), Some(2)]);
    assert!(found.passages[0].text.contains("14 m deep"), "{:?}", found.passages);
    assert!(found.passages[1].text.contains("Exports in 2023 came to 40 t."), "{:?}", found.passages);
    let source = source(&found.passages[1]);
    let span = source.locate(source.text.find("40 t").unwrap(), 4);
    assert_eq!((span.page, span.end - span.start), (Some(2), 4));
}

#[test]
fn widely_set_lines_keep_their_sentences() {
    let file = pages(&["It is ready 3 months earlier because\na berth is free.\nDear all,\nYours"], "<< >>");
    let wide = String::from_utf8(file).unwrap().replace("0 -14 Td", "0 -30 Td");
    let found = extract("a.pdf", wide.as_bytes()).unwrap();
    assert!(texts(&found)[0].contains("because a berth is free.\n\nDear all,"), "{found:?}");
}

#[test]
fn the_title_may_be_the_first_line() {
    let file = pages(&["Veldt Harbour\nIt is deep."], "<< /Title (untitled) >>");
    assert_eq!(extract("dir/a.pdf", &file).unwrap().title, "Veldt Harbour");
}

#[test]
fn pages_without_text() {
    assert_eq!(extract("a.pdf", &pages(&[""], "<< >>")), Err(SkipReason::NoText));
}

#[test]
fn broken_files() {
    let good = pages(&["Text."], "<< >>");
    let broken: [&[u8]; 4] = [b"no PDF at all", b"%PDF-1.4\nrubbish", &good[..200], b"%PDF-1.4\n%%EOF"];
    for bytes in broken {
        match extract("a.pdf", bytes) {
            Err(SkipReason::Broken { format, .. }) => assert_eq!(format, "PDF"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn damage_anywhere_is_no_panic_and_no_hang() {
    let good = pages(&["Text of a page."], "<< /Title (T) >>");
    for at in (0..good.len()).step_by(7) {
        let mut bytes = good.clone();
        bytes[at] = b'9';
        let _ = extract("a.pdf", &bytes);
    }
}

#[test]
fn forms_that_draw_themselves_and_pages_that_are_their_own_parents() {
    let page = |parent: &str, resources: &str| {
        vec![
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            format!("<< /Type /Pages /Kids [3 0 R] /Count 1 {parent} >>"),
            format!("<< /Type /Page /Parent 2 0 R /Contents 4 0 R {resources} >>"),
            stream("", "/X Do"),
            stream(
                "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>",
                "/X Do",
            ),
        ]
    };
    let draws_itself = page("/MediaBox [0 0 9 9]", "/Resources << /XObject << /X 5 0 R >> >>");
    let own_parent = page("/Parent 2 0 R", "");
    for objects in [draws_itself, own_parent] {
        let error = extract("a.pdf", &pdf(&objects, "")).unwrap_err().to_string();
        assert!(error.contains("its parts hold each other"), "{error}");
    }
}
