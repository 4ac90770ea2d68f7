//! Expressions that would overflow the stack of the expression library are refused before it sees them.

use minijinja::machinery::{Token, tokenize};

/// The most words and signs of one expression, or of one tag of a template.
const MAX_TOKENS: usize = 600;
/// The most `elif` branches of a template.
const MAX_ELIF: usize = 100;
/// The longest template, in bytes.
const MAX_BYTES: usize = 256 << 10;

/// What is too complex about a text, if anything. Chains such as `a + a + ...` nest as deep as they are long.
pub(crate) fn too_complex(source: &str, is_expr: bool) -> Option<String> {
    if source.len() > MAX_BYTES {
        return Some(format!("it is longer than {MAX_BYTES} bytes"));
    }
    let mut tokens = 0;
    let mut branches = 0;
    for token in tokenize(source, is_expr, Default::default()) {
        // A text that can not be split into tokens can not be read either; reading it gives the message.
        let Ok((token, _)) = token else { return None };
        match token {
            Token::TemplateData(_) | Token::VariableStart | Token::BlockStart => tokens = 0,
            Token::Ident("elif") => branches += 1,
            _ => tokens += 1,
        }
        if tokens > MAX_TOKENS {
            return Some(format!("an expression has more than {MAX_TOKENS} words and signs"));
        }
        if branches > MAX_ELIF {
            return Some(format!("it has more than {MAX_ELIF} elif branches"));
        }
    }
    None
}
