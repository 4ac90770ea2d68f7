//! `compensate`: what undoes a call that writes, when the run is cancelled.

use super::Reader;
use super::calls::Found;
use crate::diagnostic::code;
use crate::infer::Scope;
use crate::read::keys::Keys;
use crate::source::Node;
use crate::vocabulary::COMPENSATE;
use crate::{Callee, Compensate};

impl Reader<'_> {
    /// What undoes the call of a node or a tool. The callee is none where it could not be read.
    pub(crate) fn compensate(
        &mut self,
        node: &Node,
        found: Option<&Found>,
        writes: bool,
        scope: &Scope<'_>,
    ) -> Option<Compensate> {
        let (key, compensate) = node.entry("compensate")?;
        match found.map(|found| &found.callee) {
            Some(Callee::Graph(_)) => {
                self.error(
                    code::CONFLICT,
                    key.place,
                    "`compensate` is for the call of an op, and this calls a graph",
                )
                .help("it stands at the calls in that graph which write");
            }
            Some(Callee::Op(op)) if !writes => {
                let message =
                    format!("`compensate` undoes a call that writes, and this call of \"{op}\" only reads");
                self.error(code::CONFLICT, key.place, message)
                    .help("where it does change something outside, say `effect: write`");
            }
            _ => {}
        }
        if !self.check_keys(compensate, Keys::of("`compensate`", &COMPENSATE)) {
            return None;
        }
        let result = found.map_or(crate::Type::Any, |found| found.result.clone());
        let scope = scope.with_result(Ok(result));
        let given = self.input(compensate, &scope);
        let Some(call) = compensate.get("call") else {
            self.error(
                code::MISSING_KEY,
                compensate.place,
                "`compensate` needs `call`: the op that undoes it",
            );
            return None;
        };
        let undoing = self.callee(call, scope.home, true)?;
        let at = compensate.entry("input").map_or(call.place, |(key, _)| key.place);
        let input = self.match_input(&undoing, given, at);
        match undoing.callee {
            Callee::Op(op) => Some(Compensate { op, input }),
            Callee::Graph(_) => {
                let message = "`compensate` calls an op or a tool of a server, and this is a graph";
                self.error(code::CONFLICT, call.place, message);
                None
            }
        }
    }
}
