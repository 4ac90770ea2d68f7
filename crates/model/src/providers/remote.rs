//! One model of a provider.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use deepgraph_protocol::{ErrorKind, ModelReply, ModelRequest, StepError};

use super::connection::Connection;
use super::exchange::Exchange;
use super::failure::{Failure, Place, Refused};
use super::in_vain::Came;
use super::reply::Finished;
use super::request::{self, Ways};
use crate::learnt::Learnt;
use crate::settings::{ModelFacts, ToolMode};
use crate::weak::{self, by_schema};
use crate::{ChatModel, Preview};

/// A model behind a provider's server. [`crate::Models::get`] makes it.
///
/// Failures are [`StepError`]s of the kinds `unauthorized`, `not_found`, `rate_limited` (with the time to wait,
/// where the server gives one), `unavailable`, `network`, `context_overflow` (with the window, where the server tells
/// it), `refusal`, `invalid_output` and `invalid_request`. It has no timeout of its own: drop the future to give a
/// call up.
///
/// Where a server reports no usage it is estimated, and marked so. A way of asking for structured output, or for
/// tools, that the server does not take is given up for the next weaker one, within the same call and for good.
#[derive(Clone)]
pub struct RemoteModel {
    connection: Arc<Connection>,
    name: Arc<str>,
    facts: ModelFacts,
    learnt: Arc<Learnt>,
}

impl RemoteModel {
    pub(super) fn new(
        connection: Arc<Connection>,
        name: &str,
        facts: ModelFacts,
        learnt: Arc<Learnt>,
    ) -> RemoteModel {
        RemoteModel { connection, name: name.into(), facts, learnt }
    }

    /// How the model is told of tools: as its facts say, or else as a refusal has taught.
    fn tool_mode(&self) -> ToolMode {
        self.facts.tools.or(self.learnt.tools()).unwrap_or_default()
    }

    /// Whether what the server says that a call cost is believed: that is known only of OpenRouter, and a price that is set
    /// goes before it.
    fn tells_cost(&self) -> bool {
        self.connection.endpoint.provider == "openrouter" && self.facts.price.is_none()
    }

    /// Asks once, in the ways that are known to work.
    async fn ask(
        &self,
        request: &ModelRequest,
        ways: Ways,
        preview: Preview<'_>,
    ) -> Result<ModelReply, Failure> {
        let connection = &*self.connection;
        let secrets = connection.secrets()?;
        let place = Place::new(&request.model, connection, &secrets);
        // The seam to models without native tools: the request is put in other words, and the reply read back.
        let in_words = ways.tools == ToolMode::Schema && !request.tools.is_empty();
        let asked = if in_words { Cow::Owned(by_schema::ask(request)) } else { Cow::Borrowed(request) };
        // The JSON that such a model writes is nothing to show.
        let preview: Preview<'_> = if in_words { &|_| {} } else { preview };
        let call = request::render(&asked, &self.name, connection, ways, &self.facts)?;
        let exchange = Exchange { connection, name: &self.name, secrets: &secrets, place: &place };
        let draft = exchange.make(&call.body, preview).await?;
        let came = Came::of(&draft);
        let finished = draft.finish(&asked, &call.names, &place);
        let Finished { mut reply, cache_writes } =
            finished.map_err(|error| Failure { came, ..error.into() })?;
        reply.cost_micro_usd = reply.cost_micro_usd.filter(|_| self.tells_cost());
        if cache_writes > 0 && reply.cost_micro_usd.is_none() && !reply.usage.estimated {
            let price = self.facts.price;
            reply.cost_micro_usd = price.map(|price| price.cost_with_writes(&reply.usage, cache_writes));
        }
        let reply = weak::mend(reply, &asked);
        Ok(if in_words { by_schema::read(reply, request) } else { reply })
    }

    /// Other ways to ask where those were refused; none where none is left.
    fn other_ways(&self, refused: Refused, ways: Ways, request: &ModelRequest) -> Option<Ways> {
        let offers_tools = !request.tools.is_empty();
        // Tools in words are called by output of a given shape.
        let has_shape = request.output.is_some() || (ways.tools == ToolMode::Schema && offers_tools);
        match refused {
            Refused::Output if has_shape => ways.output.weaker().map(|output| Ways { output, ..ways }),
            Refused::Tools
                if offers_tools && ways.tools == ToolMode::Native && self.facts.tools.is_none() =>
            {
                Some(Ways { tools: ToolMode::Schema, ..ways })
            }
            Refused::Output | Refused::Tools => None,
        }
    }
}

#[async_trait]
impl ChatModel for RemoteModel {
    async fn reply(&self, request: &ModelRequest, preview: Preview<'_>) -> Result<ModelReply, StepError> {
        let mut ways = Ways { output: self.learnt.output(), tools: self.tool_mode() };
        // Every way is tried once at most: three of output, two of tools.
        loop {
            let failure = match self.ask(request, ways, preview).await {
                Ok(reply) => {
                    // Only what worked in another's place is kept: a refusal alone can have other reasons.
                    self.learnt.output_works(ways.output);
                    if ways.tools == ToolMode::Schema && self.facts.tools.is_none() {
                        self.learnt.has_no_tools();
                    }
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            if let Some(other) = failure.refused.and_then(|refused| self.other_ways(refused, ways, request)) {
                ways = other;
                continue;
            }
            let overflow = failure.error.kind == ErrorKind::ContextOverflow;
            if let Some(window) = failure.error.window.filter(|_| overflow) {
                self.learnt.learn_window(window);
            }
            return Err(failure.into_error(request, self.facts.price, self.tells_cost()));
        }
    }
}
