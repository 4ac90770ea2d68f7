//! The normal form of a proposition: what wordings of the same fact have in common.
//!
//! It keeps every word as it is, every sign and every figure, in order. It leaves out what is only form, and nothing
//! else, since two facts with one normal form would be counted as one:
//!
//! | left out | in one form |
//! |---|---|
//! | case; quotation marks, commas, brackets, ends of sentences; emphasis; footnote marks | letters and digits of Unicode |
//! | "the"; the difference between a colon, a dash and "is" or "are" | numbers, dates, units |
//! | the order of a time and a list ([`order`](super::order)) | |

use super::order::in_order;
use super::plain::plain_but_indices;
use super::tokens::{Token, tokens};
use super::units::with_units;
use crate::text::figures::{self, Figure};

/// The normal form that keys are made from.
pub fn normalise(text: &str) -> String {
    let text = plain_but_indices(text);
    written(&in_order(with_units(tokens(&text, &figures_of(&text)))))
}

/// The figures of a text in digits and in words, in order.
pub(crate) fn figures_of(text: &str) -> Vec<Figure> {
    let mut found = figures::find(text);
    let mut at = 0;
    let mut apart: Vec<Figure> = Vec::new();
    for spelled in figures::spelled(text) {
        // Both are in order, and neither overlaps itself.
        while found.get(at).is_some_and(|figure| figure.end() <= spelled.at) {
            at += 1;
        }
        if found.get(at).is_none_or(|figure| figure.at >= spelled.end()) {
            apart.push(spelled);
        }
    }
    found.extend(apart);
    found.sort_by_key(|f| f.at);
    found
}

/// Tokens with a space between them. What only parts them is left out, but for the comma behind a "no": "No, ships were
/// lost" is not "No ships were lost".
fn written(tokens: &[Token]) -> String {
    let mut out: Vec<String> = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            Token::Word { low: text, .. } | Token::Unit(text) | Token::Figure { text, .. } => {
                out.push(text.clone());
            }
            Token::Sign(sign) => out.push(sign.to_string()),
            Token::Is => out.push("=".to_owned()),
            Token::Break(',') if matches!(out.last().map(String::as_str), Some("no" | "not" | "yes")) => {
                out.push(",".to_owned());
            }
            Token::Break(_) => {}
        }
    }
    out.join(" ")
}
