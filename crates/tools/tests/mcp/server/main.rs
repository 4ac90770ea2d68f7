//! An MCP server over its standard streams that behaves as its argument says, well or badly. Notifications that it
//! gets are kept in the file that the variable `NOTES` names, requests in that of `REQUESTS`.

mod script;

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::process::{Command, Stdio, exit};
use std::thread::sleep;
use std::time::Duration;

use script::Manner;
use serde_json::{Value as Json, json};

fn main() -> io::Result<()> {
    let manner = match std::env::args().nth(1).as_deref() {
        Some("plain") => Manner::Plain,
        Some("pages") => Manner::Pages,
        Some("endless") => Manner::Endless,
        Some("many") => Manner::Many,
        Some("toolless") => Manner::Toolless,
        Some("modern") => Manner::Modern,
        Some("refusing") => Manner::Refusing,
        Some("noisy") => {
            println!("Scripted server 1.0\nlistening on stdio\n{}", json!({"level": "info"}));
            Manner::Plain
        }
        Some("stubborn") => {
            serve(Manner::Plain)?;
            // The end of its input does not impress it.
            sleep(Duration::from_secs(600));
            return Ok(());
        }
        Some("mute") => {
            eprintln!("waiting for a licence");
            io::stdin().lines().for_each(drop);
            return Ok(());
        }
        Some("deaf" | "sleeper") => {
            sleep(Duration::from_secs(600));
            return Ok(());
        }
        Some("crash") => {
            let key = std::env::var("API_KEY").unwrap_or_default();
            eprintln!("\u{1b}[31mTraceback:\u{1b}[0m\n  config.py, line 3\nValueError: bad key {key}");
            exit(3);
        }
        other => {
            eprintln!("no manner {other:?}");
            exit(2);
        }
    };
    serve(manner)
}

fn serve(manner: Manner) -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let message: Json = serde_json::from_str(&line?)?;
        note(&message, if message.get("id").is_none() { "NOTES" } else { "REQUESTS" })?;
        if let Some(answer) = special(&message).or_else(|| script::reply(manner, &message)) {
            let mut out = io::stdout().lock();
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Tools that only a process can have.
fn special(message: &Json) -> Option<Json> {
    let text = match message["params"]["name"].as_str()? {
        "die" => {
            eprintln!("fatal: out of memory");
            exit(9);
        }
        "noise" => {
            println!("DEBUG: about to answer");
            "quiet again".to_owned()
        }
        "env" => {
            let mut names: Vec<String> =
                std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
            names.sort();
            names.join(" ")
        }
        "pid" => std::process::id().to_string(),
        "spawn" => {
            let mut sleeper = Command::new(std::env::current_exe().ok()?);
            let sleeper = sleeper.arg("sleeper").stdin(Stdio::null()).spawn().ok()?;
            sleeper.id().to_string()
        }
        _ => return None,
    };
    Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": script::text(&text)}))
}

fn note(message: &Json, variable: &str) -> io::Result<()> {
    let Some(path) = std::env::var_os(variable) else { return Ok(()) };
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    writeln!(file, "{message}")
}
