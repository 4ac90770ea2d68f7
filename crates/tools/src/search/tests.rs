use super::words::{for_each_word, is_stop_word, stem};
use crate::Corpus;
use crate::testing::{Folder, best, ids};

fn country(name: &str, population: &str, neighbour: &str) -> String {
    format!(
        r#"{{"Intro": {{"Background": {{"text": "{name} has a population that {neighbour} envies; the population of {neighbour} is smaller. Population matters. {filler}"}}}},
        "Government": {{"Country name": {{"conventional short form": {{"text": "{name}"}}, "former": {{"text": "Old {name}land"}}}}}},
        "People": {{"Population": {{"total": {{"text": "{population}"}}}}, "Urban areas": {{"text": "{filler}"}}}},
        "Trends": {{"Population growth rate": {{"text": "0.5%"}}, "Population distribution": {{"text": "{filler}"}}}},
        "Economy": {{"Real GDP": {{"Real GDP 2024": {{"text": "$9 billion"}}}}, "Real GDP per capita": {{"Real GDP per capita 2024": {{"text": "$33,000"}}}}, "GDP by sector": {{"text": "{filler}"}}}}
        }}"#,
        filler = "It lies by the sea and has many towns with a large population and real schools. ".repeat(8)
    )
}

fn atlas() -> (Folder, Corpus) {
    let folder = Folder::new();
    for (file, name, population, neighbour) in [
        ("a.json", "Uruguay", "3,449,444", "Chile"),
        ("b.json", "Chile", "19,091,343", "Uruguay"),
        ("c.json", "Guinea", "14,374,590", "Equatorial Guinea"),
        ("d.json", "Equatorial Guinea", "1,795,834", "Guinea"),
    ] {
        folder.write(file, country(name, population, neighbour));
    }
    let corpus = folder.open().0;
    (folder, corpus)
}

#[test]
fn the_passage_about_the_subject_and_the_property_comes_first() {
    let (_folder, corpus) = atlas();
    for (query, words) in [
        ("Uruguay population", "3,449,444"),
        ("What is the population of Chile?", "19,091,343"),
        ("population Guinea", "14,374,590"),
        ("Equatorial Guinea population", "1,795,834"),
        ("Chile real GDP per capita", "Real GDP per capita › Real GDP per capita 2024: $33,000"),
        ("Old Chileland populations", "19,091,343"),
    ] {
        assert!(best(&corpus, query).contains(words), "{query}: {}", best(&corpus, query));
    }
    let (hit, _) = corpus.search("URUGUAY Population", 1).unwrap().remove(0);
    assert_eq!(hit.title, "Uruguay");
}

#[test]
fn headings_count_as_keys_do() {
    let page = |name: &str, people: &str| {
        format!(
            "# {name}\n\n## Population distribution\n\nThe population of {name} lives near the sea.\n\n## Population\n\ntotal: {people}\n\n## Population growth\n\nThe population grows.\n"
        )
    };
    let folder =
        Folder::with(&[("u.md", &page("Uruguay", "3,449,444")), ("c.md", &page("Chile", "19,091,343"))]);
    let corpus = folder.open().0;
    assert_eq!(best(&corpus, "Uruguay population"), "total: 3,449,444");
    assert_eq!(best(&corpus, "how large is the population of Chile"), "total: 19,091,343");
}

#[test]
fn words_that_match_nothing_leave_the_rest() {
    let (_folder, corpus) = atlas();
    let hits = corpus.search("Atlantis population", 8).unwrap();
    assert_eq!(hits.len(), 8);
    assert!(hits[0].0.text.contains("Population › total"));
    assert!(corpus.search("Atlantis", 8).unwrap().is_empty());
}

#[test]
fn nothing_in_a_query_is_syntax() {
    let folder = Folder::with(&[
        ("a.txt", "Salt AND pepper OR near the title: it's \"quoted\" NOT bad * fine"),
        ("b.txt", "Café in Tōkyō, 東京 naïve"),
    ]);
    let corpus = folder.open().0;
    for query in [
        "\"",
        "\"salt",
        "salt\" OR \"",
        "salt AND",
        "AND OR NOT",
        "NEAR(salt pepper, 2)",
        "sal*",
        "*",
        "-salt",
        "^salt",
        "title:salt",
        "title : salt",
        "{title text}: salt",
        "salt + pepper",
        "(salt",
        ")",
        "salt;--",
        "'",
        "\0",
        "salt\0pepper",
        "\u{202e}salt",
        "🙂 salt",
        "%_",
        "\\",
        "a\u{301}",
    ] {
        corpus.search(query, 5).unwrap_or_else(|error| panic!("{query:?}: {error}"));
    }
    assert_eq!(ids(&corpus, "title:salt").len(), 1);
    assert_eq!(ids(&corpus, "it's").len(), 1);
    for query in ["cafe", "CAFÉ", "Tokyo", "東京", "naive"] {
        assert!(best(&corpus, query).starts_with("Café"), "{query}");
    }
}

#[test]
fn empty_and_endless_queries() {
    let folder = Folder::with(&[("a.txt", "Salt and the sea.")]);
    let corpus = folder.open().0;
    for query in ["", "   ", "?!", "\n"] {
        assert!(corpus.search(query, 5).unwrap().is_empty(), "{query:?}");
    }
    assert!(corpus.search("salt", 0).unwrap().is_empty());
    let long: String = (0..2500).map(|n| format!("w{n} ")).collect();
    assert!(corpus.search(&long, 5).unwrap().is_empty());
    assert_eq!(corpus.search(&format!("salt {long}"), usize::MAX).unwrap().len(), 1);
    assert!(corpus.search(&"x".repeat(10_000), 5).unwrap().is_empty());
    // With nothing but words that say nothing, those are looked for.
    assert_eq!(ids(&corpus, "and the").len(), 1);
}

#[test]
fn equals_come_in_order_and_are_all_kept() {
    let folder =
        Folder::with(&[("c.txt", "Salt is dear."), ("a.txt", "Salt is dear."), ("b.txt", "Salt is dear.")]);
    let (corpus, _) = folder.open();
    let names: Vec<String> =
        corpus.search("salt", 9).unwrap().into_iter().map(|(hit, _)| hit.document).collect();
    assert_eq!(names, ["a.txt", "b.txt", "c.txt"]);
    let scores: Vec<f64> = corpus.search("salt", 9).unwrap().into_iter().map(|(hit, _)| hit.score).collect();
    assert!(scores.windows(2).all(|pair| pair[0] == pair[1]) && scores[0] > 0.0, "{scores:?}");
}

#[test]
fn more_of_the_words_is_better_than_one_of_them_often() {
    let folder = Folder::with(&[
        ("a.txt", "Salt salt salt salt salt salt. Salt of salt, salt with salt."),
        ("b.txt", "In that year the price was high, for little salt came to the harbour of the town at all."),
    ]);
    assert!(best(&folder.open().0, "salt price harbour").starts_with("In that year"));
}

#[test]
fn words_are_folded_and_stemmed() {
    let mut words = Vec::new();
    for_each_word("Crème BRÛLÉE, it's 3,449 naïvely", |word| words.push(stem(word)));
    assert_eq!(words, ["creme", "brule", "it", "s", "3", "449", "naiv"]);
    assert!(is_stop_word("the") && is_stop_word("a") && is_stop_word("you") && !is_stop_word("us"));
    assert!(super::words::STOP_WORDS.is_sorted());
}
