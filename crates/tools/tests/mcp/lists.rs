//! Lists of tools.

use deepgraph_protocol::Value;
use deepgraph_tools::mcp::{Server, ToolDecl};

use crate::http_server::{Form, HttpServer};
use crate::script::Manner;
use crate::support::{command, connect, failure, options, refused};

#[tokio::test]
async fn tools_are_listed_by_name_with_schema_and_hint() {
    let server = connect("plain").await;
    let names: Vec<&str> = server.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.is_sorted() && names.len() == 18, "{names:?}");
    let echo = server.tool("echo").unwrap();
    let schema = r#"{"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}"#;
    assert_eq!(
        *echo,
        ToolDecl {
            name: "echo".to_owned(),
            description: "Says it again.".to_owned(),
            input_schema: serde_json::from_str::<Value>(schema).unwrap(),
            read_only: Some(true),
            idempotent: Some(true),
            destructive: None,
        }
    );
    let add = server.tool("add").unwrap();
    assert_eq!(add.read_only, Some(false));
    let slow = server.tool("slow").unwrap();
    assert_eq!((slow.description.as_str(), slow.read_only), ("", None));
}

#[tokio::test]
async fn all_pages_make_one_list_in_which_each_name_stands_once() {
    assert_eq!(connect("pages").await.tools(), connect("plain").await.tools());
}

#[tokio::test]
async fn a_list_reads_the_same_after_it_was_kept() {
    let server = connect("plain").await;
    let kept = serde_json::to_string(server.tools()).unwrap();
    assert_eq!(serde_json::from_str::<Vec<ToolDecl>>(&kept).unwrap(), server.tools());
}

#[tokio::test]
async fn a_list_without_end_is_refused() {
    let message = refused(command("endless"), options()).await.to_string();
    assert_eq!(
        message,
        "the MCP server \"files\" lists more than 100 pages of tools: use a server with fewer tools"
    );
    let message = refused(command("many"), options()).await.to_string();
    assert_eq!(message, "the MCP server \"files\" lists more than 1000 tools: use a server with fewer tools");
}

#[tokio::test]
async fn lists_over_http_have_the_same_bounds() {
    for (manner, expected) in [
        (Manner::Endless, "lists more than 100 pages of tools"),
        (Manner::Many, "lists more than 1000 tools"),
        (Manner::Refusing, "with the error -32603 \"no licence for this host\""),
    ] {
        let site = HttpServer::start(manner, Form::Events).await;
        let message = refused(site.transport(), options()).await.to_string();
        assert!(message.contains(expected), "{message}");
    }
    let site = HttpServer::start(Manner::Toolless, Form::Events).await;
    assert!(Server::connect("files", site.transport(), options()).await.unwrap().tools().is_empty());
}

#[tokio::test]
async fn a_server_may_have_no_tools() {
    let server = connect("toolless").await;
    assert!(server.tools().is_empty());
    let message = failure(&server, "echo").await.message;
    assert_eq!(message, "the MCP server \"files\" has no tool \"echo\": it has no tools");
}
