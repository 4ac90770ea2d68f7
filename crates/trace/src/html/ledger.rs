//! The ledger over time: tokens and money, used and reserved, against the bounds of the root.
//!
//! In a redacted trace, which has no times, the charges of the steps are added up in reading order instead.

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::{Meter, Spent};

use super::amount::{clock, cost, counted, money, number};
use super::axis::ticks;
use super::chart::{Axis, Bounds, Chart};
use super::scale::Scale;
use crate::tree::{LimitInForce, Node, ScopeTrace, Trace};

/// The most points that are drawn and listed.
const MOST: usize = 400;

/// The ledger as the page shows it.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r#"
<p class="note">{{ note }}</p>
{% for chart in charts %}{{ chart }}{% endfor %}
{% if !rows.is_empty() %}
<details class="aside"><summary>The figures as a table</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Ledger"><table>
<thead><tr><th>{{ when }}</th><th>tokens used</th><th>reserved</th><th>money used</th><th>reserved</th></tr></thead>
<tbody>{% for row in rows %}<tr><th scope="row">{{ row.when }}</th><td class="n">{{ row.tokens }}</td><td class="n">{{ row.tokens_reserved }}</td><td class="n">{{ row.money }}</td><td class="n">{{ row.money_reserved }}</td></tr>{% endfor %}</tbody>
</table></div></details>
{% endif %}
"#
)]
pub(super) struct Ledger {
    note: String,
    charts: Vec<Chart>,
    when: &'static str,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    when: String,
    tokens: String,
    tokens_reserved: String,
    money: String,
    money_reserved: String,
}

/// One state of the ledger.
#[derive(Clone, Debug)]
struct Point {
    /// Where it is drawn: a place in time, or a number.
    x: i64,
    when: String,
    used: Spent,
    reserved: Spent,
}

impl HtmlSafe for Ledger {}

impl Ledger {
    pub(super) fn of(trace: &Trace) -> Ledger {
        let (points, axis, when, mut note) = match trace.root.time {
            Some(time) => {
                let note = "Used: settled, calls whose outcome was never learnt included. Reserved: by model calls \
                            that are out. What a child is granted counts when one of its calls reserves it.";
                let scale = Scale::of(&trace.root, time);
                let axis = Axis { length: scale.length(), ticks: ticks(scale.length()) };
                (by_time(trace, &scale), axis, "time (UTC)", note.to_owned())
            }
            None => {
                let points = by_position(&trace.root);
                let axis = Axis { length: points.len() as i64, ticks: Vec::new() };
                let note =
                    "The times are redacted: charges are added up in reading order, without reservations.";
                (points, axis, "after step", note.to_owned())
            }
        };
        let unknown = points.last().map_or(0, |last| last.used.cost_unknown);
        if points.iter().all(|p| is_free(&p.used) && is_free(&p.reserved)) {
            let note = "No tokens and no money were used.".to_owned();
            return Ledger { note, charts: Vec::new(), when, rows: Vec::new() };
        }
        let all = points.len();
        let points = thin(points);
        if points.len() < all {
            note.push_str(&format!(
                " {} states are shown of {}: of those close together, the highest.",
                number(points.len() as u64),
                number(all as u64)
            ));
        }
        if unknown > 0 {
            let calls = counted(unknown, "call is", "calls are");
            note.push_str(&format!(" The prices of {calls} not known: money is a lower bound."));
        }
        let chart = |title, of: fn(&Spent) -> u64, meter, shown| {
            let series: Vec<_> = points.iter().map(|p| (p.x, of(&p.used), of(&p.reserved))).collect();
            Chart::of(title, &series, &axis, bounds(&trace.root, meter), shown)
        };
        let tokens = chart("Tokens", |s| s.tokens, Meter::Tokens, number);
        let money = chart("Money", |s| s.cost_micro_usd, Meter::CostUsd, money);
        let charts = tokens.into_iter().chain(money).collect();
        Ledger { note, charts, when, rows: points.into_iter().map(Row::of).collect() }
    }
}

fn is_free(spent: &Spent) -> bool {
    spent.tokens == 0 && spent.cost_micro_usd == 0 && spent.cost_unknown == 0
}

impl Row {
    fn of(point: Point) -> Row {
        let money_reserved = match point.reserved {
            Spent { model_calls: 0, .. } => money(0),
            reserved => cost(&reserved),
        };
        Row {
            when: point.when,
            tokens: number(point.used.tokens),
            tokens_reserved: number(point.reserved.tokens),
            money: cost(&point.used),
            money_reserved,
        }
    }
}

fn by_time(trace: &Trace, scale: &Scale) -> Vec<Point> {
    let point = |p: &crate::tree::LedgerPoint| Point {
        x: scale.place(p.at),
        when: clock(p.at),
        used: p.used,
        reserved: p.reserved,
    };
    trace.ledger.iter().map(point).collect()
}

fn by_position(root: &ScopeTrace) -> Vec<Point> {
    let mut used = Spent::default();
    let charged = root.all_steps().into_iter().filter(|step| step.charged != Spent::default());
    let point = |(x, step): (i64, &Node)| {
        used += step.charged;
        Point { x, when: step.step.to_string(), used, reserved: Spent::default() }
    };
    (1..).zip(charged).map(point).collect()
}

/// At most [`MOST`] points: of each stretch the one with the most tokens used and reserved, and the last of all.
fn thin(points: Vec<Point>) -> Vec<Point> {
    if points.len() <= MOST {
        return points;
    }
    let height = |p: &Point| p.used.tokens.saturating_add(p.reserved.tokens);
    let stretch = points.len().div_ceil(MOST - 1);
    let highest = |stretch: &[Point]| stretch.iter().max_by_key(|p| height(p)).cloned();
    let mut kept: Vec<Point> = points.chunks(stretch).filter_map(highest).collect();
    if let Some(last) = points.last().filter(|last| kept.last().is_some_and(|k| k.x < last.x)) {
        kept.push(last.clone());
    }
    kept
}

/// The bounds of the root's own limits of a quantity, in base units.
fn bounds(root: &ScopeTrace, meter: Meter) -> Vec<Bounds> {
    let of = |limit: &LimitInForce| {
        let base = |n: f64| super::amount::in_base_units(limit.meter, n);
        let bound = base(limit.max?);
        let kept = base(limit.kept).min(bound);
        Some(Bounds { name: limit.name.to_string(), bound, main: bound - kept })
    };
    root.limits.iter().filter(|limit| limit.meter == Some(meter)).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_points_become_few_and_keep_peaks_and_end() {
        let point = |x: i64| Point {
            x,
            when: String::new(),
            used: Spent { tokens: x as u64, ..Spent::default() },
            reserved: Spent { tokens: if x == 777 { 1_000_000 } else { 0 }, ..Spent::default() },
        };
        let kept = thin((0..6_000).map(point).collect());
        assert!(kept.len() <= MOST, "{}", kept.len());
        assert!(kept.iter().any(|p| p.x == 777) && kept.last().is_some_and(|p| p.x == 5_999));
        assert!(kept.windows(2).all(|w| w[0].x < w[1].x));
        assert_eq!(thin((0..5).map(point).collect()).len(), 5);
    }
}
