//! Cancelling runs of a store: from another process, without one, and what is undone.

use std::time::Duration;

use deepgraph_graph::build::{Graph, Node, Type};
use deepgraph_protocol::{RunStatus, StepId};
use deepgraph_runtime::{Cancelled, Ended, RunError};
use deepgraph_store::{RunId, StoreError};

use super::shop::{Shop, graph, killed_in, not_undone, over, process};

/// Longer than any of these takes.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn another_process_asks_and_what_was_done_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("look");
    process().block_on(async {
        let host = shop.host(folder.path());
        let running = host.run(&graph(&host)).start().await.unwrap();
        let run = running.id().clone();
        shop.until("look", 1).await;
        let other = shop.host(folder.path());
        let asked = tokio::spawn({
            let (other, run) = (other.clone(), run.clone());
            async move { other.cancel(&run, false, PATIENCE).await }
        });
        // Nothing comes back: the driver looks by itself. The step in flight is let come to its end.
        while other.store().run(&run).unwrap().unwrap().status != RunStatus::Cancelling {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(shop.made("unbook").is_empty());
        shop.answer("look");
        let outcome = over(running.ended().await.unwrap());
        assert_eq!(asked.await.unwrap().unwrap(), Cancelled::Over(RunStatus::Cancelled));
        assert_eq!(outcome.status, RunStatus::Cancelled);
        assert_eq!(shop.ops(), ["book", "pay", "look", "unbook"]);
        let undone = &shop.made("unbook")[0];
        assert_eq!((&*undone.step, &*undone.input), ("book.1/compensation", r#"{"what":"book 7"}"#));
        let left = ["pay.1 pay: the graph declares no compensation for it"];
        assert_eq!(not_undone(&outcome.end.exit), left);
        let record = other.store().run(&run).unwrap().unwrap();
        assert!(record.cancel_requested);
        assert_eq!(not_undone(&record.exits[0]), left);
        // Once more: it stays as it is.
        let again = other.cancel(&run, false, PATIENCE).await.unwrap();
        assert_eq!(again, Cancelled::WasOver(RunStatus::Cancelled));
        assert_eq!(shop.made("unbook").len(), 1);
    });
}

#[test]
fn a_run_that_nobody_drives_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("pay");
    let run = killed_in(&shop, folder.path(), "pay");
    process().block_on(async {
        let host = shop.host(folder.path());
        let came = host.cancel(&run, false, PATIENCE).await.unwrap();
        assert_eq!(came, Cancelled::Over(RunStatus::Cancelled));
        assert_eq!(shop.ops(), ["book", "pay", "unbook"]);
        let exit = host.store().run(&run).unwrap().unwrap().exits[0].clone();
        assert_eq!(*exit.unknown_writes, [StepId::new("pay.1")]);
        assert_eq!(not_undone(&exit), ["pay.1 pay: it is not known whether it was done"]);
    });
}

#[test]
fn a_request_that_nobody_took_is_done_first_when_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("look");
    let run = killed_in(&shop, folder.path(), "look");
    process().block_on(async {
        let host = shop.host(folder.path());
        host.runtime().request_cancel(&run).unwrap();
        let running = host.resume(&run).await.unwrap().start().await.unwrap();
        let outcome = over(running.ended().await.unwrap());
        assert_eq!(outcome.status, RunStatus::Cancelled);
        assert_eq!(shop.ops(), ["book", "pay", "look", "unbook"], "nothing but the compensation is sent");
    });
}

#[test]
fn a_second_cancel_begins_no_compensation() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("look");
    process().block_on(async {
        let host = shop.host(folder.path());
        let running = host.run(&graph(&host)).start().await.unwrap();
        let run = running.id().clone();
        shop.until("look", 1).await;
        let other = shop.host(folder.path());
        let first = tokio::spawn({
            let (other, run) = (other.clone(), run.clone());
            async move { other.cancel(&run, false, PATIENCE).await }
        });
        while other.store().run(&run).unwrap().unwrap().status != RunStatus::Cancelling {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let second = other.cancel(&run, false, PATIENCE).await.unwrap();
        assert_eq!(second, Cancelled::Over(RunStatus::Cancelled));
        assert_eq!(first.await.unwrap().unwrap(), Cancelled::Over(RunStatus::Cancelled));
        let outcome = over(running.ended().await.unwrap());
        assert!(shop.made("unbook").is_empty());
        let left = not_undone(&outcome.end.exit);
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(
            left[1].ends_with("its compensation was not begun: the run was cancelled at once"),
            "{left:?}"
        );
    });
}

#[test]
fn at_once_needs_one_cancel_only() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("look");
    let run = killed_in(&shop, folder.path(), "look");
    process().block_on(async {
        let host = shop.host(folder.path());
        let came = host.cancel(&run, true, PATIENCE).await.unwrap();
        assert_eq!(came, Cancelled::Over(RunStatus::Cancelled));
        assert!(shop.made("unbook").is_empty());
    });
}

#[test]
fn a_crash_while_it_is_undone_undoes_nothing_twice() {
    for takes_key in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let shop = Shop::keyed(takes_key).hang("look").hang("unbook");
        let run = killed_in(&shop, folder.path(), "look");
        let first = process();
        first.block_on(async {
            let host = shop.host(folder.path());
            tokio::spawn({
                let run = run.clone();
                async move { host.cancel(&run, false, PATIENCE).await }
            });
            shop.until("unbook", 1).await;
        });
        first.shutdown_timeout(Duration::from_secs(20));
        shop.answer("unbook");
        process().block_on(async {
            let host = shop.host(folder.path());
            let ended = host.resume(&run).await.unwrap().start().await.unwrap().ended().await.unwrap();
            let exit = over(ended).end.exit;
            let made = shop.made("unbook");
            let left = not_undone(&exit);
            if takes_key {
                assert_eq!(made.len(), 2);
                assert_eq!(made[0], made[1], "the same key");
                assert_eq!(left.len(), 1, "{left:?}");
            } else {
                assert_eq!(made.len(), 1);
                assert!(left[1].contains("it is not known whether its compensation was done"), "{left:?}");
            }
        });
    }
}

#[test]
fn a_compensation_that_fails_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("look").fail("unbook");
    let run = killed_in(&shop, folder.path(), "look");
    process().block_on(async {
        let host = shop.host(folder.path());
        host.cancel(&run, false, PATIENCE).await.unwrap();
        let exit = host.store().run(&run).unwrap().unwrap().exits[0].clone();
        assert!(not_undone(&exit)[1].ends_with("its compensation failed: tool: it is closed"), "{exit:?}");
    });
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_is_cancelled_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default();
    let host = shop.host(folder.path());
    let call = Node::call("book").input("what", "'a'").next("ask");
    let asks = Graph::new("asks")
        .channel("answer", Type::string())
        .start("book")
        .node("book", call)
        .node("ask", Node::ask("Well?").update("answer", "result.text"));
    let running = host.run(&host.load(&asks).unwrap()).start().await.unwrap();
    let run = running.id().clone();
    assert!(matches!(running.ended().await.unwrap(), Ended::Waiting(_)));
    let came = host.cancel(&run, false, PATIENCE).await.unwrap();
    assert_eq!(came, Cancelled::Over(RunStatus::Cancelled));
    let exit = host.store().run(&run).unwrap().unwrap().exits[0].clone();
    assert_eq!(not_undone(&exit), ["book.1 book: the graph declares no compensation for it"]);
}

#[tokio::test]
async fn a_run_that_is_over_or_unknown_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default();
    let host = shop.host(folder.path());
    let running = host.run(&graph(&host)).start().await.unwrap();
    let run = running.id().clone();
    assert_eq!(over(running.ended().await.unwrap()).status, RunStatus::Succeeded);
    let came = host.cancel(&run, false, PATIENCE).await.unwrap();
    assert_eq!(came, Cancelled::WasOver(RunStatus::Succeeded));
    let record = host.store().run(&run).unwrap().unwrap();
    assert!(record.status == RunStatus::Succeeded && !record.cancel_requested);
    let unknown = host.cancel(&RunId::new(), false, PATIENCE).await.unwrap_err();
    assert!(matches!(unknown, RunError::Store(StoreError::UnknownRun { .. })), "{unknown}");
}

#[tokio::test]
async fn a_cancel_that_races_the_end_leaves_one_of_both() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default();
    let host = shop.host(folder.path());
    let bundle = graph(&host);
    for wait in 0..12 {
        let running = host.run(&bundle).start().await.unwrap();
        let run = running.id().clone();
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let came = host.cancel(&run, false, PATIENCE).await.unwrap();
        let status = over(running.ended().await.unwrap()).status;
        let (Cancelled::WasOver(told) | Cancelled::Over(told)) = came else { panic!("{came:?}") };
        assert_eq!(told, status);
        assert!(matches!(status, RunStatus::Succeeded | RunStatus::Cancelled), "{status}");
        let record = host.store().run(&run).unwrap().unwrap();
        assert_eq!(record.status, status);
        assert_eq!(record.exits[0].reason.name() == "cancelled", status == RunStatus::Cancelled);
    }
}
