//! Token counts as servers report them.

use deepgraph_protocol::Usage;
use serde_json::Value as Json;

/// The largest count that is believed. No call comes near it, and sums of such counts stay far from overflow.
const MOST_TOKENS: u64 = 1_000_000_000_000;

/// Reads a `usage` object; none where it lacks the counts of request or reply, or they make no sense.
pub(super) fn read_usage(usage: &Json) -> Option<Usage> {
    let input_tokens = count(usage, "/prompt_tokens")?;
    let output_tokens = count(usage, "/completion_tokens")?;
    let cached = count(usage, "/prompt_tokens_details/cached_tokens")
        .or_else(|| count(usage, "/prompt_cache_hit_tokens"))
        .unwrap_or(0);
    let reasoning = count(usage, "/completion_tokens_details/reasoning_tokens").unwrap_or(0);
    Some(Usage {
        input_tokens,
        output_tokens,
        cached_tokens: cached.min(input_tokens),
        reasoning_tokens: reasoning.min(output_tokens),
        estimated: false,
    })
}

fn count(usage: &Json, pointer: &str) -> Option<u64> {
    let number = usage.pointer(pointer)?;
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
    fn details_are_read_and_stay_within_their_whole() {
        let usage = read_usage(&json!({
            "prompt_tokens": 100, "completion_tokens": 20.0, "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 99},
        }));
        let expected = Usage {
            input_tokens: 100,
            output_tokens: 20,
            cached_tokens: 64,
            reasoning_tokens: 20,
            estimated: false,
        };
        assert_eq!(usage, Some(expected));
    }

    #[test]
    fn what_is_no_count_is_not_believed() {
        for bad in [json!(null), json!("12"), json!(-1), json!(1.5), json!(u64::MAX), json!(1e300)] {
            assert_eq!(read_usage(&json!({"prompt_tokens": bad, "completion_tokens": 1})), None, "{bad}");
        }
        assert_eq!(read_usage(&json!({"prompt_tokens": 1})), None);
        assert_eq!(read_usage(&json!([])), None);
    }
}
