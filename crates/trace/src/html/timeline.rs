//! The timeline: a bar for each step by the times at which its entries were committed, in lanes.
//!
//! A redacted trace has no times, and so no timeline: by logical position it would only repeat the tree.

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::Millis;

use super::amount::{duration, moment};
use super::axis;
use super::index::Index;
use super::lanes::{self, Bar, Lane, MANY, Row};
use super::scale::Scale;
use crate::tree::ScopeTrace;

/// Pixels from one row to the next, and of a bar.
const ROW: usize = 16;
const BAR: usize = 10;

/// The timeline as the page shows it.
#[derive(Debug, Template)]
pub(super) enum Timeline {
    #[template(
        ext = "html",
        whitespace = "minimize",
        source = r##"
<p class="note">From {{ start }}, {{ length }}. Point at a bar for its step and times; it leads to the step.{% if is_grouped %} There are many instances: those of a graph share lanes.{% endif %}{% if let Some(cut) = cut %} Stretches in which only a question was open ({{ cut }} in all) are drawn short, and the axis leaves them out.{% endif %}</p>
<p class="legend" aria-hidden="true"><span class="key model">model</span><span class="key tool">tool</span><span class="key plain">state</span><span class="key bad">failed</span><span class="key person">question to a person</span><span class="key wait">wait before another attempt</span></p>
<div class="scroll timeline {{ width }}" tabindex="0" role="region" aria-label="Timeline; the times of each step are in the list of steps too">
<div class="lane axis"><span class="lanename"></span><svg height="18" aria-hidden="true">{% for (x, label) in ticks %}<text x="{{ x }}%" y="13">{{ label }}</text>{% endfor %}</svg></div>
{% for lane in lanes %}
<div class="lane"><span class="lanename d{{ lane.depth }}">{% if let Some(link) = lane.link %}<a href="#{{ link.anchor }}" title="{{ link.label }}">{{ lane.name }}</a>{% else %}{{ lane.name }}{% endif %}</span><svg height="{{ lane.height }}" aria-hidden="true">{% for (x, _) in ticks %}<line x1="{{ x }}%" x2="{{ x }}%" y1="0" y2="100%"></line>{% endfor %}{% for rect in lane.rects %}{{ rect }}{% endfor %}</svg></div>
{% endfor %}
</div>
"##
    )]
    Drawn {
        start: String,
        length: String,
        is_grouped: bool,
        /// How long only questions were open, where that is drawn short.
        cut: Option<String>,
        width: &'static str,
        ticks: Vec<(String, String)>,
        lanes: Vec<Shown>,
    },
    #[template(ext = "html", source = r#"<p class="note">{{ why }}</p>"#)]
    Empty { why: &'static str },
}

/// A lane as the page shows it.
#[derive(Debug)]
pub(super) struct Shown {
    name: String,
    link: Option<super::index::Link>,
    depth: usize,
    height: usize,
    rects: Vec<Rect>,
}

/// Something in a lane.
#[derive(Debug, Template)]
pub(super) enum Rect {
    #[template(
        ext = "html",
        source = r##"<a href="#{{ anchor }}" tabindex="-1"><rect class="{{ tone }}" x="{{ x }}%" y="{{ y }}" width="{{ width }}%" height="{{ height }}"><title>{{ title }}</title></rect></a>"##
    )]
    Bar {
        anchor: String,
        tone: &'static str,
        x: String,
        y: usize,
        width: String,
        height: usize,
        title: String,
    },
    #[template(
        ext = "html",
        source = r#"<rect class="{{ tone }}" x="{{ x }}%" y="{{ y }}" width="{{ width }}%" height="{{ height }}"></rect>"#
    )]
    Plain { tone: &'static str, x: String, y: usize, width: String, height: usize },
}

impl HtmlSafe for Timeline {}
impl HtmlSafe for Rect {}

impl Timeline {
    pub(super) fn of(index: &Index, root: &ScopeTrace) -> Timeline {
        let Some((start, end)) = root.time else {
            return Timeline::Empty { why: "The times are redacted, so there is no timeline." };
        };
        if start == end {
            return Timeline::Empty {
                why: "Everything was committed at one moment: there is nothing to draw.",
            };
        }
        let lanes = lanes::lanes(index, root, end);
        let fullest = lanes.iter().flat_map(|lane| &lane.rows).map(|row| row.bars.len()).max().unwrap_or(0);
        let scale = Scale::of(root, (start, end));
        let cut: Millis = scale.cuts().iter().map(|(from, to)| to - from).sum();
        Timeline::Drawn {
            start: moment(start),
            length: duration(end - start),
            is_grouped: index.scopes() > MANY,
            width: match fullest {
                0..=60 => "w1",
                61..=250 => "w2",
                _ => "w3",
            },
            ticks: axis::ticks(scale.length()),
            cut: (cut > 0).then(|| duration(cut)),
            lanes: lanes.into_iter().map(|l| lane(&scale, l)).collect(),
        }
    }
}

/// A lane with everything at its place.
fn lane(scale: &Scale, lane: Lane) -> Shown {
    let Lane { name, link, depth, rows } = lane;
    let height = rows.len() * ROW + 4;
    let mut rects = Vec::new();
    for (i, row) in rows.into_iter().enumerate() {
        fill(scale, row, i * ROW + 2, &mut rects);
    }
    for cut in scale.cuts() {
        let (x, width) = scale.share(*cut);
        rects.push(Rect::Plain { tone: "cut", x, y: 0, width, height });
    }
    Shown { name, link, depth: depth.min(6), height, rects }
}

fn fill(scale: &Scale, row: Row, top: usize, rects: &mut Vec<Rect>) {
    for span in row.spans {
        let (x, width) = scale.share(span);
        rects.push(Rect::Plain { tone: "scope", x, y: top, width, height: ROW });
    }
    let y = top + (ROW - BAR) / 2;
    for bar in row.bars {
        let Bar { anchor, span, tone, title, waits } = bar;
        let (x, width) = scale.share(span);
        rects.push(Rect::Bar { anchor, tone, x, y, width, height: BAR, title });
        for wait in waits {
            let (x, width) = scale.share(wait);
            rects.push(Rect::Plain { tone: "wait", x, y, width, height: BAR });
        }
    }
}
