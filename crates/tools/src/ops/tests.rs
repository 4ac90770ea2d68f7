use deepgraph_research::passage::parse;

use super::*;
use crate::testing::Folder;

fn input(fields: &[(&str, Value)]) -> Map {
    fields.iter().map(|(name, value)| ((*name).into(), value.clone())).collect()
}

fn corpus() -> (Folder, Corpus) {
    let sections: Vec<String> = (1..=60)
        .map(|n| format!("## Part {n}\n\nText of part {n}. {}\n\n", "More about the harbour. ".repeat(30)))
        .collect();
    let folder = Folder::with(&[
        ("veldt.md", "# Veldt\n\nAn island.\n\n## Trade\n\nSalt is 4 crowns.\n\n## Ice\n\nUntil May.\n"),
        ("long.md", &format!("# Long\n\n{}", sections.concat())),
    ]);
    let corpus = folder.open().0;
    (folder, corpus)
}

#[test]
fn a_search_gives_text_hits_and_sources() {
    let (_folder, corpus) = corpus();
    let result = search_op(&corpus, &input(&[("query", "Veldt salt".into())])).unwrap();
    let hits = result.get("hits").and_then(Value::as_list).unwrap();
    let id = hits[0].text("source");
    let passages = parse(result.text("text"));
    assert_eq!(passages.len(), hits.len());
    assert_eq!((passages[0].id.as_str(), passages[0].text.as_str()), (id, "Salt is 4 crowns."));
    assert_eq!((passages[0].title.as_str(), passages[0].section.as_str()), ("Veldt", "Trade"));
    let source: Source = result.get("sources").and_then(|sources| sources.get(id)).unwrap().to().unwrap();
    assert_eq!((source.document.as_str(), source.text.as_str()), ("veldt.md", "Salt is 4 crowns."));
    let one = search_op(&corpus, &input(&[("query", "harbour".into()), ("limit", Value::Int(1))])).unwrap();
    assert_eq!(one.get("hits").and_then(Value::as_list).unwrap().len(), 1);
}

#[test]
fn a_search_may_read_along() {
    let (_folder, corpus) = corpus();
    let call =
        input(&[("query", "Veldt salt".into()), ("limit", Value::Int(1)), ("read", Value::Bool(true))]);
    let result = search_op(&corpus, &call).unwrap();
    assert_eq!(result.get("hits").and_then(Value::as_list).unwrap().len(), 1);
    assert_eq!(parse(result.text("text")).len(), 3);
    assert_eq!(result.get("sources").and_then(Value::as_map).unwrap().len(), 3);
}

#[test]
fn a_search_without_hits_says_so() {
    let (_folder, corpus) = corpus();
    let result = search_op(&corpus, &input(&[("query", "zebra".into())])).unwrap();
    assert!(result.text("text").starts_with("No passage matches \"zebra\"."), "{}", result.text("text"));
    assert!(parse(result.text("text")).is_empty());
    assert_eq!(result.get("sources"), Some(&Value::empty_map()));
}

#[test]
fn a_document_is_read_in_parts() {
    let (_folder, corpus) = corpus();
    let (mut seen, mut from) = (0, Value::Null);
    loop {
        let result = read_op(&corpus, &input(&[("source", "long.md".into()), ("from", from)])).unwrap();
        let text = result.text("text");
        assert!(text.len() < 30 * 1024);
        let passages = parse(text);
        assert_eq!(passages[0].section, format!("Part {}", seen + 1));
        seen += passages.len();
        let Some((_, next)) = text.lines().next().unwrap().split_once("Read on with from: ") else {
            assert!(text.starts_with("The last "), "{text}");
            break;
        };
        from = Value::Int(next.trim_end_matches('.').parse().unwrap());
        assert_eq!(from, Value::Int(seen as i64 + 1));
    }
    assert_eq!(seen, 60);
}

#[test]
fn a_document_is_read_for_a_query() {
    let (_folder, corpus) = corpus();
    let call = input(&[("source", "long.md".into()), ("query", "part 37".into())]);
    let result = read_op(&corpus, &call).unwrap();
    assert_eq!((result.text("document"), result.text("title")), ("long.md", "Long"));
    let passages = parse(result.text("text"));
    assert!(passages.iter().any(|passage| passage.section == "Part 37"));
    let numbers: Vec<usize> =
        passages.iter().map(|p| p.section.trim_start_matches("Part ").parse().unwrap()).collect();
    assert!(numbers.is_sorted() && numbers.len() < 60, "{numbers:?}");
}

#[test]
fn wrong_input_is_refused_with_the_reason() {
    let (_folder, corpus) = corpus();
    let search = |fields: &[(&str, Value)]| search_op(&corpus, &input(fields)).unwrap_err();
    assert_eq!(search(&[]).message, "the parameter \"query\" is missing");
    assert_eq!(
        search(&[("query", Value::Int(7))]).message,
        "the parameter \"query\" must be a string, not integer (7)"
    );
    for limit in [Value::Int(0), Value::Int(51), Value::Int(-1), Value::from("six"), Value::Float(1.5)] {
        let error = search(&[("query", "x".into()), ("limit", limit)]);
        assert_eq!(error.kind, ErrorKind::InvalidInput);
        assert!(error.message.contains("an integer from 1 to 50"), "{error}");
    }
    assert!(search(&[("query", "x".into()), ("read", Value::Int(1))]).message.contains("true or false"));
    let read = |fields: &[(&str, Value)]| read_op(&corpus, &input(fields)).unwrap_err();
    assert_eq!(read(&[]).kind, ErrorKind::InvalidInput);
    assert_eq!(read(&[("source", "veldt.md".into()), ("from", Value::Int(0))]).kind, ErrorKind::InvalidInput);
    let missing = read(&[("source", "velt.md".into())]);
    assert_eq!(missing.kind, ErrorKind::NotFound);
    assert!(missing.message.contains("veldt.md"), "{missing}");
    assert_eq!(
        read(&[("source", "veldt.md".into()), ("from", Value::Int(i64::MAX))]).kind,
        ErrorKind::NotFound
    );
    // Null is as good as nothing.
    assert!(search_op(&corpus, &input(&[("query", "salt".into()), ("limit", Value::Null)])).is_ok());
}
