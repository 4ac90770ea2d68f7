//! The built-in table of context windows and prices.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::Price;
use crate::settings::ModelFacts;

/// The table: its head says what its fields mean.
const TABLE: &str = include_str!("models.csv");

/// What the table says of a model of a provider; nothing where it has no line for it.
pub(crate) fn of(provider: &str, name: &str) -> ModelFacts {
    let provider = if provider == "openai_resp" { "openai" } else { provider };
    let find = |name: &str| table().get(format!("{provider}::{name}").as_str()).copied();
    find(name).or_else(|| find(undated(name)?)).unwrap_or_default()
}

fn table() -> &'static BTreeMap<&'static str, ModelFacts> {
    static READ: OnceLock<BTreeMap<&'static str, ModelFacts>> = OnceLock::new();
    READ.get_or_init(|| lines().map(|(model, facts, _)| (model, facts)).collect())
}

/// The lines of the table: a model, what is known of it, and as of which day.
pub(crate) fn lines() -> impl Iterator<Item = (&'static str, ModelFacts, &'static str)> {
    TABLE.lines().filter_map(line)
}

/// One line of the table; nothing for comments and for what is no line of it.
fn line(text: &'static str) -> Option<(&'static str, ModelFacts, &'static str)> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let [model, window, max_output, input, output, cached, cache_write, as_of] = fields[..] else {
        return None;
    };
    if model.starts_with('#') || as_of.is_empty() {
        return None;
    }
    let dollars = |field: &str| field.parse::<f64>().ok();
    let price = match (dollars(input), dollars(output)) {
        (Some(input), Some(output)) => Price::dollars(input, output, dollars(cached), dollars(cache_write)),
        _ => None,
    };
    let facts = ModelFacts {
        context_window: window.parse().ok(),
        max_output: max_output.parse().ok(),
        tools: None,
        price,
    };
    Some((model, facts, as_of))
}

/// The name without a date at its end, `-2025-04-14` or `-20250414`; none where it has none.
fn undated(name: &str) -> Option<&str> {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    let (rest, last) = name.rsplit_once('-')?;
    if digits(last, 8) {
        return Some(rest);
    }
    let (rest, month) = rest.rsplit_once('-')?;
    let (rest, year) = rest.rsplit_once('-')?;
    (digits(last, 2) && digits(month, 2) && digits(year, 4)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_dated() {
        let lines: Vec<&str> =
            TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).collect();
        assert_eq!(table().len(), lines.len(), "a line that can not be read, or a model with two");
        for line in lines {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            assert_eq!(fields.len(), 8, "{line}");
            assert!(undated(&format!("x-{}", fields[7])).is_some(), "{line}");
            for (at, field) in fields[1..7].iter().enumerate() {
                let is_price = at >= 2;
                let fits = if is_price { field.parse::<f64>().is_ok() } else { field.parse::<u64>().is_ok() };
                assert!(field.is_empty() || fits, "{line}: {field}");
            }
            let facts = table()[fields[0]];
            assert!(facts.context_window > facts.max_output, "{line}");
            let price = facts.price.unwrap_or(Price { input: 1, output: 1, ..Price::FREE });
            assert!(price.input > 0 && price.output >= price.input, "an unknown price is no 0: {line}");
            assert!(price.cached_input.is_none_or(|cached| cached > 0 && cached < price.input), "{line}");
        }
    }

    #[test]
    fn names_match_exactly_or_with_a_date() {
        let window = |name| of("openai", name).context_window;
        assert_eq!(window("gpt-4.1"), Some(1_047_576));
        assert_eq!(window("gpt-4.1-2025-04-14"), Some(1_047_576));
        assert_eq!(of("openai_resp", "gpt-4.1"), of("openai", "gpt-4.1"));
        assert_eq!(of("anthropic", "claude-sonnet-4-5-20250929"), of("anthropic", "claude-sonnet-4-5"));
        for other in
            ["gpt-4", "gpt-4.1-", "gpt-4.1-mini-x", "gpt-4.1-audio", "gpt-4.1-25-04-14", "gpt-4.1-1234567"]
        {
            assert_eq!(window(other), None, "{other}");
        }
        assert_eq!(of("mine", "gpt-4.1"), ModelFacts::default());
    }
}
