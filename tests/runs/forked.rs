//! Forks of runs that write: what was written before the fork is the other run's.

use std::path::Path;
use std::sync::Arc;

use deepgraph_protocol::{Map, ScopePath};
use deepgraph_runtime::{Branch, ForkedFrom, NewRun, step_ends};
use deepgraph_store::RunId;
use serde_json::json;

use super::shop::{Shop, graph, not_undone, over, process};

/// A fork of a run behind the end of a step, recorded and not driven yet.
fn fork(shop: &Shop, folder: &Path, run: &RunId, step: &str) -> RunId {
    let host = shop.host(folder);
    let bundle = graph(&host);
    let rows = host.store().entries(run, 0).unwrap();
    let ends = step_ends(&bundle, &rows).unwrap();
    let end = ends.iter().find(|end| end.step.as_str() == step).expect("it has ended");
    let kept = rows.iter().filter(|row| row.seq <= end.seq);
    let kept = kept.map(|row| (row.scope.clone(), row.entry.clone())).collect();
    let from = ForkedFrom { run: run.clone(), seq: end.seq, step: Some(end.step.clone()), rows: 0 };
    let mut branch = Branch::of(&bundle, from, kept).unwrap();
    let now = rows.last().map_or(0, |row| row.entry.at);
    branch.edit(&bundle, &ScopePath::root(), Map::new(), now).unwrap();
    let new = NewRun {
        thread: None,
        question: String::new(),
        graph: "shop".into(),
        bundle: Arc::clone(&bundle),
        input: Map::new(),
        config: Map::new(),
        settings: json!({"input": {}, "config": {}}),
    };
    let forked = host.runtime().record_fork(&new, &branch).unwrap();
    let record = host.store().run(&forked).unwrap().unwrap();
    let taken_over = ends.iter().filter(|e| e.seq <= end.seq && !e.has_failed).count() as u64;
    assert_eq!(record.completed_steps, taken_over, "the steps that it begins with");
    forked
}

#[test]
fn a_fork_that_is_cancelled_undoes_its_own_writes_only() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default();
    let original = process().block_on(async {
        let host = shop.host(folder.path());
        let running = host.run(&graph(&host)).start().await.unwrap();
        let run = running.id().clone();
        over(running.ended().await.unwrap());
        run
    });
    process().block_on(async {
        let before = shop.host(folder.path()).store().entries(&original, 0).unwrap();
        // Behind both writes: the fork has none of its own. Behind the first: it pays itself.
        for (step, made, left) in
            [("pay.1", 1, ["pay.1 pay", "book.1 book"]), ("book.1", 2, ["pay.1 pay", "book.1 book"])]
        {
            let forked = fork(&shop, folder.path(), &original, step);
            let looks = shop.made("look").len();
            let shop = shop.clone().hang("look");
            let host = shop.host(folder.path());
            let running = host.resume(&forked).await.unwrap().start().await.unwrap();
            shop.until("look", looks + 1).await;
            running.cancel();
            shop.answer("look");
            let exit = over(running.ended().await.unwrap()).end.exit;
            assert!(shop.made("unbook").is_empty(), "the other run's write was undone");
            assert_eq!(shop.made("book").len(), 1);
            assert_eq!(shop.made("pay").len(), made);
            let told = not_undone(&exit);
            assert!(told.iter().zip(left).all(|(told, left)| told.starts_with(left)), "{told:?}");
            assert!(told.iter().any(|told| told.contains("forked from")), "{told:?}");
        }
        let after = shop.host(folder.path()).store().entries(&original, 0).unwrap();
        assert_eq!(before, after, "the run that was forked stays as it is");
    });
}

#[test]
fn both_branches_are_cancelled_and_each_undoes_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("look");
    let original = super::shop::killed_in(&shop, folder.path(), "look");
    process().block_on(async {
        let forked = fork(&shop, folder.path(), &original, "pay.1");
        let host = shop.host(folder.path());
        let running = host.resume(&forked).await.unwrap().start().await.unwrap();
        shop.until("look", 2).await;
        running.cancel();
        shop.answer("look");
        let exit = over(running.ended().await.unwrap()).end.exit;
        assert_eq!(exit.not_undone.len(), 2, "{exit:?}");
        assert!(shop.made("unbook").is_empty());
        // The run that it comes from undoes its own.
        let came = host.cancel(&original, false, std::time::Duration::from_secs(60)).await.unwrap();
        assert_eq!(came, deepgraph_runtime::Cancelled::Over(deepgraph_protocol::RunStatus::Cancelled));
        assert_eq!(shop.made("unbook").len(), 1);
    });
}
