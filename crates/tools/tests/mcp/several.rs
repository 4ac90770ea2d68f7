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
    let mut servers = named(&[("good", "plain"), ("crashing", "crash")]);
    for n in 0..8 {
        servers.extend(named(&[(&format!("mute-{n}"), "mute")]));
    }
    let errors = McpServers::connect(servers, options).await.unwrap_err();
    let names = ["crashing", "mute-0", "mute-1", "mute-2", "mute-3", "mute-4", "mute-5", "mute-6", "mute-7"];
    assert_eq!(errors.len(), names.len(), "{errors:?}");
    for (error, name) in errors.iter().zip(names) {
        assert!(error.to_string().starts_with(&format!("the MCP server \"{name}\"")), "{error}");
    }
    assert!(started.elapsed() < Duration::from_secs(7), "{:?}", started.elapsed());
}

#[tokio::test]
async fn no_servers_are_no_trouble() {
    let servers = McpServers::connect([], options()).await.unwrap();
    assert_eq!(servers.iter().count(), 0);
    servers.close().await;
}
