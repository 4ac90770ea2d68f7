//! Texts of a configuration file in which `{{ secret.NAME }}` stands for an environment variable.

use std::collections::BTreeSet;

/// A part of a text.
enum Part<'t> {
    Plain(&'t str),
    Secret(&'t str),
}

/// The names of the secrets that a text reads.
///
/// # Errors
///
/// It has something else between braces.
pub(super) fn names(text: &str) -> Result<BTreeSet<String>, String> {
    let secrets = parts(text)?.into_iter().filter_map(|part| match part {
        Part::Secret(name) => Some(name.to_owned()),
        Part::Plain(_) => None,
    });
    Ok(secrets.collect())
}

/// The text with its secrets.
///
/// # Errors
///
/// As [`names`]; the name of a secret that is not there.
pub(super) fn filled(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::new();
    for part in parts(text)? {
        match part {
            Part::Plain(plain) => filled.push_str(plain),
            Part::Secret(name) => {
                let value = lookup(name).filter(|value| !value.trim().is_empty()).ok_or_else(|| {
                    format!("it needs the secret {name}: put it into the environment variable {name}")
                })?;
                filled.push_str(&value);
            }
        }
    }
    Ok(filled)
}

fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((plain, behind)) = rest.split_once("{{") {
        let (inner, after) = behind.split_once("}}").ok_or_else(|| unknown(&format!("{{{{{behind}")))?;
        let name = inner.trim().strip_prefix("secret.").filter(|name| is_name(name));
        let name = name.ok_or_else(|| unknown(&format!("{{{{{inner}}}}}")))?;
        parts.extend([Part::Plain(plain), Part::Secret(name)]);
        rest = after;
    }
    parts.push(Part::Plain(rest));
    Ok(parts)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn unknown(what: &str) -> String {
    let what: String = what.chars().take(60).collect();
    format!("\"{what}\": here only {{{{ secret.NAME }}}} is known, an environment variable")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> Result<String, String> {
        filled(text, &|name| (name == "KEY").then(|| "k1".to_owned()))
    }

    #[test]
    fn secrets_are_filled_in() {
        for (text, expected) in [
            ("plain } { text", Ok("plain } { text")),
            ("Bearer {{ secret.KEY }}", Ok("Bearer k1")),
            ("{{secret.KEY}}{{ secret.KEY}}/x", Ok("k1k1/x")),
            (
                "{{ secret.OTHER }}",
                Err("it needs the secret OTHER: put it into the environment variable OTHER"),
            ),
            (
                "{{ secret.KEY | upper }}",
                Err(
                    "\"{{ secret.KEY | upper }}\": here only {{ secret.NAME }} is known, an environment variable",
                ),
            ),
            ("a {{ b", Err("\"{{ b\": here only {{ secret.NAME }} is known, an environment variable")),
        ] {
            assert_eq!(made(text), expected.map(str::to_owned).map_err(str::to_owned));
        }
        assert_eq!(names("{{ secret.A }} {{ secret.B }}").unwrap().len(), 2);
    }
}
