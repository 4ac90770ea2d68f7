//! What calls of models reserve and are told, and what failed ones are charged.

use deepgraph_model::{ModelFacts, Price};
use deepgraph_protocol::{EntryBody, Meter, UsedInVain};

use super::*;

/// What one call of `main` came to.
struct Came {
    outcome: Outcome,
    /// The longest reply that it was told of.
    told: Vec<Option<u64>>,
    /// Tokens that were reserved.
    reserved: Vec<u64>,
}

/// One call of `main`, of which these facts are known, under this limit, with this `max_tokens`.
async fn one_call(
    facts: ModelFacts,
    limit: Option<Limit>,
    max_tokens: Option<i64>,
    says: impl Fn() -> Result<ModelReply, StepError> + Send + Sync + 'static,
) -> Came {
    let settings = ModelSettings { models: [("main".to_owned(), facts)].into(), ..ModelSettings::default() };
    let ask = Node::model("main").prompt("a").retry(Retry::times(1)).update("said", "result.text");
    let ask = max_tokens.into_iter().fold(ask, |ask, bound| ask.option("max_tokens", bound));
    let graph = Graph::new("one").channel("said", Type::string()).output(["said"]).start(to("ask"));
    let graph = limit.into_iter().fold(graph, |graph, limit| graph.limit("most", limit)).node("ask", ask);
    let told: Arc<Mutex<Vec<Option<u64>>>> = Arc::default();
    let seen = told.clone();
    let says = move |request: &ModelRequest| {
        seen.lock().unwrap().push(request.max_output);
        says()
    };
    let main = Says { asked: Arc::default(), says };
    let host = Host::builder().models(settings).model("main", main).build().unwrap();
    let bundle = host.load(&graph).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let running = host.run(&bundle).start().await.unwrap();
    let run = running.id().clone();
    let outcome = running.ended().await.unwrap().outcome().expect("it is over");
    let rows = host.store().entries(&run, 0).unwrap();
    let reserved = rows.iter().filter_map(|row| match &row.entry.body {
        EntryBody::Dispatched { reserve_tokens, .. } => Some(*reserve_tokens),
        _ => None,
    });
    let told = told.lock().unwrap().clone();
    Came { outcome, told, reserved: reserved.collect() }
}

fn priced(input: f64, output: f64) -> ModelFacts {
    ModelFacts { price: Price::dollars(input, output, None, None), ..ModelFacts::default() }
}

fn refused() -> Result<ModelReply, StepError> {
    let usage = Usage { input_tokens: 60_000, output_tokens: 10, ..Usage::default() };
    let used = UsedInVain { usage, cost_micro_usd: None };
    Err(StepError::new(ErrorKind::Refusal, "no").having_used(used))
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_is_charged_what_it_used_at_the_price_of_its_model() {
    let came = one_call(priced(2.0, 8.0), None, None, refused).await;
    let settled = came.outcome.end.settled;
    assert_eq!((settled.tokens, settled.cost_micro_usd, settled.cost_unknown), (60_010, 120_080, 0));
    let unpriced = one_call(ModelFacts::default(), None, None, refused).await.outcome.end.settled;
    assert_eq!((unpriced.tokens, unpriced.cost_micro_usd, unpriced.cost_unknown), (60_010, 0, 1));
    let turned_away = || down(ErrorKind::Unauthorized, None);
    let nothing = one_call(priced(2.0, 8.0), None, None, turned_away).await.outcome.end.settled;
    assert_eq!((nothing.tokens, nothing.cost_micro_usd, nothing.cost_unknown), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn under_a_limit_a_model_is_told_what_is_reserved_and_else_nothing() {
    let yes = || Ok(reply("yes", Vec::new()));
    let most = || Some(Limit::meter(Meter::Tokens).max(20_000).exit("token_budget"));
    let bounded = one_call(priced(2.0, 8.0), most(), None, yes).await;
    assert_eq!((bounded.told, bounded.reserved), (vec![Some(4096)], vec![4097]));
    let free = one_call(priced(2.0, 8.0), None, None, yes).await;
    assert_eq!(free.told, [None]);
    let known = ModelFacts { max_output: Some(6000), ..priced(2.0, 8.0) };
    let known = one_call(known, most(), None, yes).await;
    assert_eq!((known.told, known.reserved), (vec![Some(6000)], vec![6001]));
    let option = one_call(priced(2.0, 8.0), most(), Some(9000), yes).await;
    assert_eq!(option.reserved, [9001]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_costs_nothing_uses_tokens_all_the_same() {
    let came = one_call(
        priced(0.0, 0.0),
        Some(Limit::meter(Meter::Tokens).max(1000).exit("token_budget")),
        None,
        || Ok(reply("yes", vec![])),
    )
    .await;
    assert!(came.told.is_empty(), "what does not fit is not sent");
    assert_eq!(came.outcome.end.settled.tokens, 0);
}

#[tokio::test(start_paused = true)]
async fn an_option_counts_under_a_limit_on_money() {
    // 30,000 tokens of reply are worth 75 cents, and there is one dollar, then half of one.
    let asked = |most: f64| {
        let limit = Some(Limit::meter(Meter::CostUsd).max(most).exit("cost_budget"));
        one_call(priced(1.0, 25.0), limit, Some(30_000), || Ok(reply("yes", Vec::new())))
    };
    assert_eq!(asked(1.0).await.told, [Some(30_000)]);
    assert!(asked(0.5).await.told.is_empty());
}
