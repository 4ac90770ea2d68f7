//! What a random graph is made of: a list of numbers, from which each choice takes the next. Where the list is at its
//! end, or holds 0, the simplest is chosen, so shorter lists with smaller numbers make simpler graphs.

/// Choices, in order.
pub struct Choices<'c> {
    left: std::slice::Iter<'c, u32>,
}

impl<'c> Choices<'c> {
    pub fn of(numbers: &'c [u32]) -> Choices<'c> {
        Choices { left: numbers.iter() }
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.left.next().map_or(0, |number| *number as usize % n.max(1))
    }

    /// A number from a range, both ends included.
    pub fn from(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most + 1 - least)
    }

    /// True in one of so many cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// One of these.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
