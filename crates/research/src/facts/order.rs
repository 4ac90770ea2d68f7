//! The order of a proposition, where another order surely says the same.

use super::tokens::{Time, Token};

/// Words that make more than one clause of a proposition, or tell when something was said apart from when it is: a time
/// at one end of such a proposition need not hold for the other.
const CLAUSES: &[&str] = &[
    "about", "after", "although", "and", "around", "as", "because", "before", "between", "both", "but", "by",
    "could", "either", "except", "from", "if", "may", "might", "neither", "never", "no", "nor", "not",
    "only", "or", "should", "since", "so", "than", "that", "then", "though", "till", "to", "unless", "until",
    "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "will", "without", "would",
];

/// Beginnings of words that speak of what is said, wished or foreseen.
const SAYING: &[&str] = &[
    "aim",
    "announc",
    "anticipat",
    "believ",
    "claim",
    "demand",
    "estimat",
    "expect",
    "forecast",
    "foresee",
    "forese",
    "hope",
    "intend",
    "plan",
    "predict",
    "project",
    "promis",
    "propos",
    "report",
    "said",
    "say",
    "target",
    "want",
];

/// Beginnings of words of a label whose list has an order.
const RANKED: &[&str] = &[
    "chain",
    "chronolog",
    "first",
    "from",
    "medal",
    "order",
    "phase",
    "place",
    "podium",
    "rank",
    "result",
    "route",
    "seed",
    "sequence",
    "stage",
    "standing",
    "step",
    "top",
    "victor",
    "winner",
];

/// Words before a date that are no "on".
const BEFORE_DATE: &[&str] = &[
    "at", "circa", "early", "during", "every", "for", "in", "late", "like", "mid", "of", "past", "over",
    "through", "under", "within",
];

/// The tokens in the order that all orders which surely say the same have in common: a time at the beginning goes to
/// the end, the items of a list in alphabetical order.
pub(super) fn in_order(tokens: Vec<Token>) -> Vec<Token> {
    let tokens = with_time_last(tokens);
    match list(&tokens) {
        Some((start, items)) => {
            let text = items.join("|");
            let label = tokens.into_iter().take(start);
            label.chain([Token::Word { raw: text.clone(), low: text }]).collect()
        }
        None => tokens,
    }
}

/// "In 2024 the economy grew 3 %" as "the economy grew 3 % in 2024": one clause with one time and one figure at most.
fn with_time_last(tokens: Vec<Token>) -> Vec<Token> {
    let is_unit = |at: usize| matches!(tokens.get(at), Some(Token::Unit(_)));
    let mut times = tokens.iter().enumerate().filter_map(|(at, token)| match token {
        Token::Figure { time: Some(time), .. } if !is_unit(at + 1) => Some((at, *time)),
        _ => None,
    });
    let (Some((at, time)), None) = (times.next(), times.next()) else { return tokens };
    let figures = tokens.iter().filter(|token| matches!(token, Token::Figure { .. })).count();
    if figures > 2 || tokens.iter().any(|token| is_of_clauses(token.word())) {
        return tokens;
    }
    let is_break = |token: &Token| matches!(token, Token::Break(_));
    let (before, behind) = (&tokens[..at], &tokens[at + 1..]);
    let rest: &[Token] = if behind.iter().all(is_break) {
        match before_last(before, time) {
            Some(rest) => rest,
            None => return tokens,
        }
    } else if is_opening(before, time) {
        let start = behind.iter().position(|token| !is_break(token)).unwrap_or(0);
        &behind[start..]
    } else {
        return tokens;
    };
    // More than one part: the time may belong to one of them. Beside a sign it is no time: `2020/21`.
    let is_apart = |token: &Token| matches!(token, Token::Break(',' | ';'));
    let is_sign = |token: Option<&Token>| matches!(token, Some(Token::Sign(_) | Token::Is));
    if rest.is_empty() || rest.iter().any(is_apart) || is_sign(before.last()) || is_sign(behind.first()) {
        return tokens;
    }
    let mut out = rest.to_vec();
    if let Some(Token::Figure { text, .. }) = tokens.get(at) {
        out.push(Token::Figure { text: format!("@{text}"), time: Some(time) });
    }
    out
}

fn is_of_clauses(word: &str) -> bool {
    CLAUSES.contains(&word) || SAYING.iter().any(|beginning| word.starts_with(beginning))
}

/// What stands before a time at the end, without the "in", "on" or comma that joins it; none where another word does.
fn before_last(before: &[Token], time: Time) -> Option<&[Token]> {
    let (last, rest) = before.split_last()?;
    match last {
        Token::Break(_) => Some(rest),
        word if word.word() == "in" && time != Time::Day => Some(rest),
        word if word.word() == "on" && time == Time::Day => Some(rest),
        word if time == Time::Day && !BEFORE_DATE.contains(&word.word()) => Some(before),
        _ => None,
    }
}

/// Whether these are the words before a time at the beginning.
fn is_opening(before: &[Token], time: Time) -> bool {
    match before {
        [] => time == Time::Day,
        [word] => word.word() == if time == Time::Day { "on" } else { "in" },
        _ => false,
    }
}

/// The items of a list, in alphabetical order, and the token where they begin: all that is said, or all behind a label.
///
/// An `and` may join what a comma parts ("oil and gas turbines"), so with one the items are single words, and it stands
/// once, before the last. Without one, items of up to three words need a label, and none but the first is written
/// like a name: names may belong together in pairs ("Lima, Peru, Quito, Ecuador").
fn list(tokens: &[Token]) -> Option<(usize, Vec<String>)> {
    let start = tokens.iter().rposition(|token| *token == Token::Is).map_or(0, |at| at + 1);
    let (label, value) = tokens.split_at(start);
    let is_ranked = |token: &Token| RANKED.iter().any(|beginning| token.word().starts_with(beginning));
    if label.iter().any(is_ranked) {
        return None;
    }
    let last_and = value.iter().rposition(|token| token.word() == "and");
    let mut items: Vec<Vec<&Token>> = vec![Vec::new()];
    for (at, token) in value.iter().enumerate() {
        match token {
            Token::Break(',' | '、') => items.push(Vec::new()),
            Token::Word { low, .. } if low == "and" && Some(at) == last_and => {
                if items.last().is_some_and(|item| !item.is_empty()) {
                    items.push(Vec::new());
                }
            }
            Token::Word { low, .. } if !is_of_clauses(low) => items.last_mut()?.push(token),
            _ => return None,
        }
    }
    let longest = items.iter().map(Vec::len).max().unwrap_or(0);
    let is_name = |item: &&Vec<&Token>| {
        item.iter()
            .any(|token| matches!(token, Token::Word { raw, .. } if raw.starts_with(char::is_uppercase)))
    };
    let and_is_last = last_and.is_none_or(|at| at + 2 == value.len());
    let fits = match last_and {
        Some(_) => longest == 1 && and_is_last,
        None => longest <= if label.is_empty() { 1 } else { 3 } && !items.iter().skip(1).any(|i| is_name(&i)),
    };
    if items.len() < 2 || items.iter().any(Vec::is_empty) || !fits {
        return None;
    }
    let mut items: Vec<String> =
        items.iter().map(|item| item.iter().map(|t| t.word()).collect::<Vec<_>>().join(" ")).collect();
    items.sort();
    Some((start, items))
}
