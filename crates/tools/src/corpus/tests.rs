use std::fs;
use std::path::PathBuf;
use std::thread;

use super::*;
use crate::SkipReason;
use crate::testing::{Folder, best, ids};

fn counts(report: &IndexReport) -> (usize, usize, usize, usize) {
    (report.documents, report.indexed_now, report.unchanged, report.removed)
}

#[test]
fn documents_are_indexed_once_and_again_when_they_change() {
    let folder = Folder::with(&[("a.md", "# Veldt\n\nThe port is deep."), ("b/c.txt", "Salt is dear.")]);
    let (corpus, report) = folder.open();
    assert_eq!(counts(&report), (2, 2, 0, 0));
    assert_eq!((report.passages, report.in_memory.as_deref()), (2, None));
    assert_eq!(best(&corpus, "salt"), "Salt is dear.");

    assert_eq!(counts(&folder.open().1), (2, 0, 2, 0));

    // As long as before, and within the same tick of the clock, perhaps.
    folder.write("b/c.txt", "Wool is dear.");
    let (corpus, report) = folder.open();
    assert_eq!(counts(&report), (2, 1, 1, 0));
    assert_eq!(best(&corpus, "wool"), "Wool is dear.");
    assert_eq!(ids(&corpus, "salt"), Vec::<String>::new());

    folder.remove("a.md");
    folder.write("d.txt", "Ice until May.");
    let (corpus, report) = folder.open();
    assert_eq!(counts(&report), (2, 1, 1, 1));
    assert_eq!(ids(&corpus, "port"), Vec::<String>::new());
    assert!(matches!(corpus.read("a.md", None, 0, 99), Err(CorpusError::NotFound { .. })));
}

#[test]
fn ids_are_the_same_in_every_index() {
    let files = [("x/a.txt", "Salt one."), ("x/b.txt", "Salt two.")];
    let (first, second) = (Folder::with(&files), Folder::with(&files));
    let found = ids(&first.open().0, "salt");
    second.write("x/0.txt", "Pepper.");
    assert_eq!(ids(&second.open().0, "salt"), found);
    first.write("x/a.txt", "Salt changed.");
    assert_eq!(ids(&first.open().0, "salt"), found);
    let (key, ordinal) = found[0].split_once('-').unwrap();
    assert!(
        key.len() == 6 && key.bytes().all(|b| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b)),
        "{key}"
    );
    assert_eq!(ordinal, "1");
}

#[test]
fn spans_lead_to_the_words_in_the_file() {
    let file = "{\"name\": \"Veldt\", \"Area\": {\"total\": {\"text\": \"176,215 sq km\"}}}";
    let folder = Folder::with(&[("ve.json", file)]);
    let (_, source) = folder.open().0.search("area", 1).unwrap().remove(0);
    let span = source.locate(source.text.find("176").unwrap(), 13);
    let bytes = fs::read(folder.docs().join(&source.document)).unwrap();
    assert_eq!(&bytes[span.start as usize..span.end as usize], b"176,215 sq km");
    assert_eq!(
        (source.title.as_str(), source.document.as_str(), source.section.as_str()),
        ("Veldt", "ve.json", "")
    );
}

#[test]
fn what_is_left_out_is_told_by_name_and_the_rest_goes_on() {
    let folder = Folder::with(&[
        ("good.txt", "Salt."),
        ("empty.txt", ""),
        ("broken.json", "{"),
        (".hidden.txt", "Salt."),
    ]);
    folder.write("latin.txt", b"Gr\xFC\xDFe und viele andere Worte mehr");
    folder.write("binary.dat", [0_u8, 1, 2, 3]);
    folder.write(".git/config.txt", "Salt.");
    fs::File::create(folder.docs().join("huge.txt")).unwrap().set_len(51 * 1024 * 1024).unwrap();
    for _ in 0..2 {
        let (corpus, report) = folder.open();
        let told: Vec<String> = report.skipped.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "binary.dat: it is a binary file",
                "broken.json: it is broken JSON: EOF while parsing an object at line 1 column 1",
                "empty.txt: it is empty",
                "huge.txt: it is too large: 51 MB, at most 50 MB",
                "latin.txt: it is not UTF-8 but seems to be Latin-1 or another 8-bit encoding (byte 2 is not UTF-8); convert it to UTF-8",
            ]
        );
        assert_eq!((report.documents, report.indexed_now + report.unchanged), (1, 1));
        assert_eq!(ids(&corpus, "salt").len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn links_pipes_and_locked_files() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::with(&[("sub/good.txt", "Salt."), ("locked.txt", "Wool.")]);
    let docs = folder.docs();
    symlink(&docs, docs.join("sub/loop")).unwrap();
    symlink("nowhere", docs.join("dangling.txt")).unwrap();
    symlink("sub/good.txt", docs.join("link.txt")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(docs.join("socket")).unwrap();
    fs::set_permissions(docs.join("locked.txt"), fs::Permissions::from_mode(0o000)).unwrap();
    let (corpus, report) = folder.open();
    let reason = |name: &str| {
        report.skipped.iter().find(|skipped| skipped.document == name).map(|skipped| &skipped.reason)
    };
    assert_eq!(reason("sub/loop"), Some(&SkipReason::SymlinkLoop));
    assert_eq!(
        reason("dangling.txt"),
        Some(&SkipReason::Unreadable { detail: "it is a link to nothing".into() })
    );
    assert_eq!(reason("socket"), Some(&SkipReason::NotAFile));
    // A privileged user can read everything.
    if fs::read(docs.join("locked.txt")).is_err() {
        assert!(matches!(reason("locked.txt"), Some(SkipReason::Unreadable { .. })));
    }
    assert_eq!(corpus.search("salt", 9).unwrap().len(), 2);
    fs::set_permissions(docs.join("locked.txt"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(ids(&folder.open().0, "wool").len(), 1);
}

#[test]
fn a_path_that_does_not_exist_is_named() {
    let folder = Folder::new();
    let error =
        Corpus::open(&[PathBuf::from("no/such/place")], &folder.index_dir(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("\"no/such/place\" does not exist"), "{error}");
}

#[test]
fn several_paths_have_names_that_tell_them_apart() {
    let folder = Folder::with(&[("a.txt", "Salt.")]);
    let other = folder.path().join("x/docs");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("a.txt"), "Salt.").unwrap();
    fs::write(folder.path().join("single.txt"), "Salt.").unwrap();
    let single = folder.path().join("single.txt");
    let names = |paths: &[PathBuf]| -> Vec<String> {
        let (corpus, _) = folder.open_paths(paths);
        corpus.search("salt", 9).unwrap().into_iter().map(|(hit, _)| hit.document).collect()
    };
    assert_eq!(names(std::slice::from_ref(&single)), ["single.txt"]);
    assert_eq!(names(&[folder.docs(), folder.docs()]), ["a.txt"]);
    assert_eq!(names(&[folder.docs(), single.clone()]), ["docs/a.txt", "single.txt"]);
    let both = names(&[folder.docs(), other]);
    assert_eq!(both.len(), 2);
    assert!(
        both.iter().any(|name| name == "x/docs/a.txt")
            && both.iter().all(|name| name.ends_with("/docs/a.txt")),
        "{both:?}"
    );
    // A file that lies in a folder that is given too counts once.
    assert_eq!(names(&[folder.docs().join("a.txt"), folder.docs()]), ["a.txt"]);
    assert_eq!(names(&[]), Vec::<String>::new());
}

#[test]
fn a_damaged_index_is_built_anew() {
    let folder = Folder::with(&[("a.txt", "Salt.")]);
    drop(folder.open());
    let file = folder.index_file();
    let good = fs::read(&file).unwrap();
    let mut pages = good.clone();
    pages[4096..].fill(0x5A);
    for damaged in [
        b"not a database at all, but long enough to be one".repeat(99),
        good[..good.len() / 2].to_vec(),
        pages,
        Vec::new(),
    ] {
        fs::write(&file, damaged).unwrap();
        let (corpus, report) = folder.open();
        assert_eq!(report.in_memory, None);
        assert_eq!(best(&corpus, "salt"), "Salt.");
    }
}

#[test]
fn an_index_that_is_damaged_while_open_is_built_anew() {
    let folder = Folder::with(&[("a.txt", "Salt."), ("b.txt", "Wool.")]);
    let (corpus, _) = folder.open();
    {
        let connection = corpus.connection.lock().unwrap();
        connection.execute_batch("DROP TABLE words").unwrap();
    }
    assert_eq!(best(&corpus, "salt"), "Salt.");
    assert_eq!(corpus.size().unwrap(), (2, 2));
}

#[test]
fn an_index_of_another_version_is_built_anew() {
    let folder = Folder::with(&[("a.txt", "Salt.")]);
    drop(folder.open());
    let connection = Connection::open(folder.index_file()).unwrap();
    connection
        .execute_batch("PRAGMA user_version = 9999; DROP TABLE passage; CREATE TABLE passage (x)")
        .unwrap();
    drop(connection);
    let (corpus, report) = folder.open();
    assert_eq!(counts(&report), (1, 1, 0, 0));
    assert_eq!(best(&corpus, "salt"), "Salt.");
}

#[test]
fn without_a_place_for_a_file_the_index_is_in_memory() {
    let folder = Folder::with(&[("a.txt", "Salt.")]);
    fs::write(folder.index_dir(), "a file, not a folder").unwrap();
    let (corpus, report) = folder.open();
    assert!(report.in_memory.is_some());
    assert_eq!(best(&corpus, "salt"), "Salt.");
}

#[test]
fn the_index_may_lie_among_the_documents() {
    let folder = Folder::with(&[("a.txt", "Salt.")]);
    for _ in 0..2 {
        let (_, report) = Corpus::open(&[folder.docs()], &folder.docs(), &mut |_| {}).unwrap();
        assert_eq!((report.documents, report.skipped), (1, Vec::new()));
    }
}

#[test]
fn several_may_open_the_same_documents_at_once() {
    let folder = Folder::new();
    for number in 0..40 {
        folder.write(
            &format!("{number}.txt"),
            format!("Salt number {number}.\n\n{}", "More text. ".repeat(200)),
        );
    }
    thread::scope(|scope| {
        let open = || {
            let (corpus, report) = folder.open();
            assert_eq!((report.documents, report.in_memory), (40, None));
            assert_eq!(corpus.search("salt", 50).unwrap().len(), 40);
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(counts(&folder.open().1), (40, 0, 40, 0));
}

#[test]
fn progress_names_what_is_read() {
    let folder = Folder::with(&[("a.txt", "Salt."), ("b.txt", "Wool.")]);
    let mut told = Vec::new();
    let mut tell = |progress: IndexProgress<'_>| {
        told.push((progress.document.to_owned(), progress.done, progress.total));
    };
    Corpus::open(&[folder.docs()], &folder.index_dir(), &mut tell).unwrap();
    Corpus::open(&[folder.docs()], &folder.index_dir(), &mut tell).unwrap();
    let names: Vec<(&str, usize, usize)> =
        told.iter().map(|(name, done, all)| (name.as_str(), *done, *all)).collect();
    assert_eq!(names.get(..2), Some(&[("a.txt", 0, 2), ("b.txt", 1, 2)][..]));
}

#[test]
fn a_corpus_can_be_shared() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&Folder::new().open().0);
}

#[test]
fn reading_in_order() {
    let folder = Folder::new();
    let sections: Vec<String> = (1..=9).map(|n| format!("## Part {n}\n\nText of part {n}.\n\n")).collect();
    folder.write("long.md", format!("---\ndate: 2024-05-31\n---\n# Long\n\n{}", sections.concat()));
    let corpus = folder.open().0;
    let all = corpus.read("long.md", None, 0, 10_000).unwrap();
    assert_eq!((all.passages.len(), all.total_passages, all.next), (9, 9, None));
    assert_eq!((all.title.as_str(), all.date.as_deref()), ("Long", Some("2024-05-31")));
    assert_eq!(all.passages[3].date.as_deref(), Some("2024-05-31"));

    let some = corpus.read("./long.md", None, 3, 40).unwrap();
    let parts: Vec<&str> = some.passages.iter().map(|passage| passage.section.as_str()).collect();
    assert_eq!((parts, some.next), (vec!["Part 3", "Part 4"], Some(5)));
    assert_eq!(corpus.read("long.md", None, 9, 0).unwrap().passages.len(), 1);

    // By the id of a passage: from shortly before it.
    let id = &all.passages[5].id;
    for what in [id.clone(), format!("[{id}]")] {
        assert_eq!(corpus.read(&what, None, 0, 10_000).unwrap().passages[0].section, "Part 5");
    }
    assert_eq!(corpus.read("Long", None, 0, 10_000).unwrap().document, "long.md");
}

#[test]
fn reading_for_a_query_gives_the_best_in_order() {
    let folder = Folder::with(&[(
        "a.md",
        "# A\n\n## One\n\nSalt is dear.\n\n## Two\n\nWool.\n\n## Three\n\nSalt, and the price of salt.\n\n## Four\n\nIce.\n",
    )]);
    let found = folder.open().0.read("a.md", Some("price of salt"), 0, 45).unwrap();
    let parts: Vec<&str> = found.passages.iter().map(|passage| passage.section.as_str()).collect();
    assert_eq!(parts, ["One", "Three"]);
}

#[test]
fn what_is_not_there_is_told_with_what_is_near() {
    let folder =
        Folder::with(&[("south/uruguay.txt", "A."), ("south/paraguay.txt", "B."), ("chile.txt", "C.")]);
    let corpus = folder.open().0;
    let error = corpus.read("uruguay.md", None, 0, 99).unwrap_err().to_string();
    assert!(error.starts_with("no document or passage \"uruguay.md\" among 3 documents; the nearest names are south/uruguay.txt, "), "{error}");
    let id = ids(&corpus, "uruguay")[0].replace("-1", "-7");
    let error = corpus.read(&id, None, 0, 99).unwrap_err().to_string();
    assert_eq!(error, "south/uruguay.txt has 1 passages, so there is no passage 7: ask for 1 to 1");
    assert!(corpus.read("chile.txt", None, 2, 99).is_err());
    assert!(corpus.read(&"x".repeat(100_000), None, 0, 99).is_err());
    assert!(corpus.read("", None, 0, 99).is_err());
}
