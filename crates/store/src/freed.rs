//! What a removal gives back.

use std::ops::AddAssign;

/// What a removal gives back, or would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Rows of journals.
    pub entries: u64,
    /// Long texts.
    pub texts: u64,
    /// Bytes of what is kept in them, without what the store itself adds.
    pub bytes: u64,
}

impl AddAssign for Freed {
    fn add_assign(&mut self, more: Freed) {
        self.entries += more.entries;
        self.texts += more.texts;
        self.bytes += more.bytes;
    }
}
