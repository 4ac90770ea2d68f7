use proptest::prelude::*;

use super::*;

fn joined(words: &BTreeSet<&'static str>) -> String {
    words.iter().copied().collect::<Vec<_>>().join(", ")
}

fn shown(text: &str) -> (String, String, String) {
    let reading = read(text).unwrap_or_else(|| panic!("{text}"));
    (reading.value.to_json_text(), joined(&reading.mended), joined(&reading.guessed))
}

#[test]
fn what_is_json_is_read_as_it_is() {
    for text in [
        "{}",
        "[]",
        r#"{"a":[1,-2.5,1e3,true,false,null,"x"],"b":{"c":""}}"#,
        r#"["\"\\\/\b\f\n\r\t","\u00e4\ud83d\ude00"]"#,
    ] {
        let strict: Value = serde_json::from_str(text).unwrap();
        assert_eq!(shown(text), (strict.to_json_text(), String::new(), String::new()), "{text}");
    }
}

#[test]
fn what_is_clear_is_mended() {
    for (text, value, mended) in [
        (r#"{"a": 1, "b": [1, 2,],}"#, r#"{"a":1,"b":[1,2]}"#, "commas"),
        ("{\"a\": \"x\"\n \"b\": 2}", r#"{"a":"x","b":2}"#, "commas"),
        ("{\"a\": 1 // one\n, /* two */ \"b\": 2}", r#"{"a":1,"b":2}"#, "comments"),
        ("{'a': 'it', b-c: “d”}", r#"{"a":"it","b-c":"d"}"#, "quotation marks"),
        (
            r#"{"a": True, "b": None, "c": [False]}"#,
            r#"{"a":true,"b":null,"c":[false]}"#,
            "words of another language",
        ),
        (r#"{"a": "\upcite{x} \_ \(y\) \'z"}"#, r#"{"a":"\\upcite{x} \\_ \\(y\\) 'z"}"#, "escapes"),
        ("{\"a\": \"one\ntwo\"}", r#"{"a":"one\ntwo"}"#, "line breaks in texts"),
        (r#"{"a": .5, "b": +1, "c": 2.}"#, r#"{"a":0.5,"b":1,"c":2}"#, "numbers"),
    ] {
        assert_eq!(shown(text), (value.to_owned(), mended.to_owned(), String::new()), "{text}");
    }
}

#[test]
fn what_is_not_clear_is_called_a_guess() {
    for (text, value, guessed) in [
        (r#"{"a": [1, {"b": "cut o"#, r#"{"a":[1,{"b":"cut o"}]}"#, "an end that was cut off"),
        (r#"{"a": 1, "b": 12"#, r#"{"a":1}"#, "an end that was cut off"),
        (r#"{"a": 1, "b"#, r#"{"a":1}"#, "an end that was cut off"),
        (r#"{"a": "he said "yes" twice"}"#, r#"{"a":"he said \"yes\" twice"}"#, "quotation marks in texts"),
        (r#"{"a": 1, "a": 2}"#, r#"{"a":2}"#, "a name that stands twice"),
        (r#"{"a": yes please}"#, r#"{"a":"yes please"}"#, "texts without quotation marks"),
        (r#"{"a": [1, 2}"#, r#"{"a":[1,2]}"#, "brackets"),
    ] {
        let (read, _, guesses) = shown(text);
        assert_eq!((read.as_str(), guesses.as_str()), (value, guessed), "{text}");
    }
}

#[test]
fn what_is_none_is_not_read() {
    for text in ["", "words", "{hm}", "{a 1}", "{: 1}", "}", &"[".repeat(65), &"{\"a\":".repeat(100_000)] {
        assert!(read(text).is_none(), "{}", text.chars().take(20).collect::<String>());
    }
}

proptest! {
    #[test]
    fn nothing_makes_it_fail(text in "[\\[\\]{}\"'`:,\\\\u0-9a-f \\n/*#“”<ü.+-]{0,200}") {
        if let Some(reading) = read(&text) {
            prop_assert!(text.is_char_boundary(reading.bytes));
            prop_assert!(reading.value.depth() <= DEEPEST + 1);
        }
    }

    #[test]
    fn a_beginning_of_json_is_read_without_its_end(text in "[a-z ]{0,8}", cut in 1_usize..200) {
        let whole = Value::record([("first", Value::from(text.clone())), ("list", Value::from(vec![Value::Int(1), Value::from(text)]))]);
        let whole = whole.to_json_text();
        let cut = cut.min(whole.len());
        let reading = read(&whole[..cut]);
        prop_assert!(reading.is_some());
        prop_assert_eq!(reading.unwrap().guessed.is_empty(), cut == whole.len());
    }

    #[test]
    fn what_serde_reads_is_read_the_same(text in "[\\[\\]{}\":,0-9a-c ]{0,40}") {
        if let Ok(value) = serde_json::from_str::<Value>(&text) && (text.trim_start().starts_with(['{', '['])) {
            let reading = read(&text).unwrap();
            prop_assert_eq!(reading.value, value);
            prop_assert!(reading.mended.is_empty() && reading.guessed.is_empty());
        }
    }
}
