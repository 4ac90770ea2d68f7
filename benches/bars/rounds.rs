//! Two things measured in turns, so that whatever else the machine does meets both.

use std::time::Duration;

/// One of two things that are compared.
pub struct Side {
    pub name: String,
    /// Steps or tasks of one run.
    pub units: usize,
    /// Runs it once and gives the time of what counts.
    pub run: Box<dyn FnMut() -> Duration>,
}

impl Side {
    pub fn new(name: impl Into<String>, units: usize, run: impl FnMut() -> Duration + 'static) -> Side {
        Side { name: name.into(), units, run: Box::new(run) }
    }

    fn nanoseconds(&mut self) -> f64 {
        (self.run)().as_nanos() as f64 / self.units as f64
    }
}

/// Nanoseconds per unit of each side: the least of all rounds, A B A B, after one round that does not count.
/// Noise of a machine only ever adds time, so the least is the figure that repeats.
pub fn measure(a: &mut Side, b: &mut Side, rounds: usize) -> (f64, f64) {
    a.nanoseconds();
    b.nanoseconds();
    let mut least = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        least.0 = least.0.min(a.nanoseconds());
        least.1 = least.1.min(b.nanoseconds());
    }
    least
}
