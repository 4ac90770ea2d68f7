use super::*;

fn source(id: &str, title: &str, section: &str, text: &str, start: u64) -> Source {
    Source {
        id: id.into(),
        document: format!("{}.md", title.to_lowercase()),
        title: title.into(),
        section: section.into(),
        span: Span { start, end: start + text.len() as u64, line: 3, page: None },
        text: text.into(),
        ..Source::default()
    }
}

fn sources() -> Sources {
    [
        source(
            "k7f2qa-1",
            "Uruguay",
            "People",
            "Population › total: 3,449,444 (2025 est.)\nPopulation › male: 1,678,419",
            100,
        ),
        source("k7f2qa-2", "Uruguay", "Economy", "Real GDP per capita 2024: $31,900 (2024 est.)", 300),
        source(
            "abcdef-1",
            "Chile",
            "People",
            "Population › total: 18,764,440 (2025 est.). Spanish is spoken by 99.5% of all.",
            50,
        ),
        source(
            "notes2-7",
            "Outage",
            "Cause",
            "The outage was caused by an expired certificate. Nobody was told.",
            0,
        ),
    ]
    .into_iter()
    .map(|s| (s.id.clone(), s))
    .collect()
}

fn body(draft: &str) -> String {
    let text = cite(draft, &sources()).text;
    text.split("\n\n## ").next().unwrap_or("").to_owned()
}

#[test]
fn a_report_in_full() {
    let draft = "# Two countries\n\n- Uruguay — Population › total: 3,449,444 (2025 est.). [k7f2qa-1]\n- It earns $31,900 a head in GDP [k7f2qa-2].\n\nAgain: population 3,449,444. [k7f2qa-1]\n\n## Sources\n[k7f2qa-1] Uruguay";
    let report = cite(draft, &sources());
    assert_eq!(
        report.text,
        "# Two countries\n\n- Uruguay — Population › total: 3,449,444 (2025 est.). [1]\n- It earns $31,900 a head in GDP. [2]\n\nAgain: population 3,449,444. [1]\n\n## Sources\n\n[1] Uruguay — uruguay.md, line 3, bytes 100–143: \"Population › total: 3,449,444 (2025 est.)\"\n\n[2] Uruguay — uruguay.md, line 3, bytes 300–345: \"Real GDP per capita 2024: $31,900 (2024 est.)\"\n"
    );
    assert_eq!(report.citations.len(), 2);
    assert_eq!((report.citations[0].number, report.citations[0].source.as_str()), (1, "k7f2qa-1"));
}

#[test]
fn marks_are_gathered_behind_the_sentence() {
    let text = body("Uruguay has 3,449,444 people [k7f2qa-1] and Chile 18,764,440 [abcdef-1]. Next");
    assert_eq!(text, "Uruguay has 3,449,444 people and Chile 18,764,440. [1][2] Next");
    assert_eq!(
        body("The population of Uruguay is 3,449,444, of them 1,678,419 male. [k7f2qa-1]"),
        "The population of Uruguay is 3,449,444, of them 1,678,419 male. [1][2]"
    );
}

#[test]
fn tables_stay_tables() {
    let table = "| | Population |\n|---|---|\n| Uruguay | 3,449,444 [k7f2qa-1] |\n| Chile | 18,764,440 people [abcdef-1] |";
    assert_eq!(
        body(table),
        "| | Population |\n|---|---|\n| Uruguay | 3,449,444 [1] |\n| Chile | 18,764,440 people [2] |"
    );
}

#[test]
fn figures_that_no_source_holds_are_told() {
    let report =
        cite("Uruguay has 3,449,445 people. [k7f2qa-1] Chile has 18,764,440 people. [abcdef-1]", &sources());
    assert!(
        report
            .text
            .starts_with("Uruguay has 3,449,445 people. [unsupported] Chile has 18,764,440 people. [1]\n"),
        "{}",
        report.text
    );
    assert!(report.text.contains("## Not supported by the sources\n\n- Uruguay has 3,449,445 people. — the cited source does not hold the figure 3449445."), "{}", report.text);
    assert_eq!(report.citations.len(), 1);
}

#[test]
fn citations_that_do_not_hold_go() {
    for draft in [
        "Uruguay has 12 ports. [k7f2qa-1]",
        "Uruguay is large. [zzzzzz-1]",
        "Freedonia has a population of 3,449,444. [k7f2qa-1]",
        "The population of Freedonia is 3,449,444. [k7f2qa-1]",
        "Bananas grow well under glass. [notes2-7]",
        "Uruguay has 18,764,440 people. [k7f2qa-1]",
        "[k7f2qa-1]",
        "Chile: 99.5. [abcdef-1]",
    ] {
        let report = cite(draft, &sources());
        assert!(report.citations.is_empty(), "{draft}: {}", report.text);
        assert!(report.text.contains("[unsupported]"), "{draft}: {}", report.text);
    }
}

#[test]
fn figures_may_be_written_otherwise() {
    for draft in [
        "Uruguay has about 3.4 million people (population in 2025). [k7f2qa-1]",
        "Nearly 18.8 million people live in Chile (population). [abcdef-1]",
        "Real GDP per capita was US$31.9 thousand in 2024. [k7f2qa-2]",
        "In Chile, 99.5 percent speak Spanish. [abcdef-1]",
    ] {
        assert_eq!(cite(draft, &sources()).citations.len(), 1, "{draft}");
    }
}

#[test]
fn the_date_of_a_source_bears_itself_out() {
    let mut all = sources();
    let draft = "Earlier, as of 2025-02-03: Real GDP per capita was $31,900. [k7f2qa-2]";
    assert!(cite(draft, &all).citations.is_empty());
    if let Some(source) = all.get_mut("k7f2qa-2") {
        source.date = Some("2025-02-03".into());
    }
    assert_eq!(cite(draft, &all).citations.len(), 1);
}

#[test]
fn words_alone_are_borne_out_by_words() {
    let report = cite("An expired certificate caused the outage. [notes2-7]", &sources());
    assert_eq!(report.citations[0].quote, "The outage was caused by an expired certificate.");
    assert_eq!((report.citations[0].span.start, report.citations[0].span.end), (0, 48));
}

#[test]
fn brackets_alone_are_no_citations() {
    for text in ["He said so [sic].", "See [the page](b.md).", "Plain text.", "", "- [ ] open"] {
        let report = cite(text, &sources());
        assert_eq!((report.text.as_str(), report.citations.len()), (text, 0));
    }
    assert_eq!(body("As shown [1], [12](x) and [k7f2qa-1](y)."), "As shown (1), [12](x) and [k7f2qa-1](y).");
}

#[test]
fn spans_of_pages_say_the_page() {
    let mut all = sources();
    if let Some(source) = all.get_mut("k7f2qa-2") {
        source.span.page = Some(4);
    }
    assert!(
        cite("Real GDP per capita: $31,900. [k7f2qa-2]", &all)
            .text
            .contains("page 4, bytes 300–345 of its text:")
    );
}

#[test]
fn no_draft_breaks_it() {
    for draft in [
        "[k7f2qa-1",
        "]]][[[",
        "|[k7f2qa-1]|",
        "\u{301}[k7f2qa-1]\u{301}",
        "[k7f2qa-1][k7f2qa-1][k7f2qa-1]",
        "#\n[k7f2qa-1]\n#",
    ] {
        let _ = cite(draft, &sources());
        let _ = cite(draft, &Sources::new());
    }
}

#[test]
fn a_sentence_with_figures_and_no_citation_is_listed() {
    let draft = "# Report 2024\n\nThe value is 42 [1]. It was 7 before. It is stable.\n\n## Not found\n\n- Population of Freedonia in 1950.\n";
    let report = cite(draft, &sources());
    let list = report.text.split("## Not supported by the sources").nth(1).unwrap_or("");
    assert!(list.contains("The value is 42 (1). — it cites [1], which is the id of no source"), "{list}");
    assert!(list.contains("It was 7 before. — it cites no source"), "{list}");
    assert_eq!(
        list.matches("\n- ").count(),
        2,
        "headings, plain words and what was not found need none: {list}"
    );
}

#[test]
fn a_complaint_is_made_once_and_not_for_ever() {
    let same = "The value is 42 [1]. ".repeat(50);
    assert_eq!(cite(&same, &sources()).text.matches("the id of no source").count(), 1);
    let many: String = (0..50).map(|i| format!("The value is {i}. ")).collect();
    let text = cite(&many, &sources()).text;
    assert_eq!(text.matches("it cites no source").count(), 30);
    assert!(text.ends_with("- and 20 more."), "{text}");
}

#[test]
fn equal_values_of_a_table_are_told_apart_by_its_heads() {
    let text = "Aldermere Yard › delivery_months: 14\nAldermere Yard › top_speed_knots: 14\nCorrigan › top_speed_knots: 14";
    let offers = source("offer2-1", "Offers", "", text, 0);
    let sources: Sources = [(offers.id.clone(), offers)].into();
    let quotes = |draft: &str| -> Vec<String> {
        cite(draft, &sources).citations.into_iter().map(|c| c.quote).collect()
    };
    let wide = "| | Top speed | Delivery |\n|---|---|---|\n| Corrigan | 14 [offer2-1] | not found |\n| Aldermere | 14 [offer2-1] | 14 [offer2-1] |\n";
    let (corrigan, aldermere) = ("Corrigan › top_speed_knots: 14", "Aldermere Yard › top_speed_knots: 14");
    let delivery = "Aldermere Yard › delivery_months: 14";
    assert_eq!(quotes(wide), [corrigan, aldermere, delivery]);
    let turned =
        "| | Corrigan | Aldermere |\n|---|---|---|\n| Top \\| speed | 14 [offer2-1] | 14 [offer2-1] |\n";
    assert_eq!(quotes(turned), [corrigan, aldermere]);
}

fn dated(id: &str, document: &str, date: &str, text: &str) -> (String, Source) {
    let source =
        Source { document: document.into(), date: Some(date.into()), ..source(id, "Prices", "", text, 0) };
    (id.into(), source)
}

#[test]
fn what_a_later_source_says_otherwise_is_told() {
    let sources: Sources = [
        dated("olda48-1", "old.md", "2021-03-01", "The A48 costs 15.9 million euros."),
        dated("newa48-1", "new.md", "2024-05-02", "The A48 now costs 16.3 million euros, says the yard."),
        dated("newa52-1", "other.md", "2024-05-02", "The A52 costs 9 million euros."),
    ]
    .into();
    let report = cite("The A48 costs 15.9 million euros [olda48-1].", &sources);
    assert!(
        report.text.starts_with(
            "The A48 costs 15.9 million euros. [1] (of 2021; a source of 2024 says: \"The A48 now costs 16.3 million euros, says the yard.\" [2])"
        ),
        "{}",
        report.text
    );
    assert_eq!((report.superseded, report.citations.len()), (1, 2));
    for quiet in [
        "The A48 now costs 16.3 million euros [newa48-1].",
        "The A48 costs 16.3 million euros, before it was 15.9 million euros [newa48-1][olda48-1].",
        "The A52 costs 9 million euros [newa52-1].",
    ] {
        assert_eq!(cite(quiet, &sources).superseded, 0, "{quiet}");
    }
}

#[test]
fn claims_without_a_source_are_labelled_once_for_a_run() {
    let draft = "# Ports\n\nUruguay has 3,449,444 people in total [k7f2qa-1]. Montevideo grew around its deep natural harbour over centuries. \
        Merchants from many European nations settled along its quays.\n\n- Ferries cross the wide river towards Argentina every morning\n\n\
        In short, both grew. What follows:\n\nThe outage was caused by an expired certificate [notes2-7].";
    let report = cite(draft, &sources());
    assert_eq!(report.unsourced, 3);
    assert!(
        report.text.contains(
            "over centuries. Merchants from many European nations settled along its quays. [no source]\n"
        ),
        "{}",
        report.text
    );
    assert!(report.text.contains("every morning [no source]\n"), "{}", report.text);
    assert_eq!(report.text.matches("[no source]").count(), 2);
}

#[test]
fn what_sums_up_cited_sentences_needs_no_source_of_its_own() {
    let draft = "An expired certificate caused the outage.\n\nThe outage was caused by an expired certificate [notes2-7].";
    // It stands before what it sums up, as a summary does.
    let report = cite(draft, &sources());
    assert_eq!((report.unsourced, report.text.contains("[no source]")), (0, false));
    let figures = cite("It has 12 ports.", &sources());
    assert_eq!(figures.unsourced, 1, "listed with the reason, not labelled twice");
    assert!(!figures.text.contains("[no source]") && figures.text.contains("it cites no source"));
}

#[test]
fn what_differs_in_more_than_a_figure_is_told_of_nothing() {
    for (old, new) in [
        ("Corrigan C70 › range_km: 66", "Corrigan C70 › range stated in the offer: 70"),
        (
            "The port of Aldmoor exported 4.2 million tonnes.",
            "The port of Aldmoor imported 5.1 million tonnes.",
        ),
        ("Aldmoor sold 12 ships in the 1st quarter.", "Aldmoor sold 14 ships in the 2nd quarter."),
        ("Adults in Aldmoor pay 6 euros.", "Apprentices in Aldmoor pay 3 euros."),
        ("The average wage in Aldmoor is 3,100 euros.", "The median wage in Aldmoor is 2,800 euros."),
        ("The Marit sails 38 times on weekdays.", "The Marit sails 12 times on Sundays."),
        ("In Aldmoor 12 % of men smoke.", "In Aldmoor 9 % of women smoke."),
        ("The N60 sails 62 km in summer.", "The N60 sails 54 km in winter."),
        // Two of the later document in the same words: of which of them the earlier speaks, nobody knows.
        ("Price: 15 euros", "Price: 16 euros\nPrice: 22 euros"),
    ] {
        let sources: Sources =
            [dated("olda48-1", "old.md", "2021-03-01", old), dated("newa48-1", "new.md", "2024-05-02", new)]
                .into();
        let report = cite(&format!("{old} [olda48-1]"), &sources);
        assert_eq!((report.superseded, report.citations.len()), (0, 1), "{}", report.text);
    }
}

#[test]
fn statements_on_sources_gaps_and_advice_need_no_source() {
    let draft = "# Ferries\n\nNo information on delivery times was found in the sources consulted. The sources do not say when the \
        quay will be rebuilt in 2027.\n\n- Ask Corrigan Electric for a binding delivery date\n- Wait for the second winter trial \
        before the vote\n\n## Recommendations\n\n- A binding offer from each yard before the next board meeting\n\n## History\n\n\
        Merchants from many European nations settled along its quays.";
    let report = cite(draft, &sources());
    assert_eq!((report.unsourced, report.text.matches("[no source]").count()), (1, 1), "{}", report.text);
    assert!(report.text.contains("along its quays. [no source]"), "{}", report.text);
    assert!(!report.text.contains("Not supported"), "{}", report.text);
    let figures = "The sources do not say when the 12 new ferries come.";
    assert!(
        cite(figures, &sources()).text.contains("it cites no source"),
        "a figure needs a source all the same"
    );
}

#[test]
fn a_list_has_one_label() {
    let draft = "- Ferries cross the wide river towards Argentina every morning\n- Merchants from many European nations settled \
        there\n\nText between them ends a list.\n\n- Deep natural harbours attract the largest container vessels\n";
    let report = cite(draft, &sources());
    assert_eq!((report.unsourced, report.text.matches("[no source]").count()), (3, 2), "{}", report.text);
    assert!(report.text.contains("settled there [no source]\n"), "{}", report.text);
}
