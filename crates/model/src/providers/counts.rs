//! Token counts as servers report them.

use deepgraph_protocol::Usage;
use serde_json::Value as Json;

/// The largest count that is believed. No call comes near it, and sums of such counts stay far from overflow.
const MOST_TOKENS: u64 = 1_000_000_000_000;

/// What has been reported so far. Servers that stream report in parts: a later count goes before an earlier one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// All tokens of the request, cached ones included.
    pub(super) input: Option<u64>,
    /// All tokens of the reply, reasoning included.
    pub(super) output: Option<u64>,
    /// Tokens of the request that came from the provider's cache.
    pub(super) cached: Option<u64>,
    /// Tokens of the request that were put into it.
    pub(super) written: Option<u64>,
    /// Tokens of reasoning.
    pub(super) reasoning: Option<u64>,
}

impl Counts {
    /// Takes a later report in.
    pub(super) fn take(&mut self, later: Counts) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
        self.cached = later.cached.or(self.cached);
        self.written = later.written.or(self.written);
        self.reasoning = later.reasoning.or(self.reasoning);
    }

    /// The usage; none where the count of request or reply lacks.
    pub(super) fn usage(self) -> Option<Usage> {
        let (input_tokens, output_tokens) = (self.input?, self.output?);
        Some(Usage {
            input_tokens,
            output_tokens,
            cached_tokens: self.cached.unwrap_or(0).min(input_tokens),
            reasoning_tokens: self.reasoning.unwrap_or(0).min(output_tokens),
            estimated: false,
        })
    }
}

/// A count; none where it lacks or makes no sense.
pub(super) fn count(report: &Json, pointer: &str) -> Option<u64> {
    let number = report.pointer(pointer)?;
    let count = number.as_u64().or_else(|| {
        let number = number.as_f64().filter(|n| n.fract() == 0.0 && (0.0..1e15).contains(n))?;
        Some(number as u64)
    })?;
    (count <= MOST_TOKENS).then_some(count)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_stay_within_their_whole() {
        let counts = Counts {
            input: Some(100),
            output: Some(20),
            cached: Some(64),
            reasoning: Some(99),
            ..Counts::default()
        };
        let expected = Usage {
            input_tokens: 100,
            output_tokens: 20,
            cached_tokens: 64,
            reasoning_tokens: 20,
            estimated: false,
        };
        assert_eq!(counts.usage(), Some(expected));
        assert_eq!(Counts { output: None, ..counts }.usage(), None);
    }

    #[test]
    fn later_reports_go_before_earlier_ones() {
        let mut counts = Counts { input: Some(10), output: Some(1), ..Counts::default() };
        counts.take(Counts { output: Some(7), ..Counts::default() });
        assert_eq!((counts.input, counts.output), (Some(10), Some(7)));
    }

    #[test]
    fn what_is_no_count_is_not_believed() {
        for bad in [json!(null), json!("12"), json!(-1), json!(1.5), json!(u64::MAX), json!(1e300)] {
            assert_eq!(count(&json!({"tokens": bad}), "/tokens"), None, "{bad}");
        }
        assert_eq!(count(&json!({"a": {"tokens": 12.0}}), "/a/tokens"), Some(12));
        assert_eq!(count(&json!([]), "/tokens"), None);
    }
}
