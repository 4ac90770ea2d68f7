//! Whether a failure says that the request is longer than the model's window, how large that is, and how many tokens of
//! the request the provider counted.

/// Codes and types that say so.
pub(super) const OVERFLOW_CODES: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "string_above_max_length",
];

/// Phrases that say so by themselves.
const PHRASES: [&str; 7] = [
    "maximum context length",
    "maximum prompt length",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many input tokens",
    "reduce the length of the messages",
];

/// Names of the window. They say nothing by themselves: a request can be wrong about a window in other ways.
const NAMES: [&str; 7] = [
    "context length",
    "context window",
    "context size",
    "context limit",
    "token limit",
    "input token count",
    "number of tokens",
];

/// What makes of such a name an overflow.
const EXCEEDED: [&str; 8] = [
    "exceed",
    "too long",
    "too large",
    "larger than",
    "longer than",
    "greater than",
    "overflow",
    "does not fit",
];

/// Behind these stands the window's size.
const BEFORE_SIZE: [&str; 10] = [
    "maximum context length is",
    "maximum context length of",
    "maximum prompt length is",
    "maximum number of tokens allowed",
    "context length of only",
    "available context size",
    "context window of",
    "context length of",
    "context limit of",
    "n_ctx",
];

/// Before these stands the window's size.
const BEHIND_SIZE: [&str; 2] = ["maximum context length", "token context window"];

/// Behind these stands the count of the request's tokens.
const BEFORE_COUNT: [&str; 8] = [
    "your messages resulted in",
    "the prompt is",
    "prompt is too long:",
    "the input token count (",
    "the request contains",
    "request (",
    "prompt contains",
    "the length of your prompt is",
];

/// What is counted by some servers and is no token.
const OTHER_UNITS: [&str; 5] = ["char", "byte", "letter", "word", "kb"];

/// How far from such words the size may stand, in bytes.
const NEAR: usize = 24;

/// The smallest number that is taken for a window.
const SMALLEST: u64 = 128;

/// Whether these words say that the request is too long for the model.
pub(super) fn says_overflow(words: &str) -> bool {
    let words = words.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|phrase| words.contains(phrase));
    has(&PHRASES) || (has(&NAMES) && has(&EXCEEDED))
}

/// The window in tokens, where the words tell it.
pub(super) fn of_words(words: &str) -> Option<u64> {
    let words = words.to_lowercase();
    if !says_overflow(&words) && !words.contains("n_ctx") {
        return None;
    }
    let behind = BEFORE_SIZE.iter().find_map(|phrase| {
        let (_, rest) = words.split_once(phrase)?;
        first_number(rest)
    });
    // "210000 tokens > 200000 maximum"
    let compared = || words.split_once('>').and_then(|(_, rest)| first_number(rest));
    let before = || {
        BEHIND_SIZE.iter().find_map(|phrase| {
            let (rest, _) = words.split_once(phrase)?;
            last_number(rest)
        })
    };
    behind.or_else(compared).or_else(before).filter(|window| *window >= SMALLEST)
}

/// The tokens of the request, where the words tell their count.
pub(super) fn counted(words: &str) -> Option<u64> {
    let words = words.to_lowercase();
    if !says_overflow(&words) {
        return None;
    }
    // "However, you requested 9000 tokens (8000 in the messages, 1000 in the completion)"
    let in_messages = || words.split_once(" in the messages").and_then(|(rest, _)| last_number(rest));
    let behind = || {
        BEFORE_COUNT.iter().find_map(|phrase| {
            let (_, rest) = words.split_once(phrase)?;
            first_number(rest)
        })
    };
    in_messages().or_else(behind).filter(|tokens| *tokens >= SMALLEST)
}

/// The first number near the beginning, unless it counts something else than tokens, or is that of what is too long.
fn first_number(text: &str) -> Option<u64> {
    let at = text.find(|c: char| c.is_ascii_digit()).filter(|at| *at < NEAR)?;
    // "the maximum context length is exceeded: 9000 tokens" tells the request's own size.
    if text.get(..at).is_some_and(|between| between.contains("exceed")) {
        return None;
    }
    let number = text.get(at..)?;
    let end = number.find(|c: char| !c.is_ascii_digit() && c != ',' && c != '_').unwrap_or(number.len());
    let (digits, unit) = number.split_at(end);
    let unit = unit.trim_start_matches([' ', '-']);
    if OTHER_UNITS.iter().any(|other| unit.starts_with(other)) {
        return None;
    }
    digits.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// The number right at the end.
fn last_number(text: &str) -> Option<u64> {
    let word = text.split_whitespace().next_back()?;
    let word = word.trim_start_matches('(');
    word.chars().filter(|c| *c != ',' && *c != '_').collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_from_the_words_of_many_servers() {
        for (words, window) in [
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130524 tokens.",
                Some(128_000),
            ),
            (
                "This endpoint's maximum context length is 32,768 tokens. However, you requested about 40001",
                Some(32_768),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease",
                Some(200_000),
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
            ),
            (
                "request (5004 tokens) exceeds the available context size (4096 tokens), try increasing it",
                Some(4096),
            ),
            (
                "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
                Some(131_072),
            ),
            (
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
                Some(131_072),
            ),
            (
                "the context overflows: the model is loaded with context length of only 4096 tokens",
                Some(4096),
            ),
            ("the request exceeds the available context size, try increasing it", None),
            ("This model's maximum context length is exceeded: 12979 characters.", None),
            ("This model's maximum context length is exceeded: 12979 tokens.", None),
            ("This model's maximum context length is 6000 characters, the prompt has 12979.", None),
            ("Please reduce the length of the messages or completion.", None),
        ] {
            assert!(says_overflow(words), "{words}");
            assert_eq!(of_words(words), window, "{words}");
        }
    }

    #[test]
    fn counts_are_read_where_they_are_the_requests_own() {
        for (words, tokens) in [
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 130,524 tokens.",
                Some(130_524),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the \
                 messages, 1000 in the completion).",
                Some(8000),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(210_000)),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_200_000),
            ),
            ("request (5004 tokens) exceeds the available context size (4096 tokens)", Some(5004)),
            (
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
                Some(537_812),
            ),
            // Request and reply together.
            ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.", None),
            ("the request exceeds the available context size, try increasing it", None),
            ("the prompt is 9000 tokens, and wrong", None),
        ] {
            assert_eq!(counted(words), tokens, "{words}");
        }
    }

    #[test]
    fn other_mistakes_about_windows_and_limits_are_no_overflow() {
        for words in [
            "Unrecognized request argument supplied: context window",
            "max_tokens is too large: 50000. This model supports at most 16384 completion tokens",
            "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
            "the field 'context size' must be an integer",
            "Invalid value: the temperature is too large",
            "You exceeded your current quota",
        ] {
            assert!(!says_overflow(words), "{words}");
            assert_eq!(of_words(words), None, "{words}");
        }
    }
}
