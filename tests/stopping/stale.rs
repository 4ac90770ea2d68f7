//! Documents of two dates that say the same of other figures.

use crate::cli::world::World;

#[test]
fn the_report_prefers_the_later_source_and_says_what_the_earlier_one_said() {
    let documents = tempfile::tempdir().expect("there is room for a folder");
    for (name, text) in [
        (
            "old.md",
            "---\ntitle: Norvane A48 price list\ndate: 2021-03-01\n---\n\nThe Norvane A48 costs 15.9 million euros.\n",
        ),
        (
            "new.md",
            "---\ntitle: Norvane news\ndate: 2024-05-02\n---\n\nThe Norvane A48 now costs 16.3 million euros, says the yard.\n",
        ),
    ] {
        std::fs::write(documents.path().join(name), text).expect("it can be written");
    }
    let path = documents.path().display().to_string();
    let said = World::new().deepgraph(&["run", "What does the Norvane A48 cost?", "--docs", &path]);
    assert_eq!(said.code, 0, "{}", said.err);
    let both = "The Norvane A48 now costs 16.3 million euros, says the yard. [1] Earlier, as of 2021-03-01: The Norvane A48 \
        costs 15.9 million euros. [2]\n";
    assert!(said.out.contains(both), "{}", said.out);
    assert!(said.out.contains("old.md") && said.out.contains("new.md"), "both are cited: {}", said.out);
    assert!(!said.out.contains("unsupported"), "{}", said.out);
}
