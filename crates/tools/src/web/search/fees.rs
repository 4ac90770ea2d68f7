//! What calls of engines cost: list prices as of a date, and what the settings say.

use deepgraph_protocol::{Fee, Meter};

use super::engine::Engine;
use super::settings::CallFee;

/// The date of the list prices.
pub const PRICES_AS_OF: &str = "2026-11-10";

/// What a call of one engine costs, as it is known before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Price {
    /// Nothing.
    Free,
    /// So many micro-dollars a call, whatever the engine says.
    Set(u64),
    /// The list price of a call in micro-dollars, and of each result beyond ten; where the engine tells what it charged,
    /// that counts.
    Listed { call: u64, beyond_ten: u64 },
    /// It costs something, and it is not known how much.
    Unknown,
}

/// The list price of an engine on [`PRICES_AS_OF`], for the smallest amount that can be bought, in US dollars:
///
/// | engine | price | source |
/// |---|---|---|
/// | Tavily | 0.008 a credit, a basic search is one | docs.tavily.com, "Credits & Pricing", pay as you go |
/// | Brave | 5 per 1,000 requests | api-dashboard.search.brave.com, plan "Search" |
/// | Exa | 7 per 1,000 requests of up to 10 results, 1 per 1,000 further results | exa.ai/docs/reference/pricing |
/// | Serper | 50 for 50,000 credits, a search of up to 10 results is one | serper.dev |
fn listed(engine: Engine) -> Price {
    match engine {
        Engine::Tavily => Price::Listed { call: 8_000, beyond_ten: 0 },
        Engine::Brave => Price::Listed { call: 5_000, beyond_ten: 0 },
        Engine::Exa => Price::Listed { call: 7_000, beyond_ten: 1_000 },
        Engine::Serper => Price::Listed { call: 1_000, beyond_ten: 0 },
        Engine::Searxng
        | Engine::Wikipedia
        | Engine::Openalex
        | Engine::Arxiv
        | Engine::Pubmed
        | Engine::Crossref => Price::Free,
    }
}

impl Price {
    /// The price of an engine. `set` is what the settings say.
    ///
    /// # Errors
    ///
    /// What is set is no sum of money.
    pub(super) fn of(engine: Engine, set: Option<CallFee>) -> Result<Price, String> {
        match set {
            None => Ok(listed(engine)),
            Some(CallFee::Unknown(_)) => Ok(Price::Unknown),
            Some(CallFee::Usd(usd)) => match micro_usd(usd) {
                Some(0) => Ok(Price::Free),
                Some(micro) => Ok(Price::Set(micro)),
                None => Err(format!(
                    "options.{engine}.fee is {usd}: it must be US dollars, 0 or more, or `unknown`"
                )),
            },
        }
    }

    /// What a call for so many results costs at most.
    pub(super) fn before(self, results: usize) -> Fee {
        match self {
            Price::Free => Fee::NONE,
            Price::Set(micro_usd) => Fee { micro_usd, unknown: 0 },
            Price::Listed { call, beyond_ten } => {
                let beyond = results.saturating_sub(10) as u64;
                Fee { micro_usd: call.saturating_add(beyond_ten.saturating_mul(beyond)), unknown: 0 }
            }
            Price::Unknown => Fee { micro_usd: 0, unknown: 1 },
        }
    }

    /// What a call that was answered did cost.
    pub(super) fn after(self, results: usize, told: Option<Told>) -> Fee {
        match (self, told) {
            (Price::Listed { call, .. }, Some(Told::Credits(credits))) => {
                Fee { micro_usd: call.saturating_mul(credits), unknown: 0 }
            }
            (Price::Listed { .. } | Price::Unknown, Some(Told::Usd(usd))) => match micro_usd(usd) {
                Some(micro_usd) => Fee { micro_usd, unknown: 0 },
                None => self.before(results),
            },
            _ => self.before(results),
        }
    }
}

/// What an engine said that it charged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Told {
    Credits(u64),
    Usd(f64),
}

/// Dollars as micro-dollars, rounded up; none where they are no sum of money.
fn micro_usd(usd: f64) -> Option<u64> {
    let micro = (usd * Meter::CostUsd.base_units()).round();
    (micro.is_finite() && (0.0..1e15).contains(&micro)).then_some(micro as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::search::settings::Unknown;

    #[test]
    fn what_is_set_wins_over_the_list_and_what_is_told_over_the_list_alone() {
        let exa = Price::of(Engine::Exa, None).unwrap();
        assert_eq!(exa.before(10).micro_usd, 7_000);
        assert_eq!(exa.before(25).micro_usd, 22_000);
        assert_eq!(exa.after(10, Some(Told::Usd(0.012))).micro_usd, 12_000);
        assert_eq!(exa.after(10, Some(Told::Usd(f64::NAN))).micro_usd, 7_000);
        let tavily = Price::of(Engine::Tavily, None).unwrap();
        assert_eq!(tavily.after(10, Some(Told::Credits(2))).micro_usd, 16_000);
        let set = Price::of(Engine::Tavily, Some(CallFee::Usd(0.005))).unwrap();
        assert_eq!(set.after(10, Some(Told::Credits(2))).micro_usd, 5_000);
    }

    #[test]
    fn an_unknown_fee_is_unknown_and_never_nothing() {
        let unknown = Price::of(Engine::Brave, Some(CallFee::Unknown(Unknown::Unknown))).unwrap();
        assert_eq!(unknown.before(10), Fee { micro_usd: 0, unknown: 1 });
        assert_eq!(unknown.after(10, None), Fee { micro_usd: 0, unknown: 1 });
        assert_eq!(Price::of(Engine::Wikipedia, None).unwrap().before(50), Fee::NONE);
        for wrong in [-0.1, f64::INFINITY, f64::NAN, 1e30] {
            assert!(Price::of(Engine::Brave, Some(CallFee::Usd(wrong))).is_err(), "{wrong}");
        }
    }
}
