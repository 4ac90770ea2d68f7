//! How long a reply may be.

use deepgraph_protocol::ModelRequest;

/// The options by which servers are told the longest reply.
pub(crate) const BOUNDS: [&str; 5] =
    ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict"];

/// The longest reply that a request asks for, in tokens: by its own bound or by an option, the lower of both.
pub fn asked_output(request: &ModelRequest) -> Option<u64> {
    let by_option = BOUNDS.iter().filter_map(|key| {
        let bound = request.options.get(*key)?.as_int()?;
        u64::try_from(bound).ok()
    });
    by_option.chain(request.max_output).min()
}
