//! Counting with valgrind's callgrind.

use std::process::Command;

/// The instructions of one run of a workload: this program is run again under callgrind, which counts only within
/// `measured`.
pub fn count(workload: &str) -> Result<u64, String> {
    let this = std::env::current_exe().map_err(|e| format!("this program does not know its path: {e}"))?;
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--toggle-collect=*measured*", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .arg(workload);
    let done = valgrind
        .output()
        .map_err(|e| format!("valgrind can not be run ({e}); it is in the package `valgrind`"))?;
    let told = String::from_utf8_lossy(&done.stderr);
    let counted = told.lines().find_map(|line| line.split_once("Collected :")).map(|(_, n)| n.trim().parse());
    match counted {
        Some(Ok(n)) if done.status.success() && n > 0 => Ok(n),
        _ => Err(format!("{workload} could not be counted:\n{told}")),
    }
}
