//! Phrases of a class, and whether they stand in a question.

use crate::text::words::{fold, is_written_without_spaces};

/// A word of a question or a phrase, as they are compared.
pub(super) type Token = String;

/// The words of a text in the form in which they are compared: lower case, without accents. Scripts that put no
/// space between words have a word a character.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut words: Vec<Token> = Vec::new();
    let mut word = String::new();
    for c in fold(text).chars() {
        let alone = is_written_without_spaces(c);
        if (alone || !is_part_of_word(c)) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if alone {
            words.push(c.to_string());
        } else if is_part_of_word(c) {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric()
}

/// The most words for which a `*` stands.
const GAP: usize = 2;

/// A phrase: runs of words, with few words between two runs.
#[derive(Debug)]
pub(super) struct Phrase {
    runs: Vec<Vec<Token>>,
}

impl Phrase {
    /// Reads a phrase; `*` parts its runs.
    pub fn read(text: &str) -> Phrase {
        Phrase { runs: text.split('*').map(tokens).filter(|run| !run.is_empty()).collect() }
    }

    /// How many words it has.
    pub fn length(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// Whether its runs stand in a text in this order, with at most [`GAP`] words between two of them. One without words
    /// stands nowhere.
    pub fn stands_in(&self, words: &[Token]) -> bool {
        let Some((first, rest)) = self.runs.split_first() else { return false };
        let starts = |run: &[Token], at: usize| words.get(at..).is_some_and(|words| words.starts_with(run));
        // Where the runs so far can end.
        let mut ends: Vec<usize> =
            (0..words.len()).filter(|at| starts(first, *at)).map(|at| at + first.len()).collect();
        for run in rest {
            let mut next: Vec<usize> = ends
                .iter()
                .flat_map(|end| (*end..=*end + GAP).filter(|at| starts(run, *at)).map(|at| at + run.len()))
                .collect();
            next.sort_unstable();
            next.dedup();
            ends = next;
        }
        !ends.is_empty()
    }
}
