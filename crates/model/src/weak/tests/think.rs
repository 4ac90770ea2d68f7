use proptest::prelude::*;

use super::pieces;
use crate::weak::think::{Thoughts, without_thoughts};

fn left(text: &str) -> String {
    without_thoughts(text).unwrap_or_else(|| text.to_owned())
}

#[test]
fn thoughts_are_taken_out() {
    for (text, expected) in [
        ("<think>hm</think>\n\nSixty.", "Sixty."),
        ("<THINK>hm</Think>Sixty.", "Sixty."),
        ("<thinking>a\n```\nb</thinking> Sixty.", "Sixty."),
        ("<reasoning>a</reasoning>Sixty.", "Sixty."),
        ("<thought>a</thought>Sixty.", "Sixty."),
        ("◁think▷a◁/think▷Sixty.", "Sixty."),
        ("[THINK]a[/THINK]Sixty.", "Sixty."),
        ("<think>a</think><think>b</think>Sixty.", "Sixty."),
        ("One. <think>hm</think> Two.", "One.  Two."),
        // Never opened: the template had opened it.
        ("hm, sixty?\n</think>\n\nSixty.", "Sixty."),
        ("```\nlet me code\n</think>\nSixty.", "Sixty."),
        ("<think>a</think> b </think> Sixty.", "Sixty."),
        ("he said \"x\"</think>Sixty.", "Sixty."),
        // Never closed.
        ("<think>hm, sixty?", ""),
        ("Sixty.\n<think>or", "Sixty."),
        ("Sixty.<think>or</thinking> not", "Sixty. not"),
        ("<think>`code</think>Sixty.", "Sixty."),
    ] {
        assert_eq!(left(text), expected, "{text}");
    }
}

#[test]
fn an_answer_about_thoughts_keeps_its_tags() {
    for text in [
        "Models write `<think>` and `</think>` around thoughts.",
        "Models write \"<think>\" first and '</think>' last.",
        "So it looks:\n```xml\n<think>\nhm\n</think>\n```\nSixty.",
        "So it looks:\n~~~\n<think>hm</think>\n~~~",
        "The tag <think> begins a thought.",
        "A [Think](https://example.org) link, <thin and [TH",
        "a < b, <thinker> and </thinker>",
    ] {
        assert_eq!(left(text), text);
    }
}

#[test]
fn a_preview_shows_no_thought_and_holds_nothing_else_back() {
    let mut thoughts = Thoughts::default();
    let shown: Vec<String> = ["<th", "ink>hm", "</thi", "nk>", "\n", "Six", "ty <", "b> <t"]
        .iter()
        .map(|p| thoughts.push(p).to_owned())
        .collect();
    assert_eq!(shown, ["", "", "", "", "", "Six", "ty ", "<b> "]);
    assert_eq!(thoughts.end(), ("Sixty <b> <t".to_owned(), true));
}

#[test]
fn much_of_anything_is_read_in_no_time() {
    for text in ["<", "<think>", "</think>", "`", "```\n", "a <think>", "\"<think>\"", "\n"] {
        left(&text.repeat(200_000 / text.len()));
    }
}

proptest! {
    #[test]
    fn it_is_the_same_in_whatever_pieces(
        parts in prop::collection::vec(prop::sample::select(vec![
            "<think>", "</think>", "<thinking>", "◁think▷", "◁/think▷", "[THINK]", "<thi", "nk>", "a", " ", "\n", "`",
            "```\n", "\"", "ü", "<", "Sixty. ",
        ]), 0..30),
        cuts in prop::collection::vec(0_usize..1000, 0..20),
    ) {
        let text = parts.concat();
        let mut whole = Thoughts::default();
        whole.push(&text);
        let mut cut = Thoughts::default();
        for piece in pieces(&text, &cuts) {
            cut.push(piece);
        }
        prop_assert_eq!(whole.end(), cut.end());
    }

    #[test]
    fn no_tag_that_begins_a_reply_is_left(thought in "[a-z `\"\n]{0,40}", answer in "[a-z .]{0,20}") {
        prop_assert_eq!(left(&format!("<think>{thought}</think>{answer}")), answer.trim());
        prop_assert_eq!(left(&format!("<think>{thought}")), "");
    }
}
