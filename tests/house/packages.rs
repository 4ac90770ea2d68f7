//! What cargo knows of the workspace and of all that it depends on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// One package: of the workspace, or one that it depends on, on whatever platform.
pub struct Package {
    pub name: String,
    pub version: String,
    /// Where it comes from; none for a folder.
    pub source: Option<String>,
    pub licence: Option<String>,
    pub folder: PathBuf,
    pub is_member: bool,
    pub uses: Vec<Use>,
}

/// A dependency of a package.
pub struct Use {
    /// The id of the package used.
    pub id: String,
    /// Whether tests only use it.
    pub is_for_tests: bool,
}

/// All packages by their id.
pub fn all() -> BTreeMap<String, Package> {
    let metadata = metadata();
    let texts = |value: &Value| value.as_array().unwrap().iter().map(text).collect::<Vec<_>>();
    let members = texts(&metadata["workspace_members"]);
    let mut uses: BTreeMap<String, Vec<Use>> = BTreeMap::new();
    for node in metadata["resolve"]["nodes"].as_array().unwrap() {
        uses.insert(text(&node["id"]), node["deps"].as_array().unwrap().iter().map(dependency).collect());
    }
    let packages = metadata["packages"].as_array().unwrap().iter().map(|package| {
        let id = text(&package["id"]);
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        let package = Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            source: package["source"].as_str().map(String::from),
            licence: package["license"].as_str().map(String::from),
            folder: manifest.parent().unwrap().to_path_buf(),
            is_member: members.contains(&id),
            uses: uses.remove(&id).unwrap_or_default(),
        };
        (id, package)
    });
    packages.collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().into()
}

fn dependency(value: &Value) -> Use {
    let kinds = value["dep_kinds"].as_array().unwrap();
    Use { id: text(&value["pkg"]), is_for_tests: kinds.iter().all(|kind| kind["kind"] == "dev") }
}

/// `cargo metadata`. First without the network; where that fails, with it, because cargo has not yet fetched
/// the packages that only other platforms use.
fn metadata() -> Value {
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.args(["metadata", "--format-version", "1", "--locked"]).args(more).current_dir(root());
        command.output().unwrap()
    };
    let mut output = run(&["--offline"]);
    if !output.status.success() {
        output = run(&[]);
    }
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
