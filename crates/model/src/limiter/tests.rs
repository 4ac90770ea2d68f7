//! The limiter under a clock that stands still.

use std::sync::Arc;
use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use tokio::time::Instant;

use super::Account;
use super::headers::{Told, read};

fn account(requests: Option<u64>, tokens: Option<u64>) -> Account {
    Account::new("test", requests, tokens)
}

/// Milliseconds that a call waits.
async fn waits(account: &Account, tokens: u64) -> u64 {
    let from = Instant::now();
    account.pass("m", tokens).await;
    u64::try_from(from.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_nothing_waits() {
    let account = account(None, None);
    for _ in 0..1000 {
        assert!(account.try_pass("m", 1_000_000));
    }
}

#[tokio::test(start_paused = true)]
async fn a_minute_s_worth_goes_out_at_once_and_the_rest_as_it_comes_back() {
    let account = account(Some(60), None);
    for _ in 0..60 {
        assert!(account.try_pass("m", 1));
    }
    assert!(!account.try_pass("m", 1));
    for _ in 0..3 {
        let ms = waits(&account, 1).await;
        assert!((900..1100).contains(&ms), "{ms}");
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_beside_requests_and_corrected() {
    let account = account(None, Some(6000));
    assert!(account.try_pass("m", 6000));
    // 100 a second.
    let ms = waits(&account, 1000).await;
    assert!((9_900..10_200).contains(&ms), "{ms}");
    // Only a tenth was used.
    account.correct(6000, 600);
    assert!(account.try_pass("m", 5000));
    // A call of more than a minute's worth waits for a full minute and goes.
    let ms = waits(&account, 1_000_000).await;
    assert!((50_000..61_000).contains(&ms), "{ms}");
}

#[tokio::test(start_paused = true)]
async fn calls_go_out_in_the_order_in_which_they_came_and_those_given_up_hold_up_nobody() {
    let account = Arc::new(account(Some(60), Some(6000)));
    assert!(account.try_pass("m", 6000));
    let (told, mut order) = tokio::sync::mpsc::unbounded_channel();
    let mut calls = Vec::new();
    for (nth, tokens) in [(1, 3000), (2, 100), (3, 100)] {
        let (account, told) = (account.clone(), told.clone());
        calls.push(tokio::spawn(async move {
            account.pass("m", tokens).await;
            let _ = told.send(nth);
        }));
        tokio::task::yield_now().await;
    }
    // The first is the largest, and nobody overtakes it; the second is given up.
    assert!(!account.try_pass("m", 1));
    calls[1].abort();
    assert_eq!((order.recv().await, order.recv().await), (Some(1), Some(3)));
}

#[tokio::test(start_paused = true)]
async fn after_a_refusal_nobody_asks_the_model_before_its_time() {
    let account = account(None, None);
    account.pause("m", Duration::from_secs(7));
    // A shorter word later does not end it earlier.
    account.learn("m", [("retry-after", "2")]);
    let ms = waits(&account, 1).await;
    assert!((7000..7100).contains(&ms), "{ms}");
    account.pause("m", Duration::from_secs(100_000));
    let ms = waits(&account, 1).await;
    assert!((300_000..300_100).contains(&ms), "{ms}");
}

#[tokio::test(start_paused = true)]
async fn who_turns_to_another_model_does_not_wait_for_the_one_that_rests() {
    let account = Arc::new(account(Some(600), None));
    let slow_down =
        StepError { retry_after_ms: Some(3_600_000), ..StepError::new(ErrorKind::RateLimited, "slow down") };
    account.refused("m", 1, &slow_down);
    assert!(!account.try_pass("m", 1));
    assert_eq!(account.wait("m", 1), Duration::from_secs(300));
    // Not even where others wait for it already.
    let mut calls = Vec::new();
    let (told, mut order) = tokio::sync::mpsc::unbounded_channel();
    for nth in 1..=3 {
        let (account, told) = (account.clone(), told.clone());
        calls.push(tokio::spawn(async move {
            account.pass("m", 1).await;
            let _ = told.send(nth);
        }));
        tokio::task::yield_now().await;
    }
    assert!(account.try_pass("spare", 1));
    assert_eq!(account.wait("spare", 1), Duration::ZERO);
    let from = Instant::now();
    account.pass("spare", 1).await;
    assert!(from.elapsed().is_zero());
    assert_eq!((order.recv().await, order.recv().await, order.recv().await), (Some(1), Some(2), Some(3)));
    assert!(from.elapsed() >= Duration::from_secs(300));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_sent_gives_its_place_back() {
    let account = account(Some(1), Some(10));
    assert!(account.try_pass("m", 10));
    assert!(!account.try_pass("m", 1));
    account.give_back(10);
    assert!(account.try_pass("m", 10));
}

#[tokio::test(start_paused = true)]
async fn what_a_reply_says_holds_beside_what_is_set() {
    let account = account(Some(600), None);
    account.learn(
        "m",
        [
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "1"),
            ("x-ratelimit-reset-requests", "59s"),
            ("x-ratelimit-limit-tokens", "nonsense"),
        ],
    );
    assert!(account.try_pass("m", 1_000_000));
    assert!(!account.try_pass("m", 1));
    let ms = waits(&account, 1).await;
    assert!((900..1100).contains(&ms), "{ms}");
}

#[tokio::test(start_paused = true)]
async fn where_nothing_is_left_nothing_goes_out_before_all_of_it_is_back() {
    let account = account(None, None);
    let told = |left: &'static str, reset: &'static str| {
        account.learn(
            "m",
            [
                ("x-ratelimit-limit-requests", "2"),
                ("x-ratelimit-remaining-requests", left),
                ("x-ratelimit-reset-requests", reset),
            ],
        );
    };
    told("1", "6m0s");
    assert!(account.try_pass("m", 1));
    told("0", "12s");
    // Neither an older reply nor one that tells nothing changes that.
    told("1", "12s");
    account.learn("m", [("content-type", "application/json")]);
    let ms = waits(&account, 1).await;
    assert!((12_000..12_100).contains(&ms), "{ms}");
    assert!(account.try_pass("m", 1), "all of it is back");
    assert!(!account.try_pass("m", 1));
    // A window that is about to end says nothing of how fast it fills.
    told("0", "10ms");
    let ms = waits(&account, 1).await;
    assert!((10..20).contains(&ms), "{ms}");
    assert!(account.try_pass("m", 1));
    let ms = waits(&account, 1).await;
    assert!(ms > 100_000, "{ms}");
    // Nobody waits for a day; a refusal would tell more.
    told("0", "24h0m0s");
    let ms = waits(&account, 1).await;
    assert!((300_000..300_100).contains(&ms), "{ms}");
}

#[tokio::test(start_paused = true)]
async fn an_owner_who_allows_less_is_kept_to() {
    let account = account(Some(60), None);
    for _ in 0..60 {
        assert!(account.try_pass("m", 1));
    }
    account.learn(
        "m",
        [
            ("x-ratelimit-limit-requests", "100"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "5s"),
        ],
    );
    let ms = waits(&account, 1).await;
    assert!((5000..5100).contains(&ms), "{ms}");
    let passed = (0..60).filter(|_| account.try_pass("m", 1)).count();
    assert_eq!(passed, 4, "one a second came back");
}

#[tokio::test(start_paused = true)]
async fn what_is_learnt_while_a_call_waits_is_looked_at() {
    let account = Arc::new(account(None, Some(60)));
    assert!(account.try_pass("m", 60));
    let waiting = account.clone();
    let call = tokio::spawn(async move { waits(&waiting, 60).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    account.correct(60, 0);
    let ms = call.await.unwrap_or(0);
    assert!((1000..1100).contains(&ms), "{ms}");
}

#[test]
fn headers_of_both_forms_are_read() {
    let now: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap_or_default();
    let told = |limit, remaining, ms| Told {
        limit: Some(limit),
        remaining: Some(remaining),
        reset: Some(Duration::from_millis(ms)),
    };
    let openai = read(
        [
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-limit-tokens", "150000"),
            ("x-ratelimit-remaining-tokens", "149984"),
            ("x-ratelimit-reset-tokens", "6m0.5s"),
            ("content-type", "application/json"),
        ],
        now,
    );
    assert_eq!(openai.requests, told(60, 59, 1000));
    assert_eq!(openai.tokens, told(150_000, 149_984, 360_500));
    let anthropic = read(
        [
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-requests-reset", "2026-01-01T00:00:02Z"),
            ("anthropic-ratelimit-input-tokens-limit", "1000"),
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2025-01-01T00:00:00Z"),
            ("retry-after", "3"),
            ("retry-after-ms", "2500"),
        ],
        now,
    );
    assert_eq!(anthropic.requests, told(50, 49, 2000));
    assert_eq!(anthropic.tokens, told(1000, 0, 0));
    assert_eq!(anthropic.wait, Some(Duration::from_millis(2500)));
    for (moment, ms) in [("1767225603", 3000), ("1767225603500", 3500), ("1767225500", 0)] {
        let said = read([("x-ratelimit-reset-requests", moment)], now);
        assert_eq!(said.requests.reset, Some(Duration::from_millis(ms)), "{moment}");
    }
    for bad in ["", "soon", "-1", "1x", "ms", "1e400"] {
        let said = read([("x-ratelimit-reset-requests", bad), ("retry-after", bad)], now);
        assert_eq!((said.requests.reset, said.wait), (None, None), "{bad}");
    }
}
