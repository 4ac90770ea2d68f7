//! Which files are found, and what is told of those that are not.

use std::fs;

use super::*;

fn project(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, if name.contains("said") { "a: 1\ncase: It is one.\n" } else { "a: {case: none}\n" })
            .unwrap();
    }
    folder
}

fn paths(folder: &tempfile::TempDir, paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(|path| folder.path().join(path)).collect()
}

fn found(folder: &tempfile::TempDir, named: &[&str]) -> Result<Vec<String>, FindError> {
    let shown =
        |file: &CaseFile| file.path.strip_prefix(folder.path()).unwrap().to_string_lossy().into_owned();
    find(&paths(folder, named)).map(|found| {
        assert_eq!(found.left_out, []);
        found.files.iter().map(shown).collect()
    })
}

#[test]
fn cases_are_those_in_their_folders_and_what_says_that_it_is_one() {
    let folder = project(&[
        "graphs/b/cases/two.yaml",
        "graphs/b/cases/deep/one.json",
        "graphs/b/graph.yaml",
        "graphs/b/said.json",
        "graphs/a/cases/three.yml",
        "graphs/a/cases/notes.md",
        "tests/said.yaml",
        "tests/other.yaml",
        ".hidden/cases/x.yaml",
        "target/cases/x.yaml",
        "web/node_modules/m/cases/x.yaml",
    ]);
    let all = [
        "graphs/a/cases/three.yml",
        "graphs/b/cases/deep/one.json",
        "graphs/b/cases/two.yaml",
        "tests/said.yaml",
    ];
    assert_eq!(found(&folder, &[""]).unwrap(), all);
    assert_eq!(found(&folder, &["graphs/b/cases"]).unwrap(), all[1..3]);
    assert_eq!(found(&folder, &[".hidden"]).unwrap(), [".hidden/cases/x.yaml"], "it was named");
    assert_eq!(found(&folder, &["tests/other.yaml"]).unwrap(), ["tests/other.yaml"], "a file is a case");
    assert_eq!(found(&folder, &["graphs/a", "graphs/a/cases/three.yml"]).unwrap(), all[..1], "once");
}

#[test]
fn what_git_ignores_is_no_case() {
    let folder = project(&["graphs/a/cases/one.yaml", "graphs/a/cases/made.yaml", "copies/cases/one.yaml"]);
    fs::create_dir(folder.path().join(".git")).unwrap();
    fs::write(folder.path().join(".gitignore"), "/copies\nmade.*\n").unwrap();
    assert_eq!(found(&folder, &[""]).unwrap(), ["graphs/a/cases/one.yaml"]);
    assert_eq!(found(&folder, &["graphs"]).unwrap(), ["graphs/a/cases/one.yaml"]);
    assert_eq!(found(&folder, &["copies"]).unwrap(), ["copies/cases/one.yaml"], "it was named");
}

#[test]
fn graphs_among_cases_are_none() {
    let folder = project(&["graphs/a/cases/one.yaml"]);
    let graph = folder.path().join("graphs/a/cases/of_a_run/graph.yaml");
    fs::create_dir_all(graph.parent().unwrap()).unwrap();
    fs::write(&graph, "# A graph.\ndeepgraph: 1\n").unwrap();
    assert_eq!(found(&folder, &[""]).unwrap(), ["graphs/a/cases/one.yaml"]);
    let named = "graphs/a/cases/of_a_run/graph.yaml";
    assert_eq!(found(&folder, &[named]).unwrap(), [named], "it was named");
    fs::write(&graph, "deepgraph: 1\ncase: It is one.\n").unwrap();
    assert_eq!(found(&folder, &[""]).unwrap().len(), 2);
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    let folder = project(&["graphs/a/cases/one.yaml"]);
    assert!(matches!(found(&folder, &["graphs", "nothing"]), Err(FindError::Missing(_))));
}

#[cfg(target_os = "linux")]
#[test]
fn what_can_not_be_looked_into_is_left_out_and_told() {
    let folder = project(&["graphs/a/cases/one.yaml", "graphs/a/more/two.yaml"]);
    let link = |to: &str, from: &str| std::os::unix::fs::symlink(to, folder.path().join(from)).unwrap();
    link("one.yaml", "graphs/a/cases/same.yaml");
    link("nothing.yaml", "graphs/a/cases/gone.yaml");
    link("loop.yaml", "graphs/a/cases/loop.yaml");
    link("../more", "graphs/a/cases/more");
    link("nothing.md", "graphs/a/gone.md");
    link("/proc/self/mem", "graphs/a/odd.yaml");
    let found = find(&paths(&folder, &["graphs"])).unwrap();
    assert_eq!(found.files.len(), 1);
    let told: Vec<String> = found.left_out.iter().map(ToString::to_string).collect();
    for (told, parts) in told.iter().zip([
        ["cases/gone.yaml is left out", "a link to what is not there"],
        ["cases/loop.yaml is left out", "leads nowhere"],
        ["cases/more is left out", "a link to a folder"],
        ["graphs/a/odd.yaml is left out", "can not be read"],
    ]) {
        assert!(parts.iter().all(|part| told.contains(part)), "{told}");
    }
    assert_eq!(told.len(), 4, "{told:?}");
}

#[test]
fn an_error_of_the_walk_is_one_of_what_was_named() {
    let of = |path: &str| ignore::Error::WithDepth {
        depth: 1,
        err: Box::new(ignore::Error::WithPath {
            path: path.into(),
            err: Box::new(ignore::Error::Io(io::ErrorKind::PermissionDenied.into())),
        }),
    };
    let mut looked = Looked::default();
    assert!(looked.unreadable(Path::new("."), &of("./a/b")).is_ok());
    assert_eq!(looked.left_out[0].to_string(), "a/b is left out: it can not be read: permission denied");
    let error = looked.unreadable(Path::new("a"), &of("a")).unwrap_err().to_string();
    assert_eq!(error, "a can not be read: permission denied");
}

#[test]
fn what_is_there_twice_is_an_error_of_those_that_are_meant() {
    let folder = project(&["graphs/a/cases/one.yaml", "tests/a/said.yaml", "graphs/a/cases/said.yml"]);
    let distinct_of = |named: &[&str]| distinct(&find(&paths(&folder, named)).unwrap().files);
    let error = distinct_of(&[""]).unwrap_err().to_string();
    for part in ["`a/said`", "cases/said.yml", "tests/a/said.yaml", "graphs/x and tests/x", "rename one"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(distinct_of(&["tests/a", "graphs/a/cases/one.yaml"]).is_ok());
    let folder = project(&["graphs/a/cases/one.yaml", "graphs/a/cases/One.yml"]);
    let error = distinct(&find(&paths(&folder, &[""])).unwrap().files).unwrap_err().to_string();
    assert!(error.contains("large letters"), "{error}");
}
