//! The question.

use std::io::Read;

use crate::error::CliError;

/// The question: the argument, or standard input for `-`.
///
/// # Errors
///
/// It is empty, or standard input is no text.
pub fn read(argument: &str) -> Result<String, CliError> {
    let text = if argument == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(CliError::Stdin)?;
        text
    } else {
        argument.to_owned()
    };
    let text = text.trim();
    if text.is_empty() { Err(CliError::EmptyQuestion) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_question_is_none() {
        assert!(matches!(read(" \n\t"), Err(CliError::EmptyQuestion)));
        assert_eq!(read("  why? ").unwrap(), "why?");
    }
}
