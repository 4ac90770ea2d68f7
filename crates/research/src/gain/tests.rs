use super::*;

fn page(document: &str, title: &str, text: &str) -> Source {
    Source {
        id: format!("{document}-1"),
        document: document.into(),
        title: title.into(),
        text: text.into(),
        ..Source::default()
    }
}

/// New facts of each page when they are read one after the other.
fn gains(pages: &[Source]) -> Vec<usize> {
    let (mut facts, mut sketches): (Vec<Fact>, BTreeMap<String, String>) = Default::default();
    pages
        .iter()
        .map(|page| {
            let scored =
                HashedFacts.score(std::slice::from_ref(page), &Known { facts: &facts, pages: &sketches });
            let new = scored.facts.len();
            facts.extend(scored.facts);
            sketches.extend(scored.pages);
            new
        })
        .collect()
}

/// Whether the second statement is new after the first.
fn is_new(first: (&str, &str), second: (&str, &str)) -> bool {
    gains(&[page("a", first.0, first.1), page("b", second.0, second.1)])[1] > 0
}

#[test]
fn the_same_thing_in_other_words_is_not_new() {
    for (a, b) in [
        (
            ("", "Uruguay had 3,444,263 inhabitants at the census of 2023."),
            ("", "The population of Uruguay is 3 444 263."),
        ),
        (("Uruguay", "Population: 3,444,263 (2023 census)"), ("", "Uruguay has a population of 3,444,263.")),
        (
            ("", "In 2023, the port of Aldmoor handled 4.2 million tonnes of grain."),
            ("", "Aldmoor's port handled 4,200,000 tonnes in 2023."),
        ),
        (("", "Twelve ships were lost."), ("", "12 ships were lost")),
        (
            ("", "Norway sold 12 trawlers to Iceland in 2019."),
            ("", "In 2019, Norway sold twelve trawlers to Iceland."),
        ),
        (("Norvane N60", "Range: 54 km"), ("", "The Norvane N60 has a range of 54 km.")),
    ] {
        assert!(!is_new(a, b), "{a:?} {b:?}");
    }
}

#[test]
fn what_differs_in_a_figure_a_name_or_a_not_is_new() {
    for (a, b) in [
        (
            ("", "The population of Uruguay is 3.4 million."),
            ("", "The population of Uruguay is 3.5 million."),
        ),
        (
            ("", "The population of Uruguay is 3.4 million."),
            ("", "The population of Paraguay is 3.4 million."),
        ),
        (("Uruguay", "Population: 3.4 million"), ("Paraguay", "Population: 3.4 million")),
        (
            ("", "Northport's harbour handled 12 million tonnes of cargo last year."),
            ("", "Southport's harbour handled 12 million tonnes of cargo last year."),
        ),
        (("", "The rule holds for 12 ports."), ("", "The rule does not hold for 12 ports.")),
        (("", "Exports grew 12 % in 2023."), ("", "Imports grew 12 % in 2023.")),
        (("", "Chile sells copper to Peru."), ("", "Peru sells copper to Chile.")),
        (("", "12 ships were lost."), ("", "12 ships were lost and 30 sailors drowned.")),
        (("", "Aldmoor exported 42 tonnes."), ("", "Aldmoor imported 42 tonnes.")),
        (("", "Fares increased by 12 % in 2023."), ("", "Fares decreased by 12 % in 2023.")),
        (("", "Fares rose by 12 %."), ("", "Fares rose to 12 %.")),
        (("", "The N60 has a range of 42 km."), ("", "The N60 has a range of 42 miles.")),
        (("", "The N60 has a range of 42 km."), ("", "The N60 has a range of 42.")),
        (("", "The N60 sails 42 km in 3 hours."), ("", "The N60 sails 42 hours in 3 km.")),
        (("", "Norway sold 12 trawlers to Iceland."), ("", "Iceland sold 12 trawlers to Norway.")),
        (("", "In 2023 men earned 12 % more than women."), ("", "In 2023 women earned 12 % more than men.")),
        (
            ("", "Exports were 5 million in 2010 and 6 million in 2020."),
            ("", "Exports were 5 million in 2020 and 6 million in 2010."),
        ),
        (
            ("", "Exports were 5 million and imports 7 million."),
            ("", "Exports were 7 million and imports 5 million."),
        ),
        (("", "The ferry carries 12 cars in summer."), ("", "The ferry carries 12 cars in winter.")),
        (("", "The lift carries < 5 kg."), ("", "The lift carries > 5 kg.")),
        (("", "The average wage is 3,100 euros."), ("", "The median wage is 3,100 euros.")),
        (("", "C++ has 97 keywords."), ("", "C has 97 keywords.")),
        (("", "Hepatitis B caused 12 deaths."), ("", "Hepatitis A caused 12 deaths.")),
        (("", "The rate rose 5 percentage points."), ("", "The rate rose 5 %.")),
        (("", "Ships under 12 metres pay no fee."), ("", "Ships over 12 metres pay no fee.")),
    ] {
        assert!(is_new(a, b), "{a:?} {b:?}");
    }
}

const TEXT: &str = "The harbour of Aldmoor was opened on 4 June 1911 and enlarged twice. It has twelve quays with a length of \
    3,450 metres, and handles 4.2 million tonnes a year. The lock at the mouth of the river is 190 metres long. Ships of \
    up to 9.5 metres draught can come in at any tide. About 640 people work in the port, 210 of them for the pilots. A \
    railway joins the quays to the line along the coast. The town owns the land, and the quays are let to five companies \
    for thirty years at a time. In winter the basin freezes in one year out of four.";

#[test]
fn a_copy_brings_nothing() {
    let there = page("a", "Harbour", TEXT);
    let copy = |document: &str, text: String| page(document, "Harbour of Aldmoor | Mirror", &text);
    let pages = [
        there,
        copy("mirror?utm_source=x", format!("Our partners wish you a nice day at the sea.\n\n{TEXT}")),
        copy(
            "print/harbour",
            format!("{TEXT}\n\nLast updated: 3 May 2025\n\nMore stories for you below this line."),
        ),
    ];
    let gains = gains(&pages);
    assert!(gains[0] >= 8, "{gains:?}");
    assert_eq!(gains[1..], [0, 0]);
    let first = HashedFacts.score(&pages[..1], &Known { facts: &[], pages: &BTreeMap::new() });
    let second = HashedFacts.score(&pages[1..2], &Known { facts: &first.facts, pages: &first.pages });
    assert_eq!((second.repeats, second.pages.len()), (vec!["a-1".to_owned()], 0));
    let both = HashedFacts.score(&pages, &Known { facts: &[], pages: &BTreeMap::new() });
    assert_eq!((both.facts.len(), both.pages.len(), both.repeats.len()), (gains[0], 1, 2));
}

#[test]
fn a_later_edition_brings_its_other_figures() {
    let later = TEXT.replace("640 people", "655 people");
    assert_eq!(gains(&[page("a", "Harbour", TEXT), page("b", "Harbour", &later)])[1], 1);
}

#[test]
fn noise_brings_nothing() {
    let noise = [
        page("a", "x", "Please enable JavaScript to see 12 more results of 2025."),
        page("b", "x", "{\"a\": {\"b\": \"c\"}, \"d\": {\"e\": \"f\"}}; x = y; <div> </div>"),
        page("c", "x", ""),
    ];
    assert_eq!(gains(&noise), [0, 0, 0]);
}

#[test]
fn what_is_known_can_be_anything() {
    let odd = BTreeMap::from([("x".to_owned(), "no sketch".to_owned())]);
    let fact = Fact { key: "k".into(), ..Fact::default() };
    let scored =
        HashedFacts.score(&[page("a", "t", "It has 12 ports.")], &Known { facts: &[fact], pages: &odd });
    assert_eq!(scored.facts.len(), 1);
}
