//! `@modelcontextprotocol/server-everything`, over its standard streams and over HTTP: list, call, time out, die and come
//! back.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError, Value};
use deepgraph_runtime::tools::mcp::{Server, Transport};

use super::{Part, call, command, connected, free_port, map, names, npm, peers, text};

/// What it does by itself, whatever way it is reached.
async fn does_what_it_does(server: &Server) {
    let names = names(server);
    for tool in ["echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"] {
        assert!(names.contains(&tool), "{names:?}");
    }
    let hints =
        |name: &str| server.tool(name).map(|tool| (tool.read_only, tool.idempotent, tool.destructive));
    assert_eq!(hints("echo"), Some((Some(true), Some(true), Some(false))));
    assert_eq!(hints("toggle-simulated-logging"), Some((Some(false), Some(false), Some(false))));
    assert_eq!(text(server, "echo", r#"{"message": "tides — ü"}"#).await, "Echo: tides — ü");
    assert_eq!(text(server, "get-sum", r#"{"a": 40, "b": 2}"#).await, "The sum of 40 and 2 is 42.");
    let image = text(server, "get-tiny-image", "{}").await;
    assert!(image.contains("[image image/png, ") && !image.contains("iVBOR"), "{image}");
    let links = text(server, "get-resource-links", r#"{"count": 2}"#).await;
    assert_eq!(links.matches("[link ").count(), 2, "{links}");
    let resource =
        text(server, "get-resource-reference", r#"{"resourceType": "Blob", "resourceId": 1}"#).await;
    assert!(resource.contains("[resource demo://resource/"), "{resource}");
    let weather =
        call(server, "get-structured-content", r#"{"location": "Chicago"}"#).await.expect("it answers");
    let data = weather.get("data").and_then(|data| data.get("temperature")).expect("it is structured");
    assert!(data.as_float().is_some() || data.as_int().is_some(), "{data:?}");
}

async fn failure(server: &Server, tool: &str, arguments: &str) -> StepError {
    call(server, tool, arguments).await.expect_err("it fails")
}

/// A call that takes longer than it may is given up, and the server goes on.
async fn is_given_up(server: &Server) {
    let long = map(r#"{"duration": 30, "steps": 3}"#);
    let late = server.call("trigger-long-running-operation", &long, Duration::from_millis(300)).await;
    let late = late.expect_err("it takes half a minute");
    assert_eq!(late.kind, ErrorKind::StepTimeout, "{late}");
    assert_eq!(text(server, "echo", r#"{"message": "still here"}"#).await, "Echo: still here");
}

/// The server as a command of a shell that notes the number of the process that it becomes.
fn noted(script: &str, pids: &Path) -> Transport {
    let start = format!("echo $$ >> '{}'; exec node '{script}'", pids.display());
    command(&["sh", "-c", &start])
}

fn last_pid(pids: &Path) -> String {
    let text = std::fs::read_to_string(pids).expect("it was started");
    text.lines().last().expect("it noted its number").to_owned()
}

#[tokio::test]
async fn over_its_standard_streams() {
    let Some(folder) = peers(Part::Node) else { return };
    let dir = tempfile::tempdir().expect("there is room for a folder");
    let pids = dir.path().join("pids");
    let server = connected("everything", noted(&npm(folder, "server-everything"), &pids)).await;
    does_what_it_does(&server).await;
    let wrong = failure(&server, "get-sum", r#"{"a": "forty"}"#).await;
    assert_eq!(wrong.kind, ErrorKind::InvalidInput, "{wrong}");
    is_given_up(&server).await;
    // It dies in a call, and the next one finds it again.
    let first = last_pid(&pids);
    let doomed = tokio::spawn({
        let server = server.clone();
        async move { failure(&server, "trigger-long-running-operation", r#"{"duration": 30}"#).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let killed = Command::new("kill").args(["-KILL", &first]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let lost = doomed.await.expect("it does not panic");
    assert_eq!(lost.kind, ErrorKind::Network, "{lost}");
    assert!(lost.message.contains("everything") && lost.message.contains("the next call"), "{lost}");
    assert_eq!(text(&server, "echo", r#"{"message": "back"}"#).await, "Echo: back");
    assert_ne!(last_pid(&pids), first);
    server.close().await;
}

/// The server listening on a port; ended with this.
struct Listening(Child);

impl Listening {
    fn at(script: &str, port: u16) -> Listening {
        let mut command = Command::new("node");
        command.args([script, "streamableHttp"]).env("PORT", port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let listening = Listening(command.spawn().expect("node can be started"));
        for _ in 0..300 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return listening;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("it does not listen");
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn over_http() {
    let Some(folder) = peers(Part::Node) else { return };
    let (script, port) = (npm(folder, "server-everything"), free_port());
    let listening = Listening::at(&script, port);
    let transport = Transport::Http { url: format!("http://127.0.0.1:{port}/mcp"), headers: Vec::new() };
    let server = connected("everything", transport).await;
    does_what_it_does(&server).await;
    is_given_up(&server).await;
    drop(listening);
    // However the connection ends, the call fails by the server's name.
    let lost = failure(&server, "echo", r#"{"message": "?"}"#).await;
    assert!(matches!(lost.kind, ErrorKind::Network | ErrorKind::Unavailable), "{lost}");
    let down = failure(&server, "echo", r#"{"message": "?"}"#).await;
    assert_eq!((down.kind, down.unsent), (ErrorKind::Unavailable, true), "{down}");
    assert!(down.message.contains("the MCP server \"everything\" can not be reached"), "{down}");
    let _back = Listening::at(&script, port);
    let mut answer = call(&server, "echo", r#"{"message": "back"}"#).await;
    for _ in 0..40 {
        if answer.is_ok() {
            break;
        }
        // It is left alone for a while, and says how long.
        tokio::time::sleep(Duration::from_millis(250)).await;
        answer = call(&server, "echo", r#"{"message": "back"}"#).await;
    }
    assert_eq!(answer.expect("it is back").get("text"), Some(&Value::from("Echo: back")));
    server.close().await;
}
