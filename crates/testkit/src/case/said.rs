//! What was said, in the words of a case: the counterpart of the reader in `answer`.

use deepgraph_graph::yaml::{Mapping, Tree};
use deepgraph_protocol::{Fee, FinishReason, ModelReply, StepError, ToolCall, Usage, Value};
use deepgraph_trace::recording::Reserved;

use super::money;
use crate::reply::USUAL_TOKENS;

/// What stands for a price that is not known.
pub(crate) const UNKNOWN: &str = "unknown";

/// How JSON that a model wrote stands in a case: arguments of calls, the text of structured output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    /// To the letter.
    AsWritten,
    /// As data, which is easier to read; how it was laid out is lost.
    AsData,
}

/// A model's reply. `reserved` is what was reserved for it, where that made a difference.
pub(crate) fn by_model(reply: &ModelReply, json: Json, reserved: Option<&Reserved>) -> Mapping {
    let mut said = Mapping::default();
    // The text of structured output is its JSON where nothing else is said.
    let is_data = !reply.data.is_null() && is_text_of(&reply.text, &reply.data, json);
    if !is_data && (!reply.text.is_empty() || (reply.data.is_null() && reply.tool_calls.is_empty())) {
        said.set("text", Tree::Text(reply.text.to_string()));
    }
    if !reply.data.is_null() {
        said.set("data", Tree::data(&reply.data));
    }
    if !reply.guess.is_null() {
        said.set("guess", Tree::data(&reply.guess));
    }
    if !reply.tool_calls.is_empty() {
        said.set("calls", Tree::List(reply.tool_calls.iter().map(|one| call(one, json)).collect()));
    }
    let usual = if reply.tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    if reply.finish != usual {
        said.set("finish", Tree::Text(reply.finish.name().to_owned()));
    }
    charge(&mut said, Some((&reply.usage, reply.cost_micro_usd)), reserved);
    said
}

/// Adds what a model call used (tokens, and micro-dollars where the price is known; none: nothing came of it) and what
/// was reserved for it, as far as a case would take something else where nothing is said.
pub(crate) fn charge(said: &mut Mapping, used: Option<(&Usage, Option<u64>)>, reserved: Option<&Reserved>) {
    let mut tokens = Mapping::default();
    let by_reply = used.map(|(usage, _)| (usage.input_tokens, usage.output_tokens));
    if let Some((input, output)) = by_reply.filter(|used| *used != USUAL_TOKENS) {
        tokens.set("input", int(input));
        tokens.set("output", int(output));
    }
    let (input, output) = by_reply.unwrap_or(USUAL_TOKENS);
    if let Some(reserved) = reserved.filter(|reserved| reserved.tokens != input + output) {
        tokens.set("reserve", int(reserved.tokens));
    }
    if !tokens.is_empty() {
        said.set("tokens", Tree::Map(tokens));
    }
    let price = used.map_or(Some(0), |(_, price)| price);
    let reserve = reserved.map_or(price, |reserved| reserved.micro_usd);
    if let Some(cost) = cost(price, reserve) {
        said.set("cost", cost);
    }
}

/// Adds what the call of an op cost, and what was reserved for it, where it costs something.
pub(crate) fn fee(said: &mut Mapping, used: Fee, reserved: Option<Reserved>) {
    let used = (used.unknown == 0).then_some(used.micro_usd);
    if let Some(fee) = cost(used, reserved.map_or(Some(0), |reserved| reserved.micro_usd)) {
        said.set("fee", fee);
    }
}

/// What something cost and what was reserved for it, in micro-dollars or not known; none where both are nothing.
fn cost(price: Option<u64>, reserve: Option<u64>) -> Option<Tree> {
    let is_nothing = |amount: &Option<u64>| *amount == Some(0);
    if price == reserve {
        return (!is_nothing(&price)).then(|| amount(price));
    }
    let mut cost = Mapping::default();
    for (key, money) in [("used", price), ("reserve", reserve)] {
        if !is_nothing(&money) {
            cost.set(key, amount(money));
        }
    }
    Some(Tree::Map(cost))
}

/// A failure, written out.
pub(crate) fn failure(error: &StepError) -> Tree {
    let mut said = Mapping::default();
    said.set("kind", Tree::Text(error.kind.name().to_owned()));
    said.set("message", Tree::Text(error.message.clone()));
    if let Some(ms) = error.retry_after_ms {
        said.set("after", duration(ms));
    }
    if error.unsent {
        said.set("unsent", Tree::Bool(true));
    }
    for (key, tokens) in [("window", error.window), ("tokens", error.tokens)] {
        if let Some(tokens) = tokens {
            said.set(key, int(tokens));
        }
    }
    Tree::Map(said)
}

/// A length of time.
pub(crate) fn duration(ms: u64) -> Tree {
    Tree::Text(format!("{ms}ms"))
}

fn is_text_of(text: &str, data: &Value, json: Json) -> bool {
    match json {
        Json::AsWritten => *text == *data.to_json_text(),
        Json::AsData => serde_json::from_str::<Value>(text).is_ok_and(|read| read == *data),
    }
}

fn call(call: &ToolCall, json: Json) -> Tree {
    let read: Option<Value> = serde_json::from_str(&call.arguments).ok().filter(|_| json == Json::AsData);
    let arguments = match read.as_ref().and_then(|read| read.as_map()) {
        Some(fields) if fields.is_empty() => return Tree::Text(call.name.to_string()),
        Some(_) => Tree::data(read.as_ref().unwrap_or(&Value::Null)),
        // As the model wrote it, JSON or not.
        None => Tree::Text(call.arguments.to_string()),
    };
    let mut said = Mapping::default();
    said.add(&*call.name, arguments);
    Tree::Map(said)
}

fn amount(micro_usd: Option<u64>) -> Tree {
    micro_usd.map_or_else(|| Tree::Text(UNKNOWN.to_owned()), |micro| Tree::Float(money::dollars(micro)))
}

fn int(n: u64) -> Tree {
    Tree::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use deepgraph_graph::yaml::write;
    use deepgraph_protocol::{ErrorKind, StepId};

    use super::super::answer::ModelAnswer;
    use super::super::{read::Reader, tree};
    use super::*;
    use crate::{call, calls, data, fails, says};

    /// What a case says, read again.
    fn read(said: &Mapping) -> ModelAnswer {
        let text = write(said);
        let node = tree::read("case", &text).expect("it is YAML");
        let mut reader = Reader::new("case", &text);
        let answer = ModelAnswer::read(&mut reader, &node).expect("it is an answer");
        reader.sink.finish().expect("it has no mistake");
        answer
    }

    fn replies() -> Vec<ModelReply> {
        let fields = Value::record([("a", Value::Int(1))]);
        let spent = |price: Option<u64>| {
            let usage = Usage { input_tokens: 7, output_tokens: 0, ..Usage::default() };
            ModelReply { usage, cost_micro_usd: price, ..says("x") }
        };
        vec![
            says(""),
            says("x"),
            data(fields.clone()),
            ModelReply { text: "{\"a\":  1}".into(), ..data(fields) },
            calls([call("search", "{\"query\":  \"x\"}"), call("done", "{}"), call("odd", "no JSON")]),
            ModelReply { text: "Let me see.".into(), ..calls([call("done", "{}")]) },
            ModelReply { finish: FinishReason::Length, ..says("x") },
            spent(Some(0)),
            spent(Some(1)),
            spent(None),
        ]
    }

    #[test]
    fn what_is_written_to_the_letter_is_read_back_as_it_was() {
        let step = StepId::new("say.1");
        for mut reply in replies() {
            for (one, k) in reply.tool_calls.iter_mut().zip(1..) {
                one.id = format!("say.1#{k}").into();
            }
            let said = by_model(&reply, Json::AsWritten, None);
            assert_eq!(read(&said).reply(&step, "scripted"), Ok(reply), "{}", write(&said));
        }
    }

    #[test]
    fn json_as_data_is_the_same_data() {
        let step = StepId::new("say.1");
        let of = |reply: &ModelReply| {
            let arguments = reply.tool_calls.iter().map(|call| {
                serde_json::from_str::<Value>(&call.arguments).unwrap_or(Value::from(call.arguments.clone()))
            });
            (arguments.collect::<Vec<_>>(), reply.data.clone(), reply.usage, reply.cost_micro_usd)
        };
        for reply in replies() {
            let said = by_model(&reply, Json::AsData, None);
            let back = read(&said).reply(&step, "scripted").expect("it is a reply");
            assert_eq!(of(&back), of(&reply), "{}", write(&said));
            assert!(!write(&said).contains("\\\""), "{}", write(&said));
        }
    }

    #[test]
    fn whatever_was_used_and_reserved_is_read_back() {
        let step = StepId::new("say.1");
        let amounts = [Some(0), Some(20_000), Some(1), None];
        for price in amounts {
            for micro_usd in amounts {
                for tokens in [0, 110, 200] {
                    let reserved = Reserved { tokens, micro_usd };
                    let reply = ModelReply { cost_micro_usd: price, ..says("x") };
                    let said = by_model(&reply, Json::AsData, Some(&reserved));
                    let answer = read(&said);
                    assert_eq!(answer.reserves(), (tokens, micro_usd), "{}", write(&said));
                    assert_eq!(answer.reply(&step, "scripted"), Ok(reply), "{}", write(&said));
                    // What failed and what never came was reserved for as well.
                    let mut failed =
                        Mapping::default().with("error", failure(&fails(ErrorKind::Network, "x")));
                    charge(&mut failed, None, Some(&reserved));
                    assert_eq!(read(&failed).reserves(), (tokens, micro_usd), "{}", write(&failed));
                }
            }
        }
    }

    #[test]
    fn a_failure_is_read_back() {
        let error =
            StepError { retry_after_ms: Some(5), unsent: true, ..fails(ErrorKind::RateLimited, "slow") };
        let said = Mapping::default().with("error", failure(&error));
        assert_eq!(read(&said).reply(&StepId::new("say.1"), "m"), Err(error));
    }
}
