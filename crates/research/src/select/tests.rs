use super::*;

fn passage(id: &str, title: &str, section: &str, text: &str) -> Passage {
    Passage {
        id: id.into(),
        title: title.into(),
        section: section.into(),
        document: format!("{title}.json"),
        date: None,
        text: text.into(),
    }
}

fn atlas() -> Vec<Passage> {
    vec![
        passage(
            "uy-1",
            "Uruguay",
            "People",
            "Population › total: 3,449,444 (2025 est.)\nPopulation › male: 1,678,419\nPopulation growth rate: -0.06% (2025 est.)",
        ),
        passage(
            "uy-2",
            "Uruguay",
            "Economy › Real GDP per capita",
            "Real GDP per capita 2023: $30,900 (2023 est.)\nReal GDP per capita 2024: $31,900 (2024 est.)\nnote: data in 2021 dollars",
        ),
        passage(
            "uy-3",
            "Uruguay",
            "Economy",
            "Exports › Exports 2024: $23.329 billion (2024 est.)\nExports - partners: China 21%, Brazil 17%, USA 8% (2023)\nExports - commodities: wood pulp, beef, milk, rice, wood (2023)",
        ),
        passage("br-1", "Brazil", "People", "Population › total: 221,359,387 (2025 est.)"),
        passage("br-2", "Brazil", "Economy", "Exports - partners: China 28%, USA 11%, Uruguay 2% (2023)"),
    ]
}

/// The sentences with their sources, then what is missing.
fn answers(question: &str, passages: &[Passage]) -> (Vec<String>, Vec<String>) {
    let question = Question::analyse(question);
    let selection = select(&question, passages);
    let found = selection.findings.iter().map(|f| format!("{} [{}]", f.sentence, f.source)).collect();
    let name =
        |m: &Missing| question.parts[m.part].name_of(m.facet.map(|f| &question.parts[m.part].facets[f]));
    let missing = selection.missing.iter().map(name);
    (found, missing.collect())
}

#[track_caller]
fn check(question: &str, found: &[&str], missing: &[&str]) {
    let (f, m) = answers(question, &atlas());
    assert_eq!(
        (f.iter().map(String::as_str).collect::<Vec<_>>(), m.iter().map(String::as_str).collect::<Vec<_>>()),
        (found.to_vec(), missing.to_vec()),
        "{question}"
    );
}

#[test]
fn the_latest_figure_of_the_right_label() {
    check(
        "Uruguay: population; real GDP per capita",
        &[
            "Uruguay — Population › total: 3,449,444 (2025 est.). [uy-1]",
            "Uruguay — Real GDP per capita 2024: $31,900 (2024 est.). [uy-2]",
        ],
        &[],
    );
    check(
        "real GDP per capita of Uruguay in 2023",
        &["Uruguay — Real GDP per capita 2023: $30,900 (2023 est.). [uy-2]"],
        &[],
    );
    check(
        "population growth rate of uruguay",
        &["Uruguay — Population growth rate: -0.06% (2025 est.). [uy-1]"],
        &[],
    );
    check("populaton of Uruguay", &["Uruguay — Population › total: 3,449,444 (2025 est.). [uy-1]"], &[]);
}

#[test]
fn a_subject_that_is_not_there_gets_no_answer() {
    check("What is the population of Freedonia?", &[], &["population of Freedonia"]);
    check("freedonia population", &[], &["freedonia population"]);
    check(
        "Compare the population of Uruguay and Freedonia",
        &["Uruguay — Population › total: 3,449,444 (2025 est.). [uy-1]"],
        &["population of Freedonia"],
    );
    check("population density of Uruguay", &[], &["population density of Uruguay"]);
}

#[test]
fn lists_are_preferred_where_lists_are_asked_for() {
    let (found, _) =
        answers("What are the main exports of Uruguay and who are its trading partners?", &atlas());
    assert!(
        found.contains(
            &"Uruguay — Exports - commodities: wood pulp, beef, milk, rice, wood (2023). [uy-3]".to_owned()
        ),
        "{found:?}"
    );
    assert!(
        found.contains(
            &"Uruguay — Exports - partners: China 21%, Brazil 17%, USA 8% (2023). [uy-3]".to_owned()
        ),
        "{found:?}"
    );
    assert!(!found.iter().any(|f| f.contains("[br-")), "{found:?}");
}

fn notes() -> Vec<Passage> {
    vec![
        passage(
            "in-1",
            "Incident report: checkout outage",
            "Cause",
            "The checkout was down on 14 March from 02:10 to 08:25. The outage was caused by an expired certificate of the payment gateway. Nobody had been told that it would expire.",
        ),
        passage(
            "in-2",
            "Incident report: checkout outage",
            "Fix",
            "The certificate was renewed and the gateway restarted. Renewal is now automatic.",
        ),
        passage(
            "pr-1",
            "Price list",
            "Delivery",
            "Standard delivery costs 4.90 euros. Express delivery costs 12.50 euros.",
        ),
    ]
}

#[test]
fn prose_without_a_subject() {
    let (found, missing) = answers("What caused the outage in March?", &notes());
    assert_eq!(found[0], "The outage was caused by an expired certificate of the payment gateway. [in-1]");
    assert!(missing.is_empty());
    let (found, _) = answers("how much does express delivery cost?", &notes());
    assert_eq!(found, ["Express delivery costs 12.50 euros. [pr-1]"]);
    let (found, missing) = answers("What does Freedonia pay for delivery?", &notes());
    assert!(found.is_empty() && missing.len() == 1, "{found:?}");
}

#[test]
fn overviews_and_ambiguous_names() {
    let (found, _) = answers("Tell me about Brazil", &atlas());
    assert_eq!(found.len(), 2);
    let congos = [
        passage("cg-1", "Congo, Republic of the", "", "Population: 6 million"),
        passage("cd-1", "Congo, Democratic Republic of the", "", "Population: 115 million"),
    ];
    assert_eq!(answers("Population of Congo", &congos).0.len(), 2);
    let georgias = [
        passage("gg-1", "Georgia", "", "Capital: Tbilisi"),
        passage("gx-1", "South Georgia", "", "Capital: Grytviken"),
    ];
    assert_eq!(answers("Capital of Georgia", &georgias).0, ["Georgia — Capital: Tbilisi. [gg-1]"]);
}

#[test]
fn leads_are_the_documents_about_the_subject() {
    let of = |question: &str| {
        let leads = leads(&Question::analyse(question), &atlas());
        leads.into_iter().map(|l| format!("{}:{}", l.part, l.document)).collect::<Vec<_>>()
    };
    assert_eq!(of("Population of Brazil"), ["0:Brazil.json"]);
    assert_eq!(of("Compare Brazil and Uruguay on area"), ["0:Brazil.json", "1:Uruguay.json"]);
    assert_eq!(of("Population of Freedonia"), [""; 0]);
    assert_eq!(of("why does it fail"), ["0:Uruguay.json", "0:Brazil.json"]);
}

#[test]
fn a_passage_given_twice_counts_once() {
    let mut twice = atlas();
    twice.extend(atlas());
    assert_eq!(answers("Population of Brazil", &twice).0.len(), 1);
}

#[test]
fn nothing_breaks_it() {
    assert_eq!(select(&Question::default(), &atlas()), Selection::default());
    assert_eq!(answers("Population of Brazil", &[]).1.len(), 1);
    let odd = [
        passage("x-1", "", "", ""),
        passage("x-2", "†", " › ", "\u{301}: \u{301}"),
        passage("x-3", "Brazil", "", &"word ".repeat(5000)),
    ];
    let _ = answers("Tell me about Brazil", &odd);
}

#[test]
fn a_later_document_goes_before_an_older_one() {
    let dated = |id: &str, date: Option<&str>, text: &str| Passage {
        date: date.map(str::to_owned),
        ..passage(id, "Offers", "", text)
    };
    let old = "The A48 costs 15.9 million euros per vessel.";
    let new = "The yard raised its price: the A48 now costs 16.3 million euros per vessel.";
    let found = |old_date| {
        answers(
            "What does the A48 cost?",
            &[dated("o-1", old_date, old), dated("n-1", Some("2025-04-22"), new)],
        )
        .0
    };
    assert_eq!(
        found(Some("2025-02-03")),
        [
            "The yard raised its price: the A48 now costs 16.3 million euros per vessel. [n-1]",
            "Earlier, as of 2025-02-03: The A48 costs 15.9 million euros per vessel. [o-1]"
        ]
    );
    assert_eq!(found(None)[1], "The A48 costs 15.9 million euros per vessel. [o-1]");
    assert_eq!(found(Some("2026-01-01")).len(), 2);
}

#[test]
fn what_differs_in_more_than_a_figure_is_not_called_earlier() {
    for (question, old, new) in [
        (
            "How many tonnes did the port of Aldmoor trade?",
            "The port of Aldmoor exported 4.2 million tonnes.",
            "The port of Aldmoor imported 5.1 million tonnes.",
        ),
        (
            "What is the range of the Corrigan C70?",
            "Corrigan C70 › range measured in winter: 66 km",
            "Corrigan C70 › range stated in the offer: 70 km",
        ),
        (
            "What is the price of the Corrigan C70?",
            "The Corrigan C70 has a price of 18.4 million euros.",
            "Corrigan confirmed the price of 18.4 million euros for the Corrigan C70 and its delivery time of 16 months.",
        ),
    ] {
        let of = |id: &str, date: &str, text: &str| Passage {
            date: Some(date.into()),
            document: format!("{id}.md"),
            ..passage(id, "Ferries", "", text)
        };
        let found = answers(question, &[of("o-1", "2021-01-01", old), of("n-1", "2024-01-01", new)]).0;
        assert!(found.iter().any(|line| line.ends_with("[o-1]")), "{found:?}");
        assert!(!found.iter().any(|line| line.starts_with(EARLIER)), "{found:?}");
    }
}

#[test]
fn a_year_that_is_asked_for_must_be_told() {
    check("population of Uruguay in 1950", &[], &["population of Uruguay in 1950"]);
    check("GDP per capita of Uruguay in 1990", &[], &["GDP per capita of Uruguay in 1990"]);
    check(
        "population of Uruguay since 2020",
        &["Uruguay — Population › total: 3,449,444 (2025 est.). [uy-1]"],
        &[],
    );
    let log = [passage(
        "lo-1",
        "Log",
        "",
        "On 3 October 2023 the pump of the Tern broke. It was out of service for two days. On 5 May 2024 the Tern lost its anchor in the harbour.",
    )];
    assert_eq!(
        answers("What happened to the Tern in 2024?", &log).0,
        ["On 5 May 2024 the Tern lost its anchor in the harbour. [lo-1]"]
    );
    assert!(answers("What happened to the Tern in 1999?", &log).0.is_empty());
}

#[test]
fn another_thing_of_the_same_kind_is_no_answer() {
    let ferries = [
        passage("fe-1", "Norvane N60", "Offer", "Delivery time: 16 months\nCrew: 4"),
        passage("fe-2", "Report", "", "The delivery time of the Norvane N60 is now 16 months, not 14."),
    ];
    assert_eq!(answers("charging time of the Norvane N60", &ferries).1, ["charging time of Norvane N60"]);
    assert!(answers("charging time of the Norvane N60", &ferries).0.is_empty());
    assert!(!answers("delivery time of the Norvane N60", &ferries).0.is_empty());
}

#[test]
fn acronyms_are_initials_or_what_a_record_says() {
    let states = [
        passage("us-1", "United States", "Name", "abbreviation: US or USA"),
        passage("us-2", "United States", "People", "Population: 338 million"),
        passage("uk-1", "United Kingdom", "People", "Population: 68 million"),
        passage("aq-1", "Antarctica", "People", "Population › stations: UK 217, USA 1,293"),
    ];
    let states: Vec<Passage> =
        states.into_iter().map(|p| Passage { document: format!("{}.json", &p.id[..2]), ..p }).collect();
    for asked in ["Population of the USA", "Population of the US"] {
        assert_eq!(answers(asked, &states).0, ["United States — Population: 338 million. [us-2]"], "{asked}");
    }
    assert_eq!(
        answers("Population of the UK", &states).0,
        ["United Kingdom — Population: 68 million. [uk-1]"]
    );
}

#[test]
fn a_longer_name_is_another_name() {
    let cd = passage("cd-1", "Democratic Republic of the Congo", "", "Population › total: 119,038,825");
    let cf = [
        passage("cf-1", "Congo (Brazzaville)", "Government", "conventional long form: Republic of the Congo"),
        passage("cf-2", "Congo (Brazzaville)", "People", "Population › total: 6,097,665"),
    ];
    let question = "What is the population of the Republic of the Congo?";
    assert_eq!(answers(question, std::slice::from_ref(&cd)).0.len(), 0);
    let all = [cd, cf[0].clone(), cf[1].clone()];
    let found = answers(question, &all).0;
    assert_eq!(
        found,
        ["Congo (Brazzaville) — Republic of the Congo › Population › total: 6,097,665. [cf-2]"]
    );
    let found = answers("What is the population of the Democratic Republic of the Congo?", &all).0;
    assert_eq!(found, ["Democratic Republic of the Congo — Population › total: 119,038,825. [cd-1]"]);
    let korea = "North Korea, or the Democratic People's Republic of Korea, has a population of 26 million.";
    let line = passage("ks-1", "South Korea", "", "Republic of Korea › Population › total: 51,486,343");
    assert_eq!(answers("What is the population of the Republic of Korea?", &[line]).0.len(), 1);
    let north = [passage("kn-1", "North Korea", "", korea), passage("kn-2", "Peninsula", "", korea)];
    assert_eq!(answers("What is the population of the Republic of Korea?", &north).0.len(), 0);
}

#[test]
fn a_total_of_something_else_is_no_answer() {
    let access = passage(
        "pa-1",
        "Paraguay",
        "Energy",
        "Electricity access › electrification - total population: 100%",
    );
    let people = passage("pa-2", "Paraguay", "People", "Population › total: 7,604,044");
    let question = "What is the population of Paraguay?";
    assert_eq!(answers(question, std::slice::from_ref(&access)).0.len(), 0);
    assert_eq!(answers(question, &[access, people]).0, ["Paraguay — Population › total: 7,604,044. [pa-2]"]);
}
