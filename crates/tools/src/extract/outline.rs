//! The headings of a page and the blocks below them.

use crate::mapped::Mapped;
use crate::passage::Block;

/// Collects blocks in order, each with the headings above it.
#[derive(Debug, Default)]
pub struct Outline {
    blocks: Vec<Block>,
    /// Level and text of the headings above the next block.
    headings: Vec<(u8, String)>,
    /// The last heading, as long as nothing stands below it.
    bare: Option<(u8, Mapped)>,
    first: Option<String>,
    first_top: Option<String>,
}

impl Outline {
    /// A heading of a level from 1.
    pub fn heading(&mut self, level: u8, text: &Mapped) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        self.keep_bare_heading(level);
        let words = text.text().split_whitespace().collect::<Vec<_>>().join(" ");
        self.first.get_or_insert_with(|| words.clone());
        if level == 1 {
            self.first_top.get_or_insert_with(|| words.clone());
        }
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, words));
        self.bare = Some((level, text));
    }

    /// A block below the headings so far. `tight`: it follows on the next line, without an empty one.
    pub fn block(&mut self, text: &Mapped, tight: bool) {
        let text = text.trim();
        if !text.is_empty() {
            self.bare = None;
            let section = self.headings.iter().map(|(_, words)| words.clone()).collect();
            self.blocks.push(Block { section, text, tight });
        }
    }

    /// The first heading of level 1, else the first of all.
    pub fn title(&self) -> Option<&str> {
        self.first_top.as_deref().or(self.first.as_deref())
    }

    /// The blocks. A leading heading that says the same as the document's title is left out of the sections.
    pub fn finish(mut self, title: &str) -> Vec<Block> {
        self.keep_bare_heading(0);
        for block in &mut self.blocks {
            if block.section.first().is_some_and(|first| first == title) {
                block.section.remove(0);
            }
        }
        self.blocks
    }

    /// A heading that nothing stands below is itself something to find: it becomes a block.
    fn keep_bare_heading(&mut self, next_level: u8) {
        let Some((level, text)) = self.bare.take() else { return };
        if next_level <= level {
            let above = self.headings.iter().filter(|(above, _)| *above < level);
            let section = above.map(|(_, words)| words.clone()).collect();
            self.blocks.push(Block { section, text, tight: false });
        }
    }
}
