//! Phrases of a class, and whether they stand in a question.

use crate::text::words::fold;

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

/// Han, kana, Thai, Lao, Myanmar and Khmer.
fn is_written_without_spaces(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// A phrase: runs of words, with any words between two runs.
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

    /// Whether its runs stand in a text in this order. One without words stands nowhere.
    pub fn stands_in(&self, words: &[Token]) -> bool {
        let mut rest = words;
        for run in &self.runs {
            let Some(at) = rest.windows(run.len()).position(|part| part == run.as_slice()) else {
                return false;
            };
            rest = rest.get(at + run.len()..).unwrap_or_default();
        }
        !self.runs.is_empty()
    }
}
