//! Names that hold an "and": "Trinidad and Tobago" is two names to the question's grammar, and one where the sources
//! have one title for both.

use std::collections::BTreeMap;

use deepgraph_protocol::Handoff;

use super::split_title;
use crate::question::{Part, Question, Subject};
use crate::text::words::{Stems, content_stems, fold};

/// The names of a report.
#[derive(Default)]
pub(super) struct Names {
    /// The whole name for each of its folded parts.
    whole: BTreeMap<String, String>,
}

impl Names {
    /// The names of a question, given what was handed over.
    pub fn of(question: &str, handoffs: &[Handoff]) -> Names {
        let titles: Vec<Stems> = handoffs
            .iter()
            .flat_map(|h| h.text.lines())
            .map(|line| content_stems(split_title(line).0))
            .collect();
        let subjects: Vec<Subject> =
            Question::analyse(question).parts.into_iter().filter_map(|part| part.subject).collect();
        let mut whole = BTreeMap::new();
        for pair in subjects.windows(2) {
            let [first, second] = pair else { continue };
            let both: Stems = first.stems.union(&second.stems).cloned().collect();
            let is_alone = |s: &Subject| titles.contains(&s.stems);
            let name = written_together(question, &first.text, &second.text);
            if let Some(name) =
                name.filter(|_| titles.contains(&both) && !is_alone(first) && !is_alone(second))
            {
                whole.insert(fold(&first.text), name.clone());
                whole.insert(fold(&second.text), name);
            }
        }
        Names { whole }
    }

    /// A question with whole names.
    pub fn read(&self, text: &str) -> Question {
        let mut parts: Vec<Part> = Vec::new();
        for mut part in Question::analyse(text).parts {
            let whole = part.subject.as_ref().and_then(|s| self.whole.get(&fold(&s.text)));
            if let Some(name) = whole {
                part.subject = Some(Subject::new(name, true));
            }
            let known = parts.iter_mut().find(|p| whole.is_some() && p.subject == part.subject);
            match known {
                Some(known) => {
                    let new =
                        part.facets.into_iter().filter(|f| !known.facets.contains(f)).collect::<Vec<_>>();
                    known.facets.extend(new);
                }
                None => parts.push(part),
            }
        }
        Question { parts }
    }
}

/// Two names with an "and" between them, as the question writes them.
fn written_together(question: &str, first: &str, second: &str) -> Option<String> {
    let question = fold(question);
    let links = [" and ", " and the "];
    let link = links.iter().find(|link| question.contains(&fold(&format!("{first}{link}{second}"))))?;
    Some(format!("{first}{link}{second}"))
}
