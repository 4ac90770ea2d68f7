//! What the page may do, told to the browser: show itself, and run its own script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The page's styles.
pub(super) const STYLES: &str = include_str!("page.css");

/// The page's script: filter, expanding, copying. Without it everything can be read.
pub(super) const SCRIPT: &str = include_str!("page.js");

/// The content security policy: nothing from anywhere, no styles and no script but these two, known by their hashes.
pub(super) fn policy() -> String {
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLES)
    )
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_and_script_can_stand_in_a_page() {
        for text in [STYLES, SCRIPT] {
            assert!(!text.contains("</") && !text.contains("<!--"), "it would end the element that it is in");
            assert_eq!(super::super::visible::visible(text.to_owned()), text, "its hash would not fit");
        }
    }

    #[test]
    fn the_hash_is_the_one_that_browsers_know() {
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
