//! What stands in boxes and on lines, in rows, and the room that it takes.

use super::measure::{Face, wrapped};
use crate::draw::picture::{Cluster, Item, Kind, Line, LineKind, Seen};

/// The longest row of a box.
const LONGEST: f64 = 220.0;

/// The longest row of a label.
const LONGEST_LABEL: f64 = 180.0;

/// Room between the rows of a box and its border.
const PADDING: (f64, f64) = (12.0, 7.0);

/// Room in a label around its rows.
const LABEL_PADDING: f64 = 4.0;

/// Room between a name and how often.
pub(super) const COUNT_GAP: f64 = 7.0;

/// What a box holds, from top to bottom.
#[derive(Debug)]
pub(in crate::draw) struct Content {
    pub blocks: Vec<Block>,
    /// How often, to the right of the first row; "" for nothing.
    pub count: String,
    /// In pixels.
    pub width: f64,
    pub height: f64,
}

/// Rows of a box that belong together.
#[derive(Debug)]
pub(in crate::draw) struct Block {
    pub kind: BlockKind,
    pub rows: Vec<String>,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::draw) enum BlockKind {
    /// The name.
    Name,
    /// What it does.
    Detail,
    /// A remark, drawn as a chip.
    Badge,
}

impl Block {
    pub(super) fn face(&self) -> Face {
        match self.kind {
            BlockKind::Name => Face::Name,
            BlockKind::Detail => Face::Code,
            BlockKind::Badge => Face::Text,
        }
    }

    /// The width of its widest row, and of the chip around it where it has one.
    pub fn width(&self) -> f64 {
        let widest = self.rows.iter().map(|row| self.face().width(row)).fold(0.0, f64::max);
        widest + if self.kind == BlockKind::Badge { 14.0 } else { 0.0 }
    }

    /// Its height, the room around a chip included.
    pub fn height(&self) -> f64 {
        self.rows.len() as f64 * self.face().row() + if self.kind == BlockKind::Badge { 6.0 } else { 0.0 }
    }
}

impl Content {
    /// What the box of an item holds.
    pub fn of(item: &Item) -> Content {
        let block = |kind: BlockKind, text: &str| {
            let mut block = Block { kind, rows: Vec::new() };
            block.rows = wrapped(text, block.face(), LONGEST, if kind == BlockKind::Badge { 3 } else { 2 });
            block
        };
        let mut blocks = vec![block(BlockKind::Name, &item.name), block(BlockKind::Detail, &item.detail)];
        blocks.extend(item.badges.iter().map(|badge| block(BlockKind::Badge, badge)));
        blocks.extend((item.open > 0).then(|| block(BlockKind::Badge, "not over yet")));
        blocks.retain(|block| !block.rows.is_empty());
        let count = item.seen.times();
        let beside = if count.is_empty() { 0.0 } else { count_width(&count) + COUNT_GAP };
        let first =
            blocks.first().and_then(|block| block.rows.first()).map_or(0.0, |row| Face::Name.width(row));
        let inner = blocks.iter().map(Block::width).fold(first + beside, f64::max);
        let (aside, above) = padding(item.kind);
        let height: f64 = blocks.iter().map(Block::height).sum();
        let (width, height) = ((inner + 2.0 * aside).ceil().max(56.0), (height + 2.0 * above).ceil());
        Content { blocks, count, width, height }
    }
}

fn padding(kind: Kind) -> (f64, f64) {
    let (aside, above) = PADDING;
    match kind {
        Kind::Ask | Kind::Limit => (aside + 10.0, above),
        Kind::Start | Kind::Finally | Kind::Exit => (aside + 4.0, above - 2.0),
        _ => (aside, above),
    }
}

/// The width of a chip that says how often.
pub(super) fn count_width(count: &str) -> f64 {
    Face::Text.width(count) * 1.1 + 10.0
}

/// The width of a frame's title.
pub(super) fn title_width(cluster: &Cluster) -> f64 {
    Face::Name.width(&title(cluster))
}

/// A frame's title, with how often.
pub(super) fn title(cluster: &Cluster) -> String {
    match cluster.seen {
        Seen::Taken(_) => format!("{} {}", cluster.title, cluster.seen.times()),
        Seen::Plain | Seen::Not => cluster.title.clone(),
    }
}

/// What stands on a line.
#[derive(Debug)]
pub(in crate::draw) struct Label {
    pub rows: Vec<String>,
    /// How often; "" for nothing.
    pub count: String,
    /// In pixels.
    pub width: f64,
    pub height: f64,
}

impl Label {
    /// The label of a line; none for a line without words.
    pub fn of(line: &Line) -> Option<Label> {
        // The style of a line to a called graph says enough.
        let words = if line.kind == LineKind::Starts { "" } else { &line.label };
        let rows = wrapped(words, Face::Code, LONGEST_LABEL, 3);
        let count = line.seen.times();
        if rows.is_empty() && count.is_empty() {
            return None;
        }
        let widest = rows.iter().map(|row| Face::Code.width(row)).fold(0.0, f64::max);
        let chip = if count.is_empty() { 0.0 } else { 18.0 };
        let width =
            widest.max(if count.is_empty() { 0.0 } else { count_width(&count) }) + 2.0 * LABEL_PADDING;
        let height = rows.len() as f64 * Face::Code.row() + chip + 2.0;
        Some(Label { rows, count, width: width.ceil(), height: height.ceil() })
    }
}

/// What stands for something in another part of the picture.
pub(super) fn stub_text(name: &str) -> String {
    let rows = wrapped(name, Face::Text, LONGEST, 1);
    format!("↗ {}", rows.first().map_or("", |row| row))
}

/// The room that it takes.
pub(super) fn stub_size(name: &str) -> (f64, f64) {
    ((Face::Text.width(&stub_text(name)) + 24.0).ceil(), 22.0)
}
