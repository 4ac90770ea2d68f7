//! "Test your research graph" is carried out: its files are written, its commands run, what they print is compared.

use std::path::Path;
use std::process::Command;

use super::document;
use crate::support::repo;

/// Something that the document has the reader do.
enum Task {
    /// Write a file.
    Write { path: String, text: String },
    /// Run a command, which prints this.
    Run { line: usize, command: String, prints: Vec<String> },
}

/// The exit status of a command by what the document says it prints; none where that does not tell.
fn status(command: &str, prints: &[String]) -> Option<i32> {
    let is_said = |parts: &[&str]| prints.iter().any(|line| parts.iter().any(|part| line.starts_with(part)));
    // What is set for the command alone stands before it.
    let words: Vec<&str> = command.split(' ').skip_while(|word| word.contains('=')).collect();
    let command = words.join(" ");
    if command.starts_with("deepgraph test") {
        return Some(i32::from(is_said(&["NEW ", "CHANGED ", "FAIL "])));
    }
    if command.starts_with("deepgraph diff") {
        return Some(i32::from(!is_said(&["no difference"])));
    }
    let is_shown_whole = !prints.iter().any(|line| line.trim() == "…");
    (!command.starts_with("deepgraph") || is_shown_whole).then_some(0)
}

/// The tasks of a document: blocks "```yaml PATH" are files, blocks "```console" are commands behind `$ ` with what
/// they print.
fn tasks(text: &str) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let block: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        match info.split_once(' ') {
            None if info == "console" => tasks.extend(commands(&block)),
            Some((_, path)) => {
                let text = block.iter().map(|(_, line)| format!("{line}\n")).collect();
                tasks.push(Task::Write { path: path.to_owned(), text });
            }
            None => {}
        }
    }
    tasks
}

fn commands(block: &[(usize, &str)]) -> Vec<Task> {
    let mut found: Vec<Task> = Vec::new();
    for (index, line) in block {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => {
                found.push(Task::Run { line: index + 1, command: command.to_owned(), prints: Vec::new() });
            }
            (None, Some(Task::Run { prints, .. })) => prints.push((*line).to_owned()),
            (None, _) => panic!("line {}: output of no command", index + 1),
        }
    }
    found
}

/// A line without what differs each time: seconds that something took, ids of runs.
fn settled(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let bare = word.trim_matches(|c: char| "[](),".contains(c));
        let is_time = bare.split_once('.').is_some_and(|(whole, part)| {
            part.len() == 3
                && !whole.is_empty()
                && (whole.to_owned() + part).bytes().all(|b| b.is_ascii_digit())
        });
        words.push(if is_time { word.replace(bare, "N") } else { word.to_owned() });
    }
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

/// Whether what came is what is written; a line `…` stands for any lines.
fn is_same(written: &[String], came: &[String]) -> bool {
    match written.split_first() {
        None => came.is_empty(),
        Some((any, rest)) if any.trim() == "…" => (0..=came.len()).any(|skip| is_same(rest, &came[skip..])),
        Some((line, rest)) => came
            .split_first()
            .is_some_and(|(first, others)| settled(line) == settled(first) && is_same(rest, others)),
    }
}

/// What a command prints, and its exit status.
fn run(folder: &Path, bin: &Path, command: &str) -> (Vec<String>, Option<i32>) {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("DEEPGRAPH_HOME", bin.join("home"))
        .env_remove("CI")
        .env_remove("INSTA_UPDATE")
        .output()
        .expect("there is a shell");
    let printed = String::from_utf8_lossy(&output.stdout);
    (printed.lines().map(str::to_owned).collect(), output.status.code())
}

#[test]
fn the_commands_print_what_the_document_says() {
    let world = tempfile::tempdir().expect("there is room for a folder");
    let (folder, bin) = (world.path().join("a-clone"), world.path().join("bin"));
    for made in [&folder, &bin] {
        std::fs::create_dir(made).expect("the folder can be made");
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_deepgraph-under-test"), bin.join("deepgraph"))
        .expect("the command can be linked");
    let text = document("docs/testing.md");
    let tasks = tasks(&text);
    assert!(tasks.len() > 10, "{} tasks", tasks.len());
    for task in tasks {
        match task {
            Task::Write { path, text } => {
                let path = folder.join(path);
                std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("it can be made");
                std::fs::write(&path, text).expect("it can be written");
            }
            Task::Run { line, command, prints } => {
                let (came, code) = run(&folder, &bin, &command);
                if let Some(wanted) = status(&command, &prints) {
                    assert_eq!(code, Some(wanted), "docs/testing.md, line {line}: `{command}`: {came:?}");
                }
                assert!(
                    is_same(&prints, &came),
                    "docs/testing.md, line {line}: `{command}` prints\n{}\n\nand the document says\n{}",
                    came.join("\n"),
                    prints.join("\n")
                );
            }
        }
    }
}

#[test]
fn what_failed_or_differs_ends_with_1() {
    let prints = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (command, text, wanted) in [
        ("deepgraph test", "PASS      [  0.062 s] a/b\n1 case: 1 passed", Some(0)),
        ("deepgraph test", "PASS      [  0.062 s] a/b\nCHANGED   [  0.062 s] a/c", Some(1)),
        ("deepgraph test x", "FAIL      [  0.062 s] a/c", Some(1)),
        ("CI=true deepgraph test", "NEW       [  0.062 s] a/c", Some(1)),
        ("deepgraph diff a b", "no difference", Some(0)),
        ("deepgraph diff a b", "first divergence: x\n…", Some(1)),
        ("deepgraph run x", "…", None),
        ("rm -r notes", "", Some(0)),
    ] {
        assert_eq!(status(command, &prints(text)), wanted, "{command}: {text}");
    }
}

#[test]
fn what_is_compared_tells_texts_apart() {
    let lines = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert!(is_same(&lines(&["PASS [  0.039 s] a"]), &lines(&["PASS      [  1.200 s] a"])));
    assert!(is_same(&lines(&["a", "…", "d"]), &lines(&["a", "b", "c", "d"])));
    for (one, other) in [("PASS [ 0.039 s] a", "FAIL [ 0.039 s] a"), ("3 cases", "2 cases"), ("a", "b")] {
        assert!(!is_same(&lines(&[one]), &lines(&[other])), "{one} and {other}");
    }
    assert!(!is_same(&lines(&["a", "…", "e"]), &lines(&["a", "b", "c", "d"])));
    assert!(repo().join("docs/testing.md").is_file());
}
