//! Names, fields, types.

use super::{HEAD, prompt, update};
use crate::testing::compare;

#[test]
fn names_in_templates() {
    compare(&[
        ("fits", prompt("{{ q }} {{ config.mode }} {{ limits.t.left }} {{ run.date }} {{ null }}"), &[]),
        (
            "channel",
            prompt("one\n{{ qq }}"),
            &[r#"DG0301 13:10 unknown name "qq" | a fixed text is written "'qq'""#],
        ),
        (
            "near",
            prompt("{{ hit }}"),
            &[r#"DG0301 12:10 unknown name "hit" | did you mean "hits"? A fixed text is written "'hit'""#],
        ),
        (
            "config",
            prompt("{{ config.mod }}"),
            &[r#"DG0205 12:10 graph "t" does not declare the config key "mod" | did you mean "mode"?"#],
        ),
        (
            "limit",
            prompt("{{ limits.tt.left }}"),
            &[r#"DG0204 12:10 graph "t" has no limit "tt" | there is: t"#],
        ),
        (
            "limit field",
            prompt("{{ limits.t.lft }}"),
            &[r#"DG0302 12:19 the record has no field "lft" | did you mean "left"?"#],
        ),
        (
            "run",
            prompt("{{ run.dat }}"),
            &[r#"DG0302 12:14 the record has no field "dat" | did you mean "date"?"#],
        ),
        ("bare config", prompt("{{ config }}"), &["DG0307 12:10 `config` is read by name: config.NAME"]),
        (
            "filter",
            prompt("{{ q | uper }}"),
            &[r#"DG0303 12:14 unknown filter "uper" | did you mean "upper"?"#],
        ),
        (
            "test",
            prompt("{% if q is strng %}{% endif %}"),
            &[r#"DG0304 12:18 unknown test "strng" | did you mean "string"?"#],
        ),
        (
            "function",
            prompt("{{ rang(3) }}"),
            &[r#"DG0305 12:10 unknown function "rang" | did you mean "range"?"#],
        ),
        (
            "filter as function",
            prompt("{{ length(q) }}"),
            &[r#"DG0305 12:10 unknown function "length" | length is a filter: VALUE | length"#],
        ),
        (
            "method",
            prompt("{{ q.upper() }}"),
            &["DG0305 12:11 values have no methods, so no \"upper\" | there is a filter: VALUE | upper"],
        ),
        ("none", prompt("{{ none }}"), &["DG0307 12:10 write `null` for nothing"]),
        (
            "local",
            prompt("{% set z = q %}{{ z }}{% for i in range(3) %}{{ i + loop.index }}{% endfor %}"),
            &[],
        ),
        (
            "local out of its loop",
            prompt("{% for i in hits %}{% endfor %}{{ i }}"),
            &[r#"DG0301 12:41 unknown name "i"..."#],
        ),
        (
            "loop field",
            prompt("{% for h in hits %}{{ loop.indx }}{% endfor %}"),
            &[r#"DG0302 12:34 the record has no field "indx" | did you mean "index"?"#],
        ),
    ]);
}

#[test]
fn fields_of_known_types() {
    compare(&[
        (
            "loop variable",
            prompt("{% for h in hits %}[{{ h.source }}] {{ h.txt }}{% endfor %}"),
            &[r#"DG0302 12:48 the type "hit" has no field "txt" | did you mean "text"?"#],
        ),
        (
            "nested loops",
            prompt("{% for r in rs %}{% for p in r.parts %}{{ p.size }}{{ p.sze }}{% endfor %}{% endfor %}"),
            &[r#"DG0302 12:63 the type "p" has no field "sze" | did you mean "size"?"#],
        ),
        (
            "after a subscript",
            prompt("{{ rs[0].parts[1].idd }}"),
            &[r#"DG0302 12:25 the type "p" has no field "idd" | did you mean "id"?"#],
        ),
        (
            "subscript text",
            prompt("{{ r['nam'] }}"),
            &[r#"DG0302 12:12 the type "r" has no field "nam" | did you mean "name"?"#],
        ),
        (
            "map of records",
            prompt("{{ src['a'].titel }} {{ src.b.title }}"),
            &[r#"DG0302 12:19 the type "source" has no field "titel" | did you mean "title"?"#],
        ),
        (
            "items",
            prompt("{% for id, s in src | items %}{{ id }}{{ s.titel }}{% endfor %}"),
            &[r#"DG0302 12:50 the type "source" has no field "titel"..."#],
        ),
        (
            "map(attribute)",
            prompt("{{ hits | map(attribute='txt') | join }}"),
            &[r#"DG0302 12:17 the type "hit" has no field "txt"..."#],
        ),
        (
            "map then field",
            prompt("{% for p in rs | map(attribute='parts') | first %}{{ p.idd }}{% endfor %}"),
            &[r#"DG0302 12:62 the type "p" has no field "idd"..."#],
        ),
        (
            "selectattr",
            prompt("{{ rs | selectattr('knd', 'equalto', 'x') | list }}"),
            &[r#"DG0302 12:15 the type "r" has no field "knd" | did you mean "kind"?"#],
        ),
        (
            "selectattr test",
            prompt("{{ rs | selectattr('kind', 'equlto', 'x') | list }}"),
            &[r#"DG0304 12:15 unknown test "equlto" | did you mean "equalto"?"#],
        ),
        (
            "sort",
            prompt("{{ rs | sort(attribute='nme') | length }}"),
            &[r#"DG0302 12:15 the type "r" has no field "nme"..."#],
        ),
        (
            "join attribute",
            prompt("{{ hits | join(', ', attribute='titl') }}"),
            &[r#"DG0302 12:17 the type "hit" has no field "titl"..."#],
        ),
        (
            "first",
            prompt("{{ (hits | first).scor }}"),
            &[r#"DG0302 12:25 the type "hit" has no field "scor"..."#],
        ),
        (
            "batch",
            prompt("{% for b in hits | batch(2) %}{% for h in b %}{{ h.scor }}{% endfor %}{% endfor %}"),
            &[r#"DG0302 12:58 the type "hit" has no field "scor"..."#],
        ),
        (
            "list",
            prompt("{{ hits.text }}"),
            &["DG0302 12:15 [hit] has no fields, so no \"text\" | for each item: ..."],
        ),
        ("text", prompt("{{ q.text }}"), &["DG0302 12:12 string has no fields, so no \"text\""]),
        ("any", prompt("{{ any.whatever.it.is }}"), &[]),
        (
            "or",
            prompt("{% for h in hits or hits %}{{ h.scor }}{% endfor %}"),
            &[r#"DG0302 12:39 the type "hit" has no field "scor"..."#],
        ),
        (
            "message",
            prompt("{% for x in m %}{{ x.rol }}{% endfor %}"),
            &[r#"DG0302 12:28 the type "message" has no field "rol"..."#],
        ),
        (
            "never equal",
            prompt("{% if config.mode == 'nevr' %}{% endif %}"),
            &[r#"DG0309 12:28 the value is never "nevr" | did you mean "never"?"#],
        ),
        (
            "field never equal",
            prompt("{% if r.kind != 'z' %}{% endif %}"),
            &[r#"DG0309 12:23 the value is never "z" | there is: x, y"#],
        ),
    ]);
}

#[test]
fn results_and_where_they_are_known() {
    compare(&[
        ("data", update("q", "result.data.name"), &[]),
        (
            "field of data",
            update("q", "result.data.nam"),
            &[r#"DG0302 14:22 the type "r" has no field "nam" | did you mean "name"?"#],
        ),
        (
            "result in a prompt",
            prompt("{{ result.text }}"),
            &["DG0306 12:10 `result` is not known here | `result` is known in `update`, `answer` and `next`"],
        ),
        ("args", prompt("{{ args.a }}"), &["DG0306 12:10 `args` is known in tools only..."]),
        (
            "error",
            update("q", "error.message"),
            &["DG0306 14:10 `error` is known in `on_error` and `retry.if` only"],
        ),
        ("item", update("q", "item.x"), &["DG0306 14:10 `item` is known in nodes with `each` only"]),
        ("secret", update("q", "secret.X"), &["DG0306 14:10 `secret` is known under `mcp` only"]),
        (
            "result in on_error",
            prompt("p") + "    on_error: {if: result.text, exit: completed}\n",
            &["DG0306 13:20 `result` is not known here | after a failure there is no `result`..."],
        ),
        (
            "error in on_error",
            prompt("p")
                + "    on_error: {if: error.kind == 'tool', exit: completed}\n    retry: {if: error.knd}\n",
            &[r#"DG0302 14:23 the type "error" has no field "knd" | did you mean "kind"?"#],
        ),
        (
            "no data",
            update("q", "result.data.name").replace("    returns: r\n", ""),
            &["DG0302 13:17 `result` has no field \"data\" | `result.data` needs `returns`"],
        ),
        (
            "no verb",
            format!("{HEAD}    update: {{q: result.text}}\n"),
            &["DG0306 10:17 `result` is not known here | this node has no verb, so nothing comes back"],
        ),
        (
            "run_tools",
            format!(
                "{HEAD}    model: x\n    messages: m\n    tools: [t]\n    next: b\n  b: {{run_tools: a, update: {{n: result.calls | length}}, next: {{if: result.call, exit: completed}}}}\ntools: {{t: {{call: think}}}}\n"
            ),
            &["DG0302 14:75 `result` has no field \"call\" | did you mean \"calls\"?"],
        ),
    ]);
}

#[test]
fn a_comparison_is_told_once() {
    const KINDS: &str = "a number is compared with a text...";
    let head = |text: String| {
        text.replace("n: {type: integer, default: 1}", "n: {type: integer, enum: [1, 2], default: 1}")
    };
    let one = [format!("DG0401 12:22 {KINDS}"), format!("DG0401 12:26 {KINDS}")];
    compare(&[
        ("of two kinds, with listed values", head(prompt("{{ config.n == 'one' }}")), &[&one[0]]),
        ("in a chain", head(prompt("{{ 0 < config.n == 'one' }}")), &[&one[1]]),
        (
            "of one kind",
            prompt("{{ mode == 'z' }}"),
            &["DG0309 12:18 the value is never \"z\" | there is: x, y"],
        ),
    ]);
}

#[test]
fn values_of_another_type() {
    compare(&[
        (
            "text into a number",
            update("n", "q"),
            &["DG0401 14:10 the channel \"n\" takes integer, and this is string"],
        ),
        (
            "number into a text",
            update("q", "n"),
            &["DG0401 14:10 the channel \"q\" takes string, and this is integer"],
        ),
        ("fixed", update("q", "3"), &["DG0401 14:10 the channel \"q\" takes string, and this is 3"]),
        ("null", update("q", "null"), &["DG0401 14:10 the channel \"q\" takes string, and this is null"]),
        ("optional null", update("r", "null"), &[]),
        (
            "list into a text",
            update("q", "hits"),
            &["DG0401 14:10 the channel \"q\" takes string, and this is [hit]"],
        ),
        ("template", update("q", "'{{ n }} of {{ hits | length }}'"), &[]),
        (
            "template into a number",
            update("n", "'{{ n }}'"),
            &["DG0401 14:10 the channel \"n\" takes integer, and this is string"],
        ),
        ("one item", update("rs", "result.data"), &[]),
        ("items", update("rs", "rs"), &[]),
        (
            "other item",
            update("rs", "hits[0]"),
            &["DG0401 14:11 the channel \"rs\" takes [r], and this is hit"],
        ),
        (
            "other record",
            update("r", "hits[0]"),
            &["DG0401 14:10 the channel \"r\" takes r, and this is hit"],
        ),
        ("option", update("mode", "\"'x'\""), &[]),
        (
            "no option",
            update("mode", "\"'z'\""),
            &["DG0401 14:13 the channel \"mode\" takes one of x, y, and this can be \"z\""],
        ),
        (
            "chosen option",
            update("mode", "\"'x' if n else 'w'\""),
            &["DG0401 14:13 the channel \"mode\" takes one of x, y, and this can be \"w\""],
        ),
        ("field's options", update("mode", "result.data.kind"), &[]),
        (
            "other options",
            update("mode", "config.mode"),
            &["DG0401 14:13 the channel \"mode\" takes one of x, y, and this can be \"never\""],
        ),
        ("record", update("r", "{name: q, kind: result.data.kind, parts: []}"), &[]),
        (
            "record without a field",
            update("r", "{name: q, parts: []}"),
            &["DG0401 14:10 the channel \"r\" takes r, and this is a record without the field \"kind\""],
        ),
        (
            "record with another",
            update("r", "{name: q, kind: \"'x'\", parts: [], nme: q}"),
            &[
                "DG0401 14:10 the channel \"r\" takes r, and this has a field \"nme\" that r has not; did you mean \"name\"?",
            ],
        ),
        (
            "record with a wrong field",
            update("r", "{name: n, kind: \"'x'\", parts: []}"),
            &["DG0401 14:10 the channel \"r\" takes r, and this has a field \"name\" that is integer"],
        ),
        ("message", update("m", "[{user: q}, {assistant: \"{{ q }}!\"}]"), &[]),
        ("one message", update("m", "{user: q}"), &[]),
        (
            "misspelt message",
            update("m", "[{usr: q}]"),
            &[
                "DG0401 14:10 the channel \"m\" takes messages, and this has an item that is no message: {user: ...}, {assistant: ...} or {system: ...}; did you mean \"user\"?",
            ],
        ),
        ("map", update("src", "{a: src.b}"), &[]),
        ("anything", update("any", "[1, {a: q}]"), &[]),
        (
            "forgotten quotes",
            update("q", "research"),
            &["DG0301 14:10 unknown name \"research\" | a fixed text is written \"'research'\""],
        ),
        (
            "sentence",
            update("q", "it is done"),
            &["DG0301 14:10 unknown name \"it\"...", "DG0304 14:16 unknown test \"done\"..."],
        ),
        (
            "two words",
            update("q", "it works"),
            &[
                "DG0307 14:13 this expression can not be read: unexpected input after expression | a fixed text is written \"'it works'\"",
            ],
        ),
        ("empty", update("q", "''"), &["DG0307 14:10 an empty expression | empty text is written \"''\""]),
        ("arithmetic", update("n", "n + 1"), &[]),
        ("choice", update("n", "n if q else null"), &[]),
        (
            "duration",
            update("q", "limits.t.left"),
            &["DG0401 14:10 the channel \"q\" takes string, and this is number"],
        ),
    ]);
}
