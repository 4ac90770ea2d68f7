//! Files, syntax, bounds.

use super::{HEAD, prompt, update};
use crate::infer::{FILTERS, FUNCTIONS, TESTS};
use crate::testing::{clean, compare, said};

#[test]
fn mistakes_in_prompt_files_are_told_there() {
    let text = format!("{HEAD}    model: x\n    prompt: prompts/p.md\n");
    let files = crate::testing::files(
        &text,
        &[("prompts/p.md", "# Täsk\n\nÄ {{ qq }}\n{% for h in hits %}{{ h.txt }}{% endfor %}\n")],
    );
    let error = crate::load("some/where/t.yaml", &files, &crate::OpTable::stock()).unwrap_err();
    let found: Vec<String> =
        error.iter().map(|d| format!("{}:{}", d.file, crate::testing::line(d))).collect();
    assert_eq!(
        found,
        [
            r#"some/where/prompts/p.md:DG0301 3:6 unknown name "qq" | a fixed text is written "'qq'""#,
            r#"some/where/prompts/p.md:DG0302 4:25 the type "hit" has no field "txt" | did you mean "text"?"#,
        ]
    );
}

#[test]
fn syntax_errors_in_templates_have_their_line() {
    compare(&[
        ("open block", prompt("one\n{% for h in hits %}\n"), &["DG0307..."]),
        (
            "bad tag",
            prompt("one\n{% include 'x' %}"),
            &["DG0307 13:10 this template can not be read: unknown statement include"],
        ),
        ("open expression", prompt("one\n\n{{ q "), &["DG0307..."]),
        (
            "macro",
            prompt("{% macro m() %}{% endmacro %}"),
            &["DG0307 12:10 this template can not be read: unknown statement macro"],
        ),
    ]);
}

#[test]
fn chains_that_would_overflow_the_stack_are_refused() {
    let sum = vec!["n"; 100_000].join(" + ");
    assert_eq!(said(&update("n", &sum)).len(), 1);
    assert!(said(&update("n", &sum))[0].starts_with("DG0008"), "{:?}", said(&update("n", &sum)));
    let filters = format!("q{}", " | upper".repeat(100_000));
    assert!(said(&update("q", &filters))[0].starts_with("DG0008"));
    let nots = format!("{}q", "not ".repeat(100_000));
    assert!(said(&update("any", &nots))[0].starts_with("DG0008"));
    let fields = format!("any{}", ".x".repeat(100_000));
    assert!(said(&update("any", &fields))[0].starts_with("DG0008"));
    let elifs = format!("{{% if q %}}{}{{% endif %}}", "{% elif q %}".repeat(10_000));
    assert!(said(&prompt(&elifs))[0].starts_with("DG0008"));
    let parens = format!("{}n{}", "(".repeat(300), ")".repeat(300));
    assert!(said(&update("n", &parens))[0].starts_with("DG0"));
    // What is allowed goes through without an overflow, in the small stack of a test.
    let allowed = [
        vec!["n"; 299].join(" + "),
        format!("{}n", "not ".repeat(590)),
        format!("{}n", "-".repeat(590)),
        format!("any{}", ".x".repeat(295)),
        format!("any{}", "[0]".repeat(190)),
        format!("n{}", " | string".repeat(290)),
        format!("{}n", "n if n else ".repeat(145)),
        format!("n{}", " ** n".repeat(290)),
        format!("n{}", " is string".repeat(190)),
        format!("n{}", " == n".repeat(290)),
        format!("{}n{}", "(".repeat(290), ")".repeat(290)),
        format!("{}{}", "[".repeat(290), "]".repeat(290)),
    ];
    for source in allowed {
        let found = said(&update("any", &format!("'{source}'")));
        assert!(found.iter().all(|d| d.starts_with("DG0307")), "{source}: {found:?}");
        if let Ok(loaded) = crate::testing::try_load(&update("any", &format!("'{source}'"))) {
            let write = &loaded.bundle.root().nodes[0].update[0].value;
            // It may be an error, but it ends.
            let _ = loaded.bundle.programs.value(write, &crate::Context::of(Nothing));
        }
    }
    let nested = format!("{}x{}", "{% if q %}".repeat(40), "{% endif %}".repeat(40));
    clean(&prompt(&nested));
    let branches = format!("{{% if q %}}{}{{% endif %}}", "{% elif q %}".repeat(99));
    clean(&prompt(&branches));
}

#[test]
fn a_name_that_both_branches_bind_is_what_either_gives_it() {
    // Whichever was taken, the field may be there.
    let else_hit = "{% if q %}{% set x = rs[0] %}{% else %}{% set x = hits[0] %}{% endif %}";
    clean(&prompt(&format!("{else_hit}{{{{ x.source }}}}{{{{ x.kind }}}}")));
    clean(&prompt("{% set x = rs[0] %}{% if q %}{% set x = hits[0] %}{% endif %}{{ x.kind }}{{ x.source }}"));
    clean(&prompt("{% if q %}{% set x = rs[0] %}{% endif %}{{ x.kind }}"));
    // Both give the same type: it is checked.
    let both = "{% if q %}{% set x = rs[0] %}{% else %}{% set x = rs[1] %}{% endif %}{{ x.knd }}";
    let found = said(&prompt(both));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("the type \"r\" has no field \"knd\""), "{found:?}");
}

#[test]
fn the_names_that_are_checked_are_those_that_exist() {
    let mut programs = crate::Programs::new();
    let mut known = |source: &str| {
        let text = programs.add_text(source, "").unwrap();
        let error = programs.render(&text, &crate::Context::of(Nothing)).err();
        !error.is_some_and(|e| e.message.contains("unknown"))
    };
    for filter in FILTERS {
        assert!(known(&format!("{{{{ [] | {filter} }}}}")), "{filter}");
    }
    for test in TESTS {
        assert!(known(&format!("{{{{ 1 is {test} }}}}")), "{test}");
    }
    for function in FUNCTIONS {
        assert!(known(&format!("{{{{ {function}() }}}}")), "{function}");
    }
    for name in ["urlencode", "nofilter"] {
        assert!(!known(&format!("{{{{ [] | {name} }}}}")));
    }
}

#[derive(Debug)]
struct Nothing;

impl crate::Names for Nothing {
    fn lookup(&self, _: &str) -> Option<deepgraph_protocol::Value> {
        None
    }
}
