//! The journals fold to what the live Machines did: the same effects and events, the same state.

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "folds";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    seen.scopes.values().flat_map(|scope| of_scope(seen, scope)).collect()
}

fn of_scope(seen: &Seen<'_>, scope: &Scope<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut wrong = |what: String| found.push(Violation::of_scope(NAME, scope.path, what));
    let different = scope.rows.iter().find(|row| row.outputs != row.folded.as_slice());
    if let Some(row) = different {
        wrong(format!("folded anew, entry {} leads to something else", row.number + 1));
    }
    let back = scope.rows.windows(2).find(|rows| rows[1].entry.at < rows[0].entry.at);
    if let Some(rows) = back {
        wrong(format!("time goes back at entry {}", rows[1].number + 1));
    }
    let Some(live) = seen.run.machines.get(scope.path) else {
        wrong("no Machine is left of it".to_owned());
        return found;
    };
    let folded = &scope.folded;
    let parts: [(&str, bool); 6] = [
        ("phase", live.phase() == folded.phase()),
        ("state", live.state() == folded.state()),
        ("end", live.end() == folded.end()),
        ("limits", live.limits() == folded.limits()),
        ("ledger", live.ledger() == folded.ledger()),
        ("open effects", live.open_effects() == folded.open_effects()),
    ];
    for (part, _) in parts.iter().filter(|(_, same)| !same) {
        wrong(format!("folded anew, its {part} is another one"));
    }
    found
}
