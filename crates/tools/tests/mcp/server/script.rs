//! What the scripted server says, whatever carries it.

use serde_json::{Value as Json, json};

/// How a server behaves from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As the protocol says.
    Plain,
    /// It lists its tools in three pages.
    Pages,
    /// Each page of its list names a next one.
    Endless,
    /// It lists more tools than anybody wants.
    Many,
    /// It has no tools and does not know how to list them.
    Toolless,
    /// It knows only the protocol that has no greeting.
    Modern,
    /// It refuses the greeting.
    Refusing,
}

/// The answer to a message; none to a notification, and none where the server never answers.
pub fn reply(manner: Manner, message: &Json) -> Option<Json> {
    let id = message.get("id")?;
    let params = &message["params"];
    let outcome = match (manner, message["method"].as_str()?) {
        (Manner::Refusing, "initialize") => Err((-32_603, "no licence for this host".to_owned())),
        (Manner::Modern, "initialize") => Err((-32_601, "Method not found".to_owned())),
        (Manner::Modern, "server/discover") => Ok(discovery()),
        (_, "initialize") => Ok(greeting(params)),
        (Manner::Toolless, "tools/list") => Err((-32_601, "Method not found".to_owned())),
        (_, "tools/list") => Ok(page(manner, params["cursor"].as_str())),
        (_, "tools/call") => return called(id, params),
        (_, method) => Err((-32_601, format!("Method not found: {method}"))),
    };
    Some(match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err((code, text)) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}),
    })
}

fn greeting(params: &Json) -> Json {
    json!({
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    })
}

fn discovery() -> Json {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    })
}

/// All tools, not in the order of their names.
fn tools() -> Vec<Json> {
    let plain = [
        "slow",
        "fail",
        "fail_silently",
        "fail_by_arguments",
        "refuse",
        "lost_session",
        "die",
        "huge",
        "noise",
        "odd",
        "unknown_kind",
    ];
    let mut tools: Vec<Json> =
        plain.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
    tools.extend(["env", "pid", "spawn", "ask", "picture"].map(|name| {
        json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}})
    }));
    tools.push(json!({
        "name": "echo",
        "description": "Says it again.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "annotations": {"readOnlyHint": true, "idempotentHint": true},
    }));
    tools.push(json!({
        "name": "add",
        "description": "a + b",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
        "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}},
        "annotations": {"readOnlyHint": false, "destructiveHint": false},
    }));
    tools
}

fn page(manner: Manner, cursor: Option<&str>) -> Json {
    let tools = tools();
    match (manner, cursor) {
        (Manner::Pages, None) => json!({"tools": tools[..5], "nextCursor": "page 2"}),
        (Manner::Pages, Some("page 2")) => json!({"tools": [], "nextCursor": "page 3"}),
        (Manner::Pages, _) => {
            // With one that was listed before.
            let rest: Vec<&Json> = tools[5..].iter().chain(&tools[..1]).collect();
            json!({"tools": rest})
        }
        (Manner::Endless, _) => json!({"tools": tools[..1], "nextCursor": "again"}),
        (Manner::Many, _) => {
            let many = (0..1001).map(|n| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}}));
            json!({"tools": many.collect::<Vec<_>>()})
        }
        (Manner::Modern, _) => {
            json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"})
        }
        _ => json!({"tools": tools}),
    }
}

fn called(id: &Json, params: &Json) -> Option<Json> {
    let arguments = &params["arguments"];
    let result = match params["name"].as_str()? {
        "slow" => return None,
        "echo" if !arguments["text"].is_string() => {
            return Some(refusal(id, -32_602, "text: a string is required"));
        }
        "echo" => text(arguments["text"].as_str()?),
        "add" => {
            let sum = arguments["a"].as_i64()? + arguments["b"].as_i64()?;
            json!({"content": [{"type": "text", "text": sum.to_string()}], "structuredContent": {"sum": sum}})
        }
        "fail" => json!({"content": [{"type": "text", "text": "no such customer: 17"}], "isError": true}),
        "fail_by_arguments" => {
            let said = "MCP error -32602: Input validation error: expected number";
            json!({"content": [{"type": "text", "text": said}], "isError": true})
        }
        "fail_silently" => json!({"content": [], "isError": true}),
        "refuse" => return Some(refusal(id, -32_603, "the disk is full")),
        "lost_session" => return Some(refusal(id, -32_000, "Bad Request: No valid session ID provided")),
        "odd" => json!({"answer": 42}),
        "unknown_kind" => json!({"content": [{"type": "hologram", "data": "x"}]}),
        "ask" => json!({
            "resultType": "input_required",
            "inputRequests": {"q": {"method": "elicitation/create", "params": {
                "mode": "form", "message": "Which one?", "requestedSchema": {"type": "object", "properties": {}},
            }}},
            "requestState": "s",
        }),
        "picture" => json!({"content": [{"type": "image", "mimeType": "image/png", "data": "QUJDRA=="}]}),
        "huge" => text(&"x".repeat(usize::try_from(arguments["bytes"].as_u64()?).ok()?)),
        name => return Some(refusal(id, -32_602, &format!("Unknown tool: {name}"))),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// A result that is one text.
pub fn text(text: &str) -> Json {
    json!({"content": [{"type": "text", "text": text}]})
}

fn refusal(id: &Json, code: i32, message: &str) -> Json {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}
