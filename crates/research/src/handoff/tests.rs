use super::*;
use crate::facts::facts;

fn sources() -> Sources {
    let source = Source {
        id: "k7f2qa-1".into(),
        title: "Uruguay".into(),
        section: "People".into(),
        text: "Population › total: 3,449,444 (2025 est.)\nCoastline: 660 km".into(),
        ..Source::default()
    };
    [(source.id.clone(), source)].into()
}

#[test]
fn a_text_is_checked_and_counted() {
    let text = "# Uruguay\nIt has 3,449,444 people (2025 est.). [k7f2qa-1] It is nice. [zzzzzz-9] Both [k7f2qa-1, zzzzzz-9].\n\n**Not found:** area\n- Not found: exports.\nNot found: none";
    let handoff = handoff("Uruguay: population; area; exports", text, &[], &sources());
    assert_eq!(
        handoff.text,
        "# Uruguay\nIt has 3,449,444 people (2025 est.). [k7f2qa-1] It is nice. [unsupported] Both [k7f2qa-1].\nNot found: area\nNot found: exports"
    );
    assert_eq!((handoff.findings, handoff.unknowns), (2, vec!["area".to_owned(), "exports".to_owned()]));
    assert_eq!((handoff.sources, handoff.dates), (vec!["k7f2qa-1".to_owned()], vec!["2025".to_owned()]));
}

#[test]
fn a_list_of_unknowns_is_understood() {
    let (body, unknowns) =
        split_unknowns("Text.\n\n## Not found\n\n- area of Peru\n* exports\n\nMore. Not found: here");
    assert_eq!(body, "Text.\n\nMore. Not found: here");
    assert_eq!(unknowns, ["area of Peru", "exports"]);
}

#[test]
fn without_text_the_facts_speak() {
    let sources = sources();
    let facts: Vec<Fact> = sources.values().flat_map(facts).collect();
    let made = handoff("Uruguay: population; area", "  ", &facts, &sources);
    assert_eq!(
        made.text,
        "Uruguay — Population › total: 3,449,444 (2025 est.). [k7f2qa-1]\nNot found: area of Uruguay"
    );
    assert_eq!((made.findings, made.unknowns.len(), made.dates.as_slice()), (1, 1, &["2025".to_owned()][..]));
    let none = handoff("Freedonia: population", "", &facts, &sources);
    assert_eq!(
        (none.findings, none.text.as_str()),
        (0, "Not found: population of Freedonia (no source speaks of Freedonia)")
    );
    assert_eq!(unknown_of(&none.unknowns[0]), ("population of Freedonia", true));
    assert_eq!(extract("", &[], &sources).findings, 0);
}

#[test]
fn only_unknowns_is_no_finding() {
    let handoff = handoff("Freedonia: population", "Not found: population of Freedonia", &[], &sources());
    assert_eq!((handoff.findings, handoff.text.as_str()), (0, "Not found: population of Freedonia"));
}
