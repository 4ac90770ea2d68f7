//! An OpenAI-compatible server that plays the stages of the stock graph, in as many rounds as it is told.
//!
//! It remembers nothing of a conversation: the turn is the number of assistant messages in the request, so it can
//! be asked in any order and again after a crash.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What the server plays.
#[derive(Clone, Copy)]
pub struct Play {
    /// Rounds of `ConductResearch` before `ResearchComplete`.
    pub rounds: usize,
    /// Calls in a round.
    pub parallel: usize,
    /// Searches of a researcher, one a turn.
    pub searches: usize,
    /// Time that an answer takes.
    pub latency: Duration,
}

/// A running server. It lives as long as the test process.
pub struct Server {
    pub url: String,
    calls: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Server {
    pub fn start(play: Play) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let url = format!("http://{}/v1", listener.local_addr().expect("it is bound"));
        let calls: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
        let counted = calls.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = counted.clone();
                std::thread::spawn(move || serve(stream, play, &counted));
            }
        });
        Server { url, calls }
    }

    /// Calls so far, by stage.
    pub fn calls(&self) -> BTreeMap<String, usize> {
        self.calls.lock().expect("counting does not panic").clone()
    }

    /// All calls so far.
    pub fn all_calls(&self) -> usize {
        self.calls().values().sum()
    }
}

/// Answers the requests of one connection until it is closed. A client that was killed is no trouble.
fn serve(stream: TcpStream, play: Play, calls: &Mutex<BTreeMap<String, usize>>) {
    let Ok(mut out) = stream.try_clone() else { return };
    let mut input = BufReader::new(stream);
    while let Some(body) = read_request(&mut input) {
        let stage = stage(&body);
        *calls.lock().expect("counting does not panic").entry(stage.to_owned()).or_default() += 1;
        std::thread::sleep(play.latency);
        let message = answer(stage, &body, play);
        let (kind, payload) = if body["stream"] == json!(true) {
            ("text/event-stream", events(&message))
        } else {
            ("application/json", whole(&message))
        };
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", payload.len());
        if out.write_all(head.as_bytes()).and_then(|()| out.write_all(payload.as_bytes())).is_err() {
            return;
        }
    }
}

fn read_request(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn stage(body: &Value) -> &'static str {
    let offers = |name: &str| {
        body["tools"].as_array().is_some_and(|tools| tools.iter().any(|t| t["function"]["name"] == name))
    };
    let output = body["response_format"]["json_schema"]["name"].as_str();
    let last = body["messages"].as_array().and_then(|m| m.last()).and_then(|m| m["content"].as_str());
    match output {
        Some("ClarifyWithUser") => "clarify",
        Some("ResearchQuestion") => "brief",
        _ if offers("ConductResearch") => "supervisor",
        _ if offers("search") => "researcher",
        _ if last.is_some_and(|l| l.starts_with("Clean up")) => "compress",
        _ => "report",
    }
}

fn answer(stage: &str, body: &Value, play: Play) -> Value {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let turn = messages.iter().filter(|m| m["role"] == "assistant").count();
    let call = |i: usize, name: &str, arguments: Value| {
        json!({"id": format!("call_{turn}_{i}"), "type": "function",
               "function": {"name": name, "arguments": arguments.to_string()}})
    };
    let calls = |calls: Vec<Value>| json!({"role": "assistant", "content": "", "tool_calls": calls});
    let says = |text: String| json!({"role": "assistant", "content": text});
    match stage {
        "clarify" => {
            says(json!({"need_clarification": false, "question": null, "verification": "ok"}).to_string())
        }
        "brief" => says(json!({"research_brief": "I want to know about the vessels."}).to_string()),
        "supervisor" if turn < play.rounds => calls(
            (0..play.parallel)
                .map(|i| {
                    call(
                        i,
                        "ConductResearch",
                        json!({"research_topic": format!("round {turn}, topic {i}: vessel range")}),
                    )
                })
                .collect(),
        ),
        "supervisor" => calls(vec![call(0, "ResearchComplete", json!({}))]),
        "researcher" if turn < play.searches => {
            calls(vec![call(0, "search", json!({"query": format!("range of the vessel {turn}")}))])
        }
        "researcher" => says("I have enough.".into()),
        "compress" => says(format!("The range was measured. {}", first_id(messages))),
        _ => says(format!("# Report\n\nThe range was measured. {}", first_id(messages))),
    }
}

/// The first source id that stands in the conversation, in brackets.
fn first_id(messages: &[Value]) -> String {
    // The system prompts show an id as an example.
    let texts = messages.iter().filter(|m| m["role"] != "system").filter_map(|m| m["content"].as_str());
    let ids = texts.flat_map(|t| t.split('[').skip(1)).filter_map(|rest| rest.split(']').next());
    let is_id = |id: &&str| id.len() > 7 && id.as_bytes()[6] == b'-' && id.is_ascii();
    ids.filter(is_id)
        .find(|id| id[7..].bytes().all(|b| b.is_ascii_digit()))
        .map_or(String::new(), |id| format!("[{id}]"))
}

fn finish(message: &Value) -> &'static str {
    if message["tool_calls"].is_array() { "tool_calls" } else { "stop" }
}

fn whole(message: &Value) -> String {
    json!({"id": "x", "object": "chat.completion", "created": 1, "model": "played",
           "choices": [{"index": 0, "message": message, "finish_reason": finish(message)}],
           "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
    .to_string()
}

fn events(message: &Value) -> String {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    deltas.push(json!({"content": message["content"]}));
    for (i, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let mut call = call.clone();
        call["index"] = json!(i);
        deltas.push(json!({"tool_calls": [call]}));
    }
    let base = |choices: Value, usage: Value| {
        json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "played",
               "choices": choices, "usage": usage})
    };
    let mut chunks: Vec<Value> = deltas
        .into_iter()
        .map(|delta| base(json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null))
        .collect();
    chunks.push(base(json!([{"index": 0, "delta": {}, "finish_reason": finish(message)}]), Value::Null));
    chunks.push(base(json!([]), json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})));
    let mut text: String = chunks.iter().map(|c| format!("data: {c}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    text
}
