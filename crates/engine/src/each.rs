//! A node that runs once per item of a list: starting the items, and joining what came of them in index order.

use deepgraph_graph::{Each, Node, Verb};
use deepgraph_protocol::{ErrorKind, Event, Exit, StepError, StepId, Value};

use crate::channel::View;
use crate::join::{Arrival, child_result, reply_message, reply_record};
use crate::machine::Machine;
use crate::names::Local;
use crate::pen::Pen;
use crate::permit::Permission;
use crate::place::{Part, Place};
use crate::run::{Item, ItemStage, Items, Outcome, Progress, Waiting, Work};

impl Machine {
    /// Starts the items of a list, as many as may be out at once.
    ///
    /// Which items are run at all is decided here, in index order, so that it does not depend on what comes back
    /// first.
    pub(crate) fn begin_items(&mut self, node: &Node, each: &Each, step: &StepId) -> Work {
        let values = match self.items_of(each) {
            Ok((values, bound)) => self.bounded(step, values, bound),
            Err(error) => return Work::Step(self.fail_at_once(step, error)),
        };
        let cap = each.parallel.as_ref().and_then(|p| p.count(&self.config)).unwrap_or(u64::MAX).max(1);
        let cap = usize::try_from(cap).unwrap_or(usize::MAX);
        let mut items = Items { items: Vec::with_capacity(values.len()), cap, out: 0, next: 0 };
        let mut refused: Option<StepError> = None;
        for (index, value) in values.into_iter().enumerate() {
            let stage = match self.permit_item(node, &mut refused) {
                Err(error) => {
                    self.tell(Event::StepFailed { step: step.item(index + 1), error: error.clone() });
                    ItemStage::Started(Progress::Done(Outcome::Failed(error)))
                }
                Ok(()) => self.begin_item(node, step, index, &value, &mut items),
            };
            items.items.push(Item { value, stage });
        }
        items.next = items
            .items
            .iter()
            .position(|i| matches!(i.stage, ItemStage::Waiting(_)))
            .unwrap_or(items.items.len());
        Work::Each(items)
    }

    /// The list and the bound of its items.
    fn items_of(&self, each: &Each) -> Result<(Vec<Value>, u64), StepError> {
        let list = self.value(&each.list, &self.view(), &Local::default())?;
        let values = match list {
            Value::Null => Vec::new(),
            Value::List(values) => values.to_vec(),
            other => {
                let message = format!("`each` wants a list, got a {}", other.kind());
                return Err(StepError::new(ErrorKind::Graph, message));
            }
        };
        let bound = self.value(&each.max_items, &self.view(), &Local::default())?;
        match bound.as_int().map(u64::try_from) {
            Some(Ok(bound)) => Ok((values, bound)),
            _ => {
                let message = format!("`max_items` must be a whole number of at least 0, it is {bound}");
                Err(StepError::new(ErrorKind::Graph, message))
            }
        }
    }

    /// The items within the bound; those beyond are told.
    fn bounded(&mut self, step: &StepId, mut values: Vec<Value>, bound: u64) -> Vec<Value> {
        let most = usize::try_from(bound).unwrap_or(usize::MAX);
        if values.len() > most {
            let left_out = (values.len() - most) as u64;
            self.tell(Event::ItemsLeftOut { step: step.clone(), left_out, bound });
            values.truncate(most);
        }
        values
    }

    /// Whether limits on model calls and steps allow one more item. Once one is refused, all after it are.
    fn permit_item(&mut self, node: &Node, refused: &mut Option<StepError>) -> Result<(), StepError> {
        if let Some(error) = refused {
            return Err(error.clone());
        }
        let not_run = || {
            let message = format!("this item of `{}` was not run: a limit is used up", node.name);
            StepError::new(ErrorKind::Refused, message)
        };
        let error = match self.permit_verb(&node.verb, &node.name) {
            Permission::Granted => {
                self.count_verb(&node.verb);
                return Ok(());
            }
            Permission::Refused(error) => error,
            Permission::Instead(other) => {
                self.detour = Some(other);
                not_run()
            }
            Permission::Stopped => not_run(),
        };
        *refused = Some(error.clone());
        Err(error)
    }

    /// Sends an item out, or lets it wait for a place. The share of a child is reserved in either case.
    pub(crate) fn begin_item(
        &mut self,
        node: &Node,
        step: &StepId,
        index: usize,
        value: &Value,
        items: &mut Items,
    ) -> ItemStage {
        if matches!(node.verb, Verb::Pass) {
            return ItemStage::Started(Progress::Done(Outcome::Nothing));
        }
        let waits = items.out >= items.cap;
        let is_graph = matches!(&node.verb, Verb::Call(call) if matches!(call.callee, deepgraph_graph::Callee::Graph(_)));
        if waits && !is_graph {
            return ItemStage::Waiting(Waiting::default());
        }
        let local = Local::item(value.clone(), index);
        let step = step.item(index + 1);
        if !waits {
            self.tell_item(node, &step, &local);
        }
        let place = Place { node: self.current.len(), part: Part::Item(index) };
        match self.begin_step(node, &step, place, &local, waits) {
            Progress::Open(_) if waits => ItemStage::Waiting(Waiting::default()),
            progress => {
                items.out += usize::from(!progress.is_done());
                ItemStage::Started(progress)
            }
        }
    }

    fn tell_item(&mut self, node: &Node, step: &StepId, local: &Local) {
        let title = match &node.title {
            Some(text) => {
                self.text(text, &self.view(), local).map_or_else(|_| node.name.clone(), |title| title.into())
            }
            None => node.name.clone(),
        };
        self.tell(Event::ItemStarted { step: step.clone(), title });
    }

    /// An item came back: the next ones that wait take its place, in index order.
    pub(crate) fn release_items(&mut self, at: usize) {
        if let Some(Work::Each(items)) = self.current.get_mut(at).map(|run| &mut run.work) {
            items.out = items.out.saturating_sub(1);
        }
        let bundle = self.bundle.clone();
        loop {
            let Some(run) = self.current.get_mut(at) else { return };
            let node = &bundle.graph(self.graph).nodes[run.node.0];
            let Work::Each(items) = &mut run.work else { return };
            if items.out >= items.cap || items.next >= items.items.len() {
                return;
            }
            let index = items.next;
            items.next += 1;
            let Some(item) = items.items.get_mut(index) else { return };
            let ItemStage::Waiting(waiting) = &mut item.stage else { continue };
            let (spawn, value, step) = (waiting.child.take(), item.value.clone(), run.step.item(index + 1));
            let local = Local::item(value, index);
            self.tell_item(node, &step, &local);
            let place = Place { node: at, part: Part::Item(index) };
            let progress = match spawn {
                Some(effect) => self.send(*effect),
                None => self.begin_step(node, &step, place, &local, false),
            };
            let done = progress.is_done();
            self.unfinished = self.unfinished.saturating_sub(usize::from(done));
            if let Some(Work::Each(items)) = self.current.get_mut(at).map(|run| &mut run.work) {
                items.out += usize::from(!done);
                if let Some(item) = items.items.get_mut(index) {
                    item.stage = ItemStage::Started(progress);
                }
            }
        }
    }

    /// The items when all of them are back: each writes what it brought, in index order, then the node leaves.
    pub(crate) fn join_items(
        &mut self,
        node: &Node,
        step: &StepId,
        items: Items,
        pen: &mut Pen,
    ) -> Result<Arrival, StepError> {
        // All items read the state as it stood at the start of the super-step.
        let start = pen.view();
        // Whatever becomes of the list, the ends of its children are kept.
        for (index, item) in items.items.iter().enumerate() {
            if let ItemStage::Started(Progress::Done(Outcome::Child(end))) = &item.stage {
                self.keep_exits(step.item(index + 1), end);
            }
        }
        let mut results = Vec::with_capacity(items.items.len());
        let mut ends = ItemEnds::default();
        for (index, item) in items.items.into_iter().enumerate() {
            let local = Local::item(item.value, index);
            let outcome = match item.stage {
                ItemStage::Started(Progress::Done(outcome)) => outcome,
                _ => Outcome::Failed(StepError::new(ErrorKind::Cancelled, "not run")),
            };
            let result = match outcome {
                Outcome::Failed(error) => {
                    self.join_failed_item(node, &error, &start, local, pen, &mut ends)?;
                    Value::Null
                }
                done => {
                    let (result, exit) = self.item_result(done);
                    ends.exits.extend(exit);
                    let local = local.with_result(result.clone());
                    self.write_all_over(&node.update, &local, &start, pen)?;
                    result
                }
            };
            results.push(result);
        }
        drop(start);
        if let Some(arrival) = ends.arrival {
            return Ok(arrival);
        }
        // Of several children, the one whose exit counts most.
        ends.exits.sort_by_key(|exit| exit.class);
        let local = Local::default().with_result(Value::from(results));
        self.leave(node, local, ends.exits.first(), pen)
    }

    fn item_result(&mut self, outcome: Outcome) -> (Value, Option<Exit>) {
        match outcome {
            Outcome::Nothing | Outcome::Failed(_) => (Value::Null, None),
            Outcome::Record(record) => (record, None),
            Outcome::Reply(reply) => {
                self.note_cut(&reply);
                (reply_record(&reply, &reply_message(&reply)), None)
            }
            Outcome::Child(end) => (child_result(&end), Some(end.exit)),
        }
    }

    /// What `on_error` says about one item. Where it leads away, the first failed item decides; where it says
    /// nothing, the failure is the node's.
    fn join_failed_item(
        &mut self,
        node: &Node,
        error: &StepError,
        start: &View,
        local: Local,
        pen: &mut Pen,
        ends: &mut ItemEnds,
    ) -> Result<(), StepError> {
        if self.is_given_up(error) {
            ends.arrival.get_or_insert(Arrival::Nowhere);
            return Ok(());
        }
        let target = match &node.on_error {
            Some(route) => self.follow_over(route, local.with_error(error), start, pen)?,
            None => None,
        };
        if let Some(arrival) = self.failure_leads(node, error, target) {
            ends.arrival.get_or_insert(arrival);
        }
        Ok(())
    }
}

/// Where the items of a list lead.
#[derive(Default)]
struct ItemEnds {
    /// Where the first failed item leads, if it leads away.
    arrival: Option<Arrival>,
    /// How children ended, in index order.
    exits: Vec<Exit>,
}
