//! Traces in tests: the text that is kept as a snapshot.

use deepgraph_trace::{Detail, Trace};

use crate::case::Played;

/// What has a trace to be kept as a snapshot.
pub trait Traced {
    /// The canonical trace as text, a line an item, without times and run ids: the same for two runs that did the
    /// same.
    fn traced(&self) -> String;
}

impl Traced for Trace {
    fn traced(&self) -> String {
        self.clone().redact("").to_text(Detail::Short)
    }
}

impl Traced for Played {
    fn traced(&self) -> String {
        self.trace.clone()
    }
}

impl<T: Traced> Traced for &T {
    fn traced(&self) -> String {
        (*self).traced()
    }
}

/// Compares a trace with its snapshot, by [`insta`]: of a case that was [played](crate::case::Played), of a run that was
/// [simulated](crate::SimRun::trace), of the journals of a real one.
///
/// Times and run ids are taken out before. The snapshot is a `.snap` file in the folder `snapshots` beside the test, as
/// insta has it, and is reviewed with `cargo insta review`. A first argument names it, else it has the name of the test.
///
/// ```no_run
/// use deepgraph_testkit::{assert_trace, case::Case};
///
/// let played = Case::play_file("graphs/answers/cases/two_sources.yaml").check();
/// assert_trace!(played);
/// assert_trace!("by_another_name", played);
/// ```
#[cfg(feature = "insta")]
#[macro_export]
macro_rules! assert_trace {
    ($of:expr $(,)?) => {
        $crate::insta::with_settings!({omit_expression => true}, {
            $crate::insta::assert_snapshot!($crate::Traced::traced(&$of));
        })
    };
    ($name:expr, $of:expr $(,)?) => {
        $crate::insta::with_settings!({omit_expression => true}, {
            $crate::insta::assert_snapshot!($name, $crate::Traced::traced(&$of));
        })
    };
}
