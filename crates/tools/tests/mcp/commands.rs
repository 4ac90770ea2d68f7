//! Calls of a server that is a command.

use std::time::{Duration, Instant};

use deepgraph_protocol::{ErrorKind, Map, StepError, Value};
use deepgraph_tools::mcp::{Options, Server, Transport};

use crate::support::{
    LONG, arguments, command, command_with, connect, failure, hasty, options, refused, text, until,
};

#[tokio::test]
async fn a_tool_is_called_and_brings_back_text_and_data() {
    let server = connect("plain").await;
    let sum = arguments(&[("a", Value::Int(40)), ("b", Value::Int(2))]);
    let result = server.call("add", &sum, LONG).await.unwrap();
    assert_eq!(result.to_json_text(), r#"{"data":{"sum":42},"text":"42"}"#);
    let said = "Grüße — 漢字 🦀 \"quoted\"\n\\ and \u{0}\u{2028} more";
    let result = server.call("echo", &arguments(&[("text", Value::from(said))]), LONG).await.unwrap();
    assert_eq!(result.text("text"), said);
    assert_eq!(result.get("data"), Some(&Value::Null));
    assert_eq!(text(&server, "picture").await, "[image image/png, 4 bytes]");
    server.close().await;
}

#[tokio::test]
async fn many_calls_run_at_once_and_each_gets_its_own_answer() {
    let server = connect("plain").await;
    let calls = (0..50).map(|n| {
        let server = server.clone();
        tokio::spawn(async move {
            let said = arguments(&[("text", Value::from(format!("call {n}")))]);
            (n, server.call("echo", &said, LONG).await.unwrap().text("text").to_owned())
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let (n, said) = call.await.unwrap();
        assert_eq!(said, format!("call {n}"));
    }
}

#[tokio::test]
async fn failures_say_what_the_tool_or_the_server_says() {
    let server = connect("plain").await;
    let error = |kind, message: &str| StepError::new(kind, message);
    assert_eq!(failure(&server, "fail").await, error(ErrorKind::Tool, "files.fail: no such customer: 17"));
    assert_eq!(
        failure(&server, "fail_silently").await,
        error(ErrorKind::Tool, "files.fail_silently: it failed and does not say why")
    );
    assert_eq!(
        failure(&server, "echo").await,
        error(
            ErrorKind::InvalidInput,
            "files.echo does not take these arguments: text: a string is required"
        )
    );
    assert_eq!(
        failure(&server, "fail_by_arguments").await,
        error(
            ErrorKind::InvalidInput,
            "files.fail_by_arguments does not take these arguments: Input validation error: expected number"
        )
    );
    assert_eq!(
        failure(&server, "refuse").await,
        error(ErrorKind::Tool, "files.refuse: the disk is full (error -32603)")
    );
    assert_eq!(
        failure(&server, "odd").await,
        error(ErrorKind::InvalidOutput, "the answer of files.odd can not be read: it is no result of a tool")
    );
    assert_eq!(failure(&server, "unknown_kind").await.kind, ErrorKind::InvalidOutput);
    assert_eq!(
        failure(&server, "ask").await,
        error(
            ErrorKind::InvalidRequest,
            "files.ask asks for input while it runs, which is not possible here: use another tool"
        )
    );
}

#[tokio::test]
async fn an_unknown_tool_is_not_asked_for() {
    let server = connect("plain").await;
    let error = failure(&server, "ecko").await;
    let start = "the MCP server \"files\" has no tool \"ecko\": the nearest names are echo, ";
    assert!(error.message.starts_with(start), "{error}");
    assert_eq!((error.kind, error.unsent), (ErrorKind::NotFound, true));
}

#[tokio::test]
async fn a_slow_tool_is_given_up_and_told_to_stop() {
    let notes = tempfile::NamedTempFile::new().unwrap();
    let path = notes.path().to_str().unwrap();
    let server =
        Server::connect("files", command_with("plain", &[("NOTES", path)]), options()).await.unwrap();
    let error = server.call("slow", &Map::new(), Duration::from_millis(200)).await.unwrap_err();
    let message =
        "files.slow did not answer within 0.2 s: it was told to stop; give the call a longer timeout";
    assert_eq!(error, StepError::new(ErrorKind::StepTimeout, message));
    let told = || std::fs::read_to_string(path).unwrap().matches("notifications/cancelled").count();
    until("the server is told that the call was given up", || told() == 1).await;

    // The same where the caller goes away.
    let call = tokio::spawn({
        let server = server.clone();
        async move { server.call("slow", &Map::new(), LONG).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    call.abort();
    until("the server is told that the caller is gone", || told() == 2).await;
    assert_eq!(text(&server, "picture").await, "[image image/png, 4 bytes]");
}

#[tokio::test]
async fn an_answer_that_is_too_large_fails_alone() {
    let small = Options { most_answer_bytes: 100_000, ..options() };
    let server = Server::connect("files", command("plain"), small).await.unwrap();
    let huge = |bytes| arguments(&[("bytes", Value::Int(bytes))]);
    let slow = tokio::spawn({
        let server = server.clone();
        async move { server.call("slow", &Map::new(), Duration::from_secs(2)).await.unwrap_err().kind }
    });
    let error = server.call("huge", &huge(3_000_000), LONG).await.unwrap_err();
    let message =
        "the answer of huge of the MCP server \"files\" is larger than 97.7 KiB: ask for less at once";
    assert_eq!(error, StepError::new(ErrorKind::InvalidRequest, message));
    let result = server.call("huge", &huge(90_000), LONG).await.unwrap();
    assert_eq!(result.text("text").len(), 90_000);
    assert_eq!(slow.await.unwrap(), ErrorKind::StepTimeout, "the other call went on");
}

#[tokio::test]
async fn eight_mebibytes_are_no_trouble() {
    let server = connect("plain").await;
    let bytes = 8 * 1024 * 1024 - 200;
    let result = server.call("huge", &arguments(&[("bytes", Value::Int(bytes))]), LONG).await.unwrap();
    assert_eq!(result.text("text").len() as i64, bytes);
    let error =
        server.call("huge", &arguments(&[("bytes", Value::Int(bytes + 200))]), LONG).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidRequest);
}

#[tokio::test]
async fn words_on_the_standard_output_are_skipped() {
    let server = connect("noisy").await;
    assert_eq!(text(&server, "noise").await, "quiet again");
    assert_eq!(text(&server, "noise").await, "quiet again");
}

#[tokio::test]
async fn a_command_gets_only_what_it_needs() {
    let server =
        Server::connect("files", command_with("plain", &[("DECLARED", "x"), ("LANG", "C")]), options());
    let names = text(&server.await.unwrap(), "env").await;
    let needed = "DECLARED HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER";
    assert!(names.contains("DECLARED") && names.contains("PATH"), "{names}");
    for name in names.split(' ') {
        assert!(needed.split(' ').any(|needed| needed == name), "{name} is none of its business");
    }
    // This test itself has more.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_named() {
    let program = "no-such-mcp-server";
    let missing = Transport::Command { program: program.to_owned(), args: Vec::new(), env: Vec::new() };
    let error = refused(missing, options()).await;
    assert_eq!(
        error.to_string(),
        "the MCP server \"files\" can not be started: there is no command \"no-such-mcp-server\"; install it, put its \
         folder on the PATH, or give its full path under mcp.files.command"
    );
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let folder = Transport::Command { program: "/".to_owned(), args: Vec::new(), env: Vec::new() };
    let error = refused(folder, options()).await.to_string();
    assert!(error.contains("\"/\": Permission denied") && error.contains("mcp.files.command"), "{error}");
}

#[tokio::test]
async fn a_command_that_crashes_is_told_with_its_last_words_but_no_secrets() {
    let error = refused(command_with("crash", &[("API_KEY", "k3y-of-mine")]), options()).await;
    let program = env!("CARGO_BIN_EXE_scripted-mcp-server");
    assert_eq!(
        error.to_string(),
        format!(
            "the MCP server \"files\" (command \"{program}\") ended before it was ready: start the command by hand to \
             see why; it ended (exit status: 3); on its standard error it says:\nTraceback:\n  config.py, line 3\n\
             ValueError: bad key ***"
        )
    );
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let started = Instant::now();
    let error = refused(command("mute"), hasty()).await;
    assert!(started.elapsed() < Duration::from_secs(5));
    let message = error.to_string();
    assert!(message.contains("was not ready after 0.4 s: is it an MCP server"), "{message}");
    assert!(message.ends_with("on its standard error it says:\nwaiting for a licence"), "{message}");
    assert_eq!(error.kind(), ErrorKind::StepTimeout);
    // Nor one that does not even read.
    assert_eq!(refused(command("deaf"), hasty()).await.kind(), ErrorKind::StepTimeout);
}

#[tokio::test]
async fn what_is_no_server_at_all_is_told() {
    let echo =
        Transport::Command { program: "echo".to_owned(), args: vec!["hello".to_owned()], env: Vec::new() };
    let message = refused(echo, options()).await.to_string();
    assert!(message.contains("(command \"echo\") ended before it was ready"), "{message}");
    assert!(message.contains("it ended (exit status: 0)"), "{message}");
    assert!(
        message.contains("on its standard output, where only MCP messages belong, it says \"hello\""),
        "{message}"
    );
    // It sends back all that it gets: requests, not answers.
    let cat = Transport::Command { program: "cat".to_owned(), args: Vec::new(), env: Vec::new() };
    assert_eq!(refused(cat, hasty()).await.kind(), ErrorKind::StepTimeout);
}

#[tokio::test]
async fn a_greeting_that_is_refused_is_told_with_the_reason() {
    let message = refused(command("refusing"), options()).await.to_string();
    assert!(
        message.ends_with(
            "does not answer as an MCP server: it answers the request for its greeting with the error -32603 \"no \
             licence for this host\""
        ),
        "{message}"
    );
}

#[tokio::test]
async fn a_server_of_the_protocol_without_greeting_is_spoken_to_as_well() {
    let server = connect("modern").await;
    let sum = arguments(&[("a", Value::Int(1)), ("b", Value::Int(2))]);
    assert_eq!(server.call("add", &sum, LONG).await.unwrap().text("text"), "3");
}
