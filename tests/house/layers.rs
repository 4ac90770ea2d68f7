//! Which crate may use which: dependencies point down one list, so that the core stays small and pure.

use std::collections::{BTreeMap, BTreeSet};

use super::packages::{self, Package};

/// The crates of the workspace, in an order in which every crate comes after all that it uses, and what each may
/// use. `*` stands for all that come before.
const ALLOWED: [(&str, &[&str]); 16] = [
    ("protocol", &[]),
    ("graph", &["protocol"]),
    ("engine", &["graph", "protocol"]),
    ("trace", &["engine", "graph", "protocol"]),
    ("research", &["protocol"]),
    ("model", &["research", "protocol"]),
    ("tools", &["research", "protocol"]),
    ("store", &["protocol"]),
    ("testkit", &["trace", "engine", "graph", "protocol"]),
    ("runtime", &["*"]),
    ("server", &["*"]),
    ("cli", &["*"]),
    ("benches", &["*"]),
    ("peers", &["*"]),
    ("examples", &["*"]),
    ("tests", &["*"]),
];

/// The crates that are pure: the same input gives the same output, always and everywhere.
pub const PURE: [&str; 4] = ["graph", "engine", "trace", "research"];

/// What brings threads, chance or the network.
const IMPURE: [&str; 8] = ["tokio", "rand", "getrandom", "fastrand", "reqwest", "rusqlite", "mio", "socket2"];

/// Whether crate `name` may use crate `used`; none for a crate that is not in the list.
fn may_use(name: &str, used: &str) -> Option<bool> {
    let place = |name: &str| ALLOWED.iter().position(|(listed, _)| *listed == name);
    let (at, used_at) = (place(name)?, place(used)?);
    Some(used_at < at && (ALLOWED[at].1.contains(&used) || ALLOWED[at].1 == ["*"]))
}

#[test]
fn crates_use_only_those_before_them() {
    let packages = packages::all();
    let mut mistakes = Vec::new();
    for package in packages.values().filter(|package| package.is_member) {
        let name = short(package);
        if may_use(name, name).is_none() {
            mistakes.push(format!("{name} is not in the list of crates: give it its place in {}", file!()));
        }
        for used in package.uses.iter().filter(|used| packages[&used.id].is_member) {
            let target = short(&packages[&used.id]);
            // Tests anywhere may use the tools for tests.
            let is_test_kit = used.is_for_tests && target == "testkit";
            if may_use(name, target) == Some(false) && !is_test_kit {
                mistakes.push(format!("{name} must not use {target}"));
            }
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn pure_crates_bring_no_threads_no_chance_no_network() {
    let packages = packages::all();
    for (id, package) in packages.iter().filter(|(_, p)| p.is_member && PURE.contains(&short(p))) {
        for used in reached_from(id, &packages) {
            let used = &packages[used].name;
            assert!(
                !IMPURE.contains(&used.as_str()),
                "{} must not depend on {used}, not even indirectly",
                package.name
            );
        }
    }
}

/// The ids of all that a package needs when it is built for use, itself included.
fn reached_from<'a>(id: &'a str, packages: &'a BTreeMap<String, Package>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::from([id]);
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        for used in packages[id].uses.iter().filter(|used| !used.is_for_tests) {
            if reached.insert(&used.id) {
                open.push(&used.id);
            }
        }
    }
    reached
}

/// A crate's name without the project's.
pub fn short(package: &Package) -> &str {
    package.name.strip_prefix("deepgraph-").unwrap_or(match package.name.as_str() {
        "deepgraph" => "cli",
        other => other,
    })
}

#[test]
fn the_list_says_what_it_should() {
    for (name, used, expected) in [
        ("graph", "protocol", Some(true)),
        ("protocol", "graph", Some(false)),
        ("engine", "engine", Some(false)),
        ("engine", "store", Some(false)),
        ("store", "engine", Some(false)),
        ("runtime", "store", Some(true)),
        ("runtime", "cli", Some(false)),
        ("cli", "runtime", Some(true)),
        ("cli", "testkit", Some(true)),
        ("testkit", "runtime", Some(false)),
        ("cli", "extras", None),
    ] {
        assert_eq!(may_use(name, used), expected, "{name} and {used}");
    }
    let is_before = |name: &str, used: &str| *used == *"*" || may_use(name, used) == Some(true);
    assert!(ALLOWED.iter().all(|(name, uses)| uses.iter().all(|used| is_before(name, used))));
}
