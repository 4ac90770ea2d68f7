//! Searches that failed: how the answer of a tool says so, and how a handoff does. What was not found by them is not
//! said of any source.

/// Stands before why the web could not be searched, in the failure of a search and in a note before its answer.
pub const WEB: &str = "the web could not be searched:";

/// What is unknown where the web could not be searched; why follows.
const UNKNOWN: &str = "anything in the web, which could not be searched:";
/// What is unknown where a search failed otherwise; why follows.
const FAILED: &str = "anything by a search, which failed:";

/// What a search left unknown that failed, by the answer of its tool; none where it was carried out.
pub fn unknown_of_answer(answer: &str) -> Option<String> {
    if let Some(error) = answer.strip_prefix("error: ") {
        let (kind, message) = error.split_once(": ").unwrap_or(("", error));
        return match message.strip_prefix(WEB) {
            Some(why) => Some(unknown(UNKNOWN, why)),
            // The call was wrong, not the search.
            None if kind == "invalid_input" => None,
            None => Some(unknown(FAILED, message)),
        };
    }
    // Notes are ours: what others wrote stands behind a mark.
    let mut notes = answer.lines().filter_map(|line| line.strip_prefix("Note: "));
    notes.find_map(|note| note.strip_prefix(WEB)).map(|why| unknown(UNKNOWN, why))
}

/// What some searches left unknown that all failed; none where one of them was carried out, or there was none.
pub fn unknown_of_all<'a>(answers: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let unknowns: Option<Vec<String>> = answers.into_iter().map(unknown_of_answer).collect();
    unknowns?.into_iter().next()
}

/// Whether what a handoff did not find is what a failed search left unknown.
pub fn is_unsearched(unknown: &str) -> bool {
    failure(unknown).is_some()
}

/// What failed, of what a handoff did not find: a part of a sentence. None where no search did.
pub fn failure(unknown: &str) -> Option<&'static str> {
    match unknown {
        _ if unknown.starts_with(UNKNOWN) => Some("the web could not be searched"),
        _ if unknown.starts_with(FAILED) => Some("the search failed"),
        _ => None,
    }
}

fn unknown(what: &str, why: &str) -> String {
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{what} {}", why.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_failed_searches_are_told_from_others() {
        let web = "anything in the web, which could not be searched: searxng: HTTP 500";
        for (answer, unknown) in [
            ("error: unavailable: the web could not be searched: searxng: HTTP 500", Some(web)),
            ("Note: the web could not be searched: searxng: HTTP 500\nPassages of the documents:", Some(web)),
            (
                "error: step_timeout: no answer in 30 s",
                Some("anything by a search, which failed: no answer in 30 s"),
            ),
            ("error: invalid_input: the parameter \"query\" is missing or empty", None),
            ("Note: tavily: HTTP 500\nNothing matches \"x\"", None),
            ("> Note: the web could not be searched: it says so itself", None),
            ("refused: the limit is used up", None),
            ("", None),
        ] {
            let found = unknown_of_answer(answer);
            assert_eq!(found.as_deref(), unknown, "{answer}");
            assert!(found.iter().all(|found| is_unsearched(found)), "{answer}");
        }
        assert!(!is_unsearched("range of Norvane N60"));
    }

    #[test]
    fn one_search_that_was_carried_out_is_enough() {
        let failed = "error: network: the web could not be searched: no connection";
        assert!(unknown_of_all([failed, failed]).is_some());
        assert!(unknown_of_all([failed, "Nothing matches \"x\""]).is_none());
        assert!(unknown_of_all([]).is_none());
    }
}
