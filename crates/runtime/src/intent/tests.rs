use deepgraph_graph::build::*;
use deepgraph_protocol::IntentClass;
use deepgraph_research::intent::RuleClassifier;

use super::*;
use crate::Host;

fn graph() -> Graph {
    Graph::new("depth")
        .config("depth", Type::integer().default(3))
        .config("width", Type::integer().default(3))
        .intent("fact", Intent::new().kind(QuestionKind::Narrow).set("depth", 1).set("width", 1))
        .intent("survey", Intent::new().when(["overview"]).set("depth", 9))
        .channel("question", Type::string())
        .channel("depth", Type::integer())
        .channel("width", Type::integer())
        .input(["question"])
        .output(["depth", "width"])
        .start("look")
        .node("look", Node::pass().update("depth", "config.depth").update("width", "config.width"))
}

/// Says the same of every question.
struct Always(&'static str);

impl IntentClassifier for Always {
    fn classify(&self, _: &str, _: &[IntentClass]) -> Option<IntentChoice> {
        Some(IntentChoice { name: self.0.into(), why: "always".to_owned() })
    }
}

/// Depth and width of a run, and the intent in its record.
async fn ran(host: &Host, question: &str, intended: Intended, config: &[(&str, i64)]) -> (i64, i64, String) {
    let bundle = host.load(&graph()).unwrap();
    let launch = host.run(&bundle).input("question", question).intent(intended);
    let launch = config.iter().fold(launch, |launch, (key, value)| launch.config(key, *value));
    let running = launch.start().await.unwrap();
    let run = running.id().clone();
    running.ended().await.unwrap();
    let record = host.store().run(&run).unwrap().unwrap();
    let number = |name: &str| record.output.get(name).and_then(Value::as_int).unwrap_or(-1);
    let intent = record.settings["intent"]["name"].as_str().unwrap_or("none").to_owned();
    (number("depth"), number("width"), intent)
}

#[tokio::test]
async fn the_class_sets_the_configuration_behind_what_is_given() {
    let host = Host::builder().build().unwrap();
    let found = Intended::Classified;
    assert_eq!(ran(&host, "How many?", found.clone(), &[]).await, (1, 1, "fact".into()));
    assert_eq!(ran(&host, "How many?", found.clone(), &[("depth", 5)]).await, (5, 1, "fact".into()));
    assert_eq!(
        ran(&host, "How many?", found.clone(), &[("configurable.depth", 5)]).await,
        (5, 1, "fact".into())
    );
    assert_eq!(ran(&host, "An overview", found.clone(), &[]).await, (9, 3, "survey".into()));
    assert_eq!(ran(&host, "Ferries", found, &[]).await, (3, 3, "none".into()));
    assert_eq!(ran(&host, "How many?", Intended::None, &[]).await, (3, 3, "none".into()));
    assert_eq!(ran(&host, "How many?", Intended::Named("survey".into()), &[]).await, (9, 3, "survey".into()));
}

#[tokio::test]
async fn another_classifier_takes_the_place_of_the_rules() {
    let host = Host::builder().intents(Always("survey")).build().unwrap();
    assert_eq!(ran(&host, "How many?", Intended::Classified, &[]).await, (9, 3, "survey".into()));
    let host = Host::builder().intents(Always("gone")).build().unwrap();
    assert_eq!(ran(&host, "How many?", Intended::Classified, &[]).await, (3, 3, "none".into()));
}

#[test]
fn a_class_that_is_not_there_is_refused_with_those_that_are() {
    let bundle = graph().load(&deepgraph_graph::OpTable::stock()).unwrap().bundle;
    let chosen = Intended::Named("facts".into()).choose(&RuleClassifier, &bundle, "");
    let error = chosen.unwrap_err().to_string();
    assert_eq!(error, "the graph depth has no intent \"facts\"; it has: fact, survey");
}
