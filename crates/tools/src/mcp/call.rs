//! One call of a tool.

use deepgraph_protocol::{Map, Value};
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ErrorCode, RequestMetaObject};
use rmcp::service::ServiceError;

use super::connection::{Connection, said};
use super::declared::Declared;
use super::error::McpError;
use super::stdout::TOO_LARGE;
use super::{answer, http_error, words};

/// The most characters of what a tool or server says of a failure.
const MOST_TEXT: usize = 4000;

/// Where a server finds the idempotency key of a call in its `_meta`.
const KEY: &str = "deepgraph/idempotency-key";

/// How servers of the TypeScript SDK begin the text of a failure that is one of the arguments.
const ARGUMENTS: &str = "MCP error -32602: ";

/// Calls a tool and waits for its answer. Where this is dropped, the server is told that nobody waits any more.
pub(super) async fn call(
    connection: &Connection,
    declared: &Declared,
    key: Option<&str>,
    tool: &str,
    arguments: &Map,
) -> Result<Value, McpError> {
    let arguments = arguments.iter().map(|(name, value)| (name.to_string(), value.to_json())).collect();
    let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    if let Some(key) = key {
        let mut meta = RequestMetaObject::default();
        meta.insert(KEY.to_owned(), key.into());
        params.meta = Some(meta);
    }
    match connection.peer.call_tool_once(params).await {
        Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
            Err(failed(declared, tool, &result))
        }
        Ok(CallToolResponse::Complete(result)) => Ok(answer::record(&result)),
        Ok(CallToolResponse::InputRequired(_)) => {
            Err(McpError::AsksBack { server: declared.name.clone(), tool: tool.to_owned() })
        }
        Ok(_) => Err(unreadable(declared, tool, "it is a task that goes on, which is not possible here")),
        Err(error) => Err(no_answer(connection, declared, tool, error).await),
    }
}

/// The tool says itself that it failed.
fn failed(declared: &Declared, tool: &str, result: &CallToolResult) -> McpError {
    let text = match answer::text(result) {
        text if !text.trim().is_empty() => text,
        _ => match &result.structured_content {
            Some(data) if !data.is_null() => Value::from_json(data).to_json_text(),
            _ => "it failed and does not say why".to_owned(),
        },
    };
    let text = words::lines(&declared.hide(&text), MOST_TEXT);
    let (server, tool) = (declared.name.clone(), tool.to_owned());
    match text.strip_prefix(ARGUMENTS) {
        Some(problem) => McpError::Arguments { server, tool, problem: problem.to_owned() },
        None => McpError::Failed { server, tool, text },
    }
}

async fn no_answer(
    connection: &Connection,
    declared: &Declared,
    tool: &str,
    error: ServiceError,
) -> McpError {
    match (error, &connection.obituary) {
        (ServiceError::McpError(error), _) => refused(declared, tool, &error),
        (ServiceError::TransportClosed | ServiceError::TransportSend(_), Some(obituary)) => {
            obituary.settle().await;
            McpError::EndedInCall {
                server: declared.name.clone(),
                program: declared.transport.shown(),
                tool: tool.to_owned(),
                said: said(declared, Some(obituary)),
            }
        }
        (ServiceError::TransportSend(error), None) => {
            http_error::of_transport(declared, &error, &format!("answer of {tool}"))
        }
        (ServiceError::TransportClosed, None) => {
            http_error::broken_off(declared, &format!("the answer of {tool} did not come to its end"))
        }
        (ServiceError::UnexpectedResponse, _) => unreadable(declared, tool, "it is no result of a tool"),
        (error, _) => http_error::broken_off(declared, &error.to_string()),
    }
}

/// The server answers with an error of the protocol.
fn refused(declared: &Declared, tool: &str, error: &ErrorData) -> McpError {
    let (server, tool) = (declared.name.clone(), tool.to_owned());
    let text = words::lines(&declared.hide(&error.message), MOST_TEXT);
    match error.code {
        ErrorCode(TOO_LARGE) => McpError::TooLarge {
            server,
            what: format!("answer of {tool}"),
            most_bytes: declared.options.most_answer_bytes,
        },
        ErrorCode::INVALID_PARAMS => McpError::Arguments { server, tool, problem: text },
        // Some servers forget their sessions and do not say so by the status that means it.
        ErrorCode(-32_001 | -32_000) if text.to_lowercase().contains("session") => {
            http_error::broken_off(declared, &text)
        }
        ErrorCode(code) => McpError::Failed { server, tool, text: format!("{text} (error {code})") },
    }
}

fn unreadable(declared: &Declared, tool: &str, problem: &str) -> McpError {
    McpError::Unreadable { server: declared.name.clone(), tool: tool.to_owned(), problem: problem.to_owned() }
}
