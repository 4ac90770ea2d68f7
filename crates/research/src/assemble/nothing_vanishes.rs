//! Whatever is asked of whomever is answered in the report, or stands in it as not found.

use super::*;
use crate::handoff;

/// Who may be asked about, as questions write it and as the report may.
const WHO: &[(&str, &str, &[&str])] = &[
    ("Chile", "Chile", &["population", "area", "capital", "coastline", "GDP"]),
    ("Peru", "Peru", &["population", "area", "capital"]),
    ("Mali", "Mali", &["population", "capital", "GDP"]),
    ("Jan Mayen", "Jan Mayen", &["area", "coastline"]),
    ("Trinidad and Tobago", "Trinidad and Tobago", &["population", "area"]),
    ("the UK", "United Kingdom", &["population", "area", "GDP"]),
    ("the Heron tower", "Heron tower", &["area", "population"]),
    ("Freedonia", "Freedonia", &[]),
];

/// Ways to ask two things of two: `{A}` and `{B}` of `{f}` and `{g}`.
const WAYS: &[&str] = &[
    "Compare {A} and {B} on {f} and {g}",
    "Compare {A} with {B} on {f} and {g}.",
    "What are the {f} and the {g} of {A} and {B}?",
    "What is the {f} and {g} of {A} and of {B}?",
    "{F} and {g} of {A} and {B}",
    "{A} vs {B}: {f}, {g}",
    "{A} versus {B}: {f}; {g}",
    "How do {A} and {B} differ in {f} and {g}?",
    "How do the {f} and {g} of {A} differ from those of {B}?",
    "Give {f} and {g} for:\n- {A}\n- {B}",
    "For {A} and {B}:\n- {f}\n- {g}",
    "What is the {f} of {A} and of {B}? And the {g}?",
];

/// Ways to ask one thing of two, or two of one.
const SHORT: &[&str] = &[
    "Which has the larger {f}, {A} or {B}?",
    "Which is larger by {f}: {A} or {B}?",
    "How does the {f} of {A} compare to that of {B}?",
    "Is the {f} of {A} larger than that of {B}?",
    "{F} of {A} and {B}",
    "what is the {f} of {A} vs {B}",
    "Compare the {f} of {A} and {B}.",
    "Tell me the {f} of {A}, and of {B}.",
];

fn corpus() -> Vec<Passage> {
    let records = WHO.iter().enumerate().filter(|(_, (.., facets))| !facets.is_empty());
    let passage = |(i, (_, title, facets)): (usize, &(&str, &str, &[&str]))| {
        let line = |(n, facet): (usize, &&str)| format!("{facet}: {} units", 100 * (i + 1) + n);
        let lines: Vec<String> = facets.iter().enumerate().map(line).collect();
        Passage {
            id: format!("pa-{i}"),
            title: (*title).into(),
            document: format!("{title}.json"),
            text: lines.join("\n"),
            ..Passage::default()
        }
    };
    records.map(passage).collect()
}

/// The report on a question, its parts looked into one by one.
fn report(question: &str) -> String {
    let corpus = corpus();
    let handed = |part: &Part| {
        let objective = part.objective();
        let again = Question::analyse(&objective);
        let text = handoff::findings(&again, &select(&again, &corpus));
        let (_, unknowns) = handoff::split_unknowns(&text);
        let sources: Vec<String> =
            corpus.iter().map(|p| p.id.clone()).filter(|id| text.contains(&format!("[{id}]"))).collect();
        Handoff { objective, findings: sources.len() as u64, text, sources, unknowns, ..Handoff::default() }
    };
    let handoffs: Vec<Handoff> = Question::analyse(question).parts.iter().map(handed).collect();
    draft(question, "", &handoffs, &Sources::new())
}

/// Whether the report answers a facet of someone, or says that it was not found; and whether it should.
fn accounts_for(report: &str, who: usize, facet: &str) -> Result<(), &'static str> {
    let (name, title, known) = WHO[who];
    let name = name.trim_start_matches("the ");
    let place = known.iter().position(|f| *f == facet);
    let value = place.map(|n| format!("{} units", 100 * (who + 1) + n));
    let lower = report.to_lowercase();
    let says = |gap: &str| lower.contains(&gap.to_lowercase());
    match value {
        Some(value) if report.contains(&value) => Ok(()),
        Some(_) => Err("the figure is there and is not in the report"),
        None if says(&format!("not found: {facet} of {name}")) => Ok(()),
        None if says(&format!("not found: {facet} of {title}")) => Ok(()),
        None if says(&format!("nothing was found about {name}")) => Ok(()),
        // No source has a title to tell that it is one name.
        None if name.contains(" and ") && name.split(" and ").all(|n| says(&format!("{facet} of {n}"))) => {
            Ok(())
        }
        None => Err("it is not there and is not said to be missing"),
    }
}

/// Figures of others than those that were asked about.
fn strangers(report: &str, asked: [usize; 2]) -> Vec<&'static str> {
    let others = (0..WHO.len()).filter(|i| !asked.contains(i));
    let has = |i: &usize| (0..5).any(|n| report.contains(&format!("{} units", 100 * (i + 1) + n)));
    others.filter(has).map(|i| WHO[i].0).collect()
}

#[test]
fn every_facet_of_every_subject() {
    let facets = ["population", "area", "capital", "coastline", "GDP"];
    let mut wrong: Vec<String> = Vec::new();
    let mut count = 0;
    for (i, way) in WAYS.iter().chain(SHORT).enumerate() {
        for step in 0..WHO.len() {
            let (a, b) = (step, (step + 1 + i % (WHO.len() - 1)) % WHO.len());
            let (f, g) = (facets[(i + step) % 5], facets[(i + step + 1 + step % 3) % 5]);
            let capital =
                if f == "GDP" { f.to_owned() } else { format!("{}{}", f[..1].to_uppercase(), &f[1..]) };
            let filled = [("{A}", WHO[a].0), ("{B}", WHO[b].0), ("{f}", f), ("{g}", g), ("{F}", &capital)];
            let question =
                filled.iter().fold((*way).to_owned(), |text, (mark, with)| text.replace(mark, with));
            let report = report(&question);
            let (_, body) = report.split_once('\n').unwrap_or_default();
            let asked = if way.contains("{g}") { vec![f, g] } else { vec![f] };
            for (who, facet) in [a, b].into_iter().flat_map(|who| asked.iter().map(move |f| (who, *f))) {
                if let Err(why) = accounts_for(body, who, facet) {
                    wrong.push(format!("{question}\n   {facet} of {}: {why}\n{report}", WHO[who].0));
                }
            }
            let strangers = strangers(body, [a, b]);
            if !strangers.is_empty() {
                wrong.push(format!("{question}\n   figures of {strangers:?}, who were not asked about"));
            }
            count += 1;
        }
    }
    assert!(count >= 60);
    assert!(wrong.is_empty(), "{} of {count} questions:\n{}", wrong.len(), wrong.join("\n"));
}
