//! The nearest valid name, for "did you mean".

/// The candidate that is closest to a misspelt name; none where nothing is close.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Names longer than this are no typing mistakes, and the distance is quadratic.
    if name.len() > 80 {
        return None;
    }
    let wanted = name.to_lowercase();
    candidates
        .into_iter()
        .take(500)
        .filter(|c| c.len() <= 80)
        .map(|c| (score(&wanted, &c.to_lowercase()), c))
        .filter(|(score, _)| *score >= 0.6)
        // The first of equals wins, so that the hint does not depend on more than the order of the names.
        .fold(None, |best: Option<(f64, &str)>, (score, c)| match best {
            Some((top, _)) if top >= score => best,
            _ => Some((score, c)),
        })
        .map(|(_, c)| c)
}

/// Likeness from 0 to 1: by edits, by a shared beginning, or by words of the one that are words of the other.
fn score(a: &str, b: &str) -> f64 {
    let edits = strsim::normalized_damerau_levenshtein(a, b);
    let prefixed = a.len() >= 3 && b.len() >= 3 && (a.starts_with(b) || b.starts_with(a));
    // `max_iterations` for `max_researcher_iterations`.
    let parts = a.contains('_') && a.split('_').all(|part| b.split('_').any(|other| other == part));
    if prefixed || parts { edits.max(0.6) } else { edits }
}

/// Names as a sentence lists them: `a, b, c`; the first twelve of many.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.into_iter().collect();
    if all.len() > 12 {
        return format!("{} and {} more", all[..12].join(", "), all.len() - 12);
    }
    all.join(", ")
}

/// "did you mean `x`?", or the names that there are, or nothing where there are none.
pub(crate) fn hint<'a, I>(name: &str, candidates: I) -> Option<String>
where
    I: IntoIterator<Item = &'a str> + Clone,
{
    if let Some(found) = nearest(name, candidates.clone()) {
        return Some(format!("did you mean \"{found}\"?"));
    }
    let all = listed(candidates);
    (!all.is_empty()).then(|| format!("there is: {all}"))
}

/// A text as a message quotes it: its first 60 characters, on one line.
pub(crate) fn shortened(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= 60 {
        return line;
    }
    let start: String = line.chars().take(57).collect();
    format!("{start}...")
}

/// Names joined by a sign; the middle of many left out.
pub(crate) fn shortened_list(names: &[&str], sign: &str) -> String {
    if names.len() <= 9 {
        return names.join(sign);
    }
    let (start, end) = (&names[..5], &names[names.len() - 3..]);
    format!("{}{sign}...{sign}{}", start.join(sign), end.join(sign))
}
