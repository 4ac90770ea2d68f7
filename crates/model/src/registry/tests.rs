//! Models by name, and what is known of them.

use deepgraph_protocol::{Map, Message, ModelRequest};

use super::*;
use crate::Script;
use crate::scripted::Rule;
use crate::settings::ProviderSettings;

fn says(text: &str) -> Script {
    Script::of([Rule::text(text)])
}

fn models() -> Models {
    Models::new(ModelSettings { script: Some(says("from the script")), ..ModelSettings::default() })
}

fn error(models: &Models, name: &str) -> String {
    models.get(name).err().map_or_else(|| "found".to_owned(), |error| error.to_string())
}

async fn answer(models: &Models, name: &str) -> String {
    let request = ModelRequest {
        model: name.into(),
        messages: vec![Message::user("?")],
        tools: Vec::new(),
        output: None,
        max_output: None,
        options: Map::new(),
        context: Map::new(),
    };
    models.get(name).unwrap().reply(&request, &|_| {}).await.unwrap().text.to_string()
}

#[tokio::test]
async fn models_are_found_by_name_and_own_ones_go_first() {
    let mut models = models();
    assert_eq!(answer(&models, "scripted").await, "from the script");
    assert_eq!(answer(&models, "scripted::any").await, "from the script");
    models.register("mine", Arc::new(Scripted::new(says("mine")).unwrap()));
    models.register("scripted::special", Arc::new(Scripted::new(says("special")).unwrap()));
    assert_eq!(answer(&models, "mine").await, "mine");
    assert_eq!(answer(&models, "mine::large").await, "mine");
    assert_eq!(answer(&models, "scripted::special").await, "special");
    assert_eq!(answer(&models, "scripted::any").await, "from the script");
}

#[test]
fn unknown_names_are_told_the_known_ones_and_the_nearest() {
    let mut models = models();
    models.register("mine", Arc::new(Scripted::new(says("mine")).unwrap()));
    for (name, hint) in [
        ("claude-opus-4-8", "did you mean \"anthropic::claude-opus-4-8\"?"),
        ("gemni::x", "did you mean \"gemini::x\"?"),
        ("opnai::gpt-4o", "did you mean \"openai::gpt-4o\"?"),
        ("OpenAI", "did you mean \"openai::NAME\"?"),
        ("gpt-4o", "did you mean \"openai::gpt-4o\"?"),
        ("script", "did you mean \"scripted\"?"),
        ("min::x", "did you mean \"mine\"?"),
    ] {
        let said = error(&models, name);
        assert!(said.contains(hint) && said.contains("openai::NAME"), "{name}: {said}");
        assert!(said.contains("scripted, mine"), "{said}");
    }
    assert!(!error(&models, "").contains("mean"));
    assert!(!error(&models, "zzz::x").contains("mean"));
}

#[test]
fn settings_are_looked_at_only_by_the_models_that_need_them() {
    let settings = ModelSettings { base_url: Some("nonsense".into()), ..ModelSettings::default() };
    let models = Models::new(settings);
    assert!(error(&models, "scripted").contains("has no script"));
    let two =
        Models::new(ModelSettings { script: Some(Script::of([Rule::default()])), ..Default::default() });
    assert!(error(&two, "scripted").contains("rule 1"));
    if cfg!(feature = "providers") {
        assert!(error(&models, "openai::x").contains("base URL \"nonsense\""));
        assert!(error(&models, "openai::").contains("openai::NAME"));
        for provider in known_names().filter(|name| *name != "openai") {
            assert_eq!(error(&models, &format!("{provider}::x")), "found");
        }
        let local =
            ModelSettings { base_url: Some("http://127.0.0.1:1/v1".into()), ..ModelSettings::default() };
        assert_eq!(error(&Models::new(local), "openai::x"), "found");
    } else {
        assert!(error(&models, "openai::x").contains("feature"));
    }
}

fn provider(base_url: &str) -> ProviderSettings {
    ProviderSettings { base_url: Some(base_url.to_owned()), ..ProviderSettings::default() }
}

fn with(providers: &[(&str, ProviderSettings)]) -> ModelSettings {
    let providers = providers.iter().map(|(name, own)| ((*name).to_owned(), own.clone())).collect();
    ModelSettings { providers, ..ModelSettings::default() }
}

#[test]
fn prices_and_windows_come_from_the_settings_the_table_or_nowhere() {
    let mut settings =
        with(&[("mine", provider("http://127.0.0.1:1/v1")), ("groq", provider("http://10.0.0.1/v1"))]);
    let own = ModelFacts {
        context_window: Some(1000),
        price: Price::dollars(1.0, 2.0, None, None),
        ..ModelFacts::default()
    };
    for name in ["mine::known", "anthropic::claude-haiku-4-5", "self"] {
        settings.models.insert(name.to_owned(), own);
    }
    let mut models = Models::new(settings);
    assert_eq!(models.price("scripted"), Some(Price::FREE));
    assert_eq!(models.price("extractive"), Some(Price::FREE));
    assert_eq!(models.price("openai::gpt-4o"), Price::dollars(2.5, 10.0, Some(1.25), None));
    assert_eq!(models.window("openai::gpt-4o-2024-11-20"), Some(128_000));
    assert_eq!(models.price("openai::unheard-of"), None);
    assert_eq!(models.price("anthropic::claude-haiku-4-5"), own.price);
    assert_eq!(models.window("mine::known"), Some(1000));
    assert_eq!((models.price("mine::other"), models.window("mine::other")), (None, None));
    assert_eq!(models.price("groq::openai/gpt-oss-20b"), None, "not the provider's own server");
    assert_eq!(models.price("ollama::qwen3"), Some(Price::FREE));
    assert_eq!(models.window("ollama::qwen3"), Some(8192));
    models.register("self", Arc::new(Scripted::new(says("mine")).unwrap()));
    models.register("scripted", Arc::new(Scripted::new(says("mine")).unwrap()));
    assert_eq!(models.price("self"), own.price);
    assert_eq!(models.price("scripted"), None);
    let elsewhere = Models::new(with(&[("ollama", provider("http://10.0.0.1:11434"))]));
    assert_eq!(elsewhere.price("ollama::qwen3"), None);
}

#[test]
fn what_a_provider_says_of_a_window_is_kept_for_all_who_ask_the_model() {
    let models = models();
    let learnt = Arc::new(Learnt::default());
    learnt.learn_window(64_000);
    models.learnt.lock().unwrap().insert("openai::gpt-4o".into(), learnt.clone());
    models.learnt.lock().unwrap().insert("openai::other".into(), learnt);
    assert_eq!(models.window("openai::gpt-4o"), Some(64_000));
    assert_eq!(models.window("openai::other"), Some(64_000));
    assert_eq!(models.window("openai::third"), None);
}

#[test]
fn fallbacks_follow_models_that_reach_outside() {
    let mut settings = with(&[("mine", provider("http://127.0.0.1:1/v1"))]);
    settings.fallbacks = ["groq::a", "mine::b", "groq::a", "extractive"].map(str::to_owned).into();
    let mut models = Models::new(settings);
    assert_eq!(models.route("openai::x"), ["openai::x", "groq::a", "mine::b", "extractive"]);
    assert_eq!(models.route("mine::b"), ["mine::b", "groq::a", "extractive"]);
    assert_eq!(models.route("extractive"), ["extractive"]);
    assert_eq!(models.route("scripted::x"), ["scripted::x"]);
    models.register("self", Arc::new(Scripted::new(says("mine")).unwrap()));
    assert_eq!(models.route("self::x").len(), 4);
}

#[test]
fn accounts_are_shared_by_what_uses_the_same_key_at_the_same_server() {
    let limited = ProviderSettings { requests_per_minute: Some(1), ..ProviderSettings::default() };
    let models = Models::new(with(&[("openai_resp", limited), ("mine", provider("http://127.0.0.1:1/v1"))]));
    let account = |model: &str| models.account(model).unwrap();
    assert!(Arc::ptr_eq(&account("openai::a"), &account("openai_resp::b")));
    assert!(!Arc::ptr_eq(&account("openai::a"), &account("mine::b")));
    assert!(
        account("openai::a").try_pass("openai::a", 1)
            && !account("openai_resp::a").try_pass("openai_resp::a", 1)
    );
    assert!(models.account("scripted").is_none() && models.account("extractive").is_none());
    assert!(models.account("unknown::x").is_none());
}

#[test]
fn variables_that_lack_are_named_only_for_models_that_need_them() {
    let named =
        ProviderSettings { key_env: Some("DEEPGRAPH_TEST_NEVER_SET".into()), ..provider("http://10.0.0.1") };
    let models = Models::new(with(&[("mine", named), ("free", provider("http://10.0.0.2"))]));
    assert_eq!(models.missing_variables("mine::a"), ["DEEPGRAPH_TEST_NEVER_SET"]);
    assert_eq!(models.variables("mine::a"), ["DEEPGRAPH_TEST_NEVER_SET"]);
    for model in ["free::a", "ollama::a", "scripted", "extractive", "unknown::x"] {
        assert!(models.missing_variables(model).is_empty(), "{model}");
    }
    assert!(models.is_remote("ollama::a") && !models.is_remote("extractive"));
}

#[test]
fn settings_that_can_not_work_are_found_at_once() {
    let wrong = |settings: ModelSettings| Models::new(settings).check().unwrap_err().to_string();
    assert!(wrong(with(&[("mine", ProviderSettings::default())])).contains("base_url"));
    assert!(wrong(with(&[("a::b", provider("http://10.0.0.1"))])).contains("a::b"));
    assert!(wrong(with(&[("scripted", provider("http://10.0.0.1"))])).contains("scripted"));
    let secret = wrong(with(&[("mine", provider("http://me:secret@10.0.0.1"))]));
    assert!(secret.contains("password") && !secret.contains("secret@"), "{secret}");
    let mut settings = ModelSettings { fallbacks: vec!["opnai::x".into()], ..ModelSettings::default() };
    assert!(wrong(settings.clone()).contains("openai::x"));
    settings.fallbacks.clear();
    settings.models.insert("antropic::x".into(), ModelFacts::default());
    assert!(wrong(settings.clone()).contains("anthropic::x"));
    settings.models.clear();
    assert_eq!(Models::new(settings).check(), Ok(()));
    if cfg!(feature = "providers") {
        assert!(wrong(with(&[("mine", provider("nonsense"))])).contains("nonsense"));
        let header = |name: &str, value: &str| ProviderSettings {
            headers: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            ..provider("http://10.0.0.1")
        };
        assert!(wrong(with(&[("mine", header("a b", "c"))])).contains("a b"));
        assert!(wrong(with(&[("mine", header("a", "b\nc"))])).contains("header"));
    }
}
