//! Numbers by chance that are the same every time: drawn from a seed and a name.

/// Random numbers (SplitMix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Those of a seed, a name (a step, as a rule) and a number (its attempt). They do not depend on what was drawn
    /// before.
    pub(crate) fn of(seed: u64, name: &str, number: u32) -> Dice {
        let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // FNV-1a.
        let bytes = name.bytes().chain(number.to_le_bytes());
        Dice(bytes.fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// A number below `n`; 0 where `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 33) as usize % n.max(1)
    }

    /// A number from a range, both ends included.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        let width = most.saturating_sub(least).saturating_add(1).max(1);
        least.saturating_add(self.below(usize::try_from(width).unwrap_or(usize::MAX)) as i64)
    }

    /// True in so many of a thousand cases.
    pub(crate) fn happens(&mut self, per_mille: u32) -> bool {
        self.below(1000) < per_mille as usize
    }

    /// One of these.
    pub(crate) fn one<T: Copy + Default>(&mut self, of: &[T]) -> T {
        of.get(self.below(of.len())).copied().unwrap_or_default()
    }
}
