//! What changed in a trace since it was accepted.

use deepgraph_protocol::ModelRequest;
use deepgraph_trace::NodeKind;
use deepgraph_trace::diff::{self, TraceDiff};

use crate::case::Played;
use crate::case::difference::between;
use crate::case::request::shown;

/// The differences by logical position, each line indented; below them the first request to a model that is another
/// one: of requests a short trace tells little more than that they changed.
pub(super) fn since(accepted: &str, played: &Played) -> String {
    let now = played.snapshot_text().unwrap_or_default();
    let diff = diff::of_texts(accepted, &now);
    if diff.is_empty() {
        // What is no part of a trace, such as spaces.
        return between(accepted, &now);
    }
    let mut told = indented(&diff.to_string());
    if let Some((step, request)) = first_other_request(&diff, played) {
        told += &format!("\nthe request of `{step}`, as it is now:{}", indented(&shown(request)));
    }
    told
}

/// The first request that is another one in its own right, of which a digest is all that the trace has.
fn first_other_request<'p>(diff: &TraceDiff, played: &'p Played) -> Option<(&'p str, &'p ModelRequest)> {
    let place = diff.places().iter().find(|place| place.changes.iter().any(|c| c.what == "request"))?;
    let steps = played.run.as_ref()?.root.all_steps();
    let step = steps.into_iter().find(|node| node.step.as_str() == place.path)?;
    match &step.kind {
        NodeKind::Model(request) => Some((step.step.as_str(), request)),
        _ => None,
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("\n  {line}") }).collect()
}
