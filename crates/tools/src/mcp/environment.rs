//! What of our environment a started command gets: what programs need to run at all, and nothing else, since the rest
//! may hold keys.

use std::env;
use std::ffi::OsString;

#[cfg(not(windows))]
const KEPT: [&str; 11] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR"];
#[cfg(windows)]
const KEPT: [&str; 16] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// The variables kept, as far as they are set.
pub(super) fn kept() -> impl Iterator<Item = (&'static str, OsString)> {
    KEPT.into_iter().filter_map(|name| Some((name, env::var_os(name)?)))
}
