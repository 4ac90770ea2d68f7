use std::io::Write;

use super::*;
use crate::graphs;

fn bundle() -> Bundle {
    graphs::load_named("deep_research").unwrap().unwrap_or_else(|mistakes| panic!("{mistakes}")).bundle
}

fn set(texts: &[&str]) -> Wanted {
    Wanted { set: texts.iter().map(|text| (*text).to_owned()).collect(), ..Wanted::default() }
}

fn environment(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn error(wanted: &Wanted, environment: &Environment) -> String {
    effective(&bundle(), wanted, environment).unwrap_err().to_string()
}

#[test]
fn the_stronger_place_wins() {
    let key = "research_model";
    let file = file("research_model: of-file\nmax_researcher_iterations: 2\n");
    let variables = environment(&[("DEEPGRAPH_RESEARCH_MODEL", "of-environment")]);
    let mut wanted = Wanted::default();
    let value = |wanted: &Wanted, environment: &Environment| {
        let found = effective(&bundle(), wanted, environment).unwrap();
        (found.values[key].as_str().unwrap().to_owned(), found.origins[key].clone())
    };
    let nothing = Environment::new();
    assert_eq!(value(&wanted, &nothing), ("extractive".into(), Origin::Default));
    wanted.file = Some(file.path().into());
    assert_eq!(value(&wanted, &nothing), ("of-file".into(), Origin::File(file.path().into())));
    let of_environment = Origin::Environment("DEEPGRAPH_RESEARCH_MODEL".into());
    assert_eq!(value(&wanted, &variables), ("of-environment".into(), of_environment));
    wanted.model = Some("of-model".into());
    assert_eq!(value(&wanted, &variables), ("of-model".into(), Origin::CommandLine));
    wanted.set.push("research_model=of-set".into());
    assert_eq!(value(&wanted, &variables), ("of-set".into(), Origin::Run));
    wanted.set.push("configurable.research_model=again".into());
    assert_eq!(value(&wanted, &variables), ("again".into(), Origin::Run));
}

#[test]
fn a_model_is_set_for_every_stage_and_nothing_else() {
    let wanted = Wanted { model: Some("openai::x".into()), ..Wanted::default() };
    let found = effective(&bundle(), &wanted, &Environment::new()).unwrap();
    for (key, origin) in &found.origins {
        assert_eq!(*origin == Origin::CommandLine, key.ends_with("_model"), "{key}");
    }
}

#[test]
fn texts_become_what_the_key_wants() {
    let wanted = set(&["configurable.max_researcher_iterations=3", "deadline=90s", "gain_threshold = 0"]);
    let values = effective(&bundle(), &wanted, &Environment::new()).unwrap().values;
    assert_eq!(values["max_researcher_iterations"], Value::Int(3));
    assert_eq!(values["deadline"].as_float(), Some(90.0));
    assert_eq!(values["gain_threshold"].as_float(), Some(0.0));
}

#[test]
fn all_mistakes_are_told_at_once_with_key_and_origin() {
    let variables = environment(&[("DEEPGRAPH_MAX_REACT_TOOL_CALLS", "0"), ("DEEPGRAPH_DEADLINE", "")]);
    let wanted = set(&["max_researcher_iterations=six", "max_reasearcher_turns=3", "plan_review=maybe"]);
    let said = error(&wanted, &variables);
    for part in [
        "max_researcher_iterations (--set)",
        "max_react_tool_calls (environment DEEPGRAPH_MAX_REACT_TOOL_CALLS)",
        "plan_review (--set)",
        "max_researcher_turns",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for bad in ["0", "-1", "six", "1.5", ""] {
        let said = error(&set(&[&format!("max_researcher_iterations={bad}")]), &Environment::new());
        assert!(said.contains("max_researcher_iterations (--set)"), "{bad}: {said}");
    }
    assert!(error(&set(&["nonsense"]), &Environment::new()).contains("KEY=VALUE"));
    assert!(error(&set(&["=3"]), &Environment::new()).contains("KEY=VALUE"));
}

#[test]
fn a_file_is_yaml_or_json_and_may_nest_its_keys() {
    let values = |text: &str| {
        let file = file(text);
        let wanted = Wanted { file: Some(file.path().into()), ..Wanted::default() };
        effective(&bundle(), &wanted, &Environment::new())
            .map(|found| found.values)
            .map_err(|e| e.to_string())
    };
    let key = "max_researcher_iterations";
    assert_eq!(values("configurable: {max_researcher_iterations: 3}").unwrap()[key], Value::Int(3));
    assert_eq!(values("configurable.max_researcher_iterations: 3").unwrap()[key], Value::Int(3));
    assert_eq!(values(r#"{"max_researcher_iterations": "4"}"#).unwrap()[key], Value::Int(4));
    assert_eq!(values("# nothing\n{}").unwrap()[key], Value::Int(6));
    assert!(values("- a\n").unwrap_err().contains("mapping"));
    assert!(values("a: [").unwrap_err().contains("can not be used"));
    let gone = Wanted { file: Some("no/such/file.yaml".into()), ..Wanted::default() };
    assert!(error(&gone, &Environment::new()).contains("no/such/file.yaml"));
}

#[test]
fn a_misspelt_variable_is_doubted_and_a_foreign_one_is_not() {
    let variables = environment(&[
        ("DEEPGRAPH_MAX_RESEARCHER_ITERATION", "3"),
        ("DEEPGRAPH_HOME", "/x"),
        ("DEEPGRAPH_SOMETHING_OF_ANOTHER_GRAPH", "1"),
        ("PATH", "/bin"),
    ]);
    let found = effective(&bundle(), &Wanted::default(), &variables).unwrap();
    assert_eq!(found.doubts.len(), 1, "{:?}", found.doubts);
    assert!(found.doubts[0].contains("DEEPGRAPH_MAX_RESEARCHER_ITERATIONS"));
}

#[test]
fn the_table_has_a_line_a_key_with_its_origin() {
    let found = effective(&bundle(), &set(&["deadline=90s"]), &Environment::new()).unwrap();
    let table = whole_table(&bundle(), &found);
    assert_eq!(table.lines().count(), bundle().config.len() + 1, "and the fallbacks");
    assert!(
        table.lines().any(|line| line.starts_with("cost_budget_usd ") && line.contains(" null ")),
        "{table}"
    );
    assert!(table.lines().any(|line| line.starts_with("deadline ") && line.ends_with("  --set")), "{table}");
}

#[test]
fn fallbacks_come_from_the_strongest_place_that_names_some() {
    let own = file("fallback_models: [a::own]\nresearch_model: of-own\nno_key_of_this_graph: 1\n");
    let given = file("fallback_models: 'a::one, a::two'\n");
    let mut wanted = Wanted { own_file: Some(own.path().into()), ..Wanted::default() };
    let key = fallbacks::KEY;
    let found = |wanted: &Wanted, environment: &Environment| {
        let found = effective(&bundle(), wanted, environment).unwrap();
        assert!(!found.values.contains_key(key), "it is no key of the graph");
        (found.fallbacks.join(" "), found.origins.get(key).cloned())
    };
    let nothing = Environment::new();
    assert_eq!(found(&Wanted::default(), &nothing), (String::new(), None));
    assert_eq!(found(&wanted, &nothing), ("a::own".into(), Some(Origin::File(own.path().into()))));
    wanted.file = Some(given.path().into());
    assert_eq!(found(&wanted, &nothing), ("a::one a::two".into(), Some(Origin::File(given.path().into()))));
    let variables = environment(&[("DEEPGRAPH_FALLBACK_MODELS", "a::env")]);
    let of_environment = Origin::Environment("DEEPGRAPH_FALLBACK_MODELS".into());
    assert_eq!(found(&wanted, &variables), ("a::env".into(), Some(of_environment)));
    wanted.fallbacks = vec!["a::x".into(), "a::y".into()];
    assert_eq!(found(&wanted, &variables), ("a::x a::y".into(), Some(Origin::Option("--fallback".into()))));
    wanted.set.push("fallback_models=[a::set]".into());
    assert_eq!(found(&wanted, &variables), ("a::set".into(), Some(Origin::Run)));
    wanted.set = vec!["fallback_models=".into()];
    assert_eq!(found(&wanted, &variables), (String::new(), Some(Origin::Run)), "none is wanted");
}

#[test]
fn the_own_file_holds_for_every_graph_and_goes_behind_the_given_one() {
    let own = file(
        "research_model: of-own\nbrief_model: of-own\nmax_turns: 3\nmax_supervisor_turn: 2\nserivces: {}\n",
    );
    let given = file("research_model: of-file\n");
    let wanted =
        Wanted { own_file: Some(own.path().into()), file: Some(given.path().into()), ..Wanted::default() };
    let found = effective(&bundle(), &wanted, &Environment::new()).unwrap();
    assert_eq!(found.values["research_model"].as_str(), Some("of-file"));
    assert_eq!(found.values["brief_model"].as_str(), Some("of-own"));
    assert_eq!(found.doubts.len(), 2, "a key of another graph is passed over: {:?}", found.doubts);
    for meant in ["did you mean max_supervisor_turns?", "did you mean services?"] {
        assert!(found.doubts.iter().any(|doubt| doubt.contains(meant)), "{:?}", found.doubts);
    }
    // In a file that is given for this run, a key that the graph does not have is a mistake.
    let wrong = Wanted { file: Some(own.path().into()), ..Wanted::default() };
    assert!(error(&wrong, &Environment::new()).contains("max_turns"));
}

#[test]
fn services_of_two_files_are_joined_and_mistakes_named_with_their_file() {
    let own = file(
        "services:\n  providers:\n    mine: {base_url: 'http://127.0.0.1:1/v1', headers: {a: own}}\n    \
         other: {base_url: 'http://127.0.0.1:2/v1'}\n",
    );
    let given = file("services: {providers: {mine: {headers: {a: given}}}}\n");
    let wanted =
        Wanted { own_file: Some(own.path().into()), file: Some(given.path().into()), ..Wanted::default() };
    let services = effective(&bundle(), &wanted, &Environment::new()).unwrap().services;
    let providers = services.providers();
    assert_eq!(providers.len(), 2);
    assert_eq!(providers["mine"].headers["a"], "given");
    assert_eq!(providers["mine"].base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
    let found = effective(&bundle(), &wanted, &Environment::new()).unwrap();
    let table = whole_table(&bundle(), &found);
    for (key, of) in [("headers.a", &given), ("base_url", &own)] {
        let row =
            table.lines().find(|line| line.starts_with(&format!("services.providers.mine.{key} "))).unwrap();
        assert!(row.ends_with(&format!("file {}", of.path().display())), "{row}");
    }
    let wrong = file("services: {providers: {mine: {api_key: sk-1}}}\n");
    let wanted = Wanted { own_file: Some(wrong.path().into()), ..Wanted::default() };
    let said = error(&wanted, &Environment::new());
    assert!(said.contains(&wrong.path().display().to_string()), "{said}");
    assert!(said.contains("services.providers.mine") && said.contains("api_key"), "{said}");
    let none = file("fallback_models: 3\n");
    let wanted = Wanted { file: Some(none.path().into()), ..Wanted::default() };
    assert!(error(&wanted, &Environment::new()).contains("must be a list of models"));
}
