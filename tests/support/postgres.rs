//! A PostgreSQL server for tests: real, throw-away, in a temporary folder, reached over its socket.
//!
//! A shell of its own watches it. When the test process is gone, however it went, the shell stops the server and
//! removes the folder. The server does not wait for the disk (`fsync` is off): tests stop it, they do not pull plugs.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

/// Starts, stops and ends a server as it is told on its input.
const WATCH: &str = r#"
trap '' HUP INT TERM
dir=$1 bin=$2 pid=
start() {
    "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c fsync=off -c shared_buffers=16MB \
        -c max_connections=300 >>"$dir/log" 2>&1 &
    pid=$!
    until "$bin/pg_isready" -q -h "$dir"; do
        kill -0 "$pid" 2>/dev/null || { echo "the server ended: $(tail -n 5 "$dir/log" | tr '\n' ' ')"; return; }
        sleep 0.05
    done
    echo ready
}
stop() { kill -QUIT "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; }
if "$bin/initdb" -D "$dir/data" -A trust -U deepgraph -N --no-locale -E UTF8 >>"$dir/log" 2>&1; then
    start
else
    echo "initdb failed: $(tail -n 5 "$dir/log" | tr '\n' ' ')"
fi
while read -r word; do
    case $word in
        stop) stop; echo ready ;;
        start) start ;;
    esac
done
stop
rm -rf "$dir"
"#;

/// A server.
pub struct Postgres {
    bin: PathBuf,
    folder: PathBuf,
    watcher: Mutex<Watcher>,
}

struct Watcher {
    // Dropped first: the end of its input ends the watcher.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    shell: Child,
}

impl Postgres {
    /// The one server of this test binary.
    pub fn shared() -> &'static Postgres {
        static SERVER: OnceLock<Postgres> = OnceLock::new();
        SERVER.get_or_init(Postgres::start)
    }

    /// A server that belongs to one test, which may stop it.
    pub fn start() -> Postgres {
        let bin = programs();
        let folder = tempfile::Builder::new()
            .prefix("deepgraph-pg-")
            .tempdir()
            .expect("there is room for a folder")
            .keep();
        let user = server_user(&folder);
        let mut shell = Command::new("sh");
        shell.args(["-c", WATCH, "watch"]).arg(&folder).arg(&bin).current_dir(&folder);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some((uid, gid)) = user {
            chown(&folder, Some(uid), Some(gid)).expect("root can give a folder away");
            shell.uid(uid).gid(gid);
        }
        let mut shell = shell.spawn().expect("there is a shell");
        let input = shell.stdin.take();
        let output = BufReader::new(shell.stdout.take().expect("its output is a pipe"));
        let watcher = Mutex::new(Watcher { input, output, shell });
        let server = Postgres { bin, folder, watcher };
        server.expect_ready();
        server
    }

    /// The URL of a new, empty database.
    pub fn database(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("test{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.sql(&format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// The URL of a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user=deepgraph", self.folder.display())
    }

    /// Carries out statements in the database that every server has.
    pub fn sql(&self, sql: &str) -> String {
        self.sql_in(&self.url("postgres"), sql)
    }

    /// Carries out statements in the database of a URL, and gives what they print.
    pub fn sql_in(&self, url: &str, sql: &str) -> String {
        let said = Command::new(self.bin.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql])
            .output()
            .expect("psql can be started");
        assert!(said.status.success(), "{sql}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    }

    /// Stops the server at once, as a crash would: connections break, nothing is tidied up.
    pub fn stop(&self) {
        self.tell("stop");
        self.expect_ready();
    }

    /// Starts the server that was stopped.
    pub fn start_again(&self) {
        self.tell("start");
        self.expect_ready();
    }

    fn tell(&self, word: &str) {
        let mut watcher = self.watcher.lock().expect("no test panicked here");
        let input = watcher.input.as_mut().expect("it is open until the end");
        writeln!(input, "{word}").expect("the watcher is there");
    }

    fn expect_ready(&self) {
        let mut said = String::new();
        let mut watcher = self.watcher.lock().expect("no test panicked here");
        watcher.output.read_line(&mut said).expect("the watcher answers");
        assert_eq!(said.trim(), "ready", "the PostgreSQL server for tests");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Ok(watcher) = self.watcher.get_mut() {
            watcher.input = None;
            let _ = watcher.shell.wait();
        }
    }
}

/// The folder of the server's programs, of the latest version that is installed.
fn programs() -> PathBuf {
    let version = |folder: &Path| folder.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = installed.map(|entry| entry.path()).max_by_key(|folder| version(folder));
    let debian = debian.map(|folder| folder.join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        debian.into_iter().chain(std::env::split_paths(&path)).find(|bin| bin.join("initdb").exists());
    found.expect(
        "there is no PostgreSQL server for the tests: install it (apt-get install postgresql), or put the folder of \
         `initdb` and `postgres` on the PATH",
    )
}

/// The user that the server runs as: it refuses to run as root, so `postgres` or `nobody` stands in for it.
fn server_user(own: &Path) -> Option<(u32, u32)> {
    if std::fs::metadata(own).expect("it was just made").uid() != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("there are users");
    let user = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().ok());
        Some((fields.next()??, fields.next()??))
    };
    Some(user("postgres").or_else(|| user("nobody")).expect("there is a user for the server"))
}
