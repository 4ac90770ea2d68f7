//! Which limits the expressions and prompts of a bundle read.

use std::collections::BTreeSet;

use super::{Bundle, Counted};

/// The name of the record with all limits.
const LIMITS: &str = "limits";

impl Bundle {
    /// Whether an expression or a prompt may read a limit on time (`wall_time`, `active_time`, `turn_time`): what it gives depends on
    /// the moment at which it is evaluated then.
    ///
    /// That is where the name of such a limit stands behind `limits.`, or `limits` with something else behind it, which may
    /// read any. A limit of another graph under the same name counts too.
    pub fn reads_clock(&self) -> bool {
        let clocks: BTreeSet<&str> = self
            .graphs
            .iter()
            .flat_map(|graph| &graph.limits)
            .filter(|limit| matches!(limit.counted, Counted::Meter(meter) if meter.is_clock()))
            .map(|limit| &*limit.name)
            .collect();
        let read = |code: &str| reads(code, &clocks);
        !clocks.is_empty() && self.programs.any(read, |text| tags(text).into_iter().any(read))
    }
}

/// Whether one of these limits may be read in a piece of code.
fn reads(text: &str, names: &BTreeSet<&str>) -> bool {
    text.match_indices(LIMITS).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + LIMITS.len()..]);
        // A longer name, or a field of something else.
        if before.ends_with(|c: char| is_in_name(c) || c == '.') || after.starts_with(is_in_name) {
            return false;
        }
        match after.trim_start().strip_prefix('.') {
            Some(field) => {
                let field = field.trim_start();
                names.contains(field.split(|c| !is_in_name(c)).next().unwrap_or_default())
            }
            None => true,
        }
    })
}

/// What stands in the tags of a template. A piece may be longer than its tag: what closes one can stand in it as well.
fn tags(template: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = next_tag(template);
    while let Some(body) = rest.get(2..) {
        let next = next_tag(body);
        let piece = &body[..body.len() - next.len()];
        if !rest.starts_with("{#") {
            let end = piece.rfind("}}").max(piece.rfind("%}"));
            found.push(&piece[..end.unwrap_or(piece.len())]);
        }
        rest = next;
    }
    found
}

/// A text from where its first tag opens; "" where there is none.
fn next_tag(text: &str) -> &str {
    let at = ["{{", "{%", "{#"].iter().filter_map(|opens| text.find(opens)).min();
    &text[at.unwrap_or(text.len())..]
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use crate::testing::clean;

    fn reads_clock(prompt: &str) -> bool {
        let bundle = clean(&format!(
            "deepgraph: 1\nstate: {{q: string, a: string}}\ninput: [q]\nstart: a\nlimits:\n  \
             late: {{count: wall_time, max: 1m, exit: deadline}}\n  \
             turns: {{count: turns, max: 9, exit: step_limit}}\nnodes:\n  \
             a: {{model: x, prompt: \"{prompt}\", update: {{a: result.text}}}}\n"
        ));
        bundle.reads_clock()
    }

    #[test]
    fn only_limits_on_time_count() {
        for prompt in [
            "{{ limits.late.left }}",
            "{% if limits . late.used > 3 %}Soon.{% endif %}",
            "{{ limits['late'].left }}",
            "{{ {'a': {'b': limits.late}} }}",
            "{% for n in [1] %}{{ '}}' ~ limits.late.max }}{% endfor %}",
        ] {
            assert!(reads_clock(prompt), "{prompt}");
        }
        for prompt in [
            "{{ q }}",
            "{{ limits.turns.left }} turns",
            "Keep within the limits of the text: {{ q }}",
            "Change no limits.late.left for {{ q }}",
            "{# limits #}{{ q }}",
        ] {
            assert!(!reads_clock(prompt), "{prompt}");
        }
    }

    #[test]
    fn what_is_not_read_by_a_name_may_be_any() {
        let names = ["late"].into();
        for (code, is_read) in [
            ("limits", true),
            ("limits[name].left", true),
            ("limits . late", true),
            ("limits.later", false),
            ("no_limits.late", false),
            ("result.limits.late", false),
            ("limits_of.late", false),
        ] {
            assert_eq!(super::reads(code, &names), is_read, "{code}");
        }
    }
}
