//! Sections joined to one Markdown text, without a model.

use serde::Deserialize;

/// A section of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Section {
    /// Stands above the text as a heading of the second level; none, or blank: no heading.
    #[serde(default)]
    pub title: Option<String>,
    /// Its text, in Markdown.
    pub text: String,
}

/// The sections in their order, each under its title, with a blank line between all parts. Blank texts and titles
/// are left out, line breaks in titles become spaces.
pub fn join(sections: &[Section]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for Section { title, text } in sections {
        let title = title.as_deref().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        if !title.is_empty() {
            parts.push(format!("## {title}"));
        }
        // Spaces at the beginning of the first line mean something in Markdown.
        let text = text.trim_end().trim_start_matches(['\n', '\r']);
        if !text.is_empty() {
            parts.push(text.to_owned());
        }
    }
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(title: Option<&str>, text: &str) -> Section {
        Section { title: title.map(str::to_owned), text: text.to_owned() }
    }

    #[test]
    fn sections_stand_under_their_titles() {
        let sections = [
            section(Some("Range"), "54 km. [a-1]\n"),
            section(None, "\n    no title\n\nTwo paragraphs.\n\n"),
            section(Some("  Two\nlines "), "x"),
        ];
        assert_eq!(
            join(&sections),
            "## Range\n\n54 km. [a-1]\n\n    no title\n\nTwo paragraphs.\n\n## Two lines\n\nx"
        );
    }

    #[test]
    fn what_is_blank_is_left_out() {
        assert_eq!(join(&[]), "");
        assert_eq!(join(&[section(Some(" "), " \n"), section(Some("A"), "")]), "## A");
    }
}
