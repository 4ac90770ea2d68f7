//! Where in a run something happened.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The position of a step: `supervise.1/supervisor_tools.2/ConductResearch.1/researcher.3`.
///
/// Segments are joined by `/`. A node's segment is `NAME.VISIT` (visits of that node in its scope, from 1); a
/// tool call's is `NAME.K`, the K-th call of its turn, below the node that runs the turn; an item's is `item.K`,
/// the K-th of the list, below the node that runs over it; the question whether a call may be run is `approval`,
/// below the call; what undoes a call when the run is cancelled is `compensation`, below the call. Ids come from
/// position and name alone, so they are the same in every run that takes the same way, whatever finished
/// first, and survive a new version of the program.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(Arc<str>);

/// The path of a scope (one graph instance): the id of the step that started it; empty at the root.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScopePath(Arc<str>);

impl StepId {
    /// An id from its text form.
    pub fn new(path: impl Into<Arc<str>>) -> StepId {
        StepId(path.into())
    }

    /// The id of the `visit`-th visit of `node` in `scope`.
    pub fn node(scope: &ScopePath, node: &str, visit: u64) -> StepId {
        if scope.is_root() {
            StepId(format!("{node}.{visit}").into())
        } else {
            StepId(format!("{scope}/{node}.{visit}").into())
        }
    }

    /// The id of the `k`-th call (from 1) of the turn that this step runs.
    pub fn call(&self, tool: &str, k: usize) -> StepId {
        StepId(format!("{self}/{tool}.{k}").into())
    }

    /// The id of the `k`-th item (from 1) of the list that this step runs over.
    pub fn item(&self, k: usize) -> StepId {
        StepId(format!("{self}/item.{k}").into())
    }

    /// The id of the question whether this call may be run.
    pub fn approval(&self) -> StepId {
        StepId(format!("{self}/approval").into())
    }

    /// The id of the call that undoes this one.
    pub fn compensation(&self) -> StepId {
        StepId(format!("{self}/compensation").into())
    }

    /// What stands behind the id of a step that this one is below of, without the `/` between.
    pub fn below(&self, above: &StepId) -> Option<&str> {
        self.0.strip_prefix(&*above.0)?.strip_prefix('/')
    }

    /// The scope that this step starts, if it starts one.
    pub fn scope(&self) -> ScopePath {
        ScopePath(self.0.clone())
    }

    /// The text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    pub fn last(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or("")
    }
}

impl ScopePath {
    /// The root scope of a run.
    pub fn root() -> ScopePath {
        ScopePath::default()
    }

    /// A path from its text form.
    pub fn new(path: impl Into<Arc<str>>) -> ScopePath {
        ScopePath(path.into())
    }

    /// Whether it is the run's root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The step of the parent that started this scope; none for the root.
    pub fn step(&self) -> Option<StepId> {
        (!self.is_root()).then(|| StepId(self.0.clone()))
    }

    /// The text form; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ScopePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ScopePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}
