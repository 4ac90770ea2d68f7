//! Whoever was taken over from commits nothing, and the owner is never refused.

use deepgraph_protocol::ScopePath;

use super::Violation;
use super::seen::Seen;

const NAME: &str = "fencing";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let root = ScopePath::root();
    let mut found = Vec::new();
    let mut owner = 0;
    for (number, epoch) in seen.run.epochs.iter().enumerate() {
        if *epoch < owner {
            let scope = seen.run.rows.get(number).map_or(&root, |(scope, _)| scope);
            let what =
                format!("entry {} was committed under epoch {epoch}, after one of epoch {owner}", number + 1);
            found.push(Violation::of_scope(NAME, scope, what));
        }
        owner = owner.max(*epoch);
    }
    for refused in &seen.run.not_appended {
        found.push(Violation::of_scope(
            NAME,
            &root,
            format!("the owner of the run could not write: {refused}"),
        ));
    }
    found
}
