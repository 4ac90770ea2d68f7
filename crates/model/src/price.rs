//! What models cost.

use deepgraph_protocol::Usage;
use serde::Deserialize;

/// Micro-dollars of a dollar.
const MICRO: f64 = 1_000_000.0;

/// The highest price that is taken for one, in dollars for a million tokens.
const HIGHEST: f64 = 1_000_000.0;

/// The price of a model's tokens, in micro-dollars for a million tokens. It is read from dollars for a million
/// tokens: `{input: 2.5, output: 10, cached_input: 1.25}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Dollars")]
pub struct Price {
    /// Of a million tokens of the request.
    pub input: u64,
    /// Of a million tokens of the reply, reasoning included.
    pub output: u64,
    /// Of a million tokens of the request that come from the provider's cache; none: as `input`.
    pub cached_input: Option<u64>,
    /// Of a million tokens of the request that are put into the provider's cache; none: as `input`.
    pub cache_write: Option<u64>,
}

impl Price {
    /// Nothing: models that are computed here.
    pub const FREE: Price = Price { input: 0, output: 0, cached_input: None, cache_write: None };

    /// The price in dollars for a million tokens; none where a number is negative, not finite or beyond all reason.
    pub fn dollars(
        input: f64,
        output: f64,
        cached_input: Option<f64>,
        cache_write: Option<f64>,
    ) -> Option<Price> {
        let optional = |dollars: Option<f64>| match dollars {
            None => Some(None),
            Some(dollars) => micro(dollars).map(Some),
        };
        Some(Price {
            input: micro(input)?,
            output: micro(output)?,
            cached_input: optional(cached_input)?,
            cache_write: optional(cache_write)?,
        })
    }

    /// What a call cost, in micro-dollars, rounded up.
    pub fn cost(self, usage: &Usage) -> u64 {
        self.cost_with_writes(usage, 0)
    }

    /// What a call cost of whose request so many tokens were put into the provider's cache, in micro-dollars, rounded
    /// up.
    pub fn cost_with_writes(self, usage: &Usage, written: u64) -> u64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let written = written.min(usage.input_tokens - cached);
        let plain = usage.input_tokens - cached - written;
        let part = |price: u64, tokens: u64| u128::from(price) * u128::from(tokens);
        let sum = part(self.input, plain)
            .saturating_add(part(self.cached_input.unwrap_or(self.input), cached))
            .saturating_add(part(self.cache_write.unwrap_or(self.input), written))
            .saturating_add(part(self.output, usage.output_tokens));
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// The longest reply that an amount of micro-dollars is enough for, in tokens.
    pub fn output_for(self, micro_usd: u64) -> u64 {
        let tokens = (u128::from(micro_usd) * 1_000_000).checked_div(u128::from(self.output));
        tokens.map_or(u64::MAX, |tokens| u64::try_from(tokens).unwrap_or(u64::MAX))
    }

    /// The most that a call of this usage can cost: nothing comes from the cache and all is put into it.
    pub fn most(self, usage: &Usage) -> u64 {
        let dearest = self.input.max(self.cache_write.unwrap_or(0));
        let price = Price { input: dearest, cached_input: None, cache_write: None, ..self };
        price.cost(usage)
    }
}

/// A price as people write it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dollars {
    input: f64,
    output: f64,
    cached_input: Option<f64>,
    cache_write: Option<f64>,
}

impl TryFrom<Dollars> for Price {
    type Error = &'static str;

    fn try_from(written: Dollars) -> Result<Price, &'static str> {
        Price::dollars(written.input, written.output, written.cached_input, written.cache_write)
            .ok_or("a price is a number of dollars for a million tokens, from 0 to a million")
    }
}

fn micro(dollars: f64) -> Option<u64> {
    (0.0..=HIGHEST).contains(&dollars).then(|| (dollars * MICRO).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input_tokens: u64, output_tokens: u64, cached_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens, cached_tokens, ..Usage::default() }
    }

    #[test]
    fn cost_is_rounded_up_and_never_overflows() {
        let price = Price { input: 2_000_000, output: 10_000_000, ..Price::FREE };
        assert_eq!(price.cost(&used(1000, 100, 0)), 3000);
        assert_eq!(Price { input: 1, ..Price::FREE }.cost(&used(1, 0, 0)), 1);
        assert_eq!(Price::FREE.cost(&used(u64::MAX, u64::MAX, 0)), 0);
        let most = Price { input: u64::MAX, output: u64::MAX, ..Price::FREE };
        assert_eq!(most.cost(&used(u64::MAX, u64::MAX, 0)), u64::MAX);
    }

    #[test]
    fn what_comes_from_the_cache_and_goes_into_it_has_its_own_price() {
        let price = Price::dollars(3.0, 15.0, Some(0.3), Some(3.75)).unwrap();
        assert_eq!(price.cost(&used(1_000_000, 0, 400_000)), 600_000 * 3 + 120_000);
        assert_eq!(price.cost_with_writes(&used(1_000_000, 0, 400_000), 600_000), 2_250_000 + 120_000);
        assert_eq!(price.cost_with_writes(&used(10, 0, 10), 10), 3, "no token counts twice");
        assert_eq!(price.most(&used(1_000_000, 1_000_000, 400_000)), 3_750_000 + 15_000_000);
        let plain = Price::dollars(3.0, 15.0, None, None).unwrap();
        assert_eq!(plain.cost(&used(1_000_000, 0, 400_000)), 3_000_000);
    }

    #[test]
    fn an_amount_is_enough_for_so_long_a_reply() {
        let price = Price { output: 15_000_000, ..Price::FREE };
        assert_eq!(price.output_for(150), 10);
        assert!(price.cost(&used(0, price.output_for(149), 0)) <= 149);
        assert_eq!(Price::FREE.output_for(0), u64::MAX);
    }

    #[test]
    fn nonsense_is_no_price() {
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Price::dollars(bad, 1.0, None, None), None, "{bad}");
            assert_eq!(Price::dollars(1.0, 1.0, Some(bad), None), None, "{bad}");
        }
    }
}
