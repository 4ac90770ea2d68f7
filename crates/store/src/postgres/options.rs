//! How a server is used.

use std::time::Duration;

/// How a server is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostgresOptions {
    /// The schema of the database that the tables are in. It is made where there is none.
    pub schema: String,
    /// How long a call waits for a server that can not be reached, and for a lock that somebody else holds. The very
    /// first connection does not wait.
    pub wait: Duration,
}

impl Default for PostgresOptions {
    fn default() -> PostgresOptions {
        PostgresOptions { schema: "deepgraph".into(), wait: Duration::from_secs(10) }
    }
}

impl PostgresOptions {
    /// The same with another `schema`.
    pub fn schema(mut self, schema: impl Into<String>) -> PostgresOptions {
        self.schema = schema.into();
        self
    }

    /// The same with another `wait`.
    pub fn wait(mut self, wait: Duration) -> PostgresOptions {
        self.wait = wait;
        self
    }
}
