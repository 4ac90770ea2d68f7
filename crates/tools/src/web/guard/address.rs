//! Which IP addresses are public: the special-purpose registries of IANA (RFC 6890 and what updates it), with those
//! that carry an IPv4 address inside judged by that.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is that is not public, in words; none for a public one.
pub fn not_public(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => not_public_v4(ip),
        IpAddr::V6(ip) => not_public_v6(ip),
    }
}

fn not_public_v4(ip: Ipv4Addr) -> Option<&'static str> {
    match ip.octets() {
        [127, ..] => Some("a loopback address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("a private address"),
        // Services that tell a machine in a cloud its keys; the last two are not in ranges of their own.
        [169, 254, 169, 254] | [169, 254, 170, 2] | [100, 100, 100, 200] | [168, 63, 129, 16] => {
            Some("a metadata service")
        }
        [169, 254, ..] => Some("a link-local address"),
        [100, 64..=127, ..] => Some("a carrier's shared address"),
        [0, ..] => Some("an unspecified address"),
        [192, 0, 0, _] | [192, 88, 99, _] => Some("an address for protocols"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Some("an address for documentation"),
        [198, 18..=19, ..] => Some("an address for benchmarks"),
        [224..=239, ..] => Some("a multicast address"),
        [240..=255, ..] => Some("a reserved address"),
        _ => None,
    }
}

fn not_public_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let segments = ip.segments();
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("an unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        // Mapped, and translated by a gateway to what stands at the end (RFC 4291, RFC 6052).
        [0, 0, 0, 0, 0, 0xFFFF, high, low] | [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => {
            not_public_v4(v4(high, low))
        }
        [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xFFFF, 0, ..] => Some("an IPv4 address in an old disguise"),
        [0x64, 0xFF9B, 1, ..] => Some("a private address"),
        [0xFC00..=0xFDFF, ..] => Some("a private address"),
        [0xFE80..=0xFEBF, ..] => Some("a link-local address"),
        [0xFEC0..=0xFEFF, ..] => Some("a private address"),
        [0xFF00..=0xFFFF, ..] => Some("a multicast address"),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => not_public_v4(v4(high, low)),
        // Teredo hides its IPv4 address; the rest is for protocols and documentation.
        [0x2001, 0..=0x1FF, ..] => Some("an address for protocols"),
        [0x2001, 0xDB8, ..] | [0x3FFF, 0..=0xFFF, ..] => Some("an address for documentation"),
        // ISATAP (RFC 5214).
        [.., 0 | 0x200, 0x5EFE, high, low] => not_public_v4(v4(high, low)),
        [0x2000..=0x3FFF, ..] => None,
        _ => Some("a reserved address"),
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}
