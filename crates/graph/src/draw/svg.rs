//! A picture as SVG: a file of its own, without fonts, scripts or anything else from outside.

mod arrange;
mod content;
mod flow;
mod measure;
mod shape;
mod sheet;
mod style;
mod text;
mod tidy;

use std::fmt::Write as _;

use self::content::{BlockKind, COUNT_GAP, count_width, title};
use self::measure::Face;
use self::sheet::{Frame, Placed, Rect, Routed, Sheet, Stub};
use self::text::{attribute, escaped, number};
use super::DrawError;
use super::picture::{ClusterKind, Kind, LineKind, Picture, Seen};

/// The file.
pub(super) fn write(picture: &Picture) -> Result<String, DrawError> {
    let sheet = arrange::arrange(picture)?;
    let mut out = String::new();
    open(&mut out, picture, &sheet);
    sheet.frames.iter().for_each(|f| frame(&mut out, f));
    // What is faded lies below what is not.
    let (faded, plain): (Vec<&Routed<'_>>, Vec<&Routed<'_>>) =
        sheet.lines.iter().partition(|l| l.line.seen == Seen::Not);
    faded.into_iter().chain(plain).for_each(|l| line(&mut out, l));
    sheet.stubs.iter().for_each(|s| stub(&mut out, s));
    sheet.boxes.iter().for_each(|b| item(&mut out, b));
    out.push_str("</svg>\n");
    Ok(out)
}

fn open(out: &mut String, picture: &Picture, sheet: &Sheet<'_>) {
    let (width, height) = (number(sheet.width.ceil()), number(sheet.height.ceil()));
    let mark = &picture.mark;
    // Writing to a text can not fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"deepgraph\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title-{mark} about-{mark}\">"
    );
    let _ = writeln!(out, "<title id=\"title-{mark}\">{}</title>", escaped(&picture.title));
    let _ = writeln!(out, "<desc id=\"about-{mark}\">{}</desc>", escaped(&about(picture)));
    let _ = writeln!(out, "<style>\n{}</style>", style::SHEET);
    let _ = writeln!(out, "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>");
}

/// What the picture shows and how it is read.
fn about(picture: &Picture) -> String {
    let mut about = String::new();
    if !picture.about.is_empty() {
        let stop = if picture.about.ends_with('.') { "" } else { "." };
        let _ = write!(about, "{}{stop} ", picture.about);
    }
    about.push_str(
        "Frames are graphs; a graph stands in the first that calls it. Rounded boxes are model calls, hexagons \
         questions, pills exits; limits lead to what happens at their bound. Dashed red lines are ways of on_error, \
         dotted green lines start a graph, dotted orange lines tell what a limit counts.",
    );
    if picture.overlaid {
        about.push_str(" What the run took is drawn thick, with how often; the rest is faded.");
    }
    about
}

/// ` taken` or ` not`, for a class.
fn seen(seen: Seen) -> &'static str {
    match seen {
        Seen::Plain => "",
        Seen::Taken(_) => " taken",
        Seen::Not => " not",
    }
}

fn frame(out: &mut String, frame: &Frame<'_>) {
    let kind = match frame.cluster.kind {
        ClusterKind::Graph => "scope",
        ClusterKind::Finally => "finally",
        ClusterKind::Anywhere => "anywhere",
    };
    let even = if frame.depth % 2 == 1 { " even" } else { "" };
    let faded = if frame.cluster.seen == Seen::Not { " not" } else { "" };
    let _ = writeln!(out, "<g class=\"{kind}{even}{faded}\">{}", tip(&frame.cluster.tip));
    let _ = writeln!(out, "<rect class=\"frame\" {} rx=\"10\"/>", place(frame.at));
    let (x, y) = (number(frame.at.x + 12.0), number(frame.at.y + 19.0));
    let _ = writeln!(
        out,
        "<text class=\"head\" x=\"{x}\" y=\"{y}\">{}</text>\n</g>",
        escaped(&title(frame.cluster))
    );
}

fn item(out: &mut String, placed: &Placed<'_>) {
    let item = placed.item;
    let kind = match item.kind {
        Kind::Start => "start",
        Kind::Finally => "fin",
        Kind::Model => "model",
        Kind::RunTools => "runs",
        Kind::Op => "op",
        Kind::Graph => "graph",
        Kind::Ask => "ask",
        Kind::Pass => "pass",
        Kind::Tool => "tool",
        Kind::Limit => "limit",
        Kind::Cause => "cause",
        Kind::Exit => "exit",
    };
    let _ = writeln!(out, "<g class=\"{kind}{}\">{}", seen(item.seen), tip(&item.tip));
    out.push_str(&shape::of(item.kind, placed.at));
    let content = &placed.content;
    let centre = placed.at.x + placed.at.width / 2.0;
    let height: f64 = content.blocks.iter().map(|block| block.height()).sum();
    let mut y = placed.at.y + (placed.at.height - height) / 2.0;
    for (index, block) in content.blocks.iter().enumerate() {
        let (face, width, height) = (block.face(), block.width(), block.height());
        if block.kind == BlockKind::Badge {
            let at = Rect { x: centre - width / 2.0, y: y + 2.0, width, height: height - 3.0 };
            let _ = writeln!(out, "<rect class=\"chip\" {} rx=\"7\"/>", place(at));
        }
        let above = (height - block.rows.len() as f64 * face.row()) / 2.0;
        for (n, row) in block.rows.iter().enumerate() {
            let middle = y + above + (n as f64 + 0.5) * face.row();
            let mut centre = centre;
            if (index, n) == (0, 0) && !content.count.is_empty() {
                // Both together stand in the middle.
                centre -= (count_width(&content.count) + COUNT_GAP) / 2.0;
                count(out, &content.count, centre + face.width(row) / 2.0 + COUNT_GAP, middle);
            }
            words(out, class_of(block.kind), centre, base(middle, face), row);
        }
        y += height;
    }
    out.push_str("</g>\n");
}

/// The line on which letters stand, of a row around a height.
fn base(middle: f64, face: Face) -> f64 {
    middle + face.size() * 0.35
}

/// The name of something in another part of the picture.
fn stub(out: &mut String, stub: &Stub<'_>) {
    let text = content::stub_text(stub.name);
    let told = format!("{} stands elsewhere in this drawing", stub.name);
    let _ = writeln!(out, "<g class=\"stub{}\">{}", seen(stub.line.seen), tip(&told));
    out.push_str(&shape::of(Kind::Exit, stub.at));
    let base = base(stub.at.y + stub.at.height / 2.0, Face::Text);
    words(out, "badge", stub.at.x + stub.at.width / 2.0, base, &text);
    out.push_str("</g>\n");
}

fn class_of(block: BlockKind) -> &'static str {
    match block {
        BlockKind::Name => "name",
        BlockKind::Detail => "code",
        BlockKind::Badge => "badge",
    }
}

/// A row of text around a centre.
fn words(out: &mut String, class: &str, centre: f64, base: f64, text: &str) {
    let (x, y) = (number(centre), number(base));
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
        escaped(text)
    );
}

/// A chip that says how often, from its left end.
fn count(out: &mut String, text: &str, left: f64, middle: f64) {
    let width = count_width(text);
    let at = Rect { x: left, y: middle - 8.0, width, height: 16.0 };
    let _ = writeln!(out, "<rect class=\"count\" {} rx=\"8\"/>", place(at));
    words(out, "times", left + width / 2.0, base(middle, Face::Text), text);
}

fn line(out: &mut String, routed: &Routed<'_>) {
    let kind = match routed.line.kind {
        LineKind::Way => "way",
        LineKind::Error => "error",
        LineKind::Runs => "runs-tool",
        LineKind::Counts => "counts",
        LineKind::Limit => "to",
        LineKind::Implied => "implied",
        LineKind::Starts => "starts",
    };
    let tip_text = if routed.line.label.is_empty() { String::new() } else { tip(&routed.line.label) };
    let _ = writeln!(out, "<g class=\"line {kind}{}\">{tip_text}", seen(routed.line.seen));
    let last = routed.ways.len().saturating_sub(1);
    for (index, way) in routed.ways.iter().enumerate() {
        let head = index == last && routed.line.kind.is_arrow();
        out.push_str(&shape::way(way, head));
    }
    if let Some((label, at)) = &routed.label {
        let centre = at.x + at.width / 2.0;
        let mut y = at.y + 1.0;
        for row in &label.rows {
            words(out, "code", centre, base(y + Face::Code.row() / 2.0, Face::Code), row);
            y += Face::Code.row();
        }
        if !label.count.is_empty() {
            count(out, &label.count, centre - count_width(&label.count) / 2.0, y + 9.0);
        }
    }
    out.push_str("</g>\n");
}

/// What a pointer that rests there is told.
fn tip(text: &str) -> String {
    format!("<title>{}</title>", escaped(text))
}

/// The attributes of a rectangle.
fn place(at: Rect) -> String {
    let (x, y, width, height) = (number(at.x), number(at.y), number(at.width), number(at.height));
    format!(
        "x={} y={} width={} height={}",
        attribute(&x),
        attribute(&y),
        attribute(&width),
        attribute(&height)
    )
}
