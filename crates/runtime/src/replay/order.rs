//! The order of a recorded run in which time made a difference. What comes at almost the same moment may come in any
//! order; in a replay it is taken in the recorded one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use deepgraph_protocol::StepId;
use deepgraph_trace::recording::EntryName;
use tokio::time::timeout;

use crate::tasks::{Done, Tasks};

/// How long something that came later in the recorded run waits for what came before it and is not to be seen: the run
/// has gone another way.
const PATIENCE: Duration = Duration::from_secs(1);

/// What came in the recorded run and has not come yet.
pub(crate) struct Order {
    /// The names, each with its moment, in milliseconds after the start.
    names: Vec<(String, Option<u64>)>,
    places: BTreeMap<String, VecDeque<usize>>,
    open: BTreeSet<usize>,
    /// What was taken and is not committed yet.
    taken: Vec<String>,
}

impl Order {
    pub(crate) fn new(names: &[String], moment: impl Fn(&str) -> Option<u64>) -> Order {
        let mut places: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            places.entry(name.clone()).or_default().push_back(at);
        }
        let open = (0..names.len()).collect();
        let names = names.iter().map(|name| (name.clone(), moment(name))).collect();
        Order { names, places, open, taken: Vec::new() }
    }

    /// An entry is committed: what it says has come.
    pub(crate) fn note(&mut self, name: &str) {
        match self.taken.iter().position(|taken| taken == name) {
            Some(at) => drop(self.taken.swap_remove(at)),
            None => self.close(name),
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(at) = self.places.get_mut(name).and_then(VecDeque::pop_front) {
            self.open.remove(&at);
        }
    }

    fn take(&mut self, done: Done) -> Done {
        if let Some(name) = done.entry_name() {
            self.close(&name);
            self.taken.push(name);
        }
        done
    }

    fn place(&self, done: &Done) -> Option<usize> {
        self.places.get(&done.entry_name()?)?.front().copied()
    }

    fn moment_of_taken(&self, name: &str) -> Option<u64> {
        self.names.iter().find(|(known, _)| known == name).and_then(|(_, moment)| *moment)
    }

    fn next(&self) -> Option<usize> {
        self.open.first().copied()
    }

    /// Whether what is next is of a step that work is in flight for: then it will come.
    fn will_come<'s>(&self, mut steps: impl Iterator<Item = &'s StepId>) -> bool {
        let Some((name, _)) = self.next().and_then(|at| self.names.get(at)) else { return false };
        steps.any(|step| EntryName::is_about(name, step))
    }

    /// What is before this will not come any more.
    fn pass(&mut self, place: Option<usize>) {
        if let Some(place) = place {
            self.open = self.open.split_off(&place);
        }
    }
}

/// The next thing that comes back, in the recorded order where there is one; none where nothing is in flight.
pub(crate) async fn next(order: Option<&mut Order>, tasks: &mut Tasks) -> Option<Done> {
    let Some(order) = order else { return tasks.next().await };
    loop {
        tasks.hold_ready();
        let Some((held, place)) = tasks.first_held(|done| order.place(done)) else {
            tasks.hold_next().await?;
            continue;
        };
        // What was passed over is due whenever it comes.
        let is_due = order.next().is_none_or(|next| place.is_some_and(|place| place <= next));
        if !is_due {
            let came = match order.will_come(tasks.in_flight()) {
                true => tasks.hold_next().await,
                false => timeout(PATIENCE, tasks.hold_next()).await.unwrap_or(None),
            };
            if came.is_some() {
                continue;
            }
            order.pass(place);
        }
        if let Some(done) = tasks.release(held) {
            return Some(order.take(done));
        }
    }
}

/// All that is taken together, as one commit holds it: what is back; in a recorded order only what came at the same
/// moment, `first` before it.
pub(crate) async fn with(order: Option<&mut Order>, tasks: &mut Tasks, first: Done) -> Vec<Done> {
    let mut all = vec![first];
    let Some(order) = order else {
        all.extend(std::iter::from_fn(|| tasks.ready()));
        return all;
    };
    let last = all[0].entry_name().and_then(|name| order.moment_of_taken(&name));
    loop {
        tasks.hold_ready();
        let Some(next) = order.next().filter(|at| last.is_some() && order.names[*at].1 == last) else {
            break;
        };
        let held = tasks.first_held(|done| order.place(done)).filter(|(_, place)| *place == Some(next));
        match held {
            Some((held, _)) => all.extend(tasks.release(held).map(|done| order.take(done))),
            // A step that was given up is told by this commit, and is not waited for.
            None if EntryName::is_failure(&order.names[next].0) => break,
            None => match timeout(PATIENCE, tasks.hold_next()).await {
                Ok(Some(())) => {}
                _ => break,
            },
        }
    }
    all
}
