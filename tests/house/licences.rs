//! Whose code may be used: licences and sources of everything that the workspace depends on, on all platforms,
//! tests and build scripts included.

use spdx::{Expression, ParseMode};

use super::packages::{self, Package};

/// Licences that let anybody use the code in any program, at most with the duty to name its authors, or (MPL)
/// to publish changes of the licensed files themselves.
const ALLOWED: [&str; 13] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "MPL-2.0",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "0BSD",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
];

/// Packages under another licence, each with the licence and why it is fine.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn everything_comes_from_crates_io_or_from_here() {
    for package in packages::all().values() {
        let is_known = match &package.source {
            Some(source) => source == CRATES_IO,
            None => package.is_member,
        };
        let source = package.source.as_deref().unwrap_or("a folder that is no member of the workspace");
        assert!(is_known, "{} {} comes from {source}", package.name, package.version);
    }
}

#[test]
fn every_licence_is_allowed() {
    let mistakes: Vec<_> = packages::all().values().filter_map(mistake).collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn no_exception_is_left_over() {
    let packages = packages::all();
    for (name, licence, why) in EXCEPTIONS {
        let is_used = packages.values().any(|p| p.name == *name && p.licence.as_deref() == Some(licence));
        assert!(is_used && !why.is_empty(), "no package {name} under {licence} is used any more");
    }
}

fn mistake(package: &Package) -> Option<String> {
    let Package { name, version, licence, .. } = package;
    let Some(licence) = licence else { return Some(format!("{name} {version} names no licence")) };
    if EXCEPTIONS.iter().any(|(n, l, _)| n == name && l == licence) {
        return None;
    }
    match is_allowed(licence) {
        Ok(true) => None,
        Ok(false) => {
            Some(format!("{name} {version} is under {licence}, which is not in the list of {}", file!()))
        }
        Err(e) => Some(format!("{name} {version}: its licence \"{licence}\" can not be read: {e}")),
    }
}

/// Whether one can keep to the expression by keeping to allowed licences only. The old form `MIT/Apache-2.0` is
/// read as "or".
fn is_allowed(expression: &str) -> Result<bool, spdx::ParseError> {
    let expression = Expression::parse_mode(expression, ParseMode::LAX)?;
    Ok(expression.evaluate(|requirement| ALLOWED.contains(&requirement.to_string().as_str())))
}

#[test]
fn expressions_are_weighed() {
    for (expression, expected) in [
        ("MIT", true),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0-only", false),
        ("MIT OR GPL-3.0-only", true),
        ("MIT AND GPL-3.0-only", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("Apache-2.0 WITH LLVM-exception OR AGPL-3.0-or-later", true),
        ("LGPL-2.1-or-later", false),
        ("Unlicense OR MIT", true),
    ] {
        assert_eq!(is_allowed(expression).ok(), Some(expected), "{expression}");
    }
    assert!(is_allowed("see the file").is_err());
}
