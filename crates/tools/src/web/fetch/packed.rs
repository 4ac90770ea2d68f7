//! Bodies that were packed for the way, unpacked up to a size. A small body that unpacks to a huge one is cut there.

use std::io::Read;

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

/// What we can unpack, for `Accept-Encoding`.
pub const ACCEPTED: &str = "gzip, br, zstd, deflate";
/// Packings on top of each other that are undone. More are a trick.
const MOST_LAYERS: usize = 2;
/// Largest window of zstd, in bytes: what browsers take (RFC 9659).
const ZSTD_WINDOW: u64 = 8 * 1024 * 1024;
/// Bytes that brotli reads at once.
const BUFFER: usize = 16 * 1024;

/// A body as it was meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Its bytes, at most as many as were asked for.
    pub bytes: Vec<u8>,
    /// Whether more would have come.
    pub cut: bool,
}

/// Undoes the packings that `Content-Encoding` names. `cut`: the body itself is not whole, so what can be unpacked of
/// it is.
///
/// # Errors
///
/// Why it can not be done, as the end of a sentence that begins with the URL.
pub fn unpack(body: Vec<u8>, encodings: &str, cut: bool, most: usize) -> Result<Unpacked, String> {
    let layers: Vec<String> = encodings
        .split(',')
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && name != "identity")
        .collect();
    if layers.len() > MOST_LAYERS {
        return Err(format!("is packed {} times ({encodings}), which is not undone", layers.len()));
    }
    let mut unpacked = Unpacked { bytes: body, cut };
    if unpacked.bytes.is_empty() {
        return Ok(unpacked);
    }
    // The last one was put on last.
    for layer in layers.iter().rev() {
        unpacked = layer_of(&unpacked.bytes, layer, unpacked.cut, most)?;
    }
    if unpacked.bytes.len() > most {
        unpacked.bytes.truncate(most);
        unpacked.cut = true;
    }
    Ok(unpacked)
}

fn layer_of(bytes: &[u8], name: &str, cut: bool, most: usize) -> Result<Unpacked, String> {
    match name {
        "gzip" | "x-gzip" => read(MultiGzDecoder::new(bytes), name, cut, most),
        // Meant is zlib's form, but some servers leave its head away.
        "deflate" if is_zlib(bytes) => read(ZlibDecoder::new(bytes), name, cut, most),
        "deflate" => read(DeflateDecoder::new(bytes), name, cut, most),
        "br" => read(Decompressor::new(bytes, BUFFER), name, cut, most),
        "zstd" => {
            let decoder = StreamingDecoder::new_with_max_window_size(bytes, ZSTD_WINDOW)
                .map_err(|error| damaged(name, &error.to_string()))?;
            read(decoder, name, cut, most)
        }
        other => Err(format!("is packed as \"{other}\", which can not be undone")),
    }
}

fn is_zlib(bytes: &[u8]) -> bool {
    match bytes {
        [first, second, ..] => {
            first & 0x0F == 8 && (u32::from(*first) * 256 + u32::from(*second)).is_multiple_of(31)
        }
        _ => false,
    }
}

fn read(decoder: impl Read, name: &str, cut: bool, most: usize) -> Result<Unpacked, String> {
    let mut bytes = Vec::new();
    let more = (most as u64).saturating_add(1);
    let outcome = decoder.take(more).read_to_end(&mut bytes);
    let is_more = bytes.len() > most;
    bytes.truncate(most);
    match outcome {
        Ok(_) => Ok(Unpacked { bytes, cut: cut || is_more }),
        // The end is missing, which we know.
        Err(_) if cut && !bytes.is_empty() => Ok(Unpacked { bytes, cut: true }),
        Err(error) => Err(damaged(name, &error.to_string())),
    }
}

fn damaged(name: &str, problem: &str) -> String {
    format!("is packed as {name} and damaged: {problem}")
}

#[cfg(test)]
mod tests;
