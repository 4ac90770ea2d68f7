//! What can keep a run from being driven. How a run itself goes wrong is data: its exits and status.

use deepgraph_store::StoreError;

/// A failure of driving a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store failed. Everything committed before is safe; the run can be resumed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The journals do not fold under the bundle.
    #[error("run {run}: its journals name the graph `{graph}`, which is not in its bundle")]
    UnknownGraph {
        /// The run.
        run: String,
        /// The graph.
        graph: String,
    },
    /// The run was recorded and never started.
    #[error("run {run} has no journal: it was recorded and never started; start it again")]
    NotStarted {
        /// The run.
        run: String,
    },
    /// The input does not fit the graph.
    #[error("the input does not fit the graph `{graph}`: {problem}")]
    Input {
        /// The graph.
        graph: String,
        /// What does not fit.
        problem: String,
    },
    /// The key under which a channel is kept between runs can not be made.
    #[error("channel `{channel}` can not be kept: its key (`persist`) has no value: {why}")]
    NoKey {
        /// The channel.
        channel: String,
        /// Why.
        why: String,
    },
    /// The driver came to a stop with work left: a fault of ours.
    #[error("run {run} came to a stop although nothing is open; its journal is kept, please report this")]
    Stalled {
        /// The run.
        run: String,
    },
}
