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
        ("It has twelve ports.", "It has 12 ports"),
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
fn trivial_order() {
    for (a, b) in [
        ("copper, fish and wine", "Wine, copper, fish"),
        ("Exports: copper, iron ore, wine", "exports: wine, copper, iron ore"),
        ("The exports are copper, fish and wine", "Exports — wine, fish & copper"),
        ("Borders: Chile, Peru and Bolivia", "Borders: Peru, Bolivia and Chile"),
        ("In 2024 the economy grew 3 percent", "The economy grew 3% in 2024"),
        ("In March 2024, the economy grew 3 percent", "The economy grew 3% (March 2024)"),
        ("On 4 June 1911 the harbour was opened", "The harbour was opened on 4 June 1911"),
        ("The harbour was opened on June 4, 1911", "The harbour was opened 4 June 1911"),
    ] {
        same(a, b);
    }
}

#[test]
fn order_that_says_something() {
    for (a, b) in [
        ("Chile sells to Peru", "Peru sells to Chile"),
        ("5 million in 2010 and 6 million in 2020", "6 million in 2010 and 5 million in 2020"),
        ("In 2010 it was 5, in 2020 6", "In 2020 it was 5, in 2010 6"),
        ("exports were 5 and imports were 7", "exports were 7 and imports were 5"),
        ("Peru: 5, Chile: 7", "Peru: 7, Chile: 5"),
        ("Peru: copper, Chile: fish", "Peru: fish, Chile: copper"),
        ("Peru, copper; Chile, fish", "Peru, fish; Chile, copper"),
        ("Lima, Peru and Quito, Ecuador", "Lima, Ecuador and Quito, Peru"),
        ("Cities: Lima, Peru, Quito, Ecuador", "Cities: Lima, Ecuador, Quito, Peru"),
        ("Ann and Ben killed Carl", "Ben killed Carl and Ann"),
        ("Exports: oil and gas turbines", "Exports: gas turbines and oil"),
        ("Ranking: copper, fish, wine", "Ranking: wine, copper, fish"),
        ("no pain, no gain", "no gain, no pain"),
        ("Copper is gold", "Gold is copper"),
        ("Chile is in the north and Peru in the south", "Peru is in the north and Chile in the south"),
        ("Lima (Peru) beats Quito", "Peru (Lima) beats Quito"),
        ("In 2024 the bank said that Peru left", "The bank said that Peru left in 2024"),
        ("In 2023 the bank plans 3 ports", "The bank plans 3 ports in 2023"),
        ("The port was closed by 2024", "The port was closed in 2024"),
        ("The port has been open since 2024", "The port has been open in 2024"),
    ] {
        other(a, b);
    }
}

#[test]
fn signs_that_say_something() {
    for (a, b) in [
        ("It weighs < 5 kg", "It weighs > 5 kg"),
        ("It weighs < 5 kg", "It weighs 5 kg"),
        ("It weighs <5 kg", "It weighs ≤5 kg"),
        ("an error of ±5", "an error of 5"),
        ("an error of +5", "an error of -5"),
        ("about ~5 kg", "about 5 kg"),
        ("It is written in C++", "It is written in C"),
        ("It is written in C#", "It is written in C"),
        ("A* search is fast", "A search is fast"),
        ("A* search and B* search are fast", "A search and B search are fast"),
        ("5 * 3 is odd", "5 3 is odd"),
        ("from 5-10 ports", "from 5, 10 ports"),
        ("a ratio of 1/2", "a ratio of 12"),
        ("a ratio of 1:2", "a ratio of 1, 2"),
        ("a share of .5", "a share of 5"),
        ("a pipe of 5\"", "a pipe of 5"),
        ("a wall of 5'", "a wall of 5"),
        ("profit: (5)", "profit: 5"),
        ("It has 10⁶ cells", "It has 106 cells"),
        ("y is x²", "y is x2"),
        ("It takes 2½ hours", "It takes 2 hours"),
        ("a != b holds", "a = b holds"),
        ("the value of a[1] is odd", "the value of a[2] is odd"),
        ("range: [5]", "range: [6]"),
        ("No, ships were lost", "No ships were lost"),
        ("Hepatitis A is rare", "Hepatitis is rare"),
        ("Vitamin A is rare", "Vitamin is rare"),
    ] {
        other(a, b);
    }
    same("He said \"it is 5\" twice", "He said it is 5 twice");
    same("He said 'it is 5' twice", "He said it is 5 twice");
}

#[test]
fn words_that_say_something() {
    for (a, b) in [
        ("exports grew", "exporters grew"),
        ("The university is old", "The universe is old"),
        ("The policy failed", "The police failed"),
        ("He has killed", "He has been killed"),
        ("The ship is sold", "The ship sold"),
        ("The president is Smith", "The president was Smith"),
        ("a 25-year loan", "a 25-year-old loan"),
        ("est. 1825", "estimated 1825"),
        ("exports of Chile", "exports in Chile"),
        ("Exports grew 5 %", "Imports grew 5 %"),
        ("Das Haus ist schön", "Das Haus ist schon"),
        ("夫がいる", "夫かいる"),
        ("กินข้าว", "กันข้าว"),
    ] {
        other(a, b);
    }
}

#[test]
fn units_that_are_not_the_same() {
    for (a, b) in [
        ("It grew 5 %", "It grew 5 percentage points"),
        ("It cost A$12", "It cost US$12"),
        ("It cost a $12 fee", "It cost A$12 fee"),
        ("It cost HK$12", "It cost $12"),
        ("It cost 12 Canadian dollars", "It cost 12 dollars"),
        ("It is 12 pounds", "It is £12"),
        ("It is 12 rupees", "It is ₹12"),
        ("It holds 12 tons", "It holds 12 tonnes"),
        ("It holds 12 long tons", "It holds 12 short tons"),
        ("It gives 5 mW", "It gives 5 MW"),
        ("It sends 5 Mb", "It sends 5 MB"),
        ("a field of 5 T", "a field of 5 t"),
        ("a step of 5 s", "a step of 5 S"),
        ("It is 25 °C warm", "It is 25 °F warm"),
        ("an angle of 5°", "an angle of 5"),
        ("30 miles long", "30 km long"),
        ("90 km/h", "90 km h"),
    ] {
        other(a, b);
    }
    same("It is £12", "It is 12 pounds sterling");
    same("It grew 5 PER CENT", "It grew 5 %");
    same("AREA: 5 SQ KM", "Area: 5 sq km");
    same("It gives 5 megawatts", "It gives 5 MW");
    same("It lasted 25 YEARS", "it lasted 25 years");
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

fn texts(text: &str) -> Vec<String> {
    facts(&source(text)).into_iter().map(|fact| fact.text).collect()
}

#[test]
fn scripts_without_spaces_between_words_hold_facts() {
    for (text, count) in [
        ("東京の人口は1400万人です。大阪の人口は270万人です。", 2),
        ("乌拉圭的首都是蒙得维的亚。它是最大的城市。", 2),
        ("港口有十二个码头。", 1),
        ("กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย", 1),
        ("ເມືອງຫຼວງຂອງລາວແມ່ນວຽງຈັນ", 1),
        ("មានកំពង់ផែ ១២", 1),
        ("서울은 대한민국의 수도이다. 인구는 940만 명이다.", 2),
        ("人口: 5", 1),
        ("港", 0),
        ("、。・", 0),
    ] {
        assert_eq!(texts(text).len(), count, "{text}: {:?}", texts(text));
    }
    other("東京の人口は1400万人です", "大阪の人口は1400万人です");
    same("東京の人口は１４００万人です。", "東京の人口は1400万人です");
    // A colon of full width is a colon: what is said belongs to its document.
    let there = Source { title: "東京".into(), ..source("人口：1400万人") };
    assert_ne!(facts(&there)[0].key, facts(&Source { title: "大阪".into(), ..there })[0].key);
}

#[test]
fn fields_of_few_words_are_facts() {
    for text in ["Legal status: in use", "Symbol: Na", "Main contact: home page", "Country code: na"] {
        assert_eq!(texts(text), [text]);
    }
    for text in ["Coastline: n/a", "Coastline: N.A.", "Date of page: 3 May 2025", "Coastline: N/A (2024)"] {
        assert_eq!(texts(text).len(), usize::from(text.contains("2024")), "{text}");
    }
}

/// One line of many signs and figures. Each byte is read a bounded number of times: read again for each part, they would
/// keep the test busy for hours.
#[test]
fn a_long_line_is_read_once() {
    for (part, size) in [
        ("[", 2_000_000),
        (".", 2_000_000),
        ("a[", 200_000),
        (".) ", 50_000),
        ("12 ", 100_000),
        ("x | ", 50_000),
        ("| 12 ", 50_000),
        ("The port has 12 quays. ", 100_000),
        ("twelve ", 100_000),
        ("*a ", 50_000),
        ("'1 ", 50_000),
        ("港は大きい。", 50_000),
        ("5 km per ", 50_000),
    ] {
        let text = format!("Port: {}", part.repeat(size / part.len()));
        assert!(!normalise(&text).is_empty());
        assert!(facts(&source(&text)).len() <= size);
    }
}
