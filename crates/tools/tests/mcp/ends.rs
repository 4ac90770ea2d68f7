//! Servers that end, and servers that have to be ended.

use std::time::{Duration, Instant};

use deepgraph_protocol::{ErrorKind, Map, Value};
use deepgraph_tools::mcp::{Options, Server, ToolDecl, Transport};

use crate::support::{
    LONG, arguments, command, connect, failure, hasty, is_alive, options, signal, text, until,
};

#[tokio::test]
async fn a_server_that_dies_fails_its_call_and_is_started_again_by_the_next() {
    let server = connect("plain").await;
    let first = text(&server, "pid").await;
    let error = failure(&server, "die").await;
    let program = env!("CARGO_BIN_EXE_scripted-mcp-server");
    assert_eq!(
        error.message,
        format!(
            "the MCP server \"files\" (command \"{program}\") ended during the call of files.die: the next call starts \
             it again; it ended (exit status: 9); on its standard error it says:\nfatal: out of memory"
        )
    );
    assert_eq!((error.kind, error.unsent), (ErrorKind::Network, false));
    let second = text(&server, "pid").await;
    assert_ne!(first, second);
    assert!(!is_alive(&first) && is_alive(&second));
}

#[tokio::test]
async fn a_server_that_died_between_two_calls_is_started_again_unnoticed() {
    let server = connect("plain").await;
    let first = text(&server, "pid").await;
    signal("KILL", &first);
    until("the process is gone", || !is_alive(&first)).await;
    // The end of its output has to be seen before a call can know.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_ne!(text(&server, "pid").await, first);
}

#[tokio::test]
async fn a_server_that_reads_no_more_holds_up_nothing() {
    let server = connect("plain").await;
    let pid = text(&server, "pid").await;
    signal("STOP", &pid);
    // More than fits between the two.
    let said = arguments(&[("text", Value::from("x".repeat(3_000_000)))]);
    for _ in 0..2 {
        let error = server.call("echo", &said, Duration::from_millis(200)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::StepTimeout);
    }
    let started = Instant::now();
    server.close().await;
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    until("the process is gone", || !is_alive(&pid)).await;
}

#[tokio::test]
async fn all_calls_under_way_fail_with_the_server_and_share_the_new_one() {
    let server = connect("plain").await;
    let slow = |server: Server| tokio::spawn(async move { failure(&server, "slow").await.kind });
    let under_way: Vec<_> = (0..5).map(|_| slow(server.clone())).collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    failure(&server, "die").await;
    for call in under_way {
        assert_eq!(call.await.unwrap(), ErrorKind::Network);
    }
    let pid = |server: Server| tokio::spawn(async move { text(&server, "pid").await });
    let pids: Vec<_> = (0..5).map(|_| pid(server.clone())).collect();
    let mut seen = Vec::new();
    for pid in pids {
        seen.push(pid.await.unwrap());
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:?}");
}

#[tokio::test]
async fn a_server_that_can_not_be_started_again_fails_each_call_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    std::fs::copy(env!("CARGO_BIN_EXE_scripted-mcp-server"), &program).unwrap();
    let Transport::Command { args, env, .. } = command("plain") else { panic!() };
    let program = program.to_str().unwrap().to_owned();
    let transport = Transport::Command { program: program.clone(), args, env };
    let server = Server::connect("files", transport, options()).await.unwrap();
    failure(&server, "die").await;
    std::fs::remove_file(&program).unwrap();
    for tried in [false, true] {
        let error = failure(&server, "pid").await;
        assert!(error.message.contains(&format!("there is no command \"{program}\"")), "{error}");
        assert_eq!((error.kind, error.unsent), (ErrorKind::Unavailable, true));
        // It ended and did not come back: it is left alone for a second.
        assert_eq!(
            error.message.contains("; it was tried 2 times, and is tried again in "),
            tried,
            "{error}"
        );
        assert_eq!(error.retry_after_ms.is_some_and(|left| left <= 1000), tried, "{error}");
    }
    // It may come back.
    std::fs::copy(env!("CARGO_BIN_EXE_scripted-mcp-server"), &program).unwrap();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    text(&server, "pid").await;
}

#[tokio::test]
async fn calls_that_wait_for_the_same_attempt_share_its_failure() {
    let mute = Server::lazy("files", command("mute"), connect("plain").await.tools().to_vec(), hasty());
    let started = Instant::now();
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let server = mute.clone();
            tokio::spawn(async move { failure(&server, "pid").await.kind })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), ErrorKind::Unavailable);
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_server_whose_tools_are_known_starts_with_the_first_call() {
    let tools = connect("plain").await.tools().to_vec();
    let server = Server::lazy("files", command("plain"), tools, options());
    assert_eq!(server.tools().len(), 18);
    assert!(server.tool("pid").is_some());
    assert!(is_alive(&text(&server, "pid").await));
}

#[tokio::test]
async fn a_tool_that_the_server_does_not_have_any_more_is_told_with_those_that_it_has() {
    let mut tools = connect("plain").await.tools().to_vec();
    let server = Server::lazy("files", command("toolless"), tools.clone(), options());
    let error = failure(&server, "pid").await;
    assert_eq!(error.message, "the MCP server \"files\" has no tool \"pid\": it has no tools");
    assert_eq!((error.kind, error.unsent), (ErrorKind::NotFound, true));
    let pid = server.tool("pid").unwrap().clone();
    tools.push(ToolDecl { name: "pids".to_owned(), ..pid });
    let server = Server::lazy("files", command("plain"), tools, options());
    let error = failure(&server, "pids").await;
    assert!(error.message.contains("the nearest names are pid, ") && error.unsent, "{error}");
    assert_eq!(error.message.matches("pids").count(), 1, "{error}");
}

#[tokio::test]
async fn a_closed_server_is_gone_and_takes_no_calls() {
    let server = connect("plain").await;
    let (pid, child) = (text(&server, "pid").await, text(&server, "spawn").await);
    assert!(is_alive(&pid) && is_alive(&child));
    server.close().await;
    assert!(!is_alive(&pid));
    until("what it started is gone too", || !is_alive(&child)).await;
    let error = failure(&server, "pid").await;
    assert_eq!(error.message, "the MCP server \"files\" is closed: its run has ended");
    assert_eq!(error.kind, ErrorKind::Cancelled);
    server.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_want_to_go_is_made_to() {
    let server = connect("stubborn").await;
    let pid = text(&server, "pid").await;
    let started = Instant::now();
    server.close().await;
    assert!(!is_alive(&pid));
    assert!(started.elapsed() >= Duration::from_millis(300), "it had its grace");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_server_that_is_dropped_is_ended_too() {
    let server = connect("stubborn").await;
    let pid = text(&server, "pid").await;
    drop(server);
    until("the process is gone", || !is_alive(&pid)).await;
}

#[test]
fn no_server_outlives_the_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (server, pid, child) = runtime.block_on(async {
        let patient = Options { grace: Duration::from_secs(600), ..options() };
        let server = Server::connect("files", command("stubborn"), patient).await.unwrap();
        let (pid, child) = (text(&server, "pid").await, text(&server, "spawn").await);
        (server, pid, child)
    });
    assert!(is_alive(&pid) && is_alive(&child));
    drop(runtime);
    for _ in 0..100 {
        if !is_alive(&pid) && !is_alive(&child) {
            drop(server);
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{pid} or {child} is still there");
}

#[tokio::test]
async fn a_connection_that_is_given_up_leaves_no_process() {
    for work in ["exec sleep 600", "trap '' TERM; while :; do sleep 0.1; done"] {
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("pid");
        let script = format!("echo $$ > {}; {work}", notes.display());
        let args = vec!["-c".to_owned(), script];
        let transport = Transport::Command { program: "sh".to_owned(), args, env: Vec::new() };
        let attempt = Server::connect("files", transport, options());
        assert!(tokio::time::timeout(Duration::from_millis(1500), attempt).await.is_err());
        let pid = std::fs::read_to_string(notes).unwrap().trim().to_owned();
        assert!(is_alive(&pid), "it has its grace");
        until("the process is gone", || !is_alive(&pid)).await;
    }
}

#[tokio::test]
async fn calls_under_way_end_when_the_server_is_closed() {
    let server = connect("plain").await;
    let call = tokio::spawn({
        let server = server.clone();
        async move { server.call("slow", &Map::new(), LONG).await.unwrap_err() }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.close().await;
    assert_eq!(call.await.unwrap().kind, ErrorKind::Network);
}
