use deepgraph_protocol::{Message, Value};

use super::*;

/// A request of 1,000 tokens and a little.
fn request(max_output: Option<u64>, option: Option<i64>) -> ModelRequest {
    let options = option.map(|bound| ("max_tokens".into(), Value::Int(bound)));
    ModelRequest {
        model: "m".into(),
        messages: vec![Message::user("x".repeat(4000))],
        tools: Vec::new(),
        output: None,
        max_output,
        options: options.into_iter().collect(),
        context: Default::default(),
    }
}

fn around(known: Option<u64>, window: Option<u64>, tokens: Option<u64>) -> Around<'static> {
    Around { known, window, room: CallRoom { tokens, micro_usd: None, calls: 1 }, prices: None }
}

#[test]
fn what_is_asked_for_is_told_and_reserved_as_far_as_the_model_goes() {
    let both = |n| Longest { told: Some(n), reserved: n };
    let of = |node, option, known| Longest::of(&request(node, option), &around(known, None, Some(99)));
    assert_eq!(of(Some(16_000), None, None), both(16_000));
    assert_eq!(of(None, Some(30_000), None), both(30_000), "an option counts as the bound");
    assert_eq!(of(Some(16_000), Some(500), None), both(500));
    assert_eq!(of(Some(100_000), None, Some(8192)), both(8192));
    let narrow = Longest::of(&request(Some(16_000), None), &around(None, Some(8192), None));
    assert!((6000..7200).contains(&narrow.reserved), "{narrow:?}");
}

#[test]
fn without_limits_a_reply_is_not_cut_short() {
    let of = |known, window| Longest::of(&request(None, None), &around(known, window, None));
    assert_eq!(of(None, None), Longest { told: None, reserved: UNBOUNDED_OUTPUT });
    assert_eq!(of(Some(64_000), Some(200_000)), Longest { told: None, reserved: 64_000 });
    // A provider that is told nothing would take its own longest, and refuse the request.
    let tight = of(Some(64_000), Some(20_000));
    assert_eq!(tight.told, Some(tight.reserved));
    assert!(tight.reserved < 19_000, "{tight:?}");
}

#[test]
fn under_limits_a_call_is_told_what_is_reserved_for_it() {
    for known in [None, Some(1000), Some(64_000)] {
        for window in [None, Some(8192), Some(200_000)] {
            for left in [0, 5000, 20_000, 1_000_000] {
                let longest = Longest::of(&request(None, None), &around(known, window, Some(left)));
                assert_eq!(longest.told, Some(longest.reserved), "{known:?} {window:?} {left}");
                assert!(longest.reserved <= known.unwrap_or(u64::MAX));
                // Half is kept for what comes after it, unless hardly anything is left.
                let half = left.saturating_sub(1000) / 2;
                assert!(longest.reserved <= half.max(UNBOUNDED_OUTPUT), "{longest:?} of {left}");
            }
        }
    }
    let plenty = Longest::of(&request(None, None), &around(Some(64_000), None, Some(1_000_000)));
    assert_eq!(plenty.reserved, 64_000, "the model's own longest, where there is room");
}

#[test]
fn calls_that_are_sent_together_share_what_is_left_and_money_counts_too() {
    let prices =
        [Price::dollars(1.0, 10.0, None, None).unwrap(), Price::dollars(2.0, 25.0, None, None).unwrap()];
    let room = CallRoom { tokens: None, micro_usd: Some(1_000_000), calls: 4 };
    let around = Around { known: Some(64_000), window: None, room, prices: Some(&prices) };
    let longest = Longest::of(&request(None, None), &around);
    // Of a dollar less four requests, an eighth, at the price of the dearer one.
    assert!((4900..5000).contains(&longest.reserved), "{longest:?}");
    let most = Usage { input_tokens: 1001, output_tokens: longest.reserved, ..Usage::default() };
    assert!(4 * prices[1].most(&most) <= 1_000_000);
}
