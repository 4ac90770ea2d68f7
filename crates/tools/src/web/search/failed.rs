//! What a search fails with of which no engine answered.

use deepgraph_protocol::{ErrorKind, StepError};

use super::answer::EngineFailure;

/// Failures that another try may mend, the most telling first; what is behind them, it does not.
const BY_WEIGHT: [ErrorKind; 5] = [
    ErrorKind::Unavailable,
    ErrorKind::Network,
    ErrorKind::StepTimeout,
    ErrorKind::InvalidOutput,
    ErrorKind::RateLimited,
];

/// The failure of a search from those of all its engines. Its kind is the one that tells best what to do: where trying
/// again may help with one of them, one of those; `rate_limited` with the longest wait where that is all that could; else
/// that of the first.
pub(super) fn of_all(failed: &[EngineFailure]) -> StepError {
    let errors = || failed.iter().map(|failure| &failure.error);
    let transient = BY_WEIGHT.into_iter().find(|kind| errors().any(|error| error.kind == *kind));
    let first = errors().next().map_or(ErrorKind::NotFound, |error| error.kind);
    let kind = transient.unwrap_or(first);
    let waits = errors().filter(|error| error.kind == kind).filter_map(|error| error.retry_after_ms);
    let messages: Vec<&str> = errors().map(|error| error.message.as_str()).collect();
    let message = match messages.as_slice() {
        [] => "no search engine was asked".to_owned(),
        [one] => (*one).to_owned(),
        all => format!("no search engine answered: {}", all.join("; ")),
    };
    StepError {
        retry_after_ms: waits.max(),
        unsent: errors().all(|error| error.unsent),
        ..StepError::new(kind, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::search::engine::Engine;

    fn of(errors: Vec<StepError>) -> StepError {
        of_all(
            &errors.into_iter().map(|error| EngineFailure { engine: Engine::Exa, error }).collect::<Vec<_>>(),
        )
    }

    fn limited(ms: u64) -> StepError {
        StepError { retry_after_ms: Some(ms), ..StepError::new(ErrorKind::RateLimited, "too many") }
    }

    #[test]
    fn the_kind_is_the_one_that_tells_what_to_do() {
        let error = |kind| StepError::new(kind, "why");
        let failed = of(vec![limited(2_000), limited(9_000), limited(5_000)]);
        assert_eq!((failed.kind, failed.retry_after_ms), (ErrorKind::RateLimited, Some(9_000)));
        let failed = of(vec![error(ErrorKind::Unauthorized), limited(2_000)]);
        assert_eq!((failed.kind, failed.retry_after_ms), (ErrorKind::RateLimited, Some(2_000)));
        let failed = of(vec![limited(9_000), error(ErrorKind::Unavailable), error(ErrorKind::Unauthorized)]);
        assert_eq!(
            (failed.kind, failed.retry_after_ms),
            (ErrorKind::Unavailable, None),
            "one can be asked at once"
        );
        let failed = of(vec![error(ErrorKind::Unauthorized), error(ErrorKind::Unauthorized)]);
        assert_eq!(failed.kind, ErrorKind::Unauthorized);
        assert_eq!(failed.message, "no search engine answered: why; why");
        assert!(!failed.unsent && of(vec![error(ErrorKind::Network).unsent()]).unsent);
    }
}
