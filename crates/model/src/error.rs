//! Why a model can not be had.

/// A model that is asked for but can not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The name has no known provider.
    #[error("there is no model \"{model}\": known are {known}{}", hint(nearest))]
    UnknownModel {
        /// The name as it was asked for.
        model: String,
        /// The forms of name that are known, as a list for people.
        known: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// A provider without the name of a model.
    #[error("\"{provider}::\" lacks the name of a model: write {provider}::NAME")]
    NoName {
        /// The provider.
        provider: String,
    },
    /// The provider was left out when this program was built.
    #[error("\"{model}\" needs the feature \"{feature}\", which this program was built without")]
    NotBuilt {
        /// The name as it was asked for.
        model: String,
        /// The feature of this crate.
        feature: &'static str,
    },
    /// The base URL of the server can not be used.
    #[error("the base URL \"{url}\" can not be used: {problem}; it looks like http://127.0.0.1:8000/v1")]
    BaseUrl {
        /// The URL, without user name and password.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What was said of a provider can not be used.
    #[error("the provider \"{provider}\" can not be used: {problem}")]
    Provider {
        /// The provider.
        provider: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The HTTP client can not be set up.
    #[error(
        "the HTTP client can not be set up: {problem}; check the system's CA certificates and proxy variables"
    )]
    Client {
        /// What went wrong.
        problem: String,
    },
    /// `scripted` without a script.
    #[error("the model \"scripted\" has no script: put one into the settings, or register a Scripted model")]
    NoScript,
    /// A rule of a script can not be used.
    #[error("rule {rule} of the script {problem}")]
    Script {
        /// The rule's number, from 1.
        rule: usize,
        /// What is wrong and what to do.
        problem: &'static str,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}
