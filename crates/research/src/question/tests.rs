use super::*;

/// The objectives of a question's parts.
fn parts(text: &str) -> Vec<String> {
    Question::analyse(text).parts.iter().map(Part::objective).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(parts(text), expected, "{text}");
}

#[test]
fn comparisons() {
    let three = [
        "Uruguay: population; real GDP per capita",
        "Chile: population; real GDP per capita",
        "Paraguay: population; real GDP per capita",
    ];
    check("Compare Uruguay, Chile and Paraguay on population and real GDP per capita", &three);
    check("Compare the population and real GDP per capita of Uruguay, Chile, and Paraguay.", &three);
    check("How do Uruguay, Chile and Paraguay differ in population and real GDP per capita?", &three);
    check("Uruguay, Chile and Paraguay: population, real GDP per capita", &three);
    check(
        "What is the difference between Uruguay, Chile and Paraguay in population and real GDP per capita?",
        &three,
    );
    check(
        "Uruguay versus Chile: population, area",
        &["Uruguay: population; area", "Chile: population; area"],
    );
    check(
        "Compare the population of Uruguay and Freedonia",
        &["Uruguay: population", "Freedonia: population"],
    );
    check(
        "Which country has the larger population, Uruguay or Paraguay?",
        &["Uruguay: population", "Paraguay: population"],
    );
    check("Is Chile larger than Peru?", &["Chile: larger", "Peru: larger"]);
}

#[test]
fn one_subject() {
    check("What is the population of Freedonia?", &["Freedonia: population"]);
    check(
        "What are the main exports of Chile and who are its trading partners?",
        &["Chile: main exports; trading partners"],
    );
    check("Which languages are spoken in Paraguay?", &["Paraguay: languages spoken"]);
    check("How large is Brazil?", &["Brazil: how large"]);
    check("capital of Australia", &["Australia: capital"]);
    check("Chile's population and area", &["Chile: population; area"]);
    check("Uruguay population", &["Uruguay population"]);
    check("Tell me about Georgia.", &["Georgia"]);
    check("What is the GDP of the USA?", &["USA: GDP"]);
    check("capital of Côte d'Ivoire", &["Côte d'Ivoire: capital"]);
    check("Population of Congo (Brazzaville)", &["Congo (Brazzaville): Population"]);
    check("area and population of Cocos (Keeling) Islands?", &["Cocos (Keeling) Islands: area; population"]);
    check("When did Uruguay gain independence from Spain?", &["Uruguay: when gain independence from Spain"]);
    check("What is the population of Korea, South?", &["Korea, South: population"]);
    check("Population of the Republic of the Congo in 2024", &["Republic of the Congo: Population 2024"]);
}

#[test]
fn what_is_asked_and_who_is_asked_about() {
    let two = |facets: &str| ["Heron tower", "Egret tower"].map(|name| format!("{name}: {facets}"));
    let heron = two("height; cost");
    let heron: Vec<&str> = heron.iter().map(String::as_str).collect();
    check("Compare the Heron tower and the Egret tower on height and cost", &heron);
    check("Compare Heron tower and Egret tower on height and cost", &heron);
    check(
        "Coastline and capital of France and Malta",
        &["France: Coastline; capital", "Malta: Coastline; capital"],
    );
    check("GDP, HDI and area of Chile and Peru", &["Chile: GDP; HDI; area", "Peru: GDP; HDI; area"]);
    check("Compare Chile and Peru on area and GDP", &["Chile: area; GDP", "Peru: area; GDP"]);
    check("Chile's area, president, GDP and literacy", &["Chile: area; president; GDP; literacy"]);
    check(
        "gdp per capita (ppp) of ghana vs togo",
        &["ghana: gdp per capita (ppp)", "togo: gdp per capita (ppp)"],
    );
    check(
        "Which is larger by area: Monaco, San Marino or the Vatican?",
        &["Monaco: area", "San Marino: area", "Vatican: area"],
    );
    check(
        "How does the birth rate of Mali differ from that of Chad?",
        &["Mali: birth rate", "Chad: birth rate"],
    );
    check("How does the area of Mali compare to Chad's?", &["Mali: area", "Chad: area"]);
    check("Is the area of Mali larger than that of Chad?", &["Mali: area", "Chad: area"]);
    check("Area of the UK, the UAE and the US", &["UK: Area", "UAE: Area", "US: Area"]);
    check("Capital and area of Jan Mayen and Chad", &["Jan Mayen: Capital; area", "Chad: Capital; area"]);
    check("Compare the Chile population and the Peru population", &["Chile: population", "Peru: population"]);
    check("What is Chad's GDP growth and what was it in 2022?", &["Chad: GDP growth; GDP growth 2022"]);
    check(
        "the Heron tower and the old water tower on height",
        &["Heron tower: height", "old water tower: height"],
    );
    check(
        "population growth of Chad between 2010 and 2020",
        &["Chad: population growth between 2010 and 2020"],
    );
}

#[test]
fn several_groups() {
    check("inflation of Chile in 2023 and 2024", &["Chile: inflation 2023; inflation 2024"]);
    check("population of Chile and area of Argentina", &["Chile: population", "Argentina: area"]);
    check(
        "population and area of Chile and exports and imports of Peru",
        &["Chile: population; area", "Peru: exports; imports"],
    );
    check("What is the capital of Peru? And its area?", &["Peru: capital; area"]);
    check("1. Population of Chile\n2. Exports of Peru", &["Chile: Population", "Peru: Exports"]);
    check(
        "For Chile and Peru:\n- population\n- area",
        &["Chile: population; area", "Peru: population; area"],
    );
    check(
        "Give population and area for:\n- Chile\n- Peru",
        &["Chile: population; area", "Peru: population; area"],
    );
}

#[test]
fn without_capitals() {
    check(
        "compare uruguay, chile and paraguay on population and real gdp per capita",
        &[
            "uruguay: population; real gdp per capita",
            "chile: population; real gdp per capita",
            "paraguay: population; real gdp per capita",
        ],
    );
    check("what is the population of freedonia?", &["freedonia: population"]);
    check("population of uruguay and chile", &["uruguay: population", "chile: population"]);
    check("how large is brazil", &["brazil: how large"]);
    check("uruguay population", &["uruguay population"]);
    check("when did uruguay become independent", &["uruguay: when become independent"]);
    check("who is maria lopez", &["maria lopez"]);
    check("inflation in argentina 2022", &["argentina: inflation 2022"]);
    check("what is the price of delivery", &["delivery: price"]);
    check("gdp of the usa and china", &["usa: gdp", "china: gdp"]);
    check("What is the budget for the new ferries?", &["new ferries: budget"]);
}

#[test]
fn without_names() {
    check(
        "What caused the outage in March and how was it fixed?",
        &["What caused the outage in March", "how was the outage in March fixed"],
    );
    check("How do we handle returns and refunds?", &["How do we handle returns and refunds"]);
    check("What are the prices and opening hours?", &["prices", "opening hours"]);
}

#[test]
fn objectives_are_read_back() {
    for text in [
        "Compare Uruguay, Chile and Paraguay on population and real GDP per capita",
        "What are the main exports of Chile and who are its trading partners?",
        "What caused the outage in March and how was it fixed?",
        "How large is Brazil?",
        "what is the population of freedonia?",
        "What is the population of Korea, South?",
        "Population of Congo (Brazzaville)",
        "Who is the president of France?",
        "How long is the Tellin bridge, who designed it and when was it opened?",
        "Compare the Heron tower and the Egret tower on height and cost",
        "Population of the UK, the UAE and the US",
        "What is Chile's GDP growth and what was it in 2022?",
        "What is Iceland's capital, who governs it and how big is its army?",
    ] {
        for part in Question::analyse(text).parts {
            let again = Question::analyse(&part.objective());
            assert_eq!(again.parts.len(), 1, "{text}");
            assert_eq!(again.parts[0].objective(), part.objective(), "{text}");
            assert_eq!(again.parts[0].subject.is_some(), part.subject.is_some(), "{text}");
        }
    }
}

#[test]
fn talk_around_the_question_is_left_out() {
    check(
        "Hello! I am writing a report. Could you tell me the capital of Peru? Please answer in one sentence.",
        &["Peru: capital"],
    );
    check("Task: Compare Chile and Peru on area", &["Chile: area", "Peru: area"]);
}

#[test]
fn other_questions_break_nothing() {
    for text in [
        "",
        " ",
        "?",
        "¿Cuál es la población de Uruguay?",
        "東京の人口は？",
        ":::",
        "a: b: c",
        "Of of of",
        "and and, and",
        "'s",
        "Chile's",
        "\u{301}",
    ] {
        let _ = parts(text);
    }
    let long = "Compare Chile and Peru on area. ".repeat(3000);
    assert!(parts(&long).len() <= MOST_PARTS);
    assert_eq!(parts("¿Cuál es la población de Uruguay?"), ["Uruguay: Cuál es la población"]);
}

#[test]
fn facets_have_a_head() {
    let head = |text: &str| Facet::new(text).and_then(|f| f.head).unwrap_or_default();
    assert_eq!(head("real GDP per capita"), "gdp");
    assert_eq!(head("languages spoken"), "languag");
    assert_eq!(head("population density"), "densiti");
    assert_eq!(head("how large"), "area");
    assert_eq!(head("who is the president"), "presid");
    assert_eq!(head("how work"), "");
}

#[test]
fn searches_use_the_words_of_documents() {
    let terms = |text: &str| Facet::new(text).map(|f| f.terms).unwrap_or_default();
    assert_eq!(terms("how large"), "area size");
    assert_eq!(terms("who is the president"), "president");
    assert_eq!(terms("real GDP per capita"), "real GDP capita");
    assert_eq!(terms("where"), "location");
}
