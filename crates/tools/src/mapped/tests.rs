use super::*;

#[test]
fn neighbours_become_one_run() {
    let mut text = Mapped::verbatim("one", 10);
    text.push_even(" ", 13);
    text.push_even("two", 14);
    assert_eq!(text.text(), "one two");
    assert_eq!(text.runs(), [Run { at: 0, len: 7, start: 10, end: 17 }]);
    text.push_even("!", 30);
    assert_eq!(text.runs().len(), 2);
}

#[test]
fn a_slice_keeps_its_origin() {
    let mut text = Mapped::default();
    text.push_added("Key: ");
    text.push_even("plain ", 100);
    text.push_run("é", 106, 114);
    text.push_even("tat", 114);
    let slice = text.slice(7..text.len());
    assert_eq!(slice.text(), "ain état");
    let runs = [
        Run { at: 0, len: 4, start: 102, end: 106 },
        Run { at: 4, len: 2, start: 106, end: 114 },
        Run { at: 6, len: 3, start: 114, end: 117 },
    ];
    assert_eq!(slice.runs(), runs);
}

#[test]
fn slices_out_of_range_or_inside_a_letter_are_empty_not_a_panic() {
    let text = Mapped::verbatim("é", 0);
    assert_eq!(text.slice(1..2).text(), "");
    assert_eq!(text.slice(5..9).text(), "");
    assert_eq!(text.slice(0..99).text(), "é");
}

#[test]
fn a_text_of_a_text_leads_to_the_first_origin() {
    // File: `x\u00e9 <b>y</b>` inside of a string at byte 50; `\u00e9` is one letter in `outer`.
    let mut outer = Mapped::verbatim("x", 50);
    outer.push_run("é", 51, 57);
    outer.push_even(" <b>y</b>", 57);
    // Without tags: "xé y".
    let mut inner = Mapped::verbatim("xé ", 0);
    inner.push_even("y", 7);
    let both = inner.through(&outer);
    assert_eq!(both.text(), "xé y");
    let last = both.runs().last().copied();
    assert_eq!(last, Some(Run { at: 4, len: 1, start: 61, end: 62 }));
    assert_eq!(both.runs().first().copied(), Some(Run { at: 0, len: 1, start: 50, end: 51 }));
}

#[test]
fn white_space_collapses_and_single_spaces_stay_in_the_run() {
    let mut line = Collapser::default();
    line.push(&Mapped::verbatim("  a b\n\t c", 0));
    line.push(&Mapped::verbatim(" d ", 20));
    let text = line.take();
    assert_eq!(text.text(), "a b c d");
    let places: Vec<(usize, usize)> = text.runs().iter().map(|run| (run.start, run.end)).collect();
    assert_eq!(places, [(2, 6), (8, 9), (20, 22)]);
    assert!(line.is_empty());
}
