use proptest::prelude::*;

use super::pieces;
use crate::weak::repeat::{Watch, cut};

#[test]
fn what_is_repeated_endlessly_stays_once() {
    let report = "# Minutes\n\nAll was said.\n\n";
    for (piece, times) in [
        ("End of document\n", 200),
        ("End of document ", 2000),
        ("The sources agree on the height of the tower, which is sixty metres in all of them. ", 40),
        ("日本の塔は高い。", 100),
        ("ha ", 5000),
        ("\\n", 5000),
        ("0", 10_000),
        ("-----\n", 5000),
        ("{\"a\": null},", 300),
    ] {
        let text = format!("{report}{}", piece.repeat(times));
        let found = cut(&text).unwrap_or_else(|| panic!("{piece}"));
        assert!(found.before.len() <= report.len(), "{}", found.before);
        assert!(found.keep.len() <= report.len() + piece.len() + 3, "{}", found.keep);
        assert!(found.keep.starts_with(report) && found.keep.len() > report.len());
    }
}

#[test]
fn what_goes_on_with_something_else_is_no_repetition() {
    let text = format!("{}and then on.", "End of document\n".repeat(2000));
    assert!(cut(&text).is_none());
    let mut watch = Watch::default();
    assert!(watch.push(&text[..text.len() - 12]) && !watch.push("and then on."));
    // In one piece as well.
    assert!(!Watch::default().push(&text));
}

#[test]
fn a_reply_that_is_still_written_may_repeat_much_more() {
    for (piece, most) in [("End of document\n", 12 << 10), ("0, ", 24 << 10)] {
        let mut watch = Watch::default();
        let found = (1..).find(|_| watch.push(piece)).unwrap() * piece.len();
        assert!((most..most + 1024).contains(&found), "{piece}: {found}");
        assert!(watch.repeats_where_cut_off());
    }
    let mut watch = Watch::default();
    assert!(!watch.push(&"End of document\n".repeat(700)) && watch.repeats_where_cut_off());
}

#[test]
fn tables_lists_and_programs_are_no_repetition() {
    let row = |n: usize| format!("| {n} | n/a | n/a | yes |\n");
    let table: String = (0..500).map(row).collect();
    let list: String = (0..500).map(|n| format!("- item {n} is fine\n")).collect();
    let bytes: String = (0..300).map(|n| format!("0x{:02x}, ", n % 251)).collect();
    for text in [
        format!("| a | b |\n{}\n{table}", "| --- ".repeat(30)),
        list,
        bytes,
        format!("{}\n", "-".repeat(4000)),
        format!("{}\n", "═".repeat(1000)),
        "| n/a | n/a | n/a |\n".repeat(60),
        "    </div>\n".repeat(80),
        "0, ".repeat(1500),
        "All rows are alike, and so is this one.\n".repeat(7),
        " ".repeat(5000),
    ] {
        assert!(cut(&text).is_none(), "{}", text.chars().take(60).collect::<String>());
    }
}

#[test]
fn much_of_anything_is_read_in_no_time() {
    let mut near: String = "ab".repeat(400);
    near.push('c');
    assert!(cut(&near.repeat(1000)).is_none());
    assert!(cut(&"a b c d e f g ".repeat(20_000)).is_some());
}

proptest! {
    #[test]
    fn it_is_found_at_the_same_place_in_whatever_pieces(
        before in "[a-zä .\n]{0,600}",
        piece in "[a-zä .]{4,60}",
        times in 1_usize..2000,
        cuts in prop::collection::vec(0_usize..20_000, 0..20),
    ) {
        let text = format!("{before}{}", piece.repeat(times));
        let mut watch = Watch::default();
        for piece in pieces(&text, &cuts) {
            watch.push(piece);
        }
        let mut at_once = Watch::default();
        prop_assert_eq!(watch.push(""), at_once.push(&text));
        prop_assert_eq!(watch.repeats_where_cut_off(), cut(&text).is_some());
    }

    #[test]
    fn any_text_is_taken(text in any::<String>()) {
        cut(&text);
    }
}
