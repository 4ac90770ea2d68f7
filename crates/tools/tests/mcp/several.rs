//! Several servers at once.

use std::time::{Duration, Instant};

use deepgraph_tools::mcp::{McpServers, Options, Transport};

use crate::support::{command, is_alive, options, text};

fn named(manners: &[(&str, &str)]) -> Vec<(String, Transport)> {
    manners.iter().map(|(name, manner)| (name.to_string(), command(manner))).collect()
}

#[tokio::test]
async fn all_servers_are_connected_to_and_closed_together() {
    let servers = McpServers::connect(named(&[("b", "plain"), ("a", "pages"), ("c", "toolless")]), options());
    let servers = servers.await.unwrap();
    let names: Vec<&str> = servers.iter().map(|server| server.name()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let (a, b) = (text(servers.get("a").unwrap(), "pid").await, text(servers.get("b").unwrap(), "pid").await);
    assert!(is_alive(&a) && is_alive(&b));
    assert!(servers.get("d").is_none());
    servers.close().await;
    assert!(!is_alive(&a) && !is_alive(&b));
}

#[tokio::test]
async fn each_server_that_fails_is_named_and_none_waits_for_another() {
    let options = Options { connect_timeout: Duration::from_secs(1), ..options() };
    let started = Instant::now();
    let servers = named(&[("x", "mute"), ("good", "plain"), ("y", "crash"), ("z", "mute"), ("w", "mute")]);
    let errors = McpServers::connect(servers, options).await.unwrap_err();
    let told: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
    for (message, name) in told.iter().zip(["w", "x", "y", "z"]) {
        assert!(message.starts_with(&format!("the MCP server \"{name}\"")), "{message}");
    }
    assert_eq!(told.len(), 4);
    assert!(started.elapsed() < Duration::from_millis(2900), "{:?}", started.elapsed());
}

#[tokio::test]
async fn no_servers_are_no_trouble() {
    let servers = McpServers::connect([], options()).await.unwrap();
    assert_eq!(servers.iter().count(), 0);
    servers.close().await;
}
