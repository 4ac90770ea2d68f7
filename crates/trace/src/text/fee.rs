//! What the call of an op cost outside, as text.

use super::Printer;
use crate::tree::Node;

impl Printer {
    /// The fee of a call that cost something; nothing for others.
    pub(super) fn fee(&mut self, node: &Node, depth: usize) {
        match (node.fee.micro_usd, node.fee.unknown) {
            (0, 0) => {}
            (cost, 0) => self.line(depth, format_args!("fee {cost} µ$")),
            (cost, unknown) => {
                self.line(depth, format_args!("fee {cost} µ$ and {unknown} of unknown price"));
            }
        }
    }
}
