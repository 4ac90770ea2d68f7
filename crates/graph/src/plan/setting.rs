//! Settings.

use std::sync::Arc;

use deepgraph_protocol::{Map, Value};

use crate::Field;

/// A literal, or a key of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A literal.
    Literal(Value),
    /// `config.KEY`.
    Config(Arc<str>),
}

/// A setting that reads a key of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigUse {
    /// The key.
    pub key: Arc<str>,
    /// What the setting takes. The key may be declared wider: that is known of a value only.
    pub takes: Field,
    /// The setting and where it stands: "`max` (graph.yaml:12:20)".
    pub by: String,
}

impl Setting {
    /// The value in force under this configuration.
    pub fn resolve<'a>(&'a self, config: &'a Map) -> &'a Value {
        match self {
            Setting::Literal(value) => value,
            Setting::Config(key) => config.get(key).unwrap_or(&Value::Null),
        }
    }

    /// As a duration in milliseconds. Durations are values in seconds.
    pub fn millis(&self, config: &Map) -> Option<u64> {
        self.resolve(config).as_float().map(|seconds| (seconds.max(0.0) * 1000.0).round() as u64)
    }

    /// As a whole number of at least 0.
    pub fn count(&self, config: &Map) -> Option<u64> {
        self.resolve(config).as_int().and_then(|n| u64::try_from(n).ok())
    }

    /// As a number.
    pub fn number(&self, config: &Map) -> Option<f64> {
        self.resolve(config).as_float()
    }
}
