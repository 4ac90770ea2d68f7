//! How much a model is to think, as each protocol spells it.

use serde_json::{Map, Value as Json, json};

use super::{put, record};

/// The efforts that mean the same everywhere; what is none of them is not sent but to OpenAI.
const KNOWN: [&str; 8] = ["none", "zero", "minimal", "low", "medium", "high", "xhigh", "max"];

/// How many tokens an effort lets an older model think.
fn budget(effort: &str) -> Option<u32> {
    match effort {
        "minimal" | "low" => Some(1024),
        "medium" => Some(8000),
        "high" | "xhigh" | "max" => Some(24_000),
        _ => None,
    }
}

/// Puts an effort into a request to Ollama.
pub(super) fn ollama(body: &mut Map<String, Json>, effort: Json) {
    let think = match effort.as_str() {
        Some("none" | "zero") => json!(false),
        Some("minimal") => json!("low"),
        Some("xhigh") => json!("max"),
        _ => effort,
    };
    put(body, "think", think);
}

/// Puts an effort into a request to Google: <https://ai.google.dev/gemini-api/docs/thinking>.
pub(super) fn gemini(model: &str, body: &mut Map<String, Json>, effort: &str) {
    let has_levels = model.contains("gemini-3") || model.contains("gemma-4");
    let thinking = match (has_levels, effort) {
        (true, "minimal") => json!({"thinkingLevel": "MINIMAL"}),
        (true, "low") => json!({"thinkingLevel": "LOW"}),
        (true, "medium") => json!({"thinkingLevel": "MEDIUM"}),
        (true, "high" | "xhigh" | "max") => json!({"thinkingLevel": "HIGH"}),
        (true, _) => return,
        (false, effort) => match budget(effort) {
            Some(budget) => json!({"thinkingBudget": budget}),
            None => return,
        },
    };
    let mut config = record(body.remove("generationConfig"));
    config.entry("thinkingConfig").or_insert(thinking);
    put(body, "generationConfig", config);
}

/// Puts an effort into a request to Anthropic, or tells a model that thinks by itself not to:
/// <https://docs.anthropic.com/en/docs/build-with-claude/effort>,
/// <https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking>.
pub(super) fn anthropic(model: &str, body: &mut Map<String, Json>, effort: Option<&str>) {
    let effort = effort.filter(|effort| KNOWN.contains(effort) && !matches!(*effort, "none" | "zero"));
    let claude = Claude::of(model);
    let Some(effort) = effort else {
        if claude.thinks_by_itself {
            body.entry("thinking").or_insert(json!({"type": "disabled"}));
        }
        return;
    };
    if claude.takes_effort {
        let effort = match effort {
            "minimal" => "low",
            "xhigh" if !claude.takes_xhigh => "high",
            "max" if !claude.adapts => "high",
            effort => effort,
        };
        let mut config = record(body.remove("output_config"));
        config.entry("effort").or_insert(json!(effort));
        put(body, "output_config", config);
    }
    if claude.adapts {
        body.entry("thinking").or_insert(json!({"type": "adaptive"}));
    } else if let Some(budget) = budget(effort).filter(|_| !claude.takes_effort) {
        body.entry("thinking").or_insert(json!({"type": "enabled", "budget_tokens": budget}));
    }
}

/// What a model of Anthropic takes, by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Claude {
    takes_effort: bool,
    takes_xhigh: bool,
    /// It decides by itself how much it thinks, and takes the effort `max`.
    adapts: bool,
    /// It thinks unless it is told not to.
    thinks_by_itself: bool,
}

impl Claude {
    /// By names such as `claude-opus-4-6-20260115`; gateways put something before it.
    fn of(model: &str) -> Claude {
        let Some((_, name)) = model.split_once("claude-") else { return Claude::default() };
        let mut words = name.split(['-', '.', '@', ':']);
        let family = words.next().unwrap_or_default();
        // Eight digits are a date.
        let mut number = || words.next().filter(|word| word.len() < 3)?.parse::<u32>().ok();
        let major = number();
        let version = (major.unwrap_or(0), major.and_then(|_| number()).unwrap_or(0));
        let since = |first: Option<(u32, u32)>| first.is_some_and(|first| version >= first);
        // Since which version a family takes efforts, adapts, and takes the effort `xhigh`.
        let (effort, adapts, xhigh) = match family {
            "opus" => (Some((4, 5)), Some((4, 6)), Some((4, 7))),
            "sonnet" => (Some((4, 6)), Some((4, 6)), Some((5, 0))),
            "haiku" => (Some((5, 0)), Some((5, 0)), Some((5, 0))),
            "fable" | "mythos" => (Some((0, 0)), Some((0, 0)), Some((0, 0))),
            _ => (None, None, None),
        };
        Claude {
            takes_effort: since(effort),
            takes_xhigh: since(xhigh),
            adapts: since(adapts),
            thinks_by_itself: matches!(family, "opus" | "sonnet" | "haiku") && version >= (5, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(model: &str, effort: Option<&str>) -> Json {
        let mut body = Map::new();
        anthropic(model, &mut body, effort);
        Json::Object(body)
    }

    #[test]
    fn models_of_anthropic_are_told_in_their_own_way() {
        let adaptive =
            |effort: &str| json!({"output_config": {"effort": effort}, "thinking": {"type": "adaptive"}});
        for (model, effort, body) in [
            (
                "claude-3-7-sonnet-20250219",
                "low",
                json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
            ),
            (
                "claude-sonnet-4-20250514",
                "max",
                json!({"thinking": {"type": "enabled", "budget_tokens": 24_000}}),
            ),
            ("claude-opus-4-5-20251101", "max", json!({"output_config": {"effort": "high"}})),
            ("claude-opus-4-6", "xhigh", adaptive("high")),
            ("anthropic/claude-opus-4.8", "xhigh", adaptive("xhigh")),
            ("claude-sonnet-4-6", "minimal", adaptive("low")),
            ("claude-mythos-5", "max", adaptive("max")),
            ("claude-haiku-4-5", "medium", json!({"thinking": {"type": "enabled", "budget_tokens": 8000}})),
        ] {
            assert_eq!(asked(model, Some(effort)), body, "{model} {effort}");
        }
        assert_eq!(asked("claude-opus-5", Some("none")), json!({"thinking": {"type": "disabled"}}));
        assert_eq!(asked("claude-sonnet-5-1", None), json!({"thinking": {"type": "disabled"}}));
        for silent in ["claude-opus-4-8", "claude-fable-5", "claude-", "other", "claude-opus-20260101"] {
            assert_eq!(asked(silent, None), json!({}), "{silent}");
        }
    }

    #[test]
    fn models_of_google_are_told_by_level_or_by_budget() {
        let asked = |model: &str, effort: &str| {
            let mut body = Map::from_iter([("generationConfig".to_owned(), json!({"topK": 1}))]);
            gemini(model, &mut body, effort);
            body.remove("generationConfig").unwrap_or_default()
        };
        let level = json!({"topK": 1, "thinkingConfig": {"thinkingLevel": "HIGH"}});
        assert_eq!(asked("gemini-3-pro", "max"), level);
        assert_eq!(
            asked("gemini-2.5-pro", "medium"),
            json!({"topK": 1, "thinkingConfig": {"thinkingBudget": 8000}})
        );
        for effort in ["none", "odd"] {
            assert_eq!(asked("gemini-2.5-pro", effort), json!({"topK": 1}));
            assert_eq!(asked("gemini-3-pro", effort), json!({"topK": 1}));
        }
    }
}
