use super::*;

fn block(text: &str, start: usize) -> Block {
    Block { text: Mapped::verbatim(text, start), ..Block::default() }
}

#[test]
fn paragraphs_that_follow_each_other_make_a_verbatim_passage() {
    let text = "First one.\n\nSecond one.";
    let passages = Origin::file(text, 0).passages(&[block("First one.", 0), block("Second one.", 12)]);
    assert_eq!(passages.len(), 1);
    assert_eq!(passages[0].text, text);
    assert!(passages[0].pieces.is_empty());
    assert_eq!(passages[0].span, Span { start: 0, end: 23, line: 1, page: None });
}

#[test]
fn spans_count_from_the_file_after_a_byte_order_mark() {
    let passages = Origin::file("a\nb", 3).passages(&[block("b", 2)]);
    assert_eq!(passages[0].span, Span { start: 5, end: 6, line: 2, page: None });
}

#[test]
fn a_heading_ends_a_passage() {
    let under =
        |text: &str, start, heading: &str| Block { section: vec![heading.into()], ..block(text, start) };
    let passages = Origin::file("one two", 0).passages(&[under("one", 0, "A"), under("two", 4, "B")]);
    let sections: Vec<&str> = passages.iter().map(|p| p.section.as_str()).collect();
    assert_eq!(sections, ["A", "B"]);
}

#[test]
fn long_text_is_cut_between_sentences() {
    let sentence = "The quick brown fox jumps over the lazy dog near the river. ";
    let text = sentence.repeat(60);
    let passages = Origin::file(&text, 0).passages(&[block(&text, 0)]);
    assert!(passages.len() > 2);
    for passage in &passages {
        assert!(passage.text.len() <= MAX_PASSAGE);
        assert!(passage.text.starts_with("The quick") && passage.text.ends_with("river."));
        assert_eq!(
            text.get(passage.span.start as usize..passage.span.end as usize),
            Some(passage.text.as_str())
        );
    }
    let together: usize = passages.iter().map(|p| p.text.matches("fox").count()).sum();
    assert_eq!(together, 60);
}

#[test]
fn text_without_sentences_or_words_is_cut_all_the_same() {
    for text in ["word ".repeat(2000), "x".repeat(10_000), "é".repeat(5_000), "字".repeat(5_000)] {
        let passages = Origin::file(&text, 0).passages(&[block(&text, 0)]);
        assert!(passages.iter().all(|passage| passage.text.len() <= MAX_PASSAGE));
        let kept: usize = passages.iter().map(|p| p.text.chars().filter(|c| *c != ' ').count()).sum();
        assert_eq!(kept, text.chars().filter(|c| *c != ' ').count());
    }
}

#[test]
fn pieces_know_their_line() {
    let text = "a\nb\nc";
    let mut mapped = Mapped::default();
    mapped.push_added("Key: ");
    mapped.push_even("a b c", 0);
    let passage = Origin::file(text, 0).passage(&[], &mapped).unwrap();
    let lines: Vec<(u64, u64)> = passage.pieces.iter().map(|piece| (piece.at, piece.span.line)).collect();
    assert_eq!(lines, [(5, 1), (7, 2), (9, 3)]);
}

#[test]
fn a_text_full_of_escapes_has_few_pieces() {
    let mut mapped = Mapped::default();
    for number in 0..300 {
        mapped.push_run("я", number * 6, number * 6 + 6);
    }
    let file = r"\u044f".repeat(300);
    let passage = Origin::file(&file, 0).passage(&[], &mapped).unwrap();
    assert!(passage.pieces.len() < 20, "{}", passage.pieces.len());
    assert_eq!(passage.pieces.iter().map(|piece| piece.len).sum::<u64>(), 600);
}

#[test]
fn text_of_our_own_alone_is_no_passage() {
    let mut mapped = Mapped::default();
    mapped.push_added("Key:");
    assert_eq!(Origin::file("x", 0).passage(&[], &mapped), None);
}
