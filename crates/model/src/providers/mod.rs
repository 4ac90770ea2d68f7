//! Models behind the servers of providers.
//!
//! Requests are written and replies read here, as the JSON of each protocol, so that arguments that are no JSON reach the
//! graph as the model wrote them, and that refusals, ids, counts and what headers say of limits are not lost, streaming or
//! not.

mod connection;
mod counts;
mod exchange;
mod failure;
mod frames;
mod in_vain;
mod names;
mod protocol;
mod reader;
mod remote;
mod reply;
mod request;
mod schema;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::connection::Connection;
pub use self::remote::RemoteModel;
use crate::ModelError;
use crate::endpoint::Endpoint;
use crate::learnt::Learnt;
use crate::limiter::Account;
use crate::settings::ModelFacts;

/// A provider's server: its address, its key, and the connections that all of its models share.
#[derive(Clone)]
pub(crate) struct Server {
    connection: Arc<Connection>,
}

impl Server {
    /// Prepares a server without connecting to it, and without reading its key.
    ///
    /// # Errors
    ///
    /// [`ModelError::BaseUrl`], [`ModelError::Client`] and, for a header that is none, [`ModelError::Provider`].
    pub(crate) fn new(endpoint: Endpoint, account: Arc<Account>) -> Result<Server, ModelError> {
        Ok(Server { connection: Arc::new(Connection::new(endpoint, account)?) })
    }

    /// A model of the server, by the server's own name for it.
    pub(crate) fn model(&self, name: &str, facts: ModelFacts, learnt: Arc<Learnt>) -> RemoteModel {
        RemoteModel::new(self.connection.clone(), name, facts, learnt)
    }
}
