//! No room left.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::desk::{Desk, names};
use crate::cli::world::Said;
use crate::support::postgres::Postgres;

/// A disk of its own in memory, at the home folder of a place.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None where this user may not mount anything.
    fn at(folder: &Path) -> Option<SmallDisk> {
        std::fs::create_dir_all(folder).expect("it can be made");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=64m", "tmpfs"]).arg(folder).output();
        mounted.is_ok_and(|said| said.status.success()).then(|| SmallDisk(folder.to_owned()))
    }

    /// Changes how much fits on it.
    fn resize(&self, bytes: u64) {
        let options = format!("remount,size={bytes}");
        let said =
            Command::new("mount").args(["-o", &options]).arg(&self.0).output().expect("there is mount");
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }

    /// How much is on it.
    fn used(&self) -> u64 {
        let said =
            Command::new("df").args(["-B1", "--output=used"]).arg(&self.0).output().expect("there is df");
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        text.lines().nth(1).and_then(|used| used.trim().parse().ok()).expect("df tells a number")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

#[test]
fn a_full_disk_is_named_and_the_run_goes_on_when_there_is_room() {
    let desk = Desk::new(None);
    let Some(disk) = SmallDisk::at(&desk.world.path("home")) else {
        // The next test, and those of the store, fill up a file without a disk of its own.
        eprintln!("no small disk: this user may not mount one");
        return;
    };
    let report = desk.whole();
    let mut begun = 0;
    for room in [150_000, 250_000, 350_000] {
        disk.resize(disk.used() + room);
        let said = Said::of(&mut desk.run());
        names(&said, "is full");
        assert!(said.err.contains("runs.sqlite"), "{}", said.err);
        disk.resize(64 << 20);
        let before = desk.journal();
        begun += before.len();
        desk.goes_on(&before, &report);
    }
    assert!(begun > 0, "the disk was full before anything was committed");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_named_and_the_run_goes_on_when_it_may() {
    let desk = Desk::new(None);
    let report = desk.whole();
    let run = desk.run();
    // Blocks of 512 bytes or 1 kB, as the shell likes: the file of the store is larger than either.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 250; exec \"$@\"", "sh"])
        .arg(run.get_program())
        .args(run.get_args());
    limited.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let said = Said::of(&mut limited);
    names(&said, "runs.sqlite");
    assert!(said.err.contains("disk I/O error"), "{}", said.err);
    let before = desk.journal();
    desk.goes_on(&before, &report);
}

#[test]
fn a_full_disk_of_the_server_is_named_and_the_run_goes_on_when_there_is_room() {
    let server = Postgres::shared();
    let desk = Desk::new(Some(server.database()));
    let url = desk.url.clone().expect("it has a server");
    let report = desk.whole();
    // The server's own error of a full disk, from the moment on at which some entries are there.
    server.sql_in(
        &url,
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF NEW.seq > 30 THEN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END IF; \
         RETURN NEW; END $$; \
         CREATE TRIGGER full_disk BEFORE INSERT ON deepgraph.entries FOR EACH ROW EXECUTE FUNCTION full_disk()",
    );
    let said = Said::of(&mut desk.run());
    names(&said, "is full");
    server.sql_in(&url, "DROP TRIGGER full_disk ON deepgraph.entries");
    let before = desk.journal();
    assert!(before.len() > 20, "{}", before.len());
    desk.goes_on(&before, &report);
}
