//! Where a sentence stands in the sources that it cites.

use std::ops::Range;
use std::rc::Rc;

use deepgraph_protocol::Source;

use crate::text::figures::{self, Figure, spelled, stems_beside};
use crate::text::statements::statements;
use crate::text::words::{Stems, content_stems, content_words, stem, words};

/// Share of a sentence's words that a source must hold when there is no figure to go by.
const ENOUGH_WORDS: f64 = 0.4;

/// Words before a figure that say it was rounded.
const ROUNDED: &[&str] = &[
    "about",
    "almost",
    "approximately",
    "around",
    "ca",
    "circa",
    "nearly",
    "over",
    "roughly",
    "some",
    "than",
    "under",
    "~",
];

/// A place of a source that bears a sentence out.
#[derive(Clone, Debug)]
pub(super) struct Evidence<'s> {
    /// The source.
    pub source: &'s Source,
    /// The statement in its text.
    pub range: Range<usize>,
}

/// The sentence that is checked.
struct Claim {
    /// On one line.
    words: String,
    stems: Stems,
    figures: Vec<Figure>,
    /// Which of them are said to be rounded.
    rounded: Vec<bool>,
    /// Names in it, as stems.
    names: Stems,
    /// Its first word, if it is capitalised like a name.
    first: Option<String>,
    /// Words of what stands above and before it in a table: they tell equal figures apart.
    heads: Stems,
}

/// A statement of a source.
struct Place<'s> {
    source: &'s Source,
    range: Range<usize>,
    figures: Vec<Figure>,
    stems: Stems,
    /// Words of the title and the headings above it.
    context: Rc<Stems>,
    /// Its value on one line.
    words: String,
}

/// The places that bear a sentence out, in the order of its sources; or the reason why it is not borne out. `heads` is
/// what stands above and before it, if it is the cell of a table.
pub(super) fn evidence<'s>(
    sentence: &str,
    heads: &str,
    cited: &[&'s Source],
) -> Result<Vec<Evidence<'s>>, String> {
    let claim = Claim::new(sentence, heads);
    let places: Vec<Place<'s>> = cited.iter().flat_map(|source| places(source)).collect();
    claim.check_names(cited)?;
    let chosen = if claim.figures.is_empty() {
        claim.by_words(&places, cited)?
    } else {
        claim.by_figures(&places, cited)?
    };
    let found = chosen.into_iter().filter_map(|i| places.get(i));
    Ok(found.map(|place| Evidence { source: place.source, range: place.range.clone() }).collect())
}

fn places(source: &Source) -> impl Iterator<Item = Place<'_>> {
    let mut last: Option<Range<usize>> = None;
    let context = Rc::new(context(source));
    statements(&source.text).into_iter().filter_map(move |statement| {
        // The cells of a row are one place.
        if last.as_ref() == Some(&statement.range) {
            return None;
        }
        last = Some(statement.range.clone());
        let text = source.text.get(statement.range.clone())?;
        let mut figures = figures::find(text);
        let stems = stems_beside(text, &figures)
            .into_iter()
            .chain(statement.labels.iter().flat_map(|l| content_stems(l)));
        let stems = stems.collect();
        figures.extend(spelled(text));
        let words = one_line(source.text.get(statement.value)?);
        Some(Place { source, range: statement.range, figures, stems, context: context.clone(), words })
    })
}

impl Claim {
    fn new(sentence: &str, heads: &str) -> Claim {
        let figures = figures::find(sentence);
        let rounded = figures.iter().map(|figure| is_rounded(&sentence[..figure.at])).collect();
        let is_capital = |w: &str| w.starts_with(char::is_uppercase);
        let capitals: Vec<_> = content_words(sentence).filter(|(_, w)| is_capital(w)).collect();
        let start = words(sentence).next().map(|(at, _)| at);
        let (first, names): (Vec<_>, Vec<_>) = capitals.into_iter().partition(|(at, _)| Some(*at) == start);
        let first = first.first().map(|(_, word)| stem(word));
        let names = names.into_iter().map(|(_, word)| stem(word)).collect();
        Claim {
            words: one_line(sentence),
            stems: stems_beside(sentence, &figures),
            figures,
            rounded,
            names,
            first,
            heads: content_stems(heads),
        }
    }

    /// A sentence in which not one name is known to its sources speaks of something else.
    fn check_names(&self, cited: &[&Source]) -> Result<(), String> {
        let all: Stems = cited
            .iter()
            .flat_map(|source| context(source).into_iter().chain(content_stems(&source.text)))
            .collect();
        let is_known = |name: &String| all.contains(name);
        let first_is_known = self.first.as_ref().is_none_or(is_known);
        let names_are_strange = !self.names.is_empty() && !self.names.iter().any(is_known);
        let mostly_known = self.stems.iter().filter(|s| is_known(s)).count() * 2 > self.stems.len();
        let strange = if names_are_strange && (self.first.is_none() || !first_is_known) {
            self.names.first()
        } else if !first_is_known && !mostly_known {
            self.first.as_ref()
        } else {
            None
        };
        strange.map_or(Ok(()), |name| Err(format!("the cited source does not speak of \"{name}\"")))
    }

    /// For a sentence with figures: places until each figure stands in one.
    fn by_figures(&self, places: &[Place], cited: &[&Source]) -> Result<Vec<usize>, String> {
        let mut open: Vec<usize> = (0..self.figures.len()).collect();
        let mut chosen: Vec<usize> = Vec::new();
        loop {
            let rank = |place: &Place| {
                let borne_out = open.iter().filter(|f| self.stands(**f, &place.figures)).count();
                (borne_out, self.common(place), self.heads.intersection(&place.stems).count())
            };
            let best =
                places.iter().enumerate().map(|(i, place)| (rank(place), i)).filter(|((n, _, _), _)| *n > 0);
            // The first of equal ones.
            let Some((_, i)) = best.max_by_key(|(rank, i)| (*rank, std::cmp::Reverse(*i))) else { break };
            open.retain(|f| !self.stands(*f, &places[i].figures));
            chosen.push(i);
        }
        let beside: Vec<Figure> = cited.iter().flat_map(|source| figures_beside(source)).collect();
        open.retain(|f| !self.stands(*f, &beside));
        if let Some(f) = open.first() {
            return Err(format!(
                "the cited source does not hold the figure {}",
                self.figures[*f].canonical()
            ));
        }
        if chosen.is_empty() {
            return self.by_words(places, cited);
        }
        if !self.stems.is_empty() && chosen.iter().all(|i| self.common_in_context(&places[*i]) == 0) {
            return Err("the figure stands in the cited source, but for something else".to_owned());
        }
        self.add_other_sources(places, cited, &mut chosen);
        chosen.sort_unstable();
        Ok(chosen)
    }

    /// A source that is cited beside the one with the figure stays if one of its statements fits by its words.
    fn add_other_sources(&self, places: &[Place], cited: &[&Source], chosen: &mut Vec<usize>) {
        for source in cited {
            if chosen.iter().any(|i| places[*i].source.id == source.id) {
                continue;
            }
            let own = places.iter().enumerate().filter(|(_, p)| p.source.id == source.id);
            let best = own.max_by_key(|(i, p)| (self.common(p), std::cmp::Reverse(*i)));
            chosen.extend(best.filter(|(_, p)| self.common(p) >= 2).map(|(i, _)| i));
        }
    }

    /// For a sentence without figures: of each source the statement with most of its words, if they are enough.
    fn by_words(&self, places: &[Place], cited: &[&Source]) -> Result<Vec<usize>, String> {
        let needed = (self.stems.len() as f64 * ENOUGH_WORDS).ceil() as usize;
        let mut chosen = Vec::new();
        for source in cited {
            let own = places.iter().enumerate().filter(|(_, p)| p.source.id == source.id);
            let best = own.max_by_key(|(i, p)| (self.common(p), std::cmp::Reverse(*i)));
            let Some((i, place)) = best else { continue };
            let all = content_stems(&source.text)
                .union(&context(source))
                .filter(|s| self.stems.contains(*s))
                .count();
            if self.common_in_context(place) > 0 && (self.common_in_context(place) >= needed || all > needed)
            {
                chosen.push(i);
            }
        }
        if chosen.is_empty() { Err("the cited source does not say this".to_owned()) } else { Ok(chosen) }
    }

    fn stands(&self, figure: usize, among: &[Figure]) -> bool {
        let (Some(mine), rounded) = (self.figures.get(figure), self.rounded.get(figure) == Some(&true))
        else {
            return false;
        };
        among.iter().any(|f| mine.is_borne_out_by(f) || (rounded && mine.is_rounded_from(f)))
    }

    /// Words in common with the statement itself; those that its title and headings hold anyway do not count.
    fn common(&self, place: &Place) -> usize {
        let own = self.stems.intersection(&place.stems).filter(|stem| !place.context.contains(*stem)).count();
        let is_quoted = !place.words.is_empty() && self.words.contains(&place.words);
        if is_quoted { self.stems.len() + own } else { own }
    }

    /// Words in common with the statement, its headings and its title.
    fn common_in_context(&self, place: &Place) -> usize {
        self.stems.iter().filter(|s| place.stems.contains(*s) || place.context.contains(*s)).count()
    }
}

/// Words of title, headings and path.
fn context(source: &Source) -> Stems {
    let texts = [&source.title, &source.section, &source.document];
    texts.into_iter().flat_map(|text| content_stems(text)).collect()
}

/// Figures that stand above a passage: in its title, headings and date.
fn figures_beside(source: &Source) -> Vec<Figure> {
    let texts = [source.title.as_str(), source.section.as_str(), source.date.as_deref().unwrap_or("")];
    texts.into_iter().flat_map(figures::find).collect()
}

/// Whether the text before a figure says that it was rounded.
fn is_rounded(before: &str) -> bool {
    let last = before.trim_end().trim_end_matches(['$', '€', '£']).trim_end();
    last.ends_with('~')
        || last.ends_with('≈')
        || words(last).last().is_some_and(|(_, word)| ROUNDED.contains(&word.to_lowercase().as_str()))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
