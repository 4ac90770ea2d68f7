//! Where new facts lie unevenly: a flat stretch before a rich vein, and one page under many addresses.

use deepgraph_protocol::{ExitReason, Value};

use super::world::{document, exit, gains, reading, run};

/// Three pages that bring nothing, then three that bring much, then copies.
fn flat_then_rich() -> Vec<(String, String)> {
    let mut documents = vec![
        (
            "00-wall.md".to_owned(),
            "# Journal\n\nPlease log in to read the 12 articles of this issue.\n".to_owned(),
        ),
        (
            "01-menu.md".to_owned(),
            "Home\n\nAbout us\n\nNews\n\nContact\n\nLogin\n\nPrivacy\n\nSitemap\n".to_owned(),
        ),
        (
            "02-other-wall.md".to_owned(),
            "# Archive\n\nPlease enable JavaScript to see the 40 results.\n".to_owned(),
        ),
    ];
    documents.extend((1..=3).map(|number| document(number, 20)));
    for copy in 1..=5 {
        documents.push((format!("copy-{copy}.md"), document(1, 20).1));
    }
    documents
}

#[tokio::test]
async fn a_flat_stretch_at_the_start_does_not_stop_the_search() {
    let documents = flat_then_rich();
    let stopped = run(&documents, &[&[reading(&documents)]], &[]).await;
    let researcher = stopped.researcher();
    let gains = gains(researcher);
    assert_eq!(gains[..3], [0.0; 3]);
    assert!(gains[3..6].iter().all(|gain| *gain > 0.3), "{gains:?}");
    assert_eq!(exit(researcher).reason, ExitReason::GainSaturated);
    assert_eq!(gains[6..], [0.0; 3], "it stops when the vein is worked out, three steps later");
}

#[tokio::test]
async fn settings_that_are_too_eager_stop_in_the_flat_stretch() {
    let documents = flat_then_rich();
    let stopped = run(&documents, &[&[reading(&documents)]], &[("min_steps", Value::Int(3))]).await;
    assert_eq!(gains(stopped.researcher()), [0.0; 3]);
    assert_eq!(exit(stopped.researcher()).reason, ExitReason::GainSaturated);
}

#[tokio::test]
async fn under_the_sum_of_the_window_a_late_trickle_goes_on() {
    // Each of the steps brings 1.7 % or less, together they bring more than 2 %.
    let mut documents = vec![document(1, 60)];
    documents.extend((2..=7).map(|number| document(number, 1)));
    let each = run(&documents, &[&[reading(&documents)]], &[]).await;
    assert_eq!(
        (gains(each.researcher()).len(), exit(each.researcher()).reason.clone()),
        (5, ExitReason::GainSaturated)
    );
    let sum = run(&documents, &[&[reading(&documents)]], &[("gain_mode", Value::from("sum"))]).await;
    assert_eq!(
        (gains(sum.researcher()).len(), exit(sum.researcher()).reason.clone()),
        (7, ExitReason::NoToolCalls)
    );
}

#[tokio::test]
async fn the_same_page_under_other_addresses_brings_nothing() {
    let (_, text) = document(1, 20);
    let mut documents = vec![("page.md".to_owned(), text.clone())];
    for copy in 1..=6 {
        let changed = format!(
            "Home\n\nAbout us\n\nContact\n\nWe thank our sponsors for a wonderful regatta.\n\n{}\n\nRetrieved on {copy} May 2025\n\nShare | Print\n",
            text.replace("# Landings 1", "# Landings (mirror)")
        );
        documents.push((format!("page-{copy}.md"), changed));
    }
    let stopped = run(&documents, &[&[reading(&documents)]], &[]).await;
    let researcher = stopped.researcher();
    assert_eq!(gains(researcher), [20.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(exit(researcher).reason, ExitReason::GainSaturated);
}
