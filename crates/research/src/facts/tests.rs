use super::*;

fn same(a: &str, b: &str) {
    assert_eq!(key(a), key(b), "{a} / {b}\n{}\n{}", normalise(a), normalise(b));
}

fn other(a: &str, b: &str) {
    assert_ne!(key(a), key(b), "{a} / {b}: {}", normalise(a));
}

#[test]
fn case_and_punctuation() {
    for (a, b) in [
        ("The population is 3,449,444.", "population: 3449444"),
        ("COPPER is the main export!", "Copper is the main export"),
        ("\"Copper\" is the **main** export…", "copper is the main export"),
        ("It’s Uruguay's port", "It's Uruguay’s port"),
        ("a long-term plan", "A long term plan"),
        ("Copper is the main export.[12]", "Copper is the main export"),
    ] {
        same(a, b);
    }
    other("It is open", "It is not open");
}

#[test]
fn letters_and_digits_in_any_form_of_unicode() {
    for (a, b) in [
        ("S\u{e3}o Paulo has 12 ports", "Sa\u{303}o Paulo has 12 ports"),
        ("Ｐｏｐｕｌａｔｉｏｎ：３，４４９，４４４", "Population: 3,449,444"),
        ("Population: ٣٤٤٩٤٤٤", "Population: 3449444"),
        ("growth: １２％", "growth: 12 %"),
        ("a 25‑year loan", "a 25-year loan"),
        ("area 5\u{a0}km²", "area 5 km²"),
        ("the ﬁrst ﬂight", "the first flight"),
    ] {
        same(a, b);
    }
}

#[test]
fn numbers_whatever_separates_their_thousands() {
    for form in [
        "3,449,444",
        "3 449 444",
        "3\u{a0}449\u{a0}444",
        "3\u{202f}449\u{202f}444",
        "3.449.444",
        "3'449'444",
        "3’449’444",
        "3449444",
        "3.449444 million",
    ] {
        same(&format!("Population: {form}"), "population: 3449444");
    }
    same("It weighs 1,234 kg", "It weighs 1 234 kg");
    same("It weighs 1'234 kg", "It weighs 1234 kg");
    same("It costs 1.234,50 euros", "It costs 1,234.5 euros");
    // With one point and three digits behind it, it is a fraction: nothing tells otherwise.
    other("It weighs 1.234 kg", "It weighs 1234 kg");
    same("It weighs 1.2340 kg", "It weighs 1.234 kg");
    other("12 ports", "13 ports");
    other("in 2020 345 people came", "in 2020345 people came");
}

#[test]
fn numbers_in_words() {
    for (a, b) in [
        ("It has twelve ports.", "has 12 ports"),
        ("one hundred and five ships", "105 ships"),
        ("two hundred thousand people", "200,000 people"),
        ("Twenty-five lakes", "25 lakes"),
        ("three million people", "3 million people"),
        ("two trillion dollars", "$2 trillion"),
        ("twelve percent of exports", "12% of exports"),
    ] {
        same(a, b);
    }
    other("twelve and thirteen ports", "25 ports");
}

#[test]
fn dates_in_their_usual_forms() {
    for form in [
        "25 August 1825",
        "August 25, 1825",
        "25 Aug 1825",
        "Aug. 25th, 1825",
        "25th of August 1825",
        "25-Aug-1825",
        "1825-08-25",
        "25.08.1825",
        "25.8.1825",
        "25/08/1825",
        "08/25/1825",
        "1825/08/25",
    ] {
        same(&format!("Founded on {form}"), "founded 25 August 1825");
    }
    same("In 2024 the economy grew 3 percent", "The economy grew 3% in 2024");
    other("Founded 25 August 1825", "Founded 26 August 1825");
    // May or June: nobody can tell, so it is no date and the same only as itself.
    other("Founded 05/06/2025", "Founded 5 June 2025");
    other("Founded 05/06/2025", "Founded 6 May 2025");
}

#[test]
fn units_currencies_and_percent() {
    for (a, b) in [
        ("Area: 176,215 sq km", "AREA — 176215 km²"),
        ("Area: 176,215 square kilometres", "Area: 176 215 square kilometers"),
        ("The road is 40 miles long", "The road is 40 mi long"),
        ("speed: 90 km/h", "speed: 90 kilometres per hour"),
        ("speed: 90 kph", "speed: 90 km/h"),
        ("It is 25 °C warm", "It is 25 degrees Celsius warm"),
        ("a load of 12 tonnes", "a load of 12 t"),
        ("a load of 12 metric tons", "a load of 12 t"),
        ("a floor of 80 m²", "a floor of 80 square metres"),
        ("a forest of 5 hectares", "a forest of 5 ha"),
        ("a tank of 5 litres", "a tank of 5 liters"),
        ("GDP per head: $31,900", "GDP per head: USD 31,900"),
        ("GDP per head: US$31,900", "GDP per head: 31 900 dollars"),
        ("It cost €5bn", "It cost 5 billion euros"),
        ("It cost £5 million", "It cost GBP 5m"),
        ("growth: 12%", "growth: 12 per cent"),
        ("growth: 12 pct", "growth: 12 percent"),
    ] {
        same(a, b);
    }
    other("12 ports", "12% ports");
    other("It cost €5", "It cost $5");
    other("12 km", "12 mi");
}

#[test]
fn parts_in_another_order() {
    for (a, b) in [
        ("copper, fish and wine", "Wine, copper, fish"),
        ("Population (2025 est.): 3.4 million", "population, 3,400,000, est. 2025"),
        ("Montevideo (the capital) lies in the south", "lies in the south, Montevideo, capital"),
    ] {
        same(a, b);
    }
    other("Chile sells to Peru", "Peru sells to Chile");
}

fn source(text: &str) -> Source {
    Source {
        id: "a-1".into(),
        title: "Uruguay".into(),
        section: "Area".into(),
        text: text.into(),
        ..Source::default()
    }
}

#[test]
fn facts_stand_in_their_source() {
    let source = source("total: 176,215 sq km\n\n---\n\nland: 175,015 sq km\ntotal: 176215 km²");
    let found = facts(&source);
    assert_eq!(
        found.iter().map(|f| f.text.as_str()).collect::<Vec<_>>(),
        ["total: 176,215 sq km", "land: 175,015 sq km"]
    );
    assert_eq!((found[1].span.start, found[1].span.line), (27, 4));
    assert_eq!(found[0].key.len(), KEY_LEN);
    assert_eq!(found[0].about, "Uruguay: Area");
    let other = Source { title: "Chile".into(), ..source };
    assert_ne!(facts(&other)[0].key, found[0].key);
}

#[test]
fn noise_holds_no_facts() {
    for text in [
        "",
        "---",
        "x",
        "12 34 56",
        "***\n\n|||\n",
        "@#$ %^&",
        "| Country | Area |\n|---|---|\n| Chile | n/a |\n| Peru | — |",
        "Home\nAbout us\nNews\nContact\nLogin\nPrivacy policy",
        "Last updated: 3 May 2025",
        "Please enable JavaScript to see the 12 results for harbour in 2025.",
        "<ul><li><a href=\"/a\">One two</a></li><li><a href=\"/b\">Three four</a></li></ul>",
        "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgMTIzNDU2Nzg5MA==",
        "BevÃ¶lkerung: 83 Millionen. FlÃ¤che: gro\u{c3}\u{9f}. HÃ¶he: 5 m.",
    ] {
        assert_eq!(facts(&source(text)), [], "{text:?}");
    }
}

#[test]
fn what_says_something_beside_noise_counts() {
    let found = facts(&source("Skip to main content\n\nThe port has 12 quays.\n\nLast updated: 3 May 2025"));
    assert_eq!(found.iter().map(|f| f.text.as_str()).collect::<Vec<_>>(), ["The port has 12 quays."]);
}
