//! A step chart: what was used and, on top of it, what was reserved.

use askama::Template;
use askama::filters::HtmlSafe;

use super::amount::percent;

/// The size of the picture in its own units; the page stretches it.
const WIDTH: i64 = 10_000;
const HEIGHT: i64 = 1_000;

/// A bound that is more than so many times as high as the figures is not drawn: it would press them flat.
const HIGHEST: u64 = 4;

/// A chart as the page shows it.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r#"
<figure class="chart"><figcaption><b>{{ title }}</b> {{ end }} used at the end{% if has_reserved %}, at most {{ peak }} used and reserved{% endif %}{% for line in told %} · {{ line }}{% endfor %}</figcaption>
<div class="plot"><span class="scale"><span>{{ top }}</span><span>0</span></span>
<svg viewBox="0 0 10000 1000" preserveAspectRatio="none" role="img" aria-label="{{ title }} over time">
{% if has_reserved %}<path class="reserved" d="{{ total }}"></path>{% endif %}<path class="used" d="{{ used }}"></path>
{% for line in lines %}<line class="{{ line.class }}" x1="0" x2="10000" y1="{{ line.y }}" y2="{{ line.y }}"><title>{{ line.title }}</title></line>{% endfor %}
</svg></div>
<svg class="ticks" height="16" aria-hidden="true">{% for (x, label) in ticks %}<text x="{{ x }}%" y="12">{{ label }}</text>{% endfor %}</svg>
<p class="legend" aria-hidden="true"><span class="key used">used</span>{% if has_reserved %}<span class="key reserved">reserved</span>{% endif %}{% if !lines.is_empty() %}<span class="key bound">bound</span>{% endif %}</p>
</figure>
"#
)]
pub(super) struct Chart {
    title: &'static str,
    end: String,
    peak: String,
    top: String,
    has_reserved: bool,
    used: String,
    total: String,
    lines: Vec<Line>,
    told: Vec<String>,
    ticks: Vec<(String, String)>,
}

/// A line across the chart.
#[derive(Debug)]
struct Line {
    class: &'static str,
    y: i64,
    title: String,
}

/// What lies along the chart.
#[derive(Debug)]
pub(super) struct Axis {
    /// How long it is; points lie from 0 to there.
    pub(super) length: i64,
    /// Places in percent, and what is written there.
    pub(super) ticks: Vec<(String, String)>,
}

/// A limit of the root.
#[derive(Debug)]
pub(super) struct Bounds {
    pub(super) name: String,
    pub(super) bound: u64,
    /// What the main stage may use of it.
    pub(super) main: u64,
}

impl HtmlSafe for Chart {}

impl Chart {
    /// A chart of `(x, used, reserved)`. None where there is nothing to draw.
    pub(super) fn of(
        title: &'static str,
        points: &[(i64, u64, u64)],
        axis: &Axis,
        bounds: Vec<Bounds>,
        shown: fn(u64) -> String,
    ) -> Option<Chart> {
        let peak = points.iter().map(|(_, used, reserved)| used.saturating_add(*reserved)).max()?;
        if peak == 0 {
            return None;
        }
        let drawn = bounds.iter().map(|b| b.bound).filter(|b| *b <= peak.saturating_mul(HIGHEST));
        let top = drawn.chain([peak]).max()?;
        let scale = Scale { length: axis.length.max(1), top };
        let end = points.last().map_or(0, |(_, used, _)| *used);
        let told = bounds.iter().map(|b| {
            let share =
                percent(i64::try_from(end).unwrap_or(i64::MAX), i64::try_from(b.bound).unwrap_or(i64::MAX));
            let kept = match b.bound - b.main {
                0 => String::new(),
                kept => format!(", {} of it kept for the finally stage", shown(kept)),
            };
            format!("limit {} {}{kept}: {share} % used", b.name, shown(b.bound))
        });
        let told = told.collect();
        let mut lines = Vec::new();
        for b in bounds.iter().filter(|b| b.bound <= top) {
            let title = format!("{}: {}", b.name, shown(b.bound));
            lines.push(Line { class: "bound", y: scale.y(b.bound), title });
            if b.main < b.bound {
                let title = format!("{} without what is kept: {}", b.name, shown(b.main));
                lines.push(Line { class: "bound main", y: scale.y(b.main), title });
            }
        }
        Some(Chart {
            title,
            end: shown(end),
            peak: shown(peak),
            top: shown(top),
            has_reserved: points.iter().any(|(_, _, reserved)| *reserved > 0),
            used: scale.path(points.iter().map(|(x, used, _)| (*x, *used))),
            total: scale.path(points.iter().map(|(x, used, reserved)| (*x, used.saturating_add(*reserved)))),
            lines,
            told,
            ticks: axis.ticks.clone(),
        })
    }
}

struct Scale {
    length: i64,
    top: u64,
}

impl Scale {
    fn x(&self, x: i64) -> i64 {
        let part = i128::from(x.clamp(0, self.length));
        (part * i128::from(WIDTH) / i128::from(self.length)) as i64
    }

    fn y(&self, figure: u64) -> i64 {
        HEIGHT - (u128::from(figure.min(self.top)) * HEIGHT as u128 / u128::from(self.top.max(1))) as i64
    }

    /// A filled stair: each figure holds until the next.
    fn path(&self, points: impl Iterator<Item = (i64, u64)>) -> String {
        let mut path = format!("M0 {HEIGHT}");
        for (x, figure) in points {
            path.push_str(&format!("H{}V{}", self.x(x), self.y(figure)));
        }
        path.push_str(&format!("H{WIDTH}V{HEIGHT}Z"));
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(length: i64) -> Axis {
        Axis { length, ticks: Vec::new() }
    }

    fn chart(bounds: Vec<Bounds>) -> Chart {
        Chart::of("Tokens", &[(0, 0, 50), (5, 40, 60), (10, 100, 0)], &axis(10), bounds, |n| n.to_string())
            .unwrap_or_else(|| panic!("there is something to draw"))
    }

    #[test]
    fn figures_are_stairs() {
        let chart = chart(Vec::new());
        assert_eq!(chart.used, "M0 1000H0V1000H5000V600H10000V0H10000V1000Z");
        assert_eq!(chart.total, "M0 1000H0V500H5000V0H10000V0H10000V1000Z");
        assert_eq!((chart.end.as_str(), chart.peak.as_str()), ("100", "100"));
    }

    #[test]
    fn bounds_are_drawn_where_they_do_not_press_the_figures_flat() {
        let bounds = |bound, main| vec![Bounds { name: "budget".into(), bound, main }];
        let near = chart(bounds(200, 150));
        assert_eq!(near.lines.iter().map(|l| l.y).collect::<Vec<_>>(), [0, 250]);
        assert_eq!(near.told, ["limit budget 200, 50 of it kept for the finally stage: 50 % used"]);
        let far = chart(bounds(100_000, 100_000));
        assert!(far.lines.is_empty() && far.told[0].ends_with("0.100 % used"), "{:?}", far.told);
        assert!(Chart::of("Money", &[(0, 0, 0)], &axis(1), bounds(5, 5), |n| n.to_string()).is_none());
    }
}
