//! The statements of some passages, prepared for matching.

use std::collections::BTreeMap;

use super::acronym::abbreviations;
use super::namesake::full_names;
use crate::passage::Passage;
use crate::text::figures::{self, latest_year};
use crate::text::statements::{SEPARATOR, Statement, statements};
use crate::text::words::{Stems, content_stems, content_words, fold, stem};

/// A statement with all that stands above and before it.
pub(super) struct Candidate<'a> {
    /// Where it stands.
    pub passage: &'a Passage,
    /// Headings and labels above its value, outermost first.
    pub path: Vec<Label>,
    /// What it says.
    pub value: String,
    /// Stems of the title.
    pub title: Stems,
    /// The title's own name as it is shown: without the name of the site or series behind a dash.
    pub name: &'a str,
    /// Stems of the value.
    pub said: Stems,
    /// Stems of the two sentences before it, in prose.
    pub before: Stems,
    /// The latest year in label or value.
    pub year: Option<u32>,
    /// Years in label or value.
    pub years: Vec<u32>,
    /// Years of its title, headings, document and, in prose, of the last sentence before it that has any.
    pub years_around: Vec<u32>,
    /// Whether it is a sentence rather than a line of a record.
    pub is_prose: bool,
    /// What its document says is the abbreviation of its name.
    pub abbreviations: Vec<String>,
    /// What its document says is its name in full, as stems.
    pub full_names: Vec<Stems>,
    /// Short names in the first fields of its record: `vessel: Norvane N60`; its document's full name where
    /// the title has another.
    pub aliases: Vec<Label>,
    /// How many labels of the path come from the line itself.
    pub own_labels: usize,
}

/// A heading or label.
#[derive(Clone)]
pub(super) struct Label {
    /// As written.
    pub text: String,
    /// Its words, years and what stands in parentheses left out.
    pub stems: Stems,
    /// The words in parentheses.
    pub aside: Stems,
}

/// All statements of some passages.
pub(super) struct Pool<'a> {
    /// In the order of the passages.
    pub candidates: Vec<Candidate<'a>>,
    /// In how many statements a stem occurs, path and title included.
    counts: BTreeMap<String, usize>,
    /// The words of the statements and their stems, to correct misspellings by.
    vocabulary: BTreeMap<String, String>,
}

impl<'a> Pool<'a> {
    /// Prepares passages. One that is given twice (found and then read) counts once, in its longer form.
    pub fn new(passages: &'a [Passage]) -> Pool<'a> {
        let mut candidates = Vec::new();
        for (i, passage) in passages.iter().enumerate() {
            let same = |p: &Passage| p.id == passage.id && p.text.contains(passage.text.as_str());
            let is_later_copy = passages[..i].iter().any(same);
            let is_cut = passages[i + 1..].iter().any(|p| same(p) && p.text.len() > passage.text.len());
            if !is_later_copy && !is_cut {
                push(passage, &mut candidates);
            }
        }
        let abbreviations = abbreviations(&candidates);
        let full_names = full_names(&candidates);
        for candidate in &mut candidates {
            let own = abbreviations.get(candidate.passage.document.as_str());
            candidate.abbreviations = own.cloned().unwrap_or_default();
            for name in full_names.get(candidate.passage.document.as_str()).into_iter().flatten() {
                candidate.full_names.push(name.stems.clone());
                if !name.stems.is_subset(&candidate.title) {
                    candidate.aliases.push(name.clone());
                }
            }
        }
        let mut counts = BTreeMap::new();
        for candidate in &candidates {
            for stem in candidate.all_stems() {
                *counts.entry(stem).or_insert(0) += 1;
            }
        }
        let vocabulary = vocabulary(&candidates);
        Pool { candidates, counts, vocabulary }
    }

    /// How telling a stem is: from 0.5 (in every statement) to 1 (in one); 0.75 where it is in none.
    pub fn weight(&self, stem: &str) -> f64 {
        let all = self.candidates.len().max(2) as f64;
        match self.counts.get(stem) {
            Some(count) => 0.5 + 0.5 * (1.0 - (*count as f64).ln() / all.ln()).clamp(0.0, 1.0),
            None => 0.75,
        }
    }

    /// The stem that was meant, where this one occurs nowhere and a word that does is one slip away.
    pub fn corrected(&self, asked: &str) -> Option<&str> {
        if self.knows(asked) || asked.len() < SHORTEST_CORRECTED {
            return None;
        }
        let meant =
            self.vocabulary.iter().find(|(word, stem)| is_misspelt(asked, word) || is_misspelt(asked, stem));
        meant.map(|(_, stem)| stem.as_str())
    }

    /// Whether a stem occurs anywhere.
    pub fn knows(&self, stem: &str) -> bool {
        self.counts.contains_key(stem)
    }
}

/// The longer words of labels and values, with their stems.
fn vocabulary(candidates: &[Candidate]) -> BTreeMap<String, String> {
    let texts =
        candidates.iter().flat_map(|c| c.path.iter().map(|l| l.text.as_str()).chain([c.value.as_str()]));
    texts
        .flat_map(content_words)
        .filter(|(_, word)| word.len() >= SHORTEST_CORRECTED)
        .map(|(_, word)| (fold(word), stem(word)))
        .collect()
}

/// Whether two words differ by one slip of the keyboard; first letters are not corrected.
fn is_misspelt(asked: &str, word: &str) -> bool {
    let first = |s: &str| s.chars().next();
    first(asked) == first(word)
        && asked.len().abs_diff(word.len()) <= 1
        && strsim::osa_distance(asked, word) == 1
}

/// The shortest word that is corrected, in bytes.
const SHORTEST_CORRECTED: usize = 5;

impl Candidate<'_> {
    /// Whether its own line says what its value is; a question above an answer does not.
    pub fn has_label(&self) -> bool {
        self.own_labels > 0 && self.path.last().is_some_and(|label| !label.text.ends_with('?'))
    }

    /// Stems of value, path and title.
    pub fn all_stems(&self) -> Stems {
        let path = self.path.iter().flat_map(|label| label.stems.iter().chain(&label.aside));
        self.said.iter().chain(path).chain(&self.title).cloned().collect()
    }
}

fn push<'a>(passage: &'a Passage, candidates: &mut Vec<Candidate<'a>>) {
    let title = content_stems(&passage.title);
    let section: Vec<Label> =
        passage.section.split(SEPARATOR).filter(|s| !s.trim().is_empty()).map(Label::new).collect();
    // A page's first heading repeats its title.
    let section: Vec<Label> = section.into_iter().skip_while(|label| label.stems.is_subset(&title)).collect();
    let mut before: Vec<Stems> = Vec::new();
    let mut record = Record::default();
    let mut dated: Vec<u32> = Vec::new();
    for statement in statements(&passage.text) {
        let mut candidate = candidate(passage, &title, &section, &statement, &before);
        if candidate.value.is_empty() || candidate.value.ends_with('?') || is_date(&candidate) {
            continue;
        }
        if candidate.is_prose {
            candidate.years_around.extend(&dated);
            if !candidate.years.is_empty() {
                dated.clone_from(&candidate.years);
            }
            before.push(candidate.said.clone());
        } else {
            before.clear();
            candidate.aliases = record.read(&statement, &candidate.value);
        }
        candidates.push(candidate);
    }
}

/// Whether a sentence is nothing but a date.
fn is_date(candidate: &Candidate) -> bool {
    let figures = figures::find(&candidate.value);
    let stems = figures::stems_beside(&candidate.value, &figures);
    candidate.is_prose
        && candidate.path.len() < 2
        && !figures.is_empty()
        && stems.is_empty()
        && !candidate.years.is_empty()
}

/// The record that is being read: fields with the same labels above them.
#[derive(Default)]
struct Record {
    above: Vec<String>,
    fields: usize,
    aliases: Vec<Label>,
}

/// How many fields at the beginning of a record may name it.
const NAMING_FIELDS: usize = 2;
/// The longest name, in words.
const LONGEST_NAME: usize = 5;

impl Record {
    /// The names of the record so far, after one more field.
    fn read(&mut self, statement: &Statement, value: &str) -> Vec<Label> {
        let above = statement.labels.split_last().map(|(_, above)| above.to_vec()).unwrap_or_default();
        if above != self.above {
            *self = Record { above, ..Record::default() };
        }
        self.fields += 1;
        let is_short = value.split(' ').count() <= LONGEST_NAME && value.starts_with(char::is_uppercase);
        if self.fields <= NAMING_FIELDS && is_short && figures::find(value).is_empty() {
            self.aliases.push(Label::new(value));
        }
        self.aliases.clone()
    }
}

/// The part of a title before ` - `, ` | ` or ` — `: "Uruguay - World Factbook" is about Uruguay.
fn own_name(title: &str) -> &str {
    let end = [" - ", " | ", " — ", " – "].iter().filter_map(|dash| title.find(dash)).min();
    title.get(..end.unwrap_or(title.len())).unwrap_or(title).trim()
}

fn candidate<'a>(
    passage: &'a Passage,
    title: &Stems,
    section: &[Label],
    statement: &Statement,
    before: &[Stems],
) -> Candidate<'a> {
    let text = passage.text.get(statement.value.clone()).unwrap_or("");
    let value = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_sentence = value.ends_with(['.', '!', '?', '。']) && value.split(' ').count() >= 6;
    let is_bare = statement.labels.is_empty() && !is_sentence && is_value(&value) && !section.is_empty();
    let labels = statement.labels.iter().map(|l| Label::new(l));
    let mut path: Vec<Label> = section.iter().cloned().chain(labels).collect();
    let section_len = drop_repeats(&mut path, section.len());
    let years = figures::find(&statement.line(&passage.text))
        .iter()
        .filter_map(figures::Figure::year)
        .collect::<Vec<_>>();
    Candidate {
        passage,
        title: title.clone(),
        name: own_name(&passage.title),
        said: content_stems(&value),
        before: before.iter().rev().take(2).flatten().cloned().collect(),
        year: years.iter().max().copied().or_else(|| latest_year(&passage.section)),
        years,
        years_around: years_around(passage),
        is_prose: (statement.labels.is_empty() || is_sentence) && !is_bare,
        aliases: Vec::new(),
        abbreviations: Vec::new(),
        full_names: Vec::new(),
        own_labels: if is_bare {
            path.len().min(HEADINGS_OF_A_VALUE)
        } else {
            path.len().saturating_sub(section_len)
        },
        path,
        value,
    }
}

/// The years of a passage's title, headings and date.
fn years_around(passage: &Passage) -> Vec<u32> {
    let texts = [Some(passage.title.as_str()), Some(&passage.section), passage.date.as_deref()];
    let figures = texts.into_iter().flatten().flat_map(figures::find);
    figures.filter_map(|figure| figure.year()).collect()
}

/// The headings next above a bare value are what it is the value of: so many of them.
const HEADINGS_OF_A_VALUE: usize = 2;

/// Whether a text is a value rather than something said: a page may have a heading for each figure of a record.
fn is_value(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || "$€£-+<>~".contains(c));
    begins && !text.ends_with(['.', '!', '?', '。']) && text.split(' ').count() <= 12
}

impl Label {
    /// A label from its text.
    pub fn new(text: &str) -> Label {
        let (before, inside) = text.split_once('(').unwrap_or((text, ""));
        let (inside, after) = inside.split_once(')').unwrap_or((inside, ""));
        let (stems, aside) = (content_stems(&format!("{before} {after}")), content_stems(inside));
        let text = text.trim().to_owned();
        if stems.is_empty() {
            Label { text, stems: aside, aside: stems }
        } else {
            Label { text, stems, aside }
        }
    }
}

/// Leaves out a label that the next one repeats (`Exports › Exports 2024`); gives how many of the first `section` ones
/// are left.
fn drop_repeats(path: &mut Vec<Label>, mut section: usize) -> usize {
    let mut i = 1;
    while i < path.len() {
        if path[i].text.starts_with(&path[i - 1].text) {
            path.remove(i - 1);
            section -= usize::from(i <= section);
        } else {
            i += 1;
        }
    }
    section
}
