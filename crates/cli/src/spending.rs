//! What a run spent, as lines for people: by stage, by model, and on searches.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use deepgraph_protocol::Spent;
use deepgraph_trace::spending::{Asked, SpendingLine};

use crate::when;

/// A line for each stage and what it asked, then one for each model, the searches, and the sum.
pub fn text(lines: &[SpendingLine]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let stage = |line: &SpendingLine| {
        let graph = line.graph.rsplit('/').next().unwrap_or_default();
        format!("{graph} {}", line.stage)
    };
    let mut rows: Vec<(String, &str, SpendingLine)> =
        lines.iter().map(|line| (stage(line), line.asked.name(), line.clone())).collect();
    let mut by_model: BTreeMap<(&Asked, &str), SpendingLine> = BTreeMap::new();
    let mut sum = SpendingLine::default();
    for line in lines {
        sum.add(line);
        by_model.entry((&line.asked, line.asked.name())).or_default().add(line);
    }
    for ((asked, name), line) in by_model {
        let what = match asked {
            Asked::Model(_) => "all by model",
            Asked::Op(_) => "all by op",
        };
        rows.push((what.to_owned(), name, line));
    }
    rows.push(("the run".to_owned(), "", sum));
    let width = |of: fn(&(String, &str, SpendingLine)) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let (stages, names) = (width(|row| row.0.chars().count()), width(|row| row.1.chars().count()));
    let mut out = String::new();
    for (stage, name, line) in &rows {
        // Writing to a text can not fail.
        let _ = writeln!(out, "{stage:stages$}  {name:names$}  {}", told(line));
    }
    out
}

/// `5 calls (1 failed), 12 300 tokens in (8 000 cached), 1 200 out, cost $0.02`.
fn told(line: &SpendingLine) -> String {
    let mut parts = vec![when::counted(line.calls, "call", "calls")];
    if line.failed > 0 {
        parts[0].push_str(&format!(" ({} failed)", when::number(line.failed)));
    }
    if line.input_tokens + line.output_tokens > 0 {
        let part = |n: u64, what: &str| match n {
            0 => String::new(),
            n => format!(" ({} {what})", when::number(n)),
        };
        parts.push(format!(
            "{} tokens in{}",
            when::number(line.input_tokens),
            part(line.cached_tokens, "cached")
        ));
        let reasoning = part(line.reasoning_tokens, "reasoning");
        parts.push(format!("{} out{reasoning}", when::number(line.output_tokens)));
    }
    let reported = line.input_tokens.saturating_add(line.output_tokens);
    if line.tokens > reported {
        parts.push(format!("{} charged as reserved", when::number(line.tokens - reported)));
    }
    parts.push(when::cost(&Spent {
        cost_micro_usd: line.known_micro_usd,
        cost_unknown: line.unknown_calls,
        ..Spent::default()
    }));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(stage: &str, asked: Asked, calls: u64, known: u64, unknown: u64) -> SpendingLine {
        SpendingLine {
            graph: "deep_research/researcher".into(),
            stage: stage.into(),
            asked,
            calls,
            known_micro_usd: known,
            unknown_calls: unknown,
            ..SpendingLine::default()
        }
    }

    #[test]
    fn stages_models_searches_and_the_sum_have_their_lines() {
        let tokens = SpendingLine {
            failed: 1,
            tokens: 1500,
            input_tokens: 1000,
            output_tokens: 100,
            cached_tokens: 600,
            ..line("researcher", Asked::Model("openai::m".into()), 3, 20_000, 0)
        };
        let compress = line("compress", Asked::Model("other::m".into()), 1, 0, 1);
        let searches = line("search", Asked::Op("search".into()), 4, 32_000, 0);
        assert_eq!(
            text(&[compress, tokens, searches]),
            "researcher compress    other::m   1 call, cost unknown (1 call of unknown price)\n\
             researcher researcher  openai::m  3 calls (1 failed), 1 000 tokens in (600 cached), 100 out, 400 charged as reserved, cost $0.02\n\
             researcher search      search     4 calls, cost $0.032\n\
             all by model           openai::m  3 calls (1 failed), 1 000 tokens in (600 cached), 100 out, 400 charged as reserved, cost $0.02\n\
             all by model           other::m   1 call, cost unknown (1 call of unknown price)\n\
             all by op              search     4 calls, cost $0.032\n\
             the run                           8 calls (1 failed), 1 000 tokens in (600 cached), 100 out, 400 charged as reserved, cost at least $0.052 (1 call of unknown price)\n"
        );
        assert_eq!(text(&[]), "");
    }
}
