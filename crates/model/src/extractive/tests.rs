mod web;

use deepgraph_protocol::{Handoff, Map, Message, Source, ToolRole, ToolSpec};
use deepgraph_research::passage::render;
use serde_json::{Value as Json, json};

use super::*;

fn request(messages: Vec<Message>, tools: Vec<ToolSpec>, context: &[(&str, Value)]) -> ModelRequest {
    ModelRequest {
        model: NAME.into(),
        messages,
        tools,
        output: None,
        max_output: None,
        options: Map::new(),
        context: context.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
    }
}

fn tool(name: &str, role: ToolRole, schema: Json) -> ToolSpec {
    ToolSpec { name: name.into(), description: "".into(), parameters: Value::from_json(&schema), role }
}

fn text_parameters(required: &[&str], optional: &[&str]) -> Json {
    let names = required.iter().chain(optional);
    let properties: serde_json::Map<_, _> =
        names.map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// What a reply does, in short: its calls, or its text.
fn says(reply: &ModelReply) -> Vec<String> {
    if reply.tool_calls.is_empty() {
        return reply.text.lines().map(str::to_owned).collect();
    }
    reply.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect()
}

/// Adds a reply and the answers to its calls to a conversation.
fn go_on(messages: &mut Vec<Message>, reply: &ModelReply, answers: &[&str]) {
    messages.push(Message::assistant(reply.text.clone(), reply.tool_calls.clone()));
    for (call, answer) in reply.tool_calls.iter().zip(answers) {
        messages.push(Message::tool(call, *answer));
    }
}

fn passage(id: &str, title: &str, section: &str, text: &str) -> String {
    let source = Source {
        id: id.into(),
        title: title.into(),
        section: section.into(),
        document: format!("{}.json", title.to_lowercase()),
        text: text.into(),
        ..Source::default()
    };
    render(&[&source])
}

fn supervisor_tools() -> Vec<ToolSpec> {
    vec![
        tool("think_tool", ToolRole::Op("think".into()), text_parameters(&["reflection"], &[])),
        tool("Delegate", ToolRole::Graph, text_parameters(&["topic"], &["expected_output", "sources"])),
        tool("Done", ToolRole::Exit, text_parameters(&[], &[])),
    ]
}

/// The sub-questions that a supervisor's reply delegates; the name of any other tool.
fn delegated(reply: &ModelReply) -> Vec<String> {
    let topic = |call: &ToolCall| {
        let arguments: Json = serde_json::from_str(&call.arguments).unwrap();
        arguments["topic"].as_str().map_or_else(|| call.name.to_string(), str::to_owned)
    };
    reply.tool_calls.iter().map(topic).collect()
}

#[test]
fn a_supervisor_delegates_looks_and_completes() {
    let mut messages =
        vec![Message::system("Lead."), Message::user("Compare Uruguay and Chile on population and area")];
    let ask = |messages: &[Message]| answer(&request(messages.to_vec(), supervisor_tools(), &[]));
    let first = ask(&messages);
    assert_eq!(delegated(&first), ["Uruguay: population; area", "Chile: population; area"]);
    assert_eq!((&*first.tool_calls[0].id, &*first.tool_calls[1].id), ("call_1_1", "call_1_2"));
    assert!(first.tool_calls[0].arguments.contains("expected_output"));
    assert_eq!(first.finish, FinishReason::ToolCalls);
    go_on(
        &mut messages,
        &first,
        &[
            "Uruguay — Population: 3. [uy-1]\nNot found: area of Uruguay",
            "refused: at most 1 call runs in one turn",
        ],
    );
    let second = ask(&messages);
    assert_eq!(delegated(&second), ["Chile: population; area", "Uruguay: large"]);
    go_on(
        &mut messages,
        &second,
        &["Chile — Population: 19. [cl-1]\nNot found: area of Chile", "Not found: large of Uruguay"],
    );
    let third = ask(&messages);
    assert_eq!(delegated(&third), ["Chile: large"]);
    go_on(&mut messages, &third, &["Chile — Area: 756,102 sq km. [cl-2]"]);
    assert_eq!(delegated(&ask(&messages)), ["Done"]);
}

#[test]
fn a_supervisor_delegates_five_a_turn_and_nothing_in_vain() {
    let ask = |messages: &[Message]| answer(&request(messages.to_vec(), supervisor_tools(), &[]));
    let mut messages =
        vec![Message::user("Area of Chile, Peru, Brazil, Bolivia, Ecuador, Uruguay and Freedonia")];
    let first = ask(&messages);
    assert_eq!(delegated(&first).len(), 5);
    go_on(&mut messages, &first, &["Found. [a-1]"; 5]);
    let second = ask(&messages);
    assert_eq!(delegated(&second), ["Uruguay: Area", "Freedonia: Area"]);
    let unheard = "Not found: Area of Freedonia (no source speaks of Freedonia)";
    go_on(&mut messages, &second, &["Found. [a-1]", unheard]);
    assert_eq!(delegated(&ask(&messages)), ["Done"]);
    assert_eq!(delegated(&ask(&[Message::user("")])), ["Done"]);
}

#[test]
fn a_call_that_is_always_refused_is_given_up() {
    let mut messages = vec![Message::user("Area of Chile")];
    for _ in 0..3 {
        let reply = answer(&request(messages.clone(), supervisor_tools(), &[]));
        assert_eq!(delegated(&reply), ["Chile: Area"]);
        go_on(&mut messages, &reply, &["refused: no"]);
    }
    assert_eq!(delegated(&answer(&request(messages, supervisor_tools(), &[]))), ["Done"]);
}

#[test]
fn an_approved_plan_is_what_is_delegated() {
    let plan =
        Value::from_json(&json!({"objective": "x", "sub_questions": ["Area of Chile", "Exports of Peru"]}));
    let messages = vec![Message::user("Compare Chile and Peru on everything")];
    let reply = answer(&request(messages, supervisor_tools(), &[("plan", plan)]));
    assert_eq!(delegated(&reply), ["Chile: Area", "Peru: Exports"]);
}

#[test]
fn without_a_way_out_a_supervisor_answers_in_text() {
    let tools = vec![tool("Delegate", ToolRole::Graph, text_parameters(&["topic"], &[]))];
    let mut messages = vec![Message::user("Area of Chile")];
    let first = answer(&request(messages.clone(), tools.clone(), &[]));
    go_on(&mut messages, &first, &["Chile — Area: 756,102 sq km. [cl-2]"]);
    assert_eq!(says(&answer(&request(messages, tools, &[]))), ["Chile — Area: 756,102 sq km. [cl-2]"]);
}

fn researcher_tools() -> Vec<ToolSpec> {
    vec![
        tool("search", ToolRole::Op("search".into()), text_parameters(&["query"], &[])),
        tool("read", ToolRole::Op("read".into()), text_parameters(&["source"], &["query"])),
        tool("think_tool", ToolRole::Op("think".into()), text_parameters(&["reflection"], &[])),
    ]
}

fn objective(text: &str) -> Vec<(&'static str, Value)> {
    vec![("objective", Value::from(text))]
}

#[test]
fn a_researcher_searches_reads_and_stops() {
    let objective = objective("Uruguay: population; area");
    let mut messages = vec![Message::system("Research."), Message::user("Uruguay: population; area")];
    let ask = |messages: &[Message]| answer(&request(messages.to_vec(), researcher_tools(), &objective));
    let first = ask(&messages);
    assert_eq!(
        says(&first),
        [r#"search {"query":"Uruguay population"}"#, r#"search {"query":"Uruguay area"}"#]
    );
    let people = passage("uy-7", "Uruguay", "People", "Population › total: 3,449,444 (2025 est.)");
    let other = passage("br-1", "Brazil", "People", "Population › total: 221,359,387 (2025 est.)");
    go_on(&mut messages, &first, &[&format!("{people}\n{other}"), &other]);
    let second = ask(&messages);
    assert_eq!(says(&second), [r#"read {"query":"population area","source":"uy-7"}"#]);
    let area = passage("uy-2", "Uruguay", "Geography", "Area › total: 176,215 sq km");
    go_on(&mut messages, &second, &[&format!("{people}\n{area}")]);
    let found = [
        "Uruguay — Population › total: 3,449,444 (2025 est.). [uy-7]",
        "Uruguay — Area › total: 176,215 sq km. [uy-2]",
    ];
    assert_eq!(says(&ask(&messages)), found);
    // The compressor says the same of the same conversation.
    messages.push(Message::user("Write the handoff for: Uruguay: population; area"));
    assert_eq!(says(&answer(&request(messages, Vec::new(), &objective))), found);
}

#[test]
fn a_researcher_gives_up_on_what_is_not_there() {
    let objective = objective("Freedonia: population");
    let mut messages = vec![Message::user("Freedonia: population")];
    let ask = |messages: &[Message]| answer(&request(messages.to_vec(), researcher_tools(), &objective));
    let other = passage("br-1", "Brazil", "People", "Population › total: 221,359,387 (2025 est.)");
    let first = ask(&messages);
    go_on(&mut messages, &first, &[&other]);
    let second = ask(&messages);
    assert_eq!(says(&second), [r#"search {"query":"Freedonia"}"#]);
    go_on(&mut messages, &second, &["No passage matches."]);
    let last = ask(&messages);
    assert_eq!(says(&last), ["Not found: population of Freedonia (no source speaks of Freedonia)"]);
    assert_eq!(last.finish, FinishReason::Stop);
}

#[test]
fn a_researcher_makes_few_calls_whatever_comes_back() {
    for answer_text in ["", "refused: the limit is used up", "error: tool: broken", "[x", "nonsense"] {
        let mut messages =
            vec![Message::user("Compare Chile and Peru on area, exports, imports, climate and terrain")];
        let mut calls = 0;
        for turn in 0.. {
            let reply = answer(&request(messages.clone(), researcher_tools(), &[]));
            if reply.tool_calls.is_empty() {
                break;
            }
            calls += reply.tool_calls.len();
            assert!(turn < 6 && calls <= 6, "{answer_text:?}");
            go_on(&mut messages, &reply, &vec![answer_text; reply.tool_calls.len()]);
        }
    }
}

#[test]
fn a_single_loop_ends_in_a_report() {
    let mut messages = vec![Message::user("What is the population of Uruguay?")];
    let first = answer(&request(messages.clone(), researcher_tools()[..1].to_vec(), &[]));
    let people = passage("uy-7", "Uruguay", "People", "Population › total: 3,449,444 (2025 est.)");
    go_on(&mut messages, &first, &[&people]);
    let last = answer(&request(messages, researcher_tools()[..1].to_vec(), &[]));
    assert!(
        last.text.contains("- Uruguay — Population › total: 3,449,444 (2025 est.). [uy-7]\n"),
        "{}",
        last.text
    );
    assert!(last.text.contains(NOTE));
}

fn handoff(objective: &str, text: &str, sources: &[&str], unknowns: &[&str]) -> Value {
    let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
    let findings = sources.len() as u64;
    let (objective, text) = (objective.to_owned(), text.to_owned());
    Value::of(&Handoff {
        objective,
        text,
        findings,
        sources: owned(sources),
        unknowns: owned(unknowns),
        dates: Vec::new(),
        facts: Vec::new(),
    })
}

#[test]
fn a_writer_reports_what_was_handed_over() {
    let unheard = "population of Freedonia (no source speaks of Freedonia)";
    let handoffs = vec![
        handoff(
            "Uruguay: population",
            "Uruguay — Population › total: 3,449,444 (2025 est.). [uy-7]",
            &["uy-7"],
            &[],
        ),
        handoff("Freedonia: population", &format!("Not found: {unheard}"), &[], &[unheard]),
    ];
    let question = Value::from("Compare the population of Uruguay and Freedonia");
    let context = [("question", question.clone()), ("handoffs", Value::from(handoffs))];
    let reply = answer(&request(vec![Message::user("Write the report.")], Vec::new(), &context));
    assert_eq!(
        &*reply.text,
        format!(
            "# Compare the population of Uruguay and Freedonia\n\n*{NOTE}*\n\n- Uruguay — Population › total: 3,449,444 (2025 est.). [uy-7]\n\n## Not found\n\n- Nothing was found about Freedonia in the sources.\n"
        )
    );
    let none = [("question", question), ("handoffs", Value::empty_list())];
    let reply = answer(&request(vec![Message::user("Write the report.")], Vec::new(), &none));
    assert!(reply.text.contains("Nothing was found in the sources that answers this."), "{}", reply.text);
}

#[test]
fn passages_and_notes_in_the_state_are_answered_from() {
    let hits = Value::from_json(&json!([
        {"source": "uy-7", "document": "uy.json", "title": "Uruguay", "text": "Population: 3,449,444", "score": 1.0},
        {"source": "br-1", "document": "br.json", "title": "Brazil", "text": "Population: 221,359,387", "score": 0.5},
    ]));
    let question = ("question", Value::from("What is the population of Uruguay?"));
    let prompt = || vec![Message::user("Answer.")];
    let reply = answer(&request(prompt(), Vec::new(), &[question.clone(), ("hits", hits)]));
    assert!(
        reply.text.contains("- Uruguay — Population: 3,449,444. [uy-7]\n") && !reply.text.contains("221"),
        "{}",
        reply.text
    );
    let notes = Value::from_json(&json!(["The population of Uruguay is 3,449,444.", "Chile is long."]));
    let reply = answer(&request(prompt(), Vec::new(), &[question, ("notes", notes)]));
    assert_eq!(&*reply.text, "The population of Uruguay is 3,449,444.");
}

#[test]
fn a_brief_is_the_question_with_what_was_added() {
    let context =
        [("question", Value::from(" Area of Chile? ")), ("answers", Value::from_json(&json!(["In 2024."])))];
    assert_eq!(
        &*answer(&request(vec![Message::user("prompt")], Vec::new(), &context)).text,
        "Area of Chile?\n\nIn 2024."
    );
    let nothing = [("question", Value::from("")), ("answers", Value::empty_list())];
    assert_eq!(&*answer(&request(vec![Message::user("prompt")], Vec::new(), &nothing)).text, "");
    assert_eq!(
        &*answer(&request(vec![Message::user("Area of Chile?")], Vec::new(), &[])).text,
        "Area of Chile?"
    );
}

#[tokio::test]
async fn it_costs_nothing_and_names_itself() {
    let request = request(vec![Message::user("Area of Chile?")], Vec::new(), &[]);
    let seen = std::sync::Mutex::new(String::new());
    let reply = Extractive.reply(&request, &|piece| seen.lock().unwrap().push_str(piece)).await.unwrap();
    assert_eq!(
        (reply.usage.tokens(), reply.cost_micro_usd, reply.model.as_str()),
        (0, Some(0), "extractive")
    );
    assert_eq!(*seen.lock().unwrap(), *reply.text);
    assert_eq!(reply, answer(&request));
}

#[test]
fn no_conversation_breaks_it() {
    let orphan = ToolCall { id: "x".into(), name: "search".into(), arguments: "{not json".into() };
    let conversations = [
        vec![],
        vec![Message::system("")],
        vec![Message::tool(&orphan, "[a-1] x (y)\n")],
        vec![Message::user("\u{301}"), Message::assistant("", vec![orphan.clone(), orphan.clone()])],
        vec![Message::user("?".repeat(50_000))],
        vec![Message::user("Compare Chile and Peru ".repeat(2_000))],
    ];
    for messages in conversations {
        for tools in [supervisor_tools(), researcher_tools(), Vec::new()] {
            let _ = answer(&request(messages.clone(), tools, &[]));
        }
    }
}

#[test]
fn each_of_several_subjects_is_read_in_turn() {
    let asked = "Compare Uruguay, Chile, Brazil and Paraguay on population";
    let tools = researcher_tools();
    let context = objective(asked);
    let mut messages = vec![Message::user(asked)];
    let first = answer(&request(messages.clone(), tools.clone(), &context));
    assert_eq!(first.tool_calls.len(), 4, "{:?}", says(&first));
    let found: Vec<String> = ["Uruguay", "Chile", "Brazil", "Paraguay"]
        .iter()
        .map(|name| passage(&format!("{}-1", &name[..2].to_lowercase()), name, "Energy", "Coal: 3 tons"))
        .collect();
    go_on(&mut messages, &first, &found.iter().map(String::as_str).collect::<Vec<_>>());
    let second = says(&answer(&request(messages, tools, &context)));
    for id in ["ur-1", "ch-1", "br-1", "pa-1"] {
        assert!(second.iter().any(|call| call.starts_with("read") && call.contains(id)), "{id}: {second:?}");
    }
}

#[test]
fn a_name_found_only_in_other_names_is_looked_for_in_full() {
    let asked = "What is the population of the Republic of Korea?";
    let (tools, context) = (researcher_tools(), objective(asked));
    let mut messages = vec![Message::user(asked)];
    let first = answer(&request(messages.clone(), tools.clone(), &context));
    go_on(&mut messages, &first, &[&passage("kn-1", "North Korea", "", "Population › total: 26,000,000")]);
    let second = answer(&request(messages.clone(), tools.clone(), &context));
    assert!(says(&second)[0].contains("Republic of Korea conventional long form"), "{:?}", says(&second));
    let south = passage("ks-9", "South Korea", "Government", "conventional long form: Republic of Korea");
    go_on(&mut messages, &second, &[&south, ""]);
    let third = says(&answer(&request(messages, tools, &context)));
    assert!(third.len() == 1 && third[0].starts_with("read") && third[0].contains("ks-9"), "{third:?}");
}
