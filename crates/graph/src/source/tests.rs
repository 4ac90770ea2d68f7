use super::parse::SourceError;
use super::*;

fn good(text: &str) -> Node {
    let parsed = parse(text);
    assert_eq!(parsed.errors, []);
    parsed.node.unwrap()
}

fn first(text: &str) -> SourceError {
    parse(text).errors.remove(0)
}

/// The tree in one line, each value with its place.
fn shown(node: &Node) -> String {
    let at = node.place;
    match &node.kind {
        Kind::List(items) => {
            format!("[{}]@{at}", items.iter().map(shown).collect::<Vec<_>>().join(" "))
        }
        Kind::Map(entries) => {
            let entry = |(k, v): &(Key, Node)| format!("{}@{}: {}", k.name, k.place, shown(v));
            format!("{{{}}}@{at}", entries.iter().map(entry).collect::<Vec<_>>().join(" "))
        }
        _ => format!("{}@{at}", node.to_value().to_json_text()),
    }
}

fn tree(text: &str) -> String {
    shown(&good(text))
}

fn refused(text: &str) -> String {
    let e = first(text);
    format!("{} {} {}", e.code, e.place, e.message)
}

#[test]
fn yaml_and_json_have_places() {
    assert_eq!(
        tree("a: 1\nb:\n  - x\n  - y: z\n"),
        r#"{a@1:1: 1@1:4 b@2:1: ["x"@3:5 {y@4:5: "z"@4:8}@4:5]@3:3}@1:1"#
    );
    assert_eq!(
        tree("{\n  \"a\": [1,\n    {\"b\": \"c\"}]}\n"),
        r#"{a@2:3: [1@2:9 {b@3:6: "c"@3:11}@3:5]@2:8}@1:1"#
    );
    assert_eq!(tree("{\n\t\"a\": {\n\t\t\"b\": 1}}"), r#"{a@2:2: {b@3:3: 1@3:8}@2:7}@1:1"#);
    assert_eq!(tree("ä: ü\n漢: 字\n"), r#"{ä@1:1: "ü"@1:4 漢@2:1: "字"@2:4}@1:1"#);
    assert_eq!(tree("\u{feff}a: 1\r\nb: 2\r\n"), r#"{a@1:1: 1@1:4 b@2:1: 2@2:4}@1:1"#);
}

#[test]
fn only_plain_words_of_the_core_are_more_than_text() {
    let table = [
        ("true", "true"),
        ("false", "false"),
        ("null", "null"),
        ("~", "null"),
        ("yes", "\"yes\""),
        ("NO", "\"NO\""),
        ("off", "\"off\""),
        ("True", "\"True\""),
        ("12", "12"),
        ("-3", "-3"),
        ("+3", "3"),
        ("1.5", "1.5"),
        ("1e3", "1000.0"),
        (".5", "0.5"),
        ("007", "\"007\""),
        ("0", "0"),
        ("0.5", "0.5"),
        ("0x10", "\"0x10\""),
        ("1_000", "\"1_000\""),
        (".inf", "\".inf\""),
        (".nan", "\".nan\""),
        ("2024-01-01", "\"2024-01-01\""),
        ("12:30", "\"12:30\""),
        ("30m", "\"30m\""),
        ("99999999999999999999", "1e+20"),
        ("'1'", "\"1\""),
        ("\"true\"", "\"true\""),
        ("1.2.3", "\"1.2.3\""),
        ("-", "[null]"),
        ("e5", "\"e5\""),
        ("1e999", "\"1e999\""),
    ];
    for (text, wanted) in table {
        assert_eq!(good(text).to_value().to_json_text(), wanted, "{text}");
    }
}

#[test]
fn traps_are_refused_with_their_place() {
    let table = [
        ("a: 1\nb: 2\na: 3\n", "DG0002 3:1 the key \"a\" is here a second time"),
        ("a: {b: 1, b: 2}", "DG0002 1:11 the key \"b\" is here a second time"),
        ("{\"a\": 1,\n \"a\": 2}", "DG0002 2:2 the key \"a\" is here a second time"),
        ("if: !x\n", "DG0003 1:5 tags are not read"),
        ("a: !!str 1\n", "DG0003 1:4 tags are not read"),
        ("a: &b 1\n", "DG0004 1:4 anchors and aliases are not read"),
        ("a: &b {c: 1}\nd: *b\n", "DG0004 1:4 anchors and aliases are not read"),
        ("<<: {a: 1}\n", "DG0013 1:1 merge keys are not read"),
        ("a: 1\n---\nb: 2\n", "DG0005 2:1 a second document begins here"),
        ("", "DG0006 1:1 the file is empty"),
        ("# nothing\n", "DG0006 1:1 the file is empty"),
        ("---\n", "DG0006 1:1 the file is empty"),
        ("a:\n\tb: 1\n", "DG0009 2:1 a tab in the indentation"),
        ("a:\n  b: text\n\tc: 1\n", "DG0009 3:1 a tab in the indentation"),
        ("a:\n  b: text\n  more\n\n  \tc: 1\n", "DG0009 5:3 a tab in the indentation"),
        ("a: 1\n\n\tb: 1\n", "DG0009 3:1 a tab in the indentation"),
        ("- a\n\t- b\n", "DG0009 2:1 a tab in the indentation"),
        ("a: {{ b }}\n", "DG0001 1:5 a key must be text"),
        ("? [a]\n: b\n", "DG0001 1:3 a key must be text"),
        ("a: 1\0\nb: 2", "DG0001 1:5 a control character, which YAML does not allow"),
    ];
    for (text, wanted) in table {
        assert_eq!(refused(text), wanted, "{text:?}");
    }
}

#[test]
fn syntax_errors_have_places() {
    for (text, line) in
        [("a: [1, 2\nb: 3\n", 2), ("a: 'x\n", 2), ("a: b: c\n", 1), ("- a\nb: 1\n", 2), ("a: @x", 1)]
    {
        let e = first(text);
        assert_eq!(e.code, "DG0001", "{text:?}: {e:?}");
        assert!(e.place.line >= 1 && e.place.line <= line, "{text:?}: {e:?}");
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    good(&deep(40));
    assert_eq!(first(&deep(60)).code, "DG0007");
    assert!(parse(&deep(100_000)).node.is_none());
    assert_eq!(first(&"- ".repeat(100_000)).code, "DG0007");
    let block: String = (0..200).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    assert_eq!(first(&block).code, "DG0007");
    assert_eq!(first(&"a".repeat(2 << 20)).code, "DG0008");
}

fn place(text: &str, needle: &str, offset: usize) -> String {
    let root = good(text);
    let node = root.get("k").unwrap();
    let Kind::Text(scalar) = &node.kind else { panic!("no text") };
    let at = scalar.text.find(needle).unwrap() + offset;
    FileText::new("f", text).place_in(scalar, node.place, at).to_string()
}

#[test]
fn places_inside_scalars() {
    assert_eq!(place("k: abc def\n", "def", 0), "1:8");
    assert_eq!(place("k: 'abc def'\n", "def", 0), "1:9");
    assert_eq!(place("k: \"äbc def\"\n", "def", 1), "1:10");
    assert_eq!(place("k: |\n  one\n  two three\n", "three", 0), "3:7");
    assert_eq!(place("k: |\n\n  one\n    two three\n", "three", 0), "4:9");
    assert_eq!(place("k: |-\r\n  one\r\n  two three\r\n", "three", 0), "3:7");
    // What can not be told is the place of the scalar.
    assert_eq!(place("k: \"a\\tb def\"\n", "def", 0), "1:4");
    assert_eq!(place("k: >\n  one\n  two\n", "two", 0), "2:3");
}

#[test]
fn places_of_whole_files() {
    let file = FileText::new("f", "ab\r\ncd\rä字x\n");
    let at = |offset| file.place_of(offset).to_string();
    assert_eq!([at(0), at(1), at(4), at(7), at(9), at(12)], ["1:1", "1:2", "2:1", "3:1", "3:2", "3:3"]);
    assert_eq!(at(1000), "4:1");
    assert_eq!(
        [file.line(1), file.line(2), file.line(3), file.line(4), file.line(9), file.line(0)],
        ["ab", "cd", "ä字x", "", "", ""]
    );
}

#[test]
fn reading_goes_on_after_small_mistakes() {
    let parsed = parse("a: !x 1\nb: 2\nb: {c: 3, c: 4}\na: 5\n");
    let found: Vec<String> = parsed.errors.iter().map(|e| format!("{} {}", e.code, e.place)).collect();
    assert_eq!(found, ["DG0003 1:4", "DG0002 3:11", "DG0002 3:1", "DG0002 4:1"]);
    assert_eq!(parsed.node.unwrap().to_value().to_json_text(), r#"{"a":1,"b":2}"#, "the first one stays");
}
