//! A started process: what it said at last, how it ended, and that it ends.

use std::collections::VecDeque;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::words;

/// The last bytes of the standard error that are kept.
const MOST_STDERR: usize = 4096;
/// The last lines of it that a message shows.
const MOST_LINES: usize = 12;
/// The most characters of other output that a message shows.
const MOST_NOISE: usize = 200;
/// How long the last words of a process that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long a process whose output has ended may take to end itself, before a message says so.
const SETTLING: Duration = Duration::from_millis(500);

/// What is known of a process. Clones know the same.
#[derive(Clone, Debug)]
pub(super) struct Obituary {
    said: Arc<Mutex<Said>>,
    ended: watch::Receiver<Option<String>>,
}

#[derive(Debug, Default)]
struct Said {
    stderr: VecDeque<u8>,
    /// The first line on its standard output that was no message.
    noise: Option<String>,
    is_silent: bool,
}

impl Obituary {
    /// Watches over a process from now on. It is ended when the other side of `stop` is used or dropped.
    pub(super) fn watch(
        mut child: Child,
        stderr: impl AsyncRead + Send + Unpin + 'static,
        stop: oneshot::Receiver<()>,
        grace: Duration,
    ) -> Obituary {
        let (tell, ended) = watch::channel(None);
        let obituary = Obituary { said: Arc::default(), ended };
        let listener = tokio::spawn(obituary.clone().listen(stderr));
        let group = Group::of(&mut child);
        tokio::spawn(see_out(child, group, stop, grace, listener, tell));
        obituary
    }

    /// Notes a line on the standard output that was no message.
    pub(super) fn note_noise(&self, line: &str) {
        self.said().noise.get_or_insert_with(|| words::line(line, MOST_NOISE));
    }

    /// Notes that nothing more comes from its standard output.
    pub(super) fn note_silence(&self) {
        self.said().is_silent = true;
    }

    /// Whether nothing more comes from its standard output.
    pub(super) fn is_silent(&self) -> bool {
        self.said().is_silent
    }

    /// Waits until the process has ended and nothing of it is left.
    pub(super) async fn wait(&self) {
        let mut ended = self.ended.clone();
        // Fails only where its watcher is gone, and then so is the process.
        let _ = ended.wait_for(Option::is_some).await;
    }

    /// Gives a process whose output has ended the time to end, so that what is said of it is complete.
    pub(super) async fn settle(&self) {
        let _ = timeout(SETTLING, self.wait()).await;
    }

    /// How it ended and what it said at last, to stand behind a message; "" where there is nothing to tell.
    pub(super) fn tell(&self) -> String {
        let mut text = String::new();
        if let Some(how) = self.ended.borrow().as_ref() {
            text.push_str(&format!("; it ended ({how})"));
        }
        let said = self.said();
        if let Some(noise) = &said.noise {
            text.push_str(&format!(
                "; on its standard output, where only MCP messages belong, it says \"{noise}\""
            ));
        }
        let (front, back) = said.stderr.as_slices();
        let stderr = String::from_utf8_lossy(&[front, back].concat()).into_owned();
        let stderr = words::lines(&stderr, MOST_STDERR);
        let lines: Vec<&str> = stderr.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        if !lines.is_empty() {
            let last = &lines[lines.len().saturating_sub(MOST_LINES)..];
            text.push_str(&format!("; on its standard error it says:\n{}", last.join("\n")));
        }
        text
    }

    async fn listen(self, mut stderr: impl AsyncRead + Unpin) {
        let mut bytes = [0; 1024];
        // What can not be read was not said.
        while let Ok(count @ 1..) = stderr.read(&mut bytes).await {
            let mut said = self.said();
            said.stderr.extend(&bytes[..count]);
            let old = said.stderr.len().saturating_sub(MOST_STDERR);
            said.stderr.drain(..old);
        }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the end of a process, or brings it about, and tells how it was.
async fn see_out(
    mut child: Child,
    mut group: Group,
    stop: oneshot::Receiver<()>,
    grace: Duration,
    listener: JoinHandle<()>,
    tell: watch::Sender<Option<String>>,
) {
    let ended = tokio::select! {
        ended = child.wait() => ended,
        _ = stop => end(&mut child, &group, grace).await,
    };
    group.kill();
    let _ = timeout(LAST_WORDS, listener).await;
    let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
    tell.send_replace(Some(how));
}

/// Ends a process whose standard input is closed already: a server that keeps to the protocol goes by itself.
async fn end(child: &mut Child, group: &Group, grace: Duration) -> io::Result<ExitStatus> {
    if let Ok(ended) = timeout(grace, child.wait()).await {
        return ended;
    }
    if group.ask() {
        if let Ok(ended) = timeout(grace, child.wait()).await {
            return ended;
        }
    }
    child.kill().await?;
    child.wait().await
}

/// A process with all that it started. Killed when dropped: that is what happens when the runtime ends before it.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Group {
    /// The group of a process that was started as the first of a group of its own.
    fn of(child: &mut Child) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    /// Asks all to end. False where that is not possible.
    fn ask(&self) -> bool {
        self.signal(rustix::process::Signal::TERM)
    }

    /// Kills all that are left. After this, the number of the group may be another's.
    fn kill(&mut self) {
        self.signal(rustix::process::Signal::KILL);
        self.leader = None;
    }

    fn signal(&self, signal: rustix::process::Signal) -> bool {
        self.leader.is_some_and(|leader| rustix::process::kill_process_group(leader, signal).is_ok())
    }
}

#[cfg(not(unix))]
impl Group {
    fn of(_child: &mut Child) -> Group {
        Group {}
    }

    fn ask(&self) -> bool {
        false
    }

    fn kill(&mut self) {}
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn told(stderr: &str) -> String {
        let obituary =
            Obituary { said: Arc::default(), ended: watch::channel(Some("exit status: 1".to_owned())).1 };
        obituary.clone().listen(stderr.as_bytes()).await;
        obituary.tell()
    }

    #[tokio::test]
    async fn the_last_lines_of_the_standard_error_are_kept() {
        let lines: String = (0..2000).map(|n| format!("line {n}\n\n")).collect();
        let last: Vec<String> = (1988..2000).map(|n| format!("line {n}")).collect();
        let expected =
            format!("; it ended (exit status: 1); on its standard error it says:\n{}", last.join("\n"));
        assert_eq!(told(&lines).await, expected);
    }

    #[tokio::test]
    async fn a_long_line_is_kept_by_its_end() {
        let told = told(&format!("{}the end", "ü".repeat(10_000))).await;
        assert!(told.ends_with("üüthe end") && told.len() < MOST_STDERR + 100, "{}", told.len());
    }

    #[tokio::test]
    async fn nothing_said_is_nothing_told() {
        assert_eq!(told(" \n").await, "; it ended (exit status: 1)");
    }
}
