//! A server that is a command, spoken to over its standard streams.

use std::borrow::Cow;
use std::io;
use std::process::Stdio;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::DuplexStream;
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::declared::Options;
use super::process::Obituary;
use super::{environment, stdout};

/// Bytes of messages that are read ahead.
const READ_AHEAD: usize = 64 * 1024;

/// The streams of a started command. The command is ended when this is closed or dropped.
pub(super) struct Streams {
    messages: AsyncRwTransport<RoleClient, DuplexStream, ChildStdin>,
    obituary: Obituary,
    options: Options,
    stop: Option<oneshot::Sender<()>>,
}

/// Starts a command.
///
/// # Errors
///
/// What the system says where it can not be started.
pub(super) fn start(
    program: &str,
    args: &[String],
    env: &[(String, String)],
    options: Options,
) -> io::Result<(Streams, Obituary)> {
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(environment::kept());
    command.envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    // A group of its own: to be ended with all that it starts, and untouched by a Ctrl-C that is meant for us.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let (Some(stdin), Some(output), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::Error::other("it has no standard streams"));
    };
    let (stop, stopped) = oneshot::channel();
    let obituary = Obituary::watch(child, stderr, stopped, options.grace);
    let (to, from) = tokio::io::duplex(READ_AHEAD);
    tokio::spawn(read(output, to, options.most_answer_bytes, obituary.clone()));
    // The size of a line is bounded before it comes here.
    let messages = AsyncRwTransport::new(from, stdin).with_max_line_length(usize::MAX);
    Ok((Streams { messages, obituary: obituary.clone(), options, stop: Some(stop) }, obituary))
}

async fn read(output: ChildStdout, mut to: DuplexStream, most_bytes: usize, obituary: Obituary) {
    // An output that can not be read has ended, and one that is read no more does not count.
    let _ = stdout::hand_on(output, &mut to, most_bytes, |line| obituary.note_noise(line)).await;
    // Before the other side sees the end of `to`.
    obituary.note_silence();
}

impl Transport<RoleClient> for Streams {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "command".into()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.messages.send(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.messages.receive()
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // Not possible while a message is written to a command that does not read: such a command is ended without.
        let _ = timeout(self.options.grace, self.messages.close()).await;
        self.stop.take();
        self.obituary.wait().await;
        Ok(())
    }
}
