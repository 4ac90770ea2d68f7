//! Patterns: of steps, with `*`; of texts, with `…`.

use std::collections::BTreeSet;

use deepgraph_protocol::{StepId, Value};

/// Stands for any text in an expected text, for further items at the end of an expected list, and, as a key, for
/// further keys of an expected mapping.
pub(crate) const ANY: &str = "…";

/// The positions that a key of a case names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepPattern(String);

impl StepPattern {
    pub(crate) fn new(text: &str) -> StepPattern {
        StepPattern(text.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it names one position only.
    pub(crate) fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }

    /// Whether it names all visits of a node, or all items of a fan-out: it ends in `*`.
    pub(crate) fn is_open(&self) -> bool {
        self.0.ends_with('*')
    }

    /// Whether it names this step. `*` is any text without `/`, `**` any text; `**/` at the beginning may be nothing.
    pub(crate) fn fits(&self, step: &StepId) -> bool {
        // Every step of a run is looked up, and most keys of a case that was written from a run are of one step.
        if self.is_exact() {
            return self.0 == step.as_str();
        }
        let nothing = self.0.strip_prefix("**/").is_some_and(|rest| glob(rest, step.as_str()));
        nothing || glob(&self.0, step.as_str())
    }
}

/// `*` is any text without `/`, `**` any text. Each place of the text is reached at most once per place of the
/// pattern, so that no pattern takes long.
fn glob(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    // Where in the pattern the text so far may have ended.
    let mut at = BTreeSet::from([0]);
    skip_stars(&pattern, &mut at);
    for c in text.chars() {
        let mut next = BTreeSet::new();
        for i in at {
            match pattern.get(i) {
                Some('*') => {
                    let deep =
                        pattern.get(i + 1) == Some(&'*') || (i > 0 && pattern.get(i - 1) == Some(&'*'));
                    next.extend((deep || c != '/').then_some(i));
                }
                Some(wanted) => next.extend((*wanted == c).then_some(i + 1)),
                None => {}
            }
        }
        skip_stars(&pattern, &mut next);
        at = next;
    }
    at.contains(&pattern.len())
}

/// A star may stand for nothing.
fn skip_stars(pattern: &[char], at: &mut BTreeSet<usize>) {
    let mut open: Vec<usize> = at.iter().copied().collect();
    while let Some(i) = open.pop() {
        if pattern.get(i) == Some(&'*') && at.insert(i + 1) {
            open.push(i + 1);
        }
    }
}

/// The number at the end of a step's id: its visit, the place of a call among those of its turn.
pub(crate) fn number(step: &StepId) -> Option<usize> {
    let digits = step.as_str().trim_end_matches(']');
    let start = digits.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    digits[start..].parse().ok()
}

/// Whether a value is the expected one. `…` is read as [`ANY`] says.
pub(crate) fn fits(wanted: &Value, came: &Value) -> bool {
    match (wanted, came) {
        (Value::Text(wanted), Value::Text(came)) => text_fits(wanted, came),
        (Value::List(wanted), Value::List(came)) => {
            let (wanted, open) = match wanted.split_last() {
                Some((last, rest)) if last.as_str() == Some(ANY) => (rest, true),
                _ => (wanted.as_slice(), false),
            };
            let long_enough = came.len() == wanted.len() || (open && came.len() > wanted.len());
            long_enough && wanted.iter().zip(came.iter()).all(|(w, c)| fits(w, c))
        }
        (Value::Map(wanted), Value::Map(came)) => {
            let is_open = wanted.contains_key(ANY);
            let all = wanted.iter().filter(|(k, _)| &***k != ANY);
            let there = all.clone().all(|(k, w)| came.get(k).is_some_and(|c| fits(w, c)));
            there && (is_open || came.keys().all(|k| wanted.contains_key(k)))
        }
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            wanted.as_float() == came.as_float()
        }
        (wanted, came) => wanted == came,
    }
}

/// Whether a text is the expected one, each `…` standing for any text.
pub(crate) fn text_fits(wanted: &str, came: &str) -> bool {
    let Some((head, rest)) = wanted.split_once(ANY) else { return wanted == came };
    let (middle, tail) = rest.rsplit_once(ANY).unwrap_or(("", rest));
    let Some(mut came) = came.strip_prefix(head).and_then(|came| came.strip_suffix(tail)) else {
        return false;
    };
    // What stands first leaves most for the rest.
    middle.split(ANY).all(|part| match came.find(part) {
        Some(at) => {
            came = &came[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step_fits(pattern: &str, step: &str) -> bool {
        StepPattern::new(pattern).fits(&StepId::new(step))
    }

    #[test]
    fn stars_stop_at_slashes_and_double_stars_do_not() {
        assert!(step_fits("a.1", "a.1") && !step_fits("a.1", "a.10"));
        assert!(step_fits("a.*", "a.10") && !step_fits("a.*", "a.1/b.2"));
        assert!(step_fits("*/b.2", "a.1/b.2") && !step_fits("*/b.2", "x.1/a.1/b.2"));
        assert!(step_fits("**/b.*", "x.1/a.1/b.2") && step_fits("**/b.*", "b.7"));
        assert!(step_fits("x.1/**", "x.1/a.1/b.2") && !step_fits("x.1/**", "x.1"));
        assert!(!step_fits("**/b.1", "ab.1"));
        assert!(step_fits("a.*/*.*", "a.1/b.2") && !step_fits("a.*/*.*", "a.1/b.2/c.3"));
        assert!(!step_fits("**a**a**a**a**a**a**b", &"a".repeat(200)), "no pattern takes long");
    }

    #[test]
    fn the_number_of_a_step_is_its_last() {
        assert_eq!(number(&StepId::new("a.1/b.12")), Some(12));
        assert_eq!(number(&StepId::new("a.1/3")), Some(3));
        assert_eq!(number(&StepId::new("a")), None);
    }

    #[test]
    fn dots_stand_for_any_text() {
        assert!(text_fits("a … c", "a b c") && text_fits("…", "") && text_fits("a…", "abc"));
        assert!(text_fits("…b…", "abc") && !text_fits("a…d", "abc") && !text_fits("abc", "ab"));
        assert!(text_fits("…a", "aba"), "the shortest stretch is not the only one");
        assert!(!text_fits("ab…ba", "aba"), "both ends need their own letters");
        assert!(text_fits("a…b…c…d", "a.b.c.d") && !text_fits("a…c…b…d", "a.b.c.d"));
    }

    #[test]
    fn values_fit_as_a_whole_unless_they_say_otherwise() {
        let value = |json: &str| deepgraph_graph::read_data("v", json).expect("it is data");
        let fits = |wanted: &str, came: &str| fits(&value(wanted), &value(came));
        assert!(fits("[1, 2]", "[1, 2.0]") && !fits("[1]", "[1, 2]") && fits("[1, …]", "[1, 2]"));
        assert!(fits("[1, …]", "[1]") && !fits("[2, …]", "[1, 2]"));
        assert!(fits("{a: 1}", "{a: 1}") && !fits("{a: 1}", "{a: 1, b: 2}"));
        assert!(fits("{a: x…, …: }", "{a: xy, b: 2}") && !fits("{c: 1, …: }", "{a: 1}"));
        assert!(!fits("null", "0") && fits("null", "null") && !fits("'1'", "1"));
    }
}
