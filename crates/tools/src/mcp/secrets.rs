//! Values that must not show in messages.

use deepgraph_protocol::Hidden;
use reqwest::Url;

use super::declared::Transport;

/// The secrets of a declaration: all values of its headers and of its environment, and the password and query of its
/// address.
pub(super) fn of(transport: &Transport) -> Hidden {
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
    Hidden::new(values)
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
        let secrets = of(&Transport::Http { url, headers });
        for (text, hidden) in [
            ("got \"Bearer abc.def.123\"", "got \"***\""),
            ("key abc.def.123 is old", "key *** is old"),
            ("?key=q%2Bwerty1, that is q+werty1", "?key=***, that is ***"),
            ("me:pass-word@host", "me:***@host"),
            ("team blue of 5", "team blue of 5"),
        ] {
            assert_eq!(secrets.text(text), hidden);
        }
    }

    #[test]
    fn a_secret_within_a_secret_leaves_no_rest() {
        let env = pairs(&[("A", "abcdefgh"), ("B", "abcdefgh-ijkl"), ("C", "abcdefgh")]);
        let secrets = of(&Transport::Command { program: "x".to_owned(), args: Vec::new(), env });
        assert_eq!(secrets.text("abcdefgh-ijkl abcdefgh"), "*** ***");
        assert_eq!(format!("{secrets:?}"), "2 secrets");
    }
}
