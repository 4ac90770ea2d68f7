//! Answers that are brought along to a run that goes on.

use std::collections::BTreeMap;

use deepgraph_engine::{Machine, Phase};
use deepgraph_protocol::{Effect, StepId};
use deepgraph_store::RunId;

use crate::RunError;
use crate::ask::Question;

/// The questions that are open in the Machines of a run, in their order.
pub fn open_questions<'a>(machines: impl IntoIterator<Item = &'a Machine>) -> Vec<Question> {
    let machines = machines.into_iter().filter(|machine| machine.phase() != Phase::Ended);
    machines.flat_map(Machine::open_effects).filter_map(question).collect()
}

fn question(effect: Effect) -> Option<Question> {
    match effect {
        Effect::Ask { step, question, shape, .. } => {
            Some(Question { id: step, text: question, shape, complaint: None })
        }
        _ => None,
    }
}

/// Which question each answer is for. Those with an id are given away first; of the others there can be one, for the
/// one question that is left. Driving a run decides so; whoever wants to know it before can ask here.
///
/// # Errors
///
/// [`RunError::NotAsked`].
pub fn assigned(
    run: &RunId,
    answers: Vec<(Option<StepId>, String)>,
    open: &[Question],
) -> Result<BTreeMap<StepId, String>, RunError> {
    let refused = |step: Option<&StepId>, problem: String| RunError::NotAsked {
        run: run.to_string(),
        step: step.cloned(),
        problem,
        open: open.iter().map(|question| question.id.clone()).collect(),
    };
    let (named, unnamed): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(step, _)| step.is_some());
    let mut assigned = BTreeMap::new();
    for (step, text) in named.into_iter().filter_map(|(step, text)| Some((step?, text))) {
        if open.iter().all(|question| question.id != step) {
            return Err(refused(Some(&step), format!("{step} asks nothing")));
        }
        if assigned.contains_key(&step) {
            return Err(refused(Some(&step), format!("{step} is answered twice")));
        }
        assigned.insert(step, text);
    }
    for (_, text) in unnamed {
        let mut left = open.iter().filter(|question| !assigned.contains_key(&question.id));
        match (left.next(), left.next()) {
            (Some(question), None) => drop(assigned.insert(question.id.clone(), text)),
            (Some(_), Some(_)) => {
                return Err(refused(None, "it does not say which question it is for".to_owned()));
            }
            (None, _) => return Err(refused(None, "there is no question left that it is for".to_owned())),
        }
    }
    Ok(assigned)
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::{OutputShape, Value};

    use super::*;

    fn given(answers: &[(&str, &str)], open: &[&str]) -> Result<Vec<String>, String> {
        let question = |id: &&str| Question {
            id: StepId::new(*id),
            text: "?".into(),
            shape: OutputShape { name: "answer".into(), schema: Value::Null },
            complaint: None,
        };
        let answers = answers
            .iter()
            .map(|(step, text)| ((!step.is_empty()).then(|| StepId::new(*step)), (*text).to_owned()));
        let open: Vec<Question> = open.iter().map(question).collect();
        let assigned = assigned(&RunId::new(), answers.collect(), &open).map_err(|e| e.to_string())?;
        Ok(assigned.iter().map(|(step, text)| format!("{step}={text}")).collect())
    }

    #[test]
    fn an_answer_without_an_id_is_for_the_question_that_is_left() {
        assert_eq!(given(&[("", "x")], &["a.1"]).unwrap(), ["a.1=x"]);
        assert_eq!(given(&[("", "x"), ("a.1", "y")], &["a.1", "b.1"]).unwrap(), ["a.1=y", "b.1=x"]);
        assert_eq!(given(&[("b.1", "x")], &["a.1", "b.1"]).unwrap(), ["b.1=x"]);
    }

    #[test]
    fn answers_to_nothing_are_refused_with_what_is_open() {
        for (answers, open, parts) in [
            (&[("a.2", "x")][..], &["a.1", "b.1"][..], &["a.2 asks nothing", "open: a.1, b.1"][..]),
            (&[("a.1", "x"), ("a.1", "y")], &["a.1"], &["a.1 is answered twice", "open: a.1"]),
            (&[("", "x")], &["a.1", "b.1"], &["does not say which", "open: a.1, b.1"]),
            (&[("", "x"), ("", "y")], &["a.1"], &["no question left"]),
            (&[("a.1", "x")], &[], &["a.1 asks nothing", "no question is open"]),
        ] {
            let error = given(answers, open).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
}
