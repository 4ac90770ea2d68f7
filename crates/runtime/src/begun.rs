//! Whether what was put out has begun.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use deepgraph_protocol::{ErrorKind, StepError};

/// Whether a call has begun: it may wait for a place for long. It begins or is withdrawn, never both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begun(Arc<AtomicU8>);

const WAITS: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Begun {
    /// Begins it. False where it was withdrawn.
    fn begin(&self) -> bool {
        self.0.compare_exchange(WAITS, BEGUN, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Withdraws it. False where it has begun.
    pub(crate) fn withdraw(&self) -> bool {
        let before = self.0.compare_exchange(WAITS, WITHDRAWN, Ordering::SeqCst, Ordering::SeqCst);
        before != Err(BEGUN)
    }

    /// Begins a call, unless it was withdrawn before its turn came.
    pub(crate) async fn unless_withdrawn<T>(
        self,
        call: impl Future<Output = Result<T, StepError>>,
    ) -> Result<T, StepError> {
        if !self.begin() {
            return Err(StepError::new(ErrorKind::Cancelled, "given up").unsent());
        }
        call.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_begins_or_is_withdrawn_and_never_both() {
        let begun = Begun::default();
        assert!(begun.withdraw() && begun.withdraw() && !begun.begin());
        let begun = Begun::default();
        assert!(begun.begin() && !begun.withdraw() && !begun.begin());
    }
}
