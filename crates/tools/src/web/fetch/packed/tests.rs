//! Every packing is undone, cut at a size, and told where it is damaged.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

/// "A page, a page, a page." 40 times, packed by brotli's own program.
const BROTLI: &[u8] = &[
    0x1b, 0x97, 0x03, 0xf8, 0x1d, 0x07, 0x6e, 0xac, 0x1b, 0x97, 0xa0, 0x5c, 0x4e, 0x25, 0x48, 0x50, 0x58,
    0x95, 0xc1, 0x25, 0x8b, 0xcb, 0x59, 0xe5, 0xd3, 0x58, 0x39, 0x60, 0x82, 0xf3, 0xb1, 0x3b, 0x0b,
];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[test]
fn every_packing_is_undone() {
    let text = "A page, a page, a page.".repeat(40).into_bytes();
    for (name, packed) in [
        ("gzip", gzip(&text)),
        ("x-gzip", gzip(&text)),
        ("GZIP", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", deflate(&text)),
        ("zstd", zstd(&text)),
        ("br", BROTLI.to_vec()),
        ("", text.clone()),
        ("identity", text.clone()),
        ("deflate, gzip", gzip(&zlib(&text))),
    ] {
        let unpacked = unpack(packed, name, false, 10_000).expect(name);
        assert_eq!(unpacked, Unpacked { bytes: text.clone(), cut: false }, "{name}");
    }
}

#[test]
fn a_bomb_is_cut() {
    let zeros = vec![b' '; 8_000_000];
    for (name, packed) in
        [("gzip", gzip(&zeros)), ("zstd", zstd(&zeros)), ("gzip, gzip", gzip(&gzip(&zeros)))]
    {
        let unpacked = unpack(packed, name, false, 1000).expect(name);
        assert_eq!((unpacked.bytes.len(), unpacked.cut), (1000, true), "{name}");
    }
}

#[test]
fn what_came_of_a_cut_body_is_unpacked() {
    let text: Vec<u8> = (0..20_000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
    let mut packed = gzip(&text);
    packed.truncate(packed.len() / 2);
    let unpacked = unpack(packed.clone(), "gzip", true, 1_000_000).expect("half");
    assert!(unpacked.cut && text.starts_with(&unpacked.bytes) && unpacked.bytes.len() > 1000);
    assert!(unpack(packed, "gzip", false, 1_000_000).expect_err("damage").contains("damaged"));
}

#[test]
fn damage_and_unknown_packings_are_told() {
    for name in ["gzip", "deflate", "br", "zstd"] {
        let error = unpack(b"\xFF\xFE this is not packed".to_vec(), name, false, 100).expect_err(name);
        assert!(error.contains(name), "{error}");
    }
    assert!(unpack(b"x".to_vec(), "compress", false, 100).expect_err("unknown").contains("compress"));
    assert!(unpack(b"x".to_vec(), "gzip,gzip,gzip", false, 100).expect_err("many").contains("3 times"));
    assert_eq!(unpack(Vec::new(), "gzip", false, 100), Ok(Unpacked::default()));
}
