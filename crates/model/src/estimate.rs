//! The usage of a call for which nobody reported one.

use deepgraph_protocol::{ModelRequest, Usage, tokens_of_bytes};

/// An estimate from the bytes of request and reply.
pub(crate) fn estimated_usage(request: &ModelRequest, reply_bytes: usize) -> Usage {
    Usage {
        input_tokens: request.estimate_tokens(),
        output_tokens: tokens_of_bytes(reply_bytes),
        estimated: true,
        ..Usage::default()
    }
}
