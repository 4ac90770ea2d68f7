//! What `item`, and `result` after the items, are.

use crate::testing::compare;

/// A node that runs over a list and shows a part of its item.
fn over(list: &str, shown: &str) -> String {
    format!(
        "deepgraph: 1\ntypes: {{r: {{name: string, parts: [p]}}, p: {{id: string}}}}\n\
         state: {{r: r, rs: [r], names: [string], any: any, hits: [hit]}}\nstart: a\nnodes:\n  a:\n    \
         model: x\n    returns: {{n: integer}}\n    each: {list}\n    max_items: 3\n    prompt: '{{{{ {shown} }}}}'\n"
    )
}

#[test]
fn an_item_has_the_type_of_the_list() {
    let no_id = "DG0302 11:22 the type \"r\" has no field \"id\" | there is: name, parts";
    compare(&[
        ("records", over("rs", "item.name"), &[]),
        ("its field", over("rs", "item.id"), &[no_id]),
        ("a field with a list", over("r.parts", "item.id"), &[]),
        ("chosen", over("rs | selectattr(\"name\")", "item.id"), &[no_id]),
        ("sliced", over("'rs[:2]'", "item.id"), &[no_id]),
        ("joined", over("rs + rs", "item.id"), &[no_id]),
        ("in lots", over("rs | batch(20)", "item[0].name"), &[]),
        (
            "field of a lot",
            over("rs | batch(20)", "item.name"),
            &["DG0302 11:22 [r] has no fields, so no \"name\"..."],
        ),
        ("mapped", over("rs | map(attribute=\"parts\")", "item[0].id"), &[]),
        (
            "a built-in type",
            over("hits", "item.txt"),
            &["DG0302 11:22 the type \"hit\" has no field \"txt\"..."],
        ),
        ("anything", over("any", "item.what.ever"), &[]),
        ("fixed", over("[{a: 1}, {a: 2}]", "item.a"), &[]),
        (
            "a number of them",
            over("range(3)", "item.a"),
            &["DG0302 11:22 integer has no fields, so no \"a\"..."],
        ),
        ("index", over("rs", "index.a"), &["DG0302 11:23 integer has no fields, so no \"a\"..."]),
        (
            "a local of its name",
            over("rs", "names | length }}{% for item in names %}{{ item }}{% endfor %}{{ item.name"),
            &[],
        ),
    ]);
}

#[test]
fn results_are_a_list_of_what_came_back() {
    let next = |cond: &str| {
        format!(
            "{}    next:\n      - if: {cond}\n        exit: completed\n      - {{exit: no_sources}}\n",
            over("rs", "item.name")
        )
    };
    compare(&[
        ("typed", next("result[0].data.n > 1 and result | length"), &[]),
        ("no field", next("result[0].data.m"), &["DG0302 13:28 the record has no field \"m\" | there is: n"]),
        (
            "all",
            next("result | map(attribute=\"data.m\") | list"),
            &["DG0302 13:22 the record has no field \"m\"..."],
        ),
    ]);
}
