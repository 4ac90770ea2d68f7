//! Money: dollars in case files, micro-dollars in runs.

use deepgraph_protocol::Meter;

/// Micro-dollars as dollars.
pub(crate) fn dollars(micro_usd: u64) -> f64 {
    micro_usd as f64 / Meter::CostUsd.base_units()
}

/// Dollars, not negative, as micro-dollars.
pub(crate) fn micro_usd(dollars: f64) -> u64 {
    (dollars * Meter::CostUsd.base_units()).round() as u64
}
