//! What models cost.

use deepgraph_protocol::Usage;

/// The price of a model's tokens, in micro-dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Of a million tokens of the request.
    pub input: u64,
    /// Of a million tokens of the reply.
    pub output: u64,
}

impl Price {
    /// Nothing: models that are computed here.
    pub const FREE: Price = Price { input: 0, output: 0 };

    /// What a call cost, in micro-dollars, rounded up. Cached tokens count in full, so it is an upper bound
    /// where a provider gives a discount on them.
    pub fn cost(self, usage: &Usage) -> u64 {
        let input = u128::from(self.input) * u128::from(usage.input_tokens);
        let output = u128::from(self.output) * u128::from(usage.output_tokens);
        u64::try_from(input.saturating_add(output).div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_rounded_up_and_never_overflows() {
        let price = Price { input: 2_000_000, output: 10_000_000 };
        let used = |input_tokens, output_tokens| Usage { input_tokens, output_tokens, ..Usage::default() };
        assert_eq!(price.cost(&used(1000, 100)), 3000);
        assert_eq!(Price { input: 1, output: 0 }.cost(&used(1, 0)), 1);
        assert_eq!(Price::FREE.cost(&used(u64::MAX, u64::MAX)), 0);
        assert_eq!(Price { input: u64::MAX, output: u64::MAX }.cost(&used(u64::MAX, u64::MAX)), u64::MAX);
    }
}
