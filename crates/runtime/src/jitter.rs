//! By how much longer than its back-off an attempt waits, so that calls which failed together do not come back together.

use deepgraph_protocol::StepId;
use deepgraph_store::RunId;
use sha2::{Digest, Sha256};

/// The wait before an attempt with up to a quarter more, drawn from the run, the step and the attempt: the same when the
/// wait begins again after a crash. Never less than the wait.
pub(crate) fn with_jitter(run: &RunId, step: &StepId, attempt: u32, wait_ms: u64) -> u64 {
    let hash = Sha256::digest(format!("{run}:{step}:{attempt}").as_bytes());
    let drawn = hash.iter().take(4).fold(0u64, |n, byte| n << 8 | u64::from(*byte));
    let quarter = u128::from(wait_ms / 4);
    let more = quarter * u128::from(drawn) / u128::from(u32::MAX);
    wait_ms.saturating_add(u64::try_from(more).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_up_to_a_quarter_more_and_another_for_each_attempt() {
        let run = RunId::new();
        let waits: Vec<u64> =
            (1..200).map(|attempt| with_jitter(&run, &StepId::new("ask.1"), attempt, 1000)).collect();
        assert!(waits.iter().all(|wait| (1000..=1250).contains(wait)), "{waits:?}");
        assert!(waits.iter().any(|wait| *wait < 1050) && waits.iter().any(|wait| *wait > 1200), "{waits:?}");
        assert_eq!(with_jitter(&run, &StepId::new("ask.1"), 1, 1000), waits[0]);
        assert_eq!(with_jitter(&run, &StepId::new("ask.1"), 1, 0), 0);
        assert!(with_jitter(&run, &StepId::new("ask.1"), 1, u64::MAX) == u64::MAX);
    }
}
