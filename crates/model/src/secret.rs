//! What must not stand in settings: secrets, since settings are kept in records and printed, and what can not be meant.

use crate::settings::ProviderSettings;

/// Headers that carry keys.
const SECRET_HEADERS: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-auth-token",
    "cookie",
];

/// Words in the name of a parameter that carries a key.
const SECRET_WORDS: [&str; 6] = ["key", "token", "secret", "password", "signature", "auth"];

/// Names of variables are not longer.
const LONGEST_NAME: usize = 100;

/// Whether a text can be the name of an environment variable that somebody has chosen. Keys are often put in the place
/// of the name of their variable; those that have only letters and digits mix them as no name does.
pub fn is_variable(name: &str) -> bool {
    let has = |of: fn(&u8) -> bool| name.bytes().any(|byte| of(&byte));
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !(is_mixed && name.len() >= 20)
}

/// Whether an address holds a user name, a password or a key. With or without a scheme.
pub fn has_secret(url: &str) -> bool {
    let url = url.trim();
    let behind_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = behind_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let names_key = |parameter: &str| names_secret(parameter.split('=').next().unwrap_or_default());
    authority.contains('@') || query.split('&').any(names_key)
}

/// Whether a header of this name carries a key.
pub fn is_secret_header(name: &str) -> bool {
    SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str())
}

/// Whether the name of a variable or parameter says that it holds a key.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

impl ProviderSettings {
    /// What is wrong in these settings, or would be written down that must not be; nothing where they can be used. No
    /// value is repeated that may be a key.
    pub fn mistakes(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let variables = self.key_env.iter().map(|name| ("key_env".to_owned(), name));
        let of_headers =
            self.headers_env.iter().map(|(header, name)| (format!("headers_env.{header}"), name));
        for (place, _) in variables.chain(of_headers).filter(|(_, name)| !is_variable(name)) {
            wrong.push(format!(
                "{place} must be the name of an environment variable, such as MY_KEY, and not what it holds"
            ));
        }
        if self.base_url.as_deref().is_some_and(has_secret) {
            wrong.push(
                "base_url holds a user name, a password or a key; name the variable of a key with key_env, or of a header \
                 with headers_env"
                    .to_owned(),
            );
        }
        let rates = [
            ("requests_per_minute", self.requests_per_minute),
            ("tokens_per_minute", self.tokens_per_minute),
        ];
        for (name, _) in rates.into_iter().filter(|(_, rate)| *rate == Some(0)) {
            wrong.push(format!("{name} must be at least 1; leave it out where there is no such limit"));
        }
        for name in self.headers.keys().filter(|name| is_secret_header(name)) {
            wrong.push(format!(
                "headers.{name} carries a key, and settings are written down; put {name} into headers_env, with the name \
                 of the variable that holds its value"
            ));
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn keys_are_no_names_of_variables() {
        for name in ["OPENAI_API_KEY", "my_key", "K2", "_x"] {
            assert!(is_variable(name), "{name}");
        }
        for key in [
            "",
            "sk-live-1234",
            "Bearer x",
            "2X",
            "A B",
            "AIzaSyA1bC2dE3fG4hI5jK6lM7nO8p",
            "gsk_aB3aB3aB3aB3aB3aB3",
        ] {
            assert!(!is_variable(key), "{key}");
        }
    }

    #[test]
    fn secrets_in_addresses_are_seen() {
        for url in [
            "https://me:secret@host/v1",
            "https://token@host",
            "me:x@host/v1",
            "https://host/v1?api-key=x",
            "https://host/v1?version=1&access_token=x#y",
        ] {
            assert!(has_secret(url), "{url}");
        }
        for url in ["http://127.0.0.1:8000/v1", "https://host/v1?api-version=2", "https://host/@me", ""] {
            assert!(!has_secret(url), "{url}");
        }
    }

    #[test]
    fn mistakes_are_told_without_the_key() {
        let settings = ProviderSettings {
            key_env: Some("sk-live-1234".into()),
            base_url: Some("me:sk-live-1234@host/v1".into()),
            headers: BTreeMap::from([("Authorization".into(), "Bearer sk-live-1234".into())]),
            headers_env: BTreeMap::from([("x-team".into(), "sk-live-1234".into())]),
            requests_per_minute: Some(0),
            ..ProviderSettings::default()
        };
        let wrong = settings.mistakes();
        assert_eq!(wrong.len(), 5, "{wrong:?}");
        assert!(!wrong.concat().contains("sk-live"), "{wrong:?}");
        assert_eq!(ProviderSettings::default().mistakes(), Vec::<String>::new());
    }
}
