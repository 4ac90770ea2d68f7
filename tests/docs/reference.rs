//! The tables of the reference of the graph language, against the lists of the code.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_graph::{CODES, Op, OpTable, Reducer, Type, vocabulary};
use deepgraph_protocol::{
    ErrorClass, ErrorKind, ExitClass, ExitReason, FinishReason, Meter, ReportOutcome, RunStatus, Value,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{compare, document, first_column, rows, section, words};

fn reference() -> String {
    document("docs/graphs.md")
}

/// The names of an enum's variants, as its own error lists them.
fn variants<T: DeserializeOwned + std::fmt::Debug>() -> Vec<String> {
    let error = serde_json::from_str::<T>("\"no such name\"").expect_err("nothing has this name").to_string();
    let (_, list) = error.split_once("expected one of").expect("the error lists the names");
    words(list).into_iter().map(str::to_owned).collect()
}

fn named<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(name.into()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn name_of(value: &impl Serialize) -> String {
    Value::of(value).as_str().expect("it has a name").to_owned()
}

/// The row of the table of what is not built yet.
fn later<'t>(text: &'t str, place: &str) -> BTreeSet<&'t str> {
    let table = rows(section(text, "Not built yet"));
    let row = table.into_iter().find(|cells| cells[0] == format!("`{place}`"));
    row.map(|cells| words(cells[1])).unwrap_or_default()
}

#[test]
fn keys() {
    let text = reference();
    for keys in vocabulary::MAPPINGS {
        let (first, rest) = keys.place.split_at(1);
        let heading = format!("{}{rest} keys", first.to_uppercase());
        compare(&heading, first_column(&text, &heading), keys.known.iter().copied());
        compare(keys.place, later(&text, keys.place), keys.later.iter().copied());
    }
    for keys in vocabulary::VERBS {
        let heading = format!("Verb: {}", keys.place);
        compare(&heading, first_column(&text, &heading), keys.known.iter().copied());
        compare(keys.place, later(&text, keys.place), keys.later.iter().copied());
    }
    for cells in rows(section(&text, "Graph keys")) {
        let name = words(cells[0]).pop_first().expect("a row has a key");
        let root_only = vocabulary::ROOT_ONLY.contains(&name);
        assert_eq!(cells[1].contains("root only"), root_only, "{name}");
    }
}

#[test]
fn types_and_reducers() {
    let text = reference();
    let types = section(&text, "Types");
    let (plain, _) = types.split_once('|').expect("a table follows");
    let plain: BTreeSet<&str> = words(plain).into_iter().filter(|w| !w.contains(['[', '{'])).collect();
    compare("plain types", plain, vocabulary::PLAIN.iter().map(|(n, _)| *n).chain(["types"]));
    compare("built-in types", first_column(&text, "Types"), vocabulary::RECORDS);
    for cells in rows(types) {
        let name = words(cells[0]).pop_first().expect("a row has a type");
        let Some(Type::Record(record)) = vocabulary::built_in(name) else { continue };
        let mark = |optional: bool| if optional { "?" } else { "" };
        let fields: Vec<String> =
            record.fields.iter().map(|(n, f)| format!("`{n}{}`", mark(f.optional))).collect();
        assert_eq!(cells[1].split(';').next(), Some(&*fields.join(", ")), "{name}");
    }
    compare("reducers", first_column(&text, "Reducers"), Reducer::ALL.iter().map(|(n, _)| *n));
}

#[test]
fn meters() {
    let text = reference();
    let mut written = first_column(&text, "Meters");
    written.extend(later(&text, "meter"));
    compare("meters", written, Meter::ALL.iter().map(|(n, _)| *n));
}

#[test]
fn exits_and_classes() {
    let text = reference();
    let written: BTreeMap<&str, &str> = rows(section(&text, "Exit reasons"))
        .into_iter()
        .map(|cells| (words(cells[0]).pop_first().expect("a name"), cells[1]))
        .collect();
    compare("exits", written.keys().copied().collect(), ExitReason::BUILT_IN.iter().map(|(n, _)| *n));
    for (name, reason) in ExitReason::BUILT_IN {
        let class = reason.class().map(|class| format!("`{}`", name_of(&class)));
        assert_eq!(written.get(name).copied(), class.as_deref(), "{name}");
    }
    let own = rows(section(&text, "Graph keys")).into_iter().find(|cells| cells[0] == "`exits`");
    let own = own.map(|cells| words(cells[2])).unwrap_or_default();
    compare("classes of own exits", own, ExitClass::DECLARABLE.iter().map(|(n, _)| *n));
}

#[test]
fn the_order_of_exits() {
    let text = reference();
    let exits = section(&text, "Exits");
    let (_, order) = exits.split_once("in this order:").expect("the order is told");
    let (order, _) = order.split_once('.').expect("the sentence ends");
    let written: Vec<&str> = order.split('`').skip(1).step_by(2).collect();
    let mut classes: Vec<ExitClass> = variants::<ExitClass>().iter().map(|n| named(n)).collect();
    classes.sort();
    assert_eq!(written, classes.iter().map(name_of).collect::<Vec<_>>());
}

#[test]
fn error_kinds() {
    let text = reference();
    let kinds = variants::<ErrorKind>();
    compare("kinds", first_column(&text, "Error kinds"), kinds.iter().map(String::as_str));
    for cells in rows(section(&text, "Error kinds")) {
        let kind: ErrorKind = named(words(cells[0]).pop_first().expect("a name"));
        assert_eq!(cells[2] == "yes", kind.is_transient(), "{kind}");
        let (model, tool) = (kind.exit(ErrorClass::Model), kind.exit(ErrorClass::Tool));
        let exits = if model == tool { format!("`{model}`") } else { format!("`{model}` or `{tool}`") };
        assert_eq!(cells[3], exits, "{kind}");
    }
}

#[test]
fn the_status_of_a_run() {
    let text = reference();
    let of_report = [
        Some(ReportOutcome::Complete),
        Some(ReportOutcome::Partial),
        Some(ReportOutcome::Failed),
        None,
        Some(ReportOutcome::Skipped),
    ];
    compare(
        "outcomes",
        first_column(&text, "The stage of `finally`"),
        variants::<ReportOutcome>().iter().map(|n| &**n),
    );
    let judged = ["completion", "cap", "no_tool_calls", "gain", "budget", "error"];
    let mut seen = BTreeSet::new();
    for cells in rows(section(&text, "The status of a run")) {
        let named_classes = words(cells[0]);
        let (classes, findings) = match named_classes.is_empty() {
            true => (judged.into_iter().collect(), Some(0)),
            false => (named_classes, Some(1)),
        };
        for class in classes {
            seen.insert(class.to_owned());
            for (report, column) in of_report.iter().zip([1, 2, 3, 4, 4]) {
                let reason = ExitReason::of("own");
                let status = RunStatus::of_ended(&reason, named(class), findings, *report, false);
                assert_eq!(cells[column], status.name(), "{class}, {findings:?}, {report:?}");
            }
        }
    }
    assert_eq!(seen, variants::<ExitClass>().into_iter().collect());
}

#[test]
fn variables_and_expressions() {
    let text = reference();
    let mut variables = first_column(&text, "Variables");
    variables.extend(later(&text, "variable"));
    variables.insert("exit");
    compare("variables", variables, vocabulary::ROOTS);
    compare("filters", words(section(&text, "Filters")), vocabulary::FILTERS);
    compare("tests", words(section(&text, "Tests")), vocabulary::TESTS);
    compare("functions", words(section(&text, "Functions")), vocabulary::FUNCTIONS);
    let finish = rows(section(&text, "Verb: model"));
    assert!(!finish.is_empty());
    let (_, finish) = section(&text, "Verb: model").split_once("`finish` (").expect("it is told");
    let (finish, _) = finish.split_once(')').expect("the list ends");
    // A refusal and an empty answer are failures and never a result.
    let all = variants::<FinishReason>();
    compare(
        "finish",
        words(finish),
        all.iter().map(String::as_str).filter(|n| !["refusal", "empty"].contains(n)),
    );
}

#[test]
fn ops() {
    let text = reference();
    let table = OpTable::stock();
    let fields = |list: &[(std::sync::Arc<str>, deepgraph_graph::Field)]| -> String {
        let mark = |optional: bool| if optional { "?" } else { "" };
        let all: Vec<String> =
            list.iter().map(|(n, f)| format!("`{n}{}: {}`", mark(f.optional), f.ty)).collect();
        all.join(", ")
    };
    let row = |op: &Op| {
        format!(
            "| `{}` | {} | {} | {} |",
            op.name,
            fields(&op.input),
            fields(&op.result.fields),
            op.description
        )
    };
    let wanted: Vec<String> = table.names().filter_map(|n| table.get(n)).map(row).collect();
    let written: Vec<&str> = section(&text, "Ops").lines().filter(|l| l.starts_with('|')).skip(2).collect();
    assert_eq!(written, wanted, "the rows should be:\n{}", wanted.join("\n"));
    compare("ops", later(&text, "op"), vocabulary::LATER_OPS);
}

#[test]
fn codes() {
    let text = reference();
    let wanted: Vec<String> = CODES.iter().map(|(code, means)| format!("| `{code}` | {means} |")).collect();
    let written: Vec<&str> = section(&text, "Codes").lines().filter(|l| l.starts_with('|')).skip(2).collect();
    assert_eq!(written, wanted, "the rows should be:\n{}", wanted.join("\n"));
}
