//! Which line of one outline is which line of the other.

use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::outline::{Item, Key};

/// A line in one outline, in the other, or in both.
pub type Pair<'a> = (Option<&'a Item>, Option<&'a Item>);

/// Pairs the lines that stand beside each other: by what they are, messages and calls by comparing their texts. The
/// order is that of `after`, with what is only in `before` where it stood.
pub fn pairs<'a>(before: &'a [Item], after: &'a [Item]) -> Vec<Pair<'a>> {
    let (before_ids, after_ids) = ids(before, after);
    let mut at: BTreeMap<&Id, usize> = before_ids.iter().enumerate().map(|(i, id)| (id, i)).collect();
    let shared: Vec<Option<usize>> = after_ids.iter().map(|id| at.remove(id)).collect();
    // What is left is only in `before`.
    let mut alone: Vec<usize> = at.into_values().collect();
    alone.sort_unstable();
    let mut alone = alone.into_iter().peekable();
    let mut pairs = Vec::new();
    for (item, partner) in after.iter().zip(shared) {
        if let Some(i) = partner {
            while let Some(earlier) = alone.next_if(|&a| a < i) {
                pairs.push((before.get(earlier), None));
            }
        }
        pairs.push((partner.and_then(|i| before.get(i)), Some(item)));
    }
    pairs.extend(alone.map(|i| (before.get(i), None)));
    pairs
}

/// An identity: what a line is, and which of them.
type Id = (Key, usize);

fn ids(before: &[Item], after: &[Item]) -> (Vec<Id>, Vec<Id>) {
    let mut ids = (numbered(before), numbered(after));
    for key in [Key::Message, Key::Calls, Key::Other] {
        let of = |items: &[Item]| -> Vec<usize> {
            items.iter().enumerate().filter(|(_, item)| item.key == key).map(|(i, _)| i).collect()
        };
        let (ones, others) = (of(before), of(after));
        if ones.is_empty() || others.is_empty() {
            continue;
        }
        let whole = |items: &[Item], of: &[usize]| -> Vec<String> {
            of.iter().filter_map(|&i| items.get(i)).map(Item::whole).collect()
        };
        let (texts, other_texts) = (whole(before, &ones), whole(after, &others));
        let mut next = 0;
        for op in capture_diff_slices(Algorithm::Myers, &texts, &other_texts) {
            let (one, other) = match op {
                DiffOp::Equal { old_index, new_index, len } => {
                    (old_index..old_index + len, new_index..new_index + len)
                }
                DiffOp::Delete { old_index, old_len, new_index } => {
                    (old_index..old_index + old_len, new_index..new_index)
                }
                DiffOp::Insert { old_index, new_index, new_len } => {
                    (old_index..old_index, new_index..new_index + new_len)
                }
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    (old_index..old_index + old_len, new_index..new_index + new_len)
                }
            };
            let count = one.len().max(other.len());
            give(&mut ids.0, &ones, one, next);
            give(&mut ids.1, &others, other, next);
            next += count;
        }
    }
    ids
}

/// Numbers the items of a range in order, from `next`.
fn give(ids: &mut [Id], of: &[usize], range: std::ops::Range<usize>, next: usize) {
    for (offset, place) in range.enumerate() {
        if let Some((_, number)) = of.get(place).and_then(|&i| ids.get_mut(i)) {
            *number = next + offset;
        }
    }
}

/// Each key with how often it was there before.
fn numbered(items: &[Item]) -> Vec<Id> {
    let mut seen: BTreeMap<&Key, usize> = BTreeMap::new();
    let mut number = |item| {
        let count = seen.entry(item).or_default();
        *count += 1;
        *count - 1
    };
    items.iter().map(|item| (item.key.clone(), number(&item.key))).collect()
}
