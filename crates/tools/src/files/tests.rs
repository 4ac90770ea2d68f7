//! What is left out for its place or name, and what is told of links.

use crate::report::SkipReason;
use crate::testing::{Folder, best};

#[test]
fn a_file_of_records_with_a_broken_one_is_used_and_told_as_such() {
    let folder = Folder::with(&[("a.jsonl", "{\"salt\": \"dear\"}\n{\"wool\": \n"), ("b.json", "{")]);
    let (corpus, report) = folder.open();
    let names = |skipped: &mut dyn Iterator<Item = &crate::Skipped>| -> Vec<String> {
        skipped.map(|skipped| skipped.document.clone()).collect()
    };
    assert_eq!(report.documents, 1);
    assert_eq!(names(&mut report.in_part()), ["a.jsonl"]);
    assert_eq!(names(&mut report.left_out()), ["b.json"]);
    assert_eq!(best(&corpus, "dear"), "dear");
}

#[test]
fn names_that_no_citation_could_show_are_told() {
    let folder =
        Folder::with(&[("good.txt", "Salt."), ("two\nlines.txt", "Wool."), ("tab\there/a.txt", "Ice.")]);
    let (corpus, report) = folder.open();
    let told: Vec<(&str, &SkipReason)> =
        report.skipped.iter().map(|s| (s.document.as_str(), &s.reason)).collect();
    assert_eq!(told, [("tab\there/a.txt", &SkipReason::BadName), ("two\nlines.txt", &SkipReason::BadName)]);
    assert_eq!(corpus.size().unwrap().0, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_unicode_are_told() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::with(&[("good.txt", "Salt.")]);
    std::fs::write(folder.docs().join(std::ffi::OsStr::from_bytes(b"\xff.txt")), "Wool.").unwrap();
    let (_, report) = folder.open();
    assert_eq!((report.documents, report.skipped.len()), (1, 1));
    assert!(report.skipped[0].to_string().contains("not UTF-8"), "{}", report.skipped[0]);
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_followed_and_told() {
    use std::os::unix::fs::symlink;
    let folder = Folder::with(&[("inside.txt", "Salt.")]);
    let outside = folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("far.txt"), "Wool.").unwrap();
    symlink(outside.join("far.txt"), folder.docs().join("file.txt")).unwrap();
    symlink(&outside, folder.docs().join("folder")).unwrap();
    symlink(folder.docs().join("inside.txt"), folder.docs().join("same.txt")).unwrap();
    let (_, report) = folder.open();
    assert_eq!(report.linked, ["file.txt", "folder"]);
    assert_eq!(report.documents, 4);
}
