//! What went wrong, in one list, so that nobody has to look for it in the tree.

use askama::Template;
use askama::filters::HtmlSafe;

use super::amount::{counted, head, number};
use super::index::{Index, Link, short_path};
use crate::tree::{Node, Outcome, ScopeTrace};

/// The most lines of the list.
const MOST: usize = 60;

/// Characters of a message that its line shows.
const MESSAGE: usize = 240;

/// Everything that failed, was refused or could not be read: a line for each, or for several in a row of one instance
/// that say the same.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r#"
<ul class="trouble">
{% for line in lines %}<li><span class="badge {{ line.tone }}">{{ line.what }}</span> {{ line.place }}{% if line.times > 1 %} <span class="note">and {{ line.times - 1 }} more</span>{% endif %} <span dir="auto">{{ line.message }}</span></li>{% endfor %}
</ul>
{% if let Some(more) = more %}<p class="note">{{ more }}</p>{% endif %}
"#
)]
pub(super) struct Trouble {
    lines: Vec<Line>,
    more: Option<String>,
}

#[derive(Debug)]
struct Line {
    tone: &'static str,
    what: String,
    scope: usize,
    place: Link,
    message: String,
    times: usize,
}

impl HtmlSafe for Trouble {}

impl Trouble {
    /// None where nothing went wrong.
    pub(super) fn of(index: &Index, root: &ScopeTrace) -> Option<Trouble> {
        let mut found = Vec::new();
        for scope in root.instances() {
            found.extend(scope.steps().filter_map(|node| of_step(index, scope, node)));
        }
        let mut lines: Vec<Line> = Vec::new();
        for line in found {
            match lines.last_mut().filter(|last| last.says_the_same(&line)) {
                Some(last) => last.times += 1,
                None => lines.push(line),
            }
        }
        let left_out = lines.len().saturating_sub(MOST);
        lines.truncate(MOST);
        let more =
            format!("and {} more: filter the steps for “failed” or “refused”", number(left_out as u64));
        (!lines.is_empty()).then_some(Trouble { lines, more: (left_out > 0).then_some(more) })
    }
}

impl Line {
    fn says_the_same(&self, other: &Line) -> bool {
        (self.scope, &self.what, &self.message) == (other.scope, &other.what, &other.message)
    }
}

fn of_step(index: &Index, scope: &ScopeTrace, node: &Node) -> Option<Line> {
    let failed = node.failed_attempts.len() as u64;
    let (tone, what, message) = match &node.outcome {
        Some(Outcome::Failed(error)) if failed == 0 => ("bad", "failed".to_owned(), error.to_string()),
        Some(Outcome::Failed(error)) => {
            ("bad", format!("failed after {}", counted(failed + 1, "attempt", "attempts")), error.to_string())
        }
        Some(Outcome::Refused(reason)) => ("warn", "refused".to_owned(), reason.to_string()),
        Some(Outcome::Malformed(reason)) => ("bad", "malformed".to_owned(), reason.to_string()),
        Some(Outcome::Reply(_) | Outcome::Value(_) | Outcome::Done) | None => {
            let last = node.failed_attempts.last()?;
            ("warn", format!("{} failed", counted(failed, "attempt", "attempts")), last.error.to_string())
        }
    };
    let mut place = index.to_step(&node.step);
    if !scope.scope.is_root() {
        place.label = format!("{} › {}", short_path(&scope.scope), place.label);
    }
    let scope = index.scope_number(&scope.scope);
    Some(Line { tone, what, scope, place, message: head(&message, MESSAGE), times: 1 })
}
