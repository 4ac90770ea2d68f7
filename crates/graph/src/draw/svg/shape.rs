//! The outlines of boxes and the ways of lines.

use std::fmt::Write as _;

use super::sheet::{Point, Rect};
use super::text::number;
use crate::draw::picture::Kind;

/// How far the corner of a line is rounded.
const ROUNDED: f64 = 7.0;

/// The length and half the width of an arrowhead.
const HEAD: (f64, f64) = (9.0, 4.5);

/// The outline of a box.
pub(super) fn of(kind: Kind, at: Rect) -> String {
    let mut out = String::new();
    match kind {
        Kind::Start | Kind::Finally | Kind::Exit => rect(&mut out, at, at.height / 2.0),
        Kind::Model => rect(&mut out, at, 11.0),
        Kind::Op | Kind::Pass | Kind::Cause => rect(&mut out, at, 3.0),
        Kind::RunTools => {
            rect(&mut out, at, 3.0);
            let bar = |out: &mut String, x: f64| {
                let (x, from, to) = (number(x), number(at.y), number(at.y + at.height));
                let _ = writeln!(out, "<path class=\"shape\" d=\"M{x} {from}V{to}\"/>");
            };
            bar(&mut out, at.x + 6.0);
            bar(&mut out, at.x + at.width - 6.0);
        }
        Kind::Graph => {
            rect(&mut out, at, 4.0);
            let inner = Rect { x: at.x + 3.5, y: at.y + 3.5, width: at.width - 7.0, height: at.height - 7.0 };
            rect(&mut out, inner, 2.0);
        }
        Kind::Ask => polygon(
            &mut out,
            at,
            &[(0.0, 0.5), (10.0, 0.0), (-10.0, 0.0), (-0.0, 0.5), (-10.0, 1.0), (10.0, 1.0)],
        ),
        Kind::Limit => polygon(&mut out, at, &[(0.0, 0.0), (-0.0, 0.0), (-8.0, 1.0), (8.0, 1.0)]),
        Kind::Tool => polygon(&mut out, at, &[(8.0, 0.0), (-0.0, 0.0), (-0.0, 1.0), (0.0, 1.0), (0.0, 0.25)]),
    }
    out
}

fn rect(out: &mut String, at: Rect, round: f64) {
    let (x, y, width, height) = (number(at.x), number(at.y), number(at.width), number(at.height));
    let _ = writeln!(
        out,
        "<rect class=\"shape\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{}\"/>",
        number(round)
    );
}

/// Corners: how far from the left border (from the right, where the sign is minus), and which share of the height
/// down.
fn polygon(out: &mut String, at: Rect, corners: &[(f64, f64)]) {
    let points: Vec<String> = corners
        .iter()
        .map(|(aside, down)| {
            let x = if aside.is_sign_negative() { at.x + at.width + aside } else { at.x + aside };
            format!("{},{}", number(x), number(at.y + down * at.height))
        })
        .collect();
    let _ = writeln!(out, "<polygon class=\"shape\" points=\"{}\"/>", points.join(" "));
}

/// A way with rounded corners, with an arrowhead at its end if it leads there.
pub(super) fn way(points: &[Point], head: bool) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let mut end = *last;
    let mut tip = String::new();
    if let (true, Some(before)) = (head, points.iter().rev().find(|p| distance(**p, *last) > 0.5)) {
        let away = toward(*last, *before, HEAD.0);
        let (dx, dy) = ((last.x - away.x) / HEAD.0 * HEAD.1, (last.y - away.y) / HEAD.0 * HEAD.1);
        let corner = |sign: f64| format!("{} {}", number(away.x - sign * dy), number(away.y + sign * dx));
        let _ = writeln!(
            tip,
            "<path class=\"tip\" d=\"M{} {}L{}L{}Z\"/>",
            number(last.x),
            number(last.y),
            corner(1.0),
            corner(-1.0)
        );
        // The line ends within the head: its own end is blunt.
        end = toward(*last, *before, HEAD.0 / 2.0);
    }
    let mut d = format!("M{} {}", number(first.x), number(first.y));
    for corner in points.windows(3) {
        let [before, at, after] = [corner[0], corner[1], corner[2]];
        let room = |other: Point| distance(at, other) / 2.0;
        let round = ROUNDED.min(room(before)).min(room(after));
        let (from, to) = (toward(at, before, round), toward(at, after, round));
        let _ = write!(
            d,
            "L{} {}Q{} {} {} {}",
            number(from.x),
            number(from.y),
            number(at.x),
            number(at.y),
            number(to.x),
            number(to.y)
        );
    }
    let _ = write!(d, "L{} {}", number(end.x), number(end.y));
    format!("<path d=\"{d}\"/>\n{tip}")
}

fn distance(a: Point, b: Point) -> f64 {
    ((a.x - b.x).powi(2) + (a.y - b.y).powi(2)).sqrt()
}

/// The point so far from one on the way to another.
fn toward(from: Point, to: Point, far: f64) -> Point {
    let whole = distance(from, to);
    if whole == 0.0 {
        return from;
    }
    Point { x: from.x + (to.x - from.x) / whole * far, y: from.y + (to.y - from.y) / whole * far }
}
