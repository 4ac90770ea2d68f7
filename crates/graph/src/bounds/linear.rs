//! The most of a sum under linear bounds, in exact fractions.
//!
//! The simplex method over a dictionary (Chvátal, *Linear Programming*, 1983, chapters 2, 3 and 5): a program of the
//! form `sum(a · x) ≤ b` with `x ≥ 0` and `b ≥ 0`, so that nothing at all is a solution to begin with. Bland's rule
//! picks the pivots, so that it always ends. The same program is asked for the most of many sums, each from where the
//! last one ended.

use std::collections::BTreeMap;

use num_rational::Ratio;

/// An exact number.
pub(super) type Fraction = Ratio<i128>;

/// Pivots of one question. The programs of graph files need a few dozen.
const MOST_PIVOTS: usize = 20_000;

/// Something that is counted: a whole number of at least 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Var(usize);

/// A bound on a sum, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowIx(pub(super) usize);

/// A sum of multiples.
pub(super) type Sum = Vec<(Var, i128)>;

/// Bounds on sums.
#[derive(Debug, Default)]
pub(super) struct Linear {
    vars: usize,
    rows: Vec<(Sum, i128)>,
}

impl Linear {
    /// Something more that is counted.
    pub(super) fn var(&mut self) -> Var {
        self.vars += 1;
        Var(self.vars - 1)
    }

    /// The sum is never more than that.
    pub(super) fn at_most(&mut self, sum: Sum, bound: u64) -> RowIx {
        self.rows.push((sum, i128::from(bound)));
        RowIx(self.rows.len() - 1)
    }
}

/// The most of a sum.
#[derive(Debug)]
pub(super) enum Most {
    Is(Optimum),
    /// There is no most: these can grow together without end.
    Endless(Vec<Var>),
    /// The numbers are too large to be worked out exactly.
    TooLarge,
}

/// The greatest value, with its proof and an example.
#[derive(Debug)]
pub(super) struct Optimum {
    pub(super) value: Fraction,
    /// What each bound contributes: by how much the most grows with it. The value is the sum of the bounds, each
    /// times this; that is the proof.
    pub(super) prices: Vec<(RowIx, Fraction)>,
    /// How much of each there is where the most is reached; those that are 0 are left out.
    pub(super) reached: BTreeMap<Var, Fraction>,
}

/// A program that can be asked.
#[derive(Debug)]
pub(super) struct Solver {
    /// None once its numbers were too large.
    dictionary: Option<Dictionary>,
}

impl Solver {
    pub(super) fn of(linear: &Linear) -> Solver {
        let lines = linear.rows.iter().enumerate().map(|(i, (sum, bound))| {
            let mut terms = Terms::new();
            for (var, factor) in sum {
                *terms.entry(var.0).or_default() += Fraction::from(*factor);
            }
            terms.retain(|_, factor| *factor.numer() != 0);
            Line { basic: linear.vars + i, value: Fraction::from(*bound), terms }
        });
        let dictionary = Dictionary { vars: linear.vars, lines: lines.collect() };
        Solver { dictionary: Some(dictionary) }
    }

    /// The most of a sum.
    pub(super) fn most(&mut self, sum: &[(Var, i128)]) -> Most {
        let Some(dictionary) = &mut self.dictionary else { return Most::TooLarge };
        match dictionary.most(sum) {
            Some(most) => most,
            None => {
                // It stopped in the middle of a pivot.
                self.dictionary = None;
                Most::TooLarge
            }
        }
    }
}

type Terms = BTreeMap<usize, Fraction>;

/// `basic = value − sum(terms)`. Variables behind those of the program are the slacks of its rows.
#[derive(Debug)]
struct Line {
    basic: usize,
    value: Fraction,
    terms: Terms,
}

#[derive(Debug)]
struct Dictionary {
    vars: usize,
    lines: Vec<Line>,
}

/// What is asked for: `value + sum(terms)`, in variables that are not basic.
struct Goal {
    value: Fraction,
    terms: Terms,
}

impl Dictionary {
    /// None where a number is too large.
    fn most(&mut self, sum: &[(Var, i128)]) -> Option<Most> {
        let mut goal = self.goal(sum)?;
        for _ in 0..MOST_PIVOTS {
            let zero = Fraction::from(0);
            let Some(enters) = goal.terms.iter().find(|(_, factor)| **factor > zero).map(|(var, _)| *var)
            else {
                return Some(Most::Is(self.optimum(goal)));
            };
            let Some(leaves) = self.leaving(enters)? else {
                return Some(Most::Endless(self.ray(enters)));
            };
            self.pivot(enters, leaves, &mut goal)?;
        }
        None
    }

    fn goal(&self, sum: &[(Var, i128)]) -> Option<Goal> {
        let mut goal = Goal { value: Fraction::from(0), terms: Terms::new() };
        for (var, factor) in sum {
            let factor = Fraction::from(*factor);
            match self.lines.iter().find(|line| line.basic == var.0) {
                Some(line) => {
                    goal.value = plus(goal.value, times(factor, line.value)?)?;
                    add(&mut goal.terms, &line.terms, -factor)?;
                }
                None => add(&mut goal.terms, &Terms::from([(var.0, Fraction::from(1))]), factor)?,
            }
        }
        Some(goal)
    }

    /// The line that bounds a variable first; by Bland's rule the lowest of equals.
    #[allow(clippy::option_option)]
    fn leaving(&self, enters: usize) -> Option<Option<usize>> {
        let mut first: Option<(Fraction, usize, usize)> = None;
        for (at, line) in self.lines.iter().enumerate() {
            let Some(factor) = line.terms.get(&enters).filter(|f| *f.numer() > 0) else { continue };
            let room = over(line.value, *factor)?;
            let is_first = first.is_none_or(|(least, basic, _)| (room, line.basic) < (least, basic));
            if is_first {
                first = Some((room, line.basic, at));
            }
        }
        Some(first.map(|(_, _, at)| at))
    }

    /// What grows with a variable that no line bounds.
    fn ray(&self, enters: usize) -> Vec<Var> {
        let grows = self.lines.iter().filter(|l| l.terms.get(&enters).is_some_and(|f| *f.numer() < 0));
        let all = grows.map(|line| line.basic).chain([enters]);
        let mut vars: Vec<Var> = all.filter(|var| *var < self.vars).map(Var).collect();
        vars.sort();
        vars
    }

    fn pivot(&mut self, enters: usize, leaves: usize, goal: &mut Goal) -> Option<()> {
        let line = self.lines.get_mut(leaves)?;
        let factor = line.terms.remove(&enters)?;
        let left = std::mem::replace(&mut line.basic, enters);
        line.value = over(line.value, factor)?;
        for term in line.terms.values_mut() {
            *term = over(*term, factor)?;
        }
        line.terms.insert(left, over(Fraction::from(1), factor)?);
        let (value, terms) = (line.value, line.terms.clone());
        for (_, other) in self.lines.iter_mut().enumerate().filter(|(at, _)| *at != leaves) {
            let Some(factor) = other.terms.remove(&enters) else { continue };
            other.value = plus(other.value, -times(factor, value)?)?;
            add(&mut other.terms, &terms, -factor)?;
        }
        if let Some(factor) = goal.terms.remove(&enters) {
            goal.value = plus(goal.value, times(factor, value)?)?;
            add(&mut goal.terms, &terms, -factor)?;
        }
        Some(())
    }

    fn optimum(&self, goal: Goal) -> Optimum {
        let priced = goal.terms.iter().filter(|(var, _)| **var >= self.vars);
        let prices = priced.map(|(var, factor)| (RowIx(var - self.vars), -*factor)).collect();
        let held = self.lines.iter().filter(|line| line.basic < self.vars && *line.value.numer() > 0);
        Optimum {
            value: goal.value,
            prices,
            reached: held.map(|line| (Var(line.basic), line.value)).collect(),
        }
    }
}

/// Adds a multiple of some terms to others.
fn add(to: &mut Terms, terms: &Terms, factor: Fraction) -> Option<()> {
    for (var, term) in terms {
        let more = times(*term, factor)?;
        let sum = match to.get(var) {
            Some(before) => plus(*before, more)?,
            None => more,
        };
        if *sum.numer() == 0 {
            to.remove(var);
        } else {
            to.insert(*var, sum);
        }
    }
    Some(())
}

/// Nearly all numbers are whole: those need no common divisor.
fn plus(a: Fraction, b: Fraction) -> Option<Fraction> {
    match (a.is_integer(), b.is_integer()) {
        (true, true) => a.numer().checked_add(*b.numer()).map(Fraction::from),
        _ => num_traits::CheckedAdd::checked_add(&a, &b),
    }
}

fn times(a: Fraction, b: Fraction) -> Option<Fraction> {
    match (a.is_integer(), b.is_integer()) {
        (true, true) => a.numer().checked_mul(*b.numer()).map(Fraction::from),
        _ => num_traits::CheckedMul::checked_mul(&a, &b),
    }
}

fn over(a: Fraction, b: Fraction) -> Option<Fraction> {
    if *b.numer() == 1 && b.is_integer() { Some(a) } else { num_traits::CheckedDiv::checked_div(&a, &b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(most: &Most) -> (i128, i128) {
        match most {
            Most::Is(optimum) => (*optimum.value.numer(), *optimum.value.denom()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_most_is_found_from_wherever_the_last_question_ended() {
        // Chvátal, chapter 2: 5x + 4y + 3z.
        let mut linear = Linear::default();
        let (x, y, z) = (linear.var(), linear.var(), linear.var());
        linear.at_most(vec![(x, 2), (y, 3), (z, 1)], 5);
        linear.at_most(vec![(x, 4), (y, 1), (z, 2)], 11);
        linear.at_most(vec![(x, 3), (y, 4), (z, 2)], 8);
        let mut solver = Solver::of(&linear);
        for _ in 0..2 {
            assert_eq!(value(&solver.most(&[(x, 5), (y, 4), (z, 3)])), (13, 1));
            assert_eq!(value(&solver.most(&[(y, 1)])), (5, 3));
            assert_eq!(value(&solver.most(&[])), (0, 1));
        }
    }

    #[test]
    fn prices_prove_the_most() {
        let mut linear = Linear::default();
        let (a, b) = (linear.var(), linear.var());
        linear.at_most(vec![(a, 1)], 20);
        linear.at_most(vec![(b, 1), (a, -3)], 2);
        let Most::Is(optimum) = Solver::of(&linear).most(&[(a, 1), (b, 2)]) else { panic!("it is bounded") };
        let prices: Vec<(usize, i128)> = optimum.prices.iter().map(|(r, p)| (r.0, p.to_integer())).collect();
        assert_eq!(prices, [(0, 7), (1, 2)]);
        assert_eq!(optimum.value.to_integer(), 20 * 7 + 2 * 2);
        assert_eq!(optimum.reached[&b].to_integer(), 62);
    }

    #[test]
    fn what_grows_without_end_is_named() {
        let mut linear = Linear::default();
        let (a, b, c) = (linear.var(), linear.var(), linear.var());
        linear.at_most(vec![(a, 1), (b, -1)], 1);
        linear.at_most(vec![(c, 1)], 4);
        let mut solver = Solver::of(&linear);
        assert!(matches!(solver.most(&[(a, 1)]), Most::Endless(vars) if vars == [a, b]));
        assert_eq!(value(&solver.most(&[(c, 2)])), (8, 1), "the others are bounded all the same");
    }

    #[test]
    fn numbers_that_are_too_large_are_told() {
        let mut linear = Linear::default();
        let (a, b) = (linear.var(), linear.var());
        linear.at_most(vec![(a, 1)], u64::MAX);
        linear.at_most(vec![(b, 1), (a, -i128::MAX)], 0);
        assert!(matches!(Solver::of(&linear).most(&[(b, 1)]), Most::TooLarge));
    }
}
