//! The text that is written: it reads as what was built, whatever stands in it.

use deepgraph_protocol::Value;

use super::read;
use crate::build::tree::{Mapping, Tree};
use crate::build::{fixed, yaml};
use crate::expr::{Context, Names, Programs};

fn comes_back(root: &Mapping) {
    let text = yaml::write(root);
    assert_eq!(read(&text), *root, "{text}");
}

/// Numbers that look like chance and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn text(&mut self) -> String {
        const PARTS: [&str; 46] = [
            "a",
            "b",
            "word",
            "true",
            "no",
            "null",
            "~",
            "1",
            "30m",
            "0x1",
            "1e3",
            ".5",
            "-",
            "- ",
            "?",
            ":",
            ": ",
            " #",
            "#",
            ",",
            "[",
            "]",
            "{",
            "}",
            "{{ x }}",
            "{%",
            "'",
            "\"",
            "\\",
            "|",
            ">",
            "&",
            "*",
            "!",
            "%",
            "@",
            "`",
            "\n",
            "\n\n",
            " ",
            "  ",
            "\t",
            "ä字",
            "\u{7f}\u{85}\u{2028}\u{feff}",
            "\u{0}\r\u{1b}",
            "---",
        ];
        (0..self.below(6)).map(|_| PARTS[self.below(PARTS.len())]).collect()
    }

    fn tree(&mut self, depth: usize) -> Tree {
        match self.below(if depth == 0 { 5 } else { 7 }) {
            0 => Tree::Null,
            1 => Tree::Bool(self.below(2) == 0),
            2 => Tree::Int(self.below(1 << 20) as i64 - 1000),
            3 => Tree::Float(
                (self.below(1 << 20) as f64 - 1000.0) / 64.0 * 10f64.powi(self.below(30) as i32 - 15),
            ),
            4 => Tree::Text(self.text()),
            5 => Tree::List((0..self.below(4)).map(|_| self.tree(depth - 1)).collect()),
            _ => Tree::Map(self.mapping(depth - 1)),
        }
    }

    fn mapping(&mut self, depth: usize) -> Mapping {
        let mut map = Mapping::default();
        for n in 0..self.below(5) {
            // A key stands once.
            map.add(format!("{}{n}", self.text()), self.tree(depth));
        }
        map
    }
}

#[test]
fn whatever_is_written_is_read_back() {
    let mut dice = Dice(1);
    for _ in 0..3000 {
        let mut root = dice.mapping(3);
        root.add("last", dice.tree(3));
        comes_back(&root);
    }
}

#[test]
fn texts_that_look_like_something_else_stay_texts() {
    let odd = [
        "",
        " ",
        "true",
        "Yes",
        "off",
        "null",
        "~",
        "12",
        "-3",
        "1e3",
        "0x10",
        "30m",
        "1h30m",
        "2024-01-01",
        "a: b",
        "a #b",
        "a:",
        "- a",
        "? a",
        "[a]",
        "{{ a }}",
        "x{{ a }}",
        "'a'",
        "\"a\"",
        "a\n",
        "a\nb",
        "\na",
        " a\nb",
        "a\n \nb",
        "a\n\n",
        "a\n\nb\n",
        "a\tb\nc",
        "<<",
        "=",
        "a,b",
        "https://a.b/c?d=e#f",
        "%a",
        "@a",
        "`a`",
        "a\\",
        "prompts/agent.md",
        "result.a[0] == \"b\"",
        "not x",
        "&a",
        "*a",
        "!a",
        "|",
        ">-",
        "é: è",
        "\u{a0}a\u{a0}",
    ];
    for text in odd {
        let list = Tree::List(vec![Tree::Text(text.to_owned())]);
        let mut inner = Mapping::default();
        inner.add(text, list.clone());
        let mut root = Mapping::default();
        root.add("k", Tree::Text(text.to_owned()));
        root.add("l", list);
        root.add("m", Tree::Map(inner));
        comes_back(&root);
    }
}

#[test]
fn fixed_texts_are_given_as_they_are() {
    #[derive(Debug)]
    struct Nothing;
    impl Names for Nothing {
        fn lookup(&self, _: &str) -> Option<Value> {
            None
        }
    }
    for text in ["", "it's", "a\\b", "a\nb\tc", "{{ x }} {% y %}", "\"", "ä字\u{7f}\u{1b}", "\\n", "'"] {
        let Tree::Text(source) = fixed(text).0 else { panic!("{text:?}") };
        assert!(!source.contains("{{") && !source.contains("{%"), "{source}");
        let mut programs = Programs::new();
        let expr = programs.add_expr(&source, "t:1:1").unwrap();
        assert_eq!(programs.eval(&expr, &Context::of(Nothing)).unwrap().as_str(), Some(text), "{source}");
    }
}
