//! Journals in memory, under the rules of a real store: each entry has its place, and whoever was taken over from can
//! not write any more.

use std::collections::BTreeMap;

use deepgraph_protocol::{Entry, ScopePath};

/// The journals of one run.
#[derive(Debug, Default)]
pub(crate) struct Journals {
    rows: Vec<(ScopePath, Entry)>,
    /// Under which epoch each row was written.
    epochs: Vec<u64>,
    lengths: BTreeMap<ScopePath, u64>,
    epoch: u64,
}

/// Why an entry was not appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotAppended {
    /// The run has another owner.
    #[error("epoch {epoch} is over: the run is owned under epoch {current}; claim it to write again")]
    Fenced {
        /// The epoch of the writer.
        epoch: u64,
        /// The epoch of the owner.
        current: u64,
    },
    /// The journal is longer or shorter than the writer thinks.
    #[error("the journal of `{scope}` has {length} entries, not {expected}; read it again")]
    Misplaced {
        /// The scope.
        scope: ScopePath,
        /// How many entries the writer knows.
        expected: u64,
        /// How many there are.
        length: u64,
    },
}

impl Journals {
    /// Of rows that were written before.
    pub(crate) fn of(rows: impl IntoIterator<Item = (ScopePath, Entry)>) -> Journals {
        let mut journals = Journals::default();
        for (scope, entry) in rows {
            *journals.lengths.entry(scope.clone()).or_default() += 1;
            journals.rows.push((scope, entry));
            journals.epochs.push(0);
        }
        journals
    }

    /// Takes ownership: the next epoch. Earlier owners can not write any more.
    pub(crate) fn claim(&mut self) -> u64 {
        self.epoch += 1;
        self.epoch
    }

    /// Appends an entry as the `expected_position`-th (from 0) of its scope. Gives the number of rows then.
    ///
    /// # Errors
    ///
    /// [`NotAppended`]; nothing was written.
    pub(crate) fn append(
        &mut self,
        epoch: u64,
        scope: &ScopePath,
        expected_position: u64,
        entry: Entry,
    ) -> Result<usize, NotAppended> {
        if epoch != self.epoch {
            return Err(NotAppended::Fenced { epoch, current: self.epoch });
        }
        let length = self.lengths.entry(scope.clone()).or_default();
        if *length != expected_position {
            let (expected, length) = (expected_position, *length);
            return Err(NotAppended::Misplaced { scope: scope.clone(), expected, length });
        }
        *length += 1;
        self.rows.push((scope.clone(), entry));
        self.epochs.push(epoch);
        Ok(self.rows.len())
    }

    /// The rows, in order of commit.
    pub(crate) fn rows(&self) -> &[(ScopePath, Entry)] {
        &self.rows
    }

    /// The rows, and under which epoch each was written.
    pub(crate) fn into_rows(self) -> (Vec<(ScopePath, Entry)>, Vec<u64>) {
        (self.rows, self.epochs)
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::EntryBody;

    use super::*;

    fn entry() -> Entry {
        Entry { at: 1, body: EntryBody::TimerFired { timer: "t".into() } }
    }

    #[test]
    fn an_owner_that_was_taken_over_from_can_not_write() {
        let (mut journals, root) = (Journals::default(), ScopePath::root());
        let first = journals.claim();
        assert_eq!(journals.append(first, &root, 0, entry()), Ok(1));
        let second = journals.claim();
        let refused = journals.append(first, &root, 1, entry());
        assert_eq!(refused, Err(NotAppended::Fenced { epoch: first, current: second }));
        assert_eq!(journals.rows().len(), 1);
        assert_eq!(journals.append(second, &root, 1, entry()), Ok(2));
    }

    #[test]
    fn an_entry_goes_to_its_place_only() {
        let (mut journals, root) = (Journals::default(), ScopePath::root());
        let epoch = journals.claim();
        for wrong in [1, 7] {
            assert!(matches!(
                journals.append(epoch, &root, wrong, entry()),
                Err(NotAppended::Misplaced { length: 0, .. })
            ));
        }
        assert_eq!(journals.append(epoch, &root, 0, entry()), Ok(1));
        assert_eq!(journals.rows().len(), 1);
    }
}
