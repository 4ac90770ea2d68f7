//! Values that must not show in messages.

use std::fmt;

use reqwest::Url;

use super::declared::Transport;

/// Shorter values are no secrets, and to take them out would garble every text.
const SHORTEST: usize = 6;
/// What stands where a secret stood.
const HIDDEN: &str = "***";

/// The secrets of a declaration: all values of its headers and of its environment, and the password and query of its
/// address.
pub(super) struct Secrets(Vec<String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

impl Secrets {
    pub(super) fn of(transport: &Transport) -> Secrets {
        let mut values = Vec::new();
        match transport {
            Transport::Command { env, .. } => values.extend(env.iter().map(|(_, value)| value.clone())),
            Transport::Http { url, headers } => {
                for (_, value) in headers {
                    // "Bearer KEY": servers may say the key alone.
                    values.extend(value.split_whitespace().skip(1).map(str::to_owned));
                    values.push(value.clone());
                }
                values.extend(of_url(url));
            }
        }
        values.retain(|value| value.trim().len() >= SHORTEST);
        // The longest first, so that no rest of one is left where it holds another.
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Secrets(values)
    }

    /// The text with every secret taken out.
    pub(super) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.trim(), HIDDEN))
    }
}

fn of_url(url: &str) -> Vec<String> {
    let Ok(url) = Url::parse(url.trim()) else { return Vec::new() };
    let plain = url.query_pairs().map(|(_, value)| value.into_owned());
    // As it stands in the address, where signs may be written as %XX.
    let raw = url
        .query()
        .unwrap_or("")
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(_, v)| v.to_owned());
    plain.chain(raw).chain(url.password().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn keys_are_hidden_with_and_without_their_scheme() {
        let url = "http://me:pass-word@host/mcp?key=q%2Bwerty1&n=5".to_owned();
        let headers = pairs(&[("Authorization", "Bearer abc.def.123"), ("X-Team", "blue")]);
        let secrets = Secrets::of(&Transport::Http { url, headers });
        for (text, hidden) in [
            ("got \"Bearer abc.def.123\"", "got \"***\""),
            ("key abc.def.123 is old", "key *** is old"),
            ("?key=q%2Bwerty1, that is q+werty1", "?key=***, that is ***"),
            ("me:pass-word@host", "me:***@host"),
            ("team blue of 5", "team blue of 5"),
        ] {
            assert_eq!(secrets.hide(text), hidden);
        }
    }

    #[test]
    fn a_secret_within_a_secret_leaves_no_rest() {
        let env = pairs(&[("A", "abcdefgh"), ("B", "abcdefgh-ijkl"), ("C", "abcdefgh")]);
        let secrets = Secrets::of(&Transport::Command { program: "x".to_owned(), args: Vec::new(), env });
        assert_eq!(secrets.hide("abcdefgh-ijkl abcdefgh"), "*** ***");
        assert_eq!(format!("{secrets:?}"), "2 secrets");
    }
}
