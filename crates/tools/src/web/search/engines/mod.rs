//! The engines: each one's request, and how its answer is read.

mod arxiv;
mod brave;
mod crossref;
mod exa;
mod json;
mod openalex;
mod pubmed;
mod searxng;
mod serper;
mod tavily;
mod wikipedia;

use deepgraph_protocol::StepError;

use super::answer::Answered;
use super::caller::Caller;
use super::engine::Engine;
use super::query::Asked;

/// What an engine filters by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filters {
    /// The day, or the range of days, of publication.
    pub(super) dates: bool,
    /// The language of this query.
    pub(super) language: bool,
    /// Whether its results have dates, so that what it does not filter can be filtered in its answer.
    pub(super) has_dates: bool,
}

/// Asks an engine.
pub(super) async fn ask(engine: Engine, caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    match engine {
        Engine::Tavily => tavily::ask(caller, asked).await,
        Engine::Brave => brave::ask(caller, asked).await,
        Engine::Exa => exa::ask(caller, asked).await,
        Engine::Serper => serper::ask(caller, asked).await,
        Engine::Searxng => searxng::ask(caller, asked).await,
        Engine::Wikipedia => wikipedia::ask(caller, asked).await,
        Engine::Openalex => openalex::ask(caller, asked).await,
        Engine::Arxiv => arxiv::ask(caller, asked).await,
        Engine::Pubmed => pubmed::ask(caller, asked).await,
        Engine::Crossref => crossref::ask(caller, asked).await,
    }
}

/// What an engine filters by itself of this query.
pub(super) fn filters(engine: Engine, asked: &Asked) -> Filters {
    let of = |dates, language, has_dates| Filters { dates, language, has_dates };
    match engine {
        Engine::Tavily => of(true, false, true),
        Engine::Brave => of(true, brave::language(asked).is_some(), true),
        Engine::Exa => of(true, false, true),
        Engine::Serper => of(true, true, true),
        // It hands a time until now on to the engines behind it, and a range not at all.
        Engine::Searxng => of(asked.within.is_some(), true, true),
        // The dates that it has are those of last edits.
        Engine::Wikipedia => of(false, true, false),
        Engine::Openalex => of(true, true, true),
        Engine::Arxiv => of(true, asked.plain_language() == Some("en"), true),
        Engine::Pubmed => of(true, pubmed::language(asked).is_some(), true),
        Engine::Crossref => of(true, false, true),
    }
}
