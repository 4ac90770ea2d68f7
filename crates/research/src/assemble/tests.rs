use super::*;

fn handoff(objective: &str, text: &str, sources: &[&str], unknowns: &[&str]) -> Handoff {
    let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
    Handoff {
        objective: objective.into(),
        text: text.into(),
        sources: owned(sources),
        unknowns: owned(unknowns),
        findings: sources.len() as u64,
        ..Handoff::default()
    }
}

#[test]
fn a_comparison_has_a_table_and_a_section_each() {
    let handoffs = [
        handoff(
            "Chile: population; area",
            "Chile — Population: 18,764,440. [cl-1]\nChile — Area › total: 756,102 sq km. [cl-2]",
            &["cl-1", "cl-2"],
            &[],
        ),
        handoff(
            "Peru: population; area",
            "Peru — Population: 34,350,244. [pe-1]\nPeru has 34,350,244 people; population. [pe-1]\nNot found: area of Peru",
            &["pe-1"],
            &["area of Peru"],
        ),
    ];
    assert_eq!(
        draft("Compare Chile and Peru on population and area", "Note.", &handoffs, &Sources::new()),
        "# Compare Chile and Peru on population and area\n\n*Note.*\n\n| | Population | Area |\n|---|---|---|\n| Chile | 18,764,440 [cl-1] | 756,102 sq km [cl-2] |\n| Peru | 34,350,244 [pe-1] | not found |\n\n## Chile\n\n- Population: 18,764,440. [cl-1]\n- Area › total: 756,102 sq km. [cl-2]\n\n## Peru\n\n- Population: 34,350,244. [pe-1]\n\nPeru has 34,350,244 people; population. [pe-1]\n\n## Not found\n\n- Not found: area of Peru.\n"
    );
}

#[test]
fn prose_is_a_paragraph_without_headings() {
    let handoffs = [handoff(
        "What caused the outage",
        "A certificate expired. [in-1]\nIt was the gateway's. [in-1]\nA certificate expired! [in-2]",
        &["in-1", "in-2"],
        &[],
    )];
    assert_eq!(
        draft("What caused the outage?", "", &handoffs, &Sources::new()),
        "# What caused the outage?\n\nA certificate expired. [in-1] It was the gateway's. [in-1]\n"
    );
}

#[test]
fn nothing_found_is_said() {
    let unknown = "population of Freedonia (no source speaks of Freedonia)";
    let handoffs = [handoff("Freedonia: population", &format!("Not found: {unknown}"), &[], &[unknown])];
    assert_eq!(
        draft("What is the population of Freedonia?", "", &handoffs, &Sources::new()),
        "# What is the population of Freedonia?\n\nNothing was found in the sources that answers this.\n\n## Not found\n\n- Nothing was found about Freedonia in the sources.\n"
    );
    let none = draft("Compare Chile and Peru on area", "", &[], &Sources::new());
    assert!(none.contains("- Chile was not looked into.\n- Peru was not looked into.\n"), "{none}");
    assert!(draft("", "", &[], &Sources::new()).starts_with("# Report\n"));
}

#[test]
fn what_a_second_try_found_is_not_missing() {
    let handoffs = [
        handoff(
            "Chile: area; exports",
            "Chile — Area: 756,102 sq km. [cl-2]\nNot found: exports of Chile",
            &["cl-2"],
            &["exports of Chile"],
        ),
        handoff("exports Chile", "Chile — Exports: copper. [cl-3]", &["cl-3"], &[]),
    ];
    assert!(!draft("Area and exports of Chile", "", &handoffs, &Sources::new()).contains("Not found"));
}

#[test]
fn unknown_ids_are_not_cited() {
    let handoffs = [handoff("Chile: area", "Chile — Area: 1. [aaaaaa-1]\nUncited.", &["bbbbbb-1"], &[])];
    assert!(!draft("Area of Chile", "", &handoffs, &Sources::new()).contains("aaaaaa"));
}

#[test]
fn a_name_with_an_and_is_one_where_the_sources_have_one_title() {
    let both = "Trinidad and Tobago — Area: 5,128 sq km. [td-1]";
    let handoffs = [
        handoff("Trinidad: area", both, &["td-1"], &[]),
        handoff("Tobago: area", both, &["td-1"], &[]),
        handoff("Chile: area", "Chile — Area: 756,102 sq km. [cl-1]", &["cl-1"], &[]),
    ];
    let report = draft("Compare Trinidad and Tobago and Chile on area", "", &handoffs, &Sources::new());
    assert!(report.contains("| Trinidad and Tobago | 5,128 sq km [td-1] |\n| Chile |"), "{report}");
    assert!(!report.contains("| Tobago") && !report.contains("Not found"), "{report}");
}

#[test]
fn gaps_are_told_in_the_words_of_the_question() {
    let unknown = "Iceland: how big army";
    let handoffs = [
        handoff("Iceland: how big army", "Not found: Iceland: how big army", &[], &[unknown]),
        handoff("Iceland: large army", "Not found: large army of Iceland", &[], &["large army of Iceland"]),
    ];
    let report = draft("How big is the army of Iceland?", "", &handoffs, &Sources::new());
    assert!(report.ends_with("- Not found: \"How big is the army of Iceland\".\n"), "{report}");
    assert_eq!(report.matches("Not found:").count(), 1, "{report}");
}

fn dated(id: &str, date: &str, text: &str) -> (String, deepgraph_protocol::Source) {
    let source = deepgraph_protocol::Source {
        id: id.into(),
        document: format!("{id}.md"),
        title: "Prices".into(),
        text: text.into(),
        date: Some(date.into()),
        ..Default::default()
    };
    (id.into(), source)
}

#[test]
fn of_two_figures_the_later_stands_and_says_so() {
    let handoffs = [handoff(
        "What does the A48 cost",
        "The A48 costs 15.9 million euros. [old-1] The A48 costs 16.3 million euros. [new-1] The A52 costs 9 million euros. [old-1]",
        &["old-1", "new-1"],
        &[],
    )];
    let sources: Sources = [
        dated("old-1", "2021-03-01", "The A48 costs 15.9 million euros. The A52 costs 9 million euros."),
        dated("new-1", "2024-05-02", "The A48 costs 16.3 million euros."),
    ]
    .into();
    let text = draft("What does the A48 cost", "", &handoffs, &sources);
    assert_eq!(
        text,
        "# What does the A48 cost\n\nThe A48 costs 16.3 million euros (2024; an earlier source, of 2021, said 15.9 million euros). [new-1][old-1] The A52 costs 9 million euros. [old-1]\n"
    );
    let report = crate::cite::cite(&text, &sources);
    assert_eq!((report.citations.len(), report.superseded), (3, 0), "{}", report.text);
    assert!(!report.text.contains("unsupported"), "{}", report.text);
    // Of one date, nobody knows which is right: both stand.
    let same: Sources = sources
        .into_iter()
        .map(|(id, s)| (id, deepgraph_protocol::Source { date: Some("2024".into()), ..s }))
        .collect();
    assert!(!draft("What does the A48 cost", "", &handoffs, &same).contains("earlier"));
}

/// The report on lines of these texts, each from a source of its own with a date.
fn report_of(said: &[(&str, &str)]) -> String {
    let texts: Vec<String> =
        said.iter().enumerate().map(|(i, (_, text))| format!("{text} [so-{i}]")).collect();
    let ids: Vec<String> = (0..said.len()).map(|i| format!("so-{i}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let sources: Sources = said.iter().zip(&ids).map(|((date, text), id)| dated(id, date, text)).collect();
    draft("What is known of Aldmoor", "", &[handoff("Aldmoor", &texts.join(" "), &ids, &[])], &sources)
}

#[test]
fn what_differs_in_more_than_a_figure_stays() {
    for (old, new) in [
        (
            "The port of Aldmoor exported 4.2 million tonnes.",
            "The port of Aldmoor imported 5.1 million tonnes.",
        ),
        ("The average wage in Aldmoor is 3,100 euros.", "The median wage in Aldmoor is 2,800 euros."),
        ("In the 1st quarter, Aldmoor sold 12 ships.", "In the 2nd quarter, Aldmoor sold 14 ships."),
        ("The Aldmoor A48 costs 15.9 million euros.", "The Aldmoor A48 now costs 16.3 million euros."),
        ("In 2020 Aldmoor had 3,400 people.", "In 2023 Aldmoor had 3,500 people."),
        ("Men in Aldmoor earn 3,100 euros.", "Women in Aldmoor earn 2,800 euros."),
    ] {
        let text = report_of(&[("2021", old), ("2024", new)]);
        assert!(text.contains(old) && text.contains(new) && !text.contains("earlier"), "{text}");
    }
}

#[test]
fn what_only_looks_alike_stays() {
    for (one, other) in [
        (
            "In 2023 the port of Aldmoor on the northern coast of Vessa exported 4.2 million tonnes of grain by ship.",
            "In 2023 the port of Aldmoor on the northern coast of Vessa imported 4.2 million tonnes of grain by ship.",
        ),
        (
            "In Aldmoor, Norway sold 12 trawlers to Iceland.",
            "In Aldmoor, Iceland sold 12 trawlers to Norway.",
        ),
        ("The ferry to Aldmoor sails 42 km.", "The ferry to Aldmoor sails 42 miles."),
    ] {
        let text = report_of(&[("2021", one), ("2021", other)]);
        assert!(text.contains(one) && text.contains(other), "{text}");
    }
    let text = report_of(&[
        ("2021", "The ferry to Aldmoor sails 42 km."),
        ("2021", "The ferry to Aldmoor sails 42 km!"),
    ]);
    assert_eq!(text.matches("42 km").count(), 1, "{text}");
}

#[test]
fn a_line_that_goes_says_nothing_of_others() {
    // Each supersedes the one before it, and the last not the first.
    let text = report_of(&[
        ("2021", "The Aldmoor A48 has 3 decks and 12 cabins."),
        ("2022", "The Aldmoor A48 has 4 decks and 12 cabins."),
        ("2023", "The Aldmoor A48 has 4 decks and 17 cabins."),
    ]);
    assert!(text.contains("has 3 decks and 12 cabins."), "{text}");
    assert!(text.contains("4 decks and 17 cabins (2023; an earlier source, of 2022, said 12)."), "{text}");
    // Two of one date can not be told apart.
    let text = report_of(&[
        ("2021", "The Aldmoor A48 has 3 decks."),
        ("2024", "The Aldmoor A48 has 5 decks."),
        ("2024", "The Aldmoor A48 has 7 decks."),
    ]);
    assert!(["3 decks", "5 decks", "7 decks"].iter().all(|figure| text.contains(figure)), "{text}");
    assert!(!text.contains("earlier"), "{text}");
}
