//! Providers of one's own, and what is particular to some that are built in.

use deepgraph_protocol::ErrorKind;

use super::*;
use crate::{ModelFacts, Price};

fn named(headers: &[(&str, &str)]) -> BTreeMap<String, String> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn headers_go_with_each_request() {
    for protocol in
        [Protocol::OpenAi, Protocol::OpenAiResp, Protocol::Anthropic, Protocol::Gemini, Protocol::Ollama]
    {
        let routed = |server: &TestServer| ProviderSettings {
            headers: named(&[("X-Route", "eu")]),
            headers_env: named(&[("X-Secret", "CARGO_PKG_NAME")]),
            ..speaking(protocol, server)
        };
        let (head, _) = sent_to(routed, "m", &plain()).await;
        assert!(head.contains("x-route: eu\r\n") && head.contains("x-secret: deepgraph-model\r\n"), "{head}");
        let server = TestServer::start(vec![Answer::error(500, &json!({}))]).await;
        let asking = ModelRequest { model: "mine::m".into(), ..plain() };
        ask_model(&mine(routed(&server), true), &asking).await;
        assert!(server.asked()[0].0.contains("x-route: eu\r\n"));
    }
}

#[tokio::test]
async fn what_stands_behind_the_question_mark_of_an_address_goes_with_each_request() {
    for (protocol, path) in [
        (Protocol::OpenAi, "/v1/chat/completions?api-version=2"),
        (Protocol::OpenAiResp, "/v1/responses?api-version=2"),
        (Protocol::Anthropic, "/v1/messages?api-version=2"),
        (Protocol::Gemini, "/v1/models/m:streamgeneratecontent?api-version=2&alt=sse"),
        (Protocol::Ollama, "/api/chat?api-version=2"),
    ] {
        let server = TestServer::start(vec![Answer::error(500, &json!({}))]).await;
        let versioned = ProviderSettings {
            base_url: Some(format!("{}?api-version=2", server.base_url())),
            ..speaking(protocol, &server)
        };
        ask_model(&mine(versioned, true), &ModelRequest { model: "mine::m".into(), ..plain() }).await;
        let (head, _) = server.asked().remove(0);
        assert!(head.starts_with(&format!("post {path} http/1.1")), "{head}");
    }
}

#[tokio::test]
async fn a_header_with_the_key_takes_the_place_of_the_protocols_own() {
    let keyed = |server: &TestServer| ProviderSettings {
        key_env: None,
        headers_env: named(&[("authorization", "CARGO_PKG_NAME")]),
        ..speaking(Protocol::OpenAi, server)
    };
    let (head, _) = sent_to(keyed, "m", &plain()).await;
    assert_eq!(head.matches("authorization: ").count(), 1, "{head}");
    assert!(head.contains("authorization: deepgraph-model\r\n"), "{head}");
}

#[tokio::test]
async fn what_lacks_in_the_environment_is_named() {
    let server = TestServer::start(vec![Answer::error(500, &json!({}))]).await;
    let asking = ModelRequest { model: "mine::m".into(), ..plain() };
    let without = ProviderSettings { key_env: Some(UNSET.into()), ..speaking(Protocol::Anthropic, &server) };
    let secret = ProviderSettings {
        headers_env: named(&[("x-secret", UNSET)]),
        ..speaking(Protocol::OpenAi, &server)
    };
    for provider in [without, secret] {
        let error = ask_model(&mine(provider, true), &asking).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unauthorized);
        assert!(error.message.contains(UNSET) && error.message.contains("\"mine\""), "{error}");
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn secrets_of_headers_are_not_repeated() {
    let said = json!({"error": {"message": "who is deepgraph-model?", "type": "authentication_error"}});
    let server = TestServer::start(vec![Answer::error(401, &said)]).await;
    let provider = ProviderSettings {
        key_env: None,
        headers_env: named(&[("x-secret", "CARGO_PKG_NAME")]),
        ..speaking(Protocol::OpenAi, &server)
    };
    let asking = ModelRequest { model: "mine::m".into(), ..plain() };
    let error = ask_model(&mine(provider, false), &asking).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unauthorized);
    assert!(
        error.message.contains("CARGO_PKG_NAME") && !error.message.contains("deepgraph-model"),
        "{error}"
    );
}

#[tokio::test]
async fn a_provider_can_stream_or_not_whatever_the_others_do() {
    let server = TestServer::start(vec![Answer::error(500, &json!({}))]).await;
    let provider = ProviderSettings { stream: Some(false), ..speaking(Protocol::OpenAi, &server) };
    ask_model(&mine(provider, true), &ModelRequest { model: "mine::m".into(), ..plain() }).await;
    assert_eq!(server.asked()[0].1["stream"], false);
}

#[tokio::test]
async fn mistral_gets_ids_of_its_kind_and_no_options_that_it_refuses() {
    let server = TestServer::start(vec![Answer::error(500, &json!({}))]).await;
    let provider = ProviderSettings { key_env: None, ..speaking(Protocol::OpenAi, &server) };
    let models = Models::new(ModelSettings {
        providers: BTreeMap::from([("mistral".to_owned(), provider)]),
        ..ModelSettings::default()
    });
    let mut asking = ModelRequest { model: "mistral::m".into(), ..conversation() };
    asking.messages.push(Message::user("Sum it up."));
    ask_model(&models, &asking).await;
    let (_, body) = server.asked().remove(0);
    assert!(body.get("stream_options").is_none(), "{body}");
    let messages = &body["messages"];
    let id = messages[2]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
    assert_eq!(messages[3]["tool_call_id"], id);
    assert_ne!(messages[4]["tool_call_id"], id);
    let roles: Vec<&str> = messages.as_array().unwrap().iter().filter_map(|m| m["role"].as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "assistant", "user"]);
}

#[tokio::test]
async fn what_openrouter_says_of_costs_and_failures_is_read() {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.0012});
    let answer = || Answer::json(&whole(json!({"content": "Hi."}), "stop", usage.clone()));
    let dear = ModelFacts { price: Price::dollars(1.0, 1.0, None, None), ..ModelFacts::default() };
    // Other servers mean what they like by it, and a price that is set goes before it.
    let expected = [("openrouter", ModelFacts::default(), Some(1200)), ("openrouter", dear, None)];
    for (provider, facts, cost) in expected.into_iter().chain([("mine", ModelFacts::default(), None)]) {
        let server = TestServer::start(vec![answer()]).await;
        let settings = ModelSettings {
            providers: [(provider.to_owned(), speaking(Protocol::OpenAi, &server))].into(),
            models: [(format!("{provider}::m"), facts)].into(),
            stream: false,
            ..ModelSettings::default()
        };
        let asking = ModelRequest { model: format!("{provider}::m"), ..plain() };
        let reply = ask_model(&Models::new(settings), &asking).await.result.unwrap();
        assert_eq!(reply.cost_micro_usd, cost, "{provider}");
    }

    let inside = json!({"choices": [{"error": {"code": 502, "message": "the provider is down"}, "finish_reason": "error"}]});
    let events = Answer::events(&[inside.to_string(), "[DONE]".to_owned()]);
    for (answer, stream) in [(Answer::json(&inside), false), (events, true)] {
        let error = spoken(Protocol::OpenAi, answer, stream, &plain()).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    }
}
