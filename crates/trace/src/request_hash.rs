//! The hash of a model request: what a journal keeps of it.

use deepgraph_protocol::ModelRequest;
use sha2::{Digest, Sha256};

/// SHA-256 of a request's JSON, hexadecimal: the `request` of
/// [`EntryBody::Dispatched`](deepgraph_protocol::EntryBody::Dispatched).
pub fn request_hash(request: &ModelRequest) -> String {
    let json = serde_json::to_vec(request).unwrap_or_default();
    Sha256::digest(&json).iter().map(|b| format!("{b:02x}")).collect()
}
