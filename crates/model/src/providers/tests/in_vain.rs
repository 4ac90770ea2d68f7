//! What failed calls have used.

use deepgraph_protocol::ErrorKind;

use super::*;

#[tokio::test]
async fn a_refusal_is_charged_as_it_was_counted() {
    let usage = json!({"prompt_tokens": 60_000, "completion_tokens": 9});
    let answer = Answer::json(&whole(json!({"refusal": "No."}), "stop", usage.clone()));
    let filtered = Answer::json(&whole(json!({"content": "I"}), "content_filter", usage));
    for answer in [answer, filtered] {
        let error = ask_once(answer, false, &plain()).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refusal);
        let used = error.used.expect("it was counted").usage;
        assert_eq!((used.input_tokens, used.output_tokens, used.estimated), (60_000, 9, false));
    }
}

#[tokio::test]
async fn what_nobody_counted_is_estimated_where_a_reply_had_begun() {
    let said = json!({"choices": [{"index": 0, "delta": {"content": "x".repeat(400)}}]}).to_string();
    let down = json!({"error": {"message": "overloaded", "code": 503}}).to_string();
    let midway = Answer::events(&[said.clone(), down.clone()]);
    let error = ask_once(midway, true, &plain()).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let used = error.used.expect("a reply had begun").usage;
    assert!(used.estimated && used.input_tokens > 0, "{used:?}");
    assert_eq!(used.output_tokens, 100);

    // Of a stream that broke off what was reserved stays charged, and a call that was turned away has used nothing.
    let broken = Answer::events(&[said]);
    let turned_away = Answer::error(503, &json!({"error": {"message": "overloaded"}}));
    for (answer, kind) in [
        (broken, ErrorKind::Network),
        (turned_away, ErrorKind::Unavailable),
        (Answer::events(&[down]), ErrorKind::Unavailable),
    ] {
        let error = ask_once(answer, true, &plain()).await.result.unwrap_err();
        assert_eq!((error.kind, error.used), (kind, None));
    }
}
