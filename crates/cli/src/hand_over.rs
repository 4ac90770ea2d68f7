//! Handing an exhausted run over to another program: `--on-exhausted`.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use deepgraph_runtime::Outcome;
use deepgraph_store::RunId;
use serde_json::json;

use crate::screen::{Screen, one_line};

/// The longest time that the command may take.
const LONGEST: Duration = Duration::from_secs(60);
/// The longest time that its output is waited for once it has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How often it is looked whether it has ended.
const BETWEEN: Duration = Duration::from_millis(20);

/// Runs a command with the end of a run as JSON on its standard input: `{type: "run_exhausted", run, status, exit, exits,
/// report, output, used}`. What it prints goes to standard error. Whatever goes wrong with it is told and changes nothing.
pub fn hand_over(command: &str, run: &RunId, outcome: &Outcome, screen: &Screen) {
    let end = &outcome.end;
    let said = json!({
        "type": "run_exhausted",
        "run": run,
        "status": outcome.status,
        "exit": end.exit,
        "exits": end.children,
        "report": end.report,
        "output": end.output,
        "used": end.settled,
    });
    match run_bounded(command, run, &said.to_string(), LONGEST) {
        Ok(printed) if printed.trim().is_empty() => {}
        Ok(printed) => screen.say(printed.trim_end()),
        Err(why) => screen.warn(&format!(
            "--on-exhausted: {} {why}; the run is over and kept as it is",
            one_line(command, 80)
        )),
    }
}

/// What a command printed; why it did not come to a good end.
fn run_bounded(command: &str, run: &RunId, said: &str, longest: Duration) -> Result<String, String> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut child = Command::new(shell)
        .arg(flag)
        .arg(command)
        .env("DEEPGRAPH_RUN", run.as_str())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|error| format!("can not be started: {error}"))?;
    // Both ends beside the wait: a program that reads late or prints much must not block us.
    if let Some(mut input) = child.stdin.take() {
        let said = said.to_owned();
        // One that does not read is no failure.
        thread::spawn(move || drop(input.write_all(said.as_bytes())));
    }
    let output = child.stdout.take();
    let (sender, printed) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        output.map(|mut output| output.read_to_end(&mut bytes));
        sender.send(String::from_utf8_lossy(&bytes).into_owned())
    });
    match wait(&mut child, longest)? {
        // A program that it left in the background may keep its output open.
        Some(status) if status.success() => Ok(printed.recv_timeout(LAST_WORDS).unwrap_or_default()),
        Some(status) => Err(format!("failed ({status})")),
        None => Err(format!("took longer than {} s and was stopped", longest.as_secs())),
    }
}

/// How a program ended; none where it was stopped.
fn wait(child: &mut Child, longest: Duration) -> Result<Option<std::process::ExitStatus>, String> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) if begun.elapsed() < longest => thread::sleep(BETWEEN),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
            Err(error) => return Err(format!("can not be waited for: {error}")),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run(command: &str, longest: Duration) -> Result<String, String> {
        run_bounded(command, &RunId::new(), "{\"status\":\"exhausted\"}", longest)
    }

    #[test]
    fn the_command_reads_the_end_and_is_bounded() {
        assert_eq!(run("cat", LONGEST).as_deref(), Ok("{\"status\":\"exhausted\"}"));
        assert_eq!(run("test -n \"$DEEPGRAPH_RUN\"", LONGEST).as_deref(), Ok(""));
        assert!(run("exit 3", LONGEST).is_err_and(|why| why.contains('3')));
        assert!(run("exec sleep 100", Duration::from_millis(1)).is_err_and(|why| why.contains("stopped")));
    }
}
