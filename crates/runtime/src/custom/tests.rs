use deepgraph_graph::build::Type;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Place {
    city: String,
    days: u32,
    unit: Option<String>,
}

#[derive(Serialize)]
struct Forecast {
    celsius: f64,
    days: u32,
}

fn declared() -> OpDeclaration {
    CustomOp::new("weather")
        .description("The weather.")
        .reads()
        .input("city", Type::string())
        .input("days", Type::integer().default(1).maximum(7))
        .input("unit", Type::string().optional())
        .result("celsius", Type::number())
        .result("days", Type::integer())
}

async fn call(op: &CustomOp, input: &[(&str, Value)]) -> Result<String, String> {
    let (mut table, mut ops) = (OpTable::stock(), Ops::stock(None));
    op.add_to(&mut table, &mut ops).unwrap();
    let input = input.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    let result = {
        let context = crate::CallContext::new(
            deepgraph_store::RunId::new(),
            deepgraph_protocol::StepId::new("op.1"),
            1,
            std::sync::Arc::default(),
        );
        ops.get(op.name()).unwrap().call(input, &context).await
    };
    result.map(|value| value.to_json_text()).map_err(|error| error.to_string())
}

#[tokio::test]
async fn input_and_result_are_typed_and_checked() {
    let op = declared().run(|place: Place| async move {
        let known = place.city == "Oslo" && place.unit.is_none();
        let failed = || StepError::new(ErrorKind::Unavailable, "the station is down");
        known.then_some(Forecast { celsius: -3.5, days: place.days }).ok_or_else(failed)
    });
    assert_eq!(
        call(&op, &[("city", "Oslo".into())]).await.unwrap(),
        r#"{"celsius":-3.5,"days":1,"text":"{\"celsius\":-3.5,\"days\":1}"}"#,
        "with the default, and with the text that is always there"
    );
    let error = |input: &'static [(&'static str, i64)]| {
        let mut all = vec![("city", Value::from("Oslo"))];
        all.extend(input.iter().map(|(name, value)| (*name, Value::from(*value))));
        let op = op.clone();
        async move { call(&op, &all).await.unwrap_err() }
    };
    assert_eq!(call(&op, &[("city", "Rome".into())]).await.unwrap_err(), "unavailable: the station is down");
    let past = error(&[("days", 9)]).await;
    assert!(past.starts_with("invalid_input: the input of the op `weather` does not fit: days"), "{past}");
    let unknown = error(&[("hours", 9)]).await;
    assert!(unknown.starts_with("invalid_input: ") && unknown.contains("hours"), "{unknown}");
    let negative = error(&[("days", -1)]).await;
    assert!(negative.starts_with("invalid_input: its input can not be read"), "{negative}");
}

#[tokio::test]
async fn a_result_that_the_signature_does_not_say_is_a_failure() {
    for result in [
        Value::record([("celsius", Value::from("cold")), ("days", Value::Int(1))]),
        Value::record([("celsius", Value::from(1.0))]),
        Value::record([("celsius", Value::from(1.0)), ("days", Value::Int(1)), ("wind", Value::Int(1))]),
        Value::Null,
        Value::Int(3),
        Value::from("cold"),
    ] {
        let given = result.clone();
        let op = declared().run(move |_: Map| std::future::ready(Ok(given.clone())));
        let error = call(&op, &[("city", "Oslo".into())]).await.unwrap_err();
        assert!(error.starts_with("invalid_output: the op `weather` gave"), "{result}: {error}");
    }
}

#[tokio::test]
async fn an_op_may_give_a_text_alone() {
    let op = CustomOp::new("shout").reads().input("text", Type::string()).run(|input: Map| async move {
        Ok(input.get("text").and_then(Value::as_str).unwrap_or_default().to_uppercase())
    });
    assert_eq!(call(&op, &[("text", "hi".into())]).await.unwrap(), r#"{"text":"HI"}"#);
}

#[test]
fn graphs_are_checked_against_the_same_signature() {
    let op = declared().run(|_: Map| std::future::ready(Ok(Value::Null)));
    let (mut table, mut ops) = (OpTable::stock(), Ops::stock(None));
    op.add_to(&mut table, &mut ops).unwrap();
    let found = table.get("weather").unwrap();
    assert!(!found.writes && &*found.description == "The weather.");
    let names = |fields: &[(Arc<str>, deepgraph_graph::Field)]| -> Vec<String> {
        fields.iter().map(|(name, field)| format!("{name}: {}", field.ty)).collect()
    };
    assert_eq!(names(&found.input), ["city: string", "days: integer", "unit: string"]);
    assert_eq!(names(&found.result.fields), ["celsius: number", "days: integer", "text: string"]);
}

#[test]
fn a_signature_with_mistakes_adds_nothing() {
    let op = CustomOp::new("odd")
        .input("a", Type::named("nonsense"))
        .run(|_: Map| std::future::ready(Ok(Value::Null)));
    let (mut table, mut ops) = (OpTable::stock(), Ops::stock(None));
    let mistakes = op.add_to(&mut table, &mut ops).unwrap_err();
    assert!(mistakes.to_string().contains("unknown type \"nonsense\""), "{mistakes}");
    assert!(table == OpTable::stock() && ops.get("odd").is_none());
}
