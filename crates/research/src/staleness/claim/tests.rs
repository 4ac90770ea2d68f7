use super::*;
use crate::text::statements::statements;

/// The two figures by which the second, newer statement supersedes the first: each of a title and a text.
fn figures(old: (&str, &str), new: (&str, &str)) -> Option<(String, String)> {
    let claim = |(title, text): (&str, &str)| {
        let statement = &statements(text)[0];
        let labels: Vec<&str> = statement.labels.iter().map(String::as_str).collect();
        Claim::of(title, "", &labels, text.get(statement.value.clone()).unwrap_or(""))
    };
    let (old, new) = (claim(old), claim(new));
    old.superseded_by(&new).map(|(a, b)| (a.to_owned(), b.to_owned()))
}

#[test]
fn the_same_words_with_another_figure() {
    for (old, new) in [
        (
            ("Prices", "The A48 costs 15.9 million euros."),
            ("News", "The A48 now costs 16.3 million euros, says the yard."),
        ),
        (
            ("Prices", "The A48 costs 15.9 million euros."),
            ("Prices", "The A48 costs about 16.3 million euros."),
        ),
        (("Uruguay", "Population: 3.4 million"), ("Uruguay", "Population: 3.5 million")),
        (("Uruguay", "Population (2023): 3.4 million"), ("Uruguay", "Population (2023): 3.5 million")),
        (
            ("Ports", "Exports of Aldmoor in 2023: 4.2 million tonnes"),
            ("Ports", "Exports of Aldmoor in 2023: 4.4 million tonnes"),
        ),
        (
            ("Questions", "The Corrigan C70 costs 19.7 million euros per vessel."),
            (
                "Letter",
                "The Corrigan C70 now costs 18.9 million euros per vessel, down from 19.7 million euros.",
            ),
        ),
        (
            ("Offers", "The delivery time of the Aldermere A48 is 14 months."),
            ("Minutes", "The delivery time of the Aldermere A48 is now 19 months, not 14 months."),
        ),
        (
            ("Questions", "The Aldermere A48 costs 15.9 million euros per vessel."),
            (
                "Minutes",
                "Aldermere Yard also raised its price for steel: the Aldermere A48 now costs 16.3 million euros per vessel.",
            ),
        ),
    ] {
        assert!(figures(old, new).is_some(), "{old:?} {new:?}");
    }
}

#[test]
fn a_word_that_only_one_side_has_makes_it_something_else() {
    for (old, new) in [
        (
            "The port of Aldmoor exported 4.2 million tonnes.",
            "The port of Aldmoor imported 5.1 million tonnes.",
        ),
        (
            "Exports of Aldmoor in the 1st quarter: 5 million",
            "Exports of Aldmoor in the 2nd quarter: 6 million",
        ),
        ("Exports in the first quarter: 5 million", "Exports in the second quarter: 6 million"),
        ("Q1 exports of Aldmoor: 5 million", "Q2 exports of Aldmoor: 6 million"),
        ("The fare to Vessa for adults is 6 euros.", "The fare to Vessa for apprentices is 3 euros."),
        ("The average wage in Aldmoor is 3,100 euros.", "The median wage in Aldmoor is 2,800 euros."),
        ("The ferry to Vessa sails 38 times on weekdays.", "The ferry to Vessa sails 12 times on Sundays."),
        ("In Aldmoor, 12 % of men smoke.", "In Aldmoor, 9 % of women smoke."),
        ("The N60 has a range of 62 km in summer.", "The N60 has a range of 54 km in winter."),
        ("The N60 has a range of 62 km.", "The N60 has a measured range of 54 km."),
        ("The N60 has a range of 62 km.", "The N60 has a range of up to 80 km."),
        ("The N60 has a range of 62 km.", "The N60 has a range of 40 miles."),
        ("The N60 costs at least 15 million euros.", "The N60 costs 18 million euros."),
        ("range_km: 66", "Corrigan C70 › range stated in the offer: 70 km"),
        ("Corrigan C70 › range measured: 66 km", "Corrigan C70 › range stated in the offer: 70 km"),
        ("Exports: 12 %", "Exports: $5 million"),
        ("Population: 3.4 million", "Area: 176,215 km²"),
        ("Population › male: 1.6 million", "Population › female: 1.7 million"),
        ("The Norvane test passed 3 times.", "The Norvane test never passed 4 times."),
        (
            "The N60 has a range of 54 km on a charge, not the 62 km of its offer.",
            "The N60 has a range of 70 km.",
        ),
        ("The N60 costs 15 million euros, says Norvane.", "The N60 costs 18 million euros, says Corrigan."),
        ("The N60 carries < 5 cars.", "The N60 carries > 6 cars."),
        ("The rate of Aldmoor rose 5 %.", "The rate of Aldmoor rose 6 percentage points."),
        ("The A48 pump weighs 12 pounds.", "The A48 pump weighs £14."),
        ("Hepatitis A: 12 cases", "Hepatitis B: 14 cases"),
        ("If it raised its price: the N60 now costs 18 euros.", "The N60 costs 15 euros."),
    ] {
        for (old, new) in [(old, new), (new, old)] {
            assert_eq!(figures(("Title", old), ("Title", new)), None, "{old:?} {new:?}");
        }
    }
}

#[test]
fn figures_that_tell_which_or_when_are_not_what_is_said() {
    for (old, new) in [
        ("Room 12 is closed.", "Room 14 is closed."),
        ("The 1st quarter of Aldmoor was weak.", "The 2nd quarter of Aldmoor was weak."),
        ("The Marit makes 57 decibels at 100 metres.", "The Marit makes 57 decibels at 200 metres."),
        ("In 2010 Aldmoor had 3,400 people.", "In 2020 Aldmoor had 3,500 people."),
        ("Population (2020): 3.4 million", "Population (2023): 3.5 million"),
        ("The Norvane board met on 3 May 2025.", "The Norvane board met on 6 June 2026."),
        ("The Norvane bridge opens in 2025.", "The Norvane bridge opens in 2026."),
        (
            "Aldmoor had 3,400 people in the Vessa census of 2010.",
            "Aldmoor had 3,500 people in the Vessa census.",
        ),
        ("Exports were 5 in 2010 and 6 in 2020.", "Exports were 6 in 2010 and 5 in 2020."),
        // The same figure, rounded.
        ("Population: about 3.4 million", "Population: 3,449,444"),
        ("Population: 3.4 million", "Population: 3,400,000"),
        // What was said of another time when it was written.
        (
            "The port of Aldmoor handled 4 million tonnes last year.",
            "The port of Aldmoor handled 5 million tonnes last year.",
        ),
    ] {
        for (old, new) in [(old, new), (new, old)] {
            assert_eq!(figures(("Title", old), ("Title", new)), None, "{old:?} {new:?}");
        }
    }
}

#[test]
fn what_stands_above_may_be_a_condition_or_another_subject() {
    for (old, new) in [
        (("Uruguay", "Population: 3.4 million"), ("Chile", "Population: 3.5 million")),
        (("Uruguay", "Population: 3.4 million"), ("Census", "Uruguay has 3.5 million inhabitants.")),
        (("Annual report 2021", "Ships: 12"), ("Annual report 2024", "Ships: 14")),
        (("Aldmoor", "The population is 3,400."), ("Brinsea", "The population is 3,500.")),
        (("Aldmoor", "It has 3,400 people."), ("Aldmoor", "It has 3,500 people.")),
        (
            ("Summer timetable", "The N60 sails 12 times a day."),
            ("Winter timetable", "The N60 sails 8 times a day."),
        ),
        (("Siemens", "The Paris office has 12 desks."), ("Bosch", "The Paris office now has 14 desks.")),
        (
            ("Aldmoor", "The Monday market has 12 stalls."),
            ("Brinsea", "The Monday market now has 14 stalls."),
        ),
        // The figure that it replaces is another one.
        (
            ("Offer", "The N60 costs 15 million euros."),
            ("News", "The N60 now costs 18 million euros, up from 17 million euros."),
        ),
        (("Prices", "The A48 costs 15.9 million euros."), ("News", "The A52 now costs 16.3 million euros.")),
    ] {
        for (old, new) in [(old, new), (new, old)] {
            assert_eq!(figures(old, new), None, "{old:?} {new:?}");
        }
    }
    let under = |heading: &str, figure: u32| {
        Claim::of("Timetable", heading, &["Crossings"], &format!("{figure} a day"))
    };
    assert!(under("Summer", 38).superseded_by(&under("Summer", 41)).is_some());
    assert!(under("Summer", 38).superseded_by(&under("Winter", 20)).is_none());
}

#[test]
fn an_announcement_inside_a_sentence_is_left_out() {
    let old = Claim::of("Questions", "", &[], "The A48 costs 15.9 million euros.");
    let new = "The yard also raised its price: the A48 now costs 16.3 million euros.";
    assert!(old.superseded_by(&Claim::of("Minutes", "1. Changes", &[], new)).is_some());
    let other = "The yard wrote its answer: the A48 now costs 16.3 million euros.";
    assert!(old.superseded_by(&Claim::of("Minutes", "1. Changes", &[], other)).is_none());
}

#[test]
fn two_of_one_document_in_the_same_words_can_not_be_told_apart() {
    let price = |figure: &str| Claim::of("Offers", "", &["Price"], figure);
    assert!(price("15.9 million").is_double(&price("18.4 million")));
    assert!(!price("15.9 million").is_double(&price("15.9 million")));
}

#[test]
fn no_text_breaks_it() {
    for text in ["", ", ", "1", "A", ", not 5", ", says ", "\u{301}5", "x: , down from"] {
        let claim = Claim::of(text, text, &[text], text);
        assert!(claim.superseded_by(&claim).is_none());
    }
}
