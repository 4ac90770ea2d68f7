//! Where everything of a picture stands: frames, boxes and lines on a sheet.

use super::content::{Content, Label};
use crate::draw::picture::{Cluster, Item, Line};

/// A point, in pixels from the top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::draw) struct Point {
    pub x: f64,
    pub y: f64,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::draw) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn right(&self) -> f64 {
        self.x + self.width
    }
}

/// A sheet: its content begins in its corner.
#[derive(Debug, Default)]
pub(in crate::draw) struct Sheet<'p> {
    pub width: f64,
    pub height: f64,
    /// Outer frames before inner ones.
    pub frames: Vec<Frame<'p>>,
    pub boxes: Vec<Placed<'p>>,
    pub stubs: Vec<Stub<'p>>,
    pub lines: Vec<Routed<'p>>,
}

/// A cluster with its place.
#[derive(Debug)]
pub(in crate::draw) struct Frame<'p> {
    pub cluster: &'p Cluster,
    pub at: Rect,
    /// How many frames it stands in.
    pub depth: usize,
}

/// A box with its place.
#[derive(Debug)]
pub(in crate::draw) struct Placed<'p> {
    pub item: &'p Item,
    pub content: Content,
    pub at: Rect,
}

/// Stands for something in another part of the picture, which a line leads to.
#[derive(Debug)]
pub(in crate::draw) struct Stub<'p> {
    pub name: &'p str,
    /// The line that leads there.
    pub line: &'p Line,
    pub at: Rect,
}

/// A line with its way.
#[derive(Debug)]
pub(in crate::draw) struct Routed<'p> {
    pub line: &'p Line,
    /// One way, or two where a label stands between them.
    pub ways: Vec<Vec<Point>>,
    pub label: Option<(Label, Rect)>,
}

impl<'p> Sheet<'p> {
    /// Takes another sheet up, so far to the right and down. The size stays.
    pub fn take(&mut self, other: Sheet<'p>, dx: f64, dy: f64) {
        let rect = |at: Rect| Rect { x: at.x + dx, y: at.y + dy, ..at };
        let point = |p: Point| Point { x: p.x + dx, y: p.y + dy };
        self.frames.extend(other.frames.into_iter().map(|f| Frame { at: rect(f.at), ..f }));
        self.boxes.extend(other.boxes.into_iter().map(|b| Placed { at: rect(b.at), ..b }));
        self.stubs.extend(other.stubs.into_iter().map(|s| Stub { at: rect(s.at), ..s }));
        self.lines.extend(other.lines.into_iter().map(|line| Routed {
            ways: line.ways.into_iter().map(|way| way.into_iter().map(point).collect()).collect(),
            label: line.label.map(|(label, at)| (label, rect(at))),
            ..line
        }));
    }

    /// What takes room: frames, boxes, stubs, labels and the pieces of lines.
    pub fn occupied(&self) -> Vec<Rect> {
        let frames = self.frames.iter().map(|f| f.at);
        let boxes = self.boxes.iter().map(|b| b.at).chain(self.stubs.iter().map(|s| s.at));
        let labels = self.lines.iter().filter_map(|l| l.label.as_ref()).map(|(_, at)| *at);
        let pieces = self.lines.iter().flat_map(|l| &l.ways).flat_map(|way| way.windows(2)).map(|ends| {
            let (x, y) = (ends[0].x.min(ends[1].x), ends[0].y.min(ends[1].y));
            Rect { x, y, width: (ends[0].x - ends[1].x).abs(), height: (ends[0].y - ends[1].y).abs() }
        });
        frames.chain(boxes).chain(labels).chain(pieces).collect()
    }
}
