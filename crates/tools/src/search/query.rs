//! A query: the words to look for, and how much each tells.

use rusqlite::Connection;

#[cfg(feature = "web")]
use crate::index::Row;

use super::words::{beginning, for_each_word, is_stop_word, stem};

/// Most words of a query that are looked for. The rest of a longer one is left out.
const MOST_TERMS: usize = 32;

/// A word to look for.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    word: String,
    stem: String,
    beginning: [u8; 2],
    /// How much it tells: the rarer in the corpus, the more.
    weight: f64,
    /// How much it tells as a word of a title: a name that many texts mention is the title of few.
    title_weight: f64,
}

/// The words of a query, most once.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    terms: Vec<Term>,
}

/// Which words of a query stand in a text. A bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// A bit for each term that stands in the text.
    pub terms: u64,
    /// Whether the text has words of its own and all of them are terms.
    pub is_exact: bool,
}

impl Query {
    /// Reads free text. None where no word is in it. Nothing in it has a special meaning.
    pub fn new(text: &str, connection: &Connection) -> rusqlite::Result<Option<Query>> {
        let mut query = Query::unweighed(text);
        query.weigh(connection)?;
        Ok((!query.terms.is_empty()).then_some(query))
    }

    /// Reads free text to look for in the passages of one document that is in no index.
    #[cfg(feature = "web")]
    pub fn within(text: &str, rows: &[Row]) -> Option<Query> {
        let mut query = Query::unweighed(text);
        let held: Vec<(u64, u64)> = rows
            .iter()
            .map(|row| {
                let source = &row.source;
                let title = query.matches(&source.title).terms;
                let rest = query.matches(&source.section).terms | query.matches(&source.text).terms;
                (title, title | rest)
            })
            .collect();
        for (number, term) in query.terms.iter_mut().enumerate() {
            let holding = |of: &dyn Fn(&(u64, u64)) -> u64| {
                held.iter().filter(|row| of(row) & (1 << number) != 0).count()
            };
            term.weight = bm25_weight(rows.len() as f64, holding(&|row| row.1) as f64);
            term.title_weight = bm25_weight(rows.len() as f64, holding(&|row| row.0) as f64).max(term.weight);
        }
        (!query.terms.is_empty()).then_some(query)
    }

    fn unweighed(text: &str) -> Query {
        let mut words: Vec<String> = Vec::new();
        let mut stop_words: Vec<String> = Vec::new();
        for_each_word(text, |word| {
            let list = if is_stop_word(word) { &mut stop_words } else { &mut words };
            if list.len() < MOST_TERMS && !list.iter().any(|known| known == word) {
                list.push(word.into());
            }
        });
        let mut query = Query { terms: Vec::new() };
        for word in if words.is_empty() { stop_words } else { words } {
            let stem = stem(&word);
            if !query.terms.iter().any(|term| term.stem == stem) {
                query.terms.push(Term {
                    beginning: beginning(&word),
                    word,
                    stem,
                    weight: 0.0,
                    title_weight: 0.0,
                });
            }
        }
        query
    }

    /// Weighs words as BM25 does, by the passages that hold them.
    fn weigh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let all: f64 = connection.query_row("SELECT count(*) FROM passage", [], |row| row.get(0))?;
        let mut holding = connection.prepare_cached("SELECT count(*) FROM words WHERE words MATCH ?1")?;
        let mut weight = |expression: String| -> rusqlite::Result<f64> {
            let some: f64 = holding.query_row([expression], |row| row.get(0))?;
            Ok(bm25_weight(all, some))
        };
        for term in &mut self.terms {
            term.weight = weight(quoted(&term.word))?;
            term.title_weight = weight(format!("title : {}", quoted(&term.word)))?.max(term.weight);
        }
        Ok(())
    }

    /// An expression for FTS5 that any of the words satisfies.
    pub fn any(&self) -> String {
        self.joined(" OR ")
    }

    /// An expression for FTS5 that only all of the words together satisfy. None for a single word.
    pub fn all(&self) -> Option<String> {
        (self.terms.len() > 1).then(|| self.joined(" AND "))
    }

    fn joined(&self, operator: &str) -> String {
        self.terms.iter().map(|term| quoted(&term.word)).collect::<Vec<_>>().join(operator)
    }

    /// The words of the query that stand in a text.
    pub fn matches(&self, text: &str) -> Matches {
        let mut terms = 0;
        let (mut own, mut known) = (0, 0);
        for_each_word(text, |word| {
            let found = self.term(word);
            if let Some(number) = found {
                terms |= 1 << number;
                known += 1;
            }
            own += usize::from(found.is_some() || !is_stop_word(word));
        });
        Matches { terms, is_exact: own > 0 && own == known }
    }

    fn term(&self, word: &str) -> Option<usize> {
        let start = beginning(word);
        let mut stemmed = None;
        self.terms.iter().position(|term| {
            term.beginning == start
                && (term.word == word || term.stem == *stemmed.get_or_insert_with(|| stem(word)))
        })
    }

    /// The sum of the weights of terms.
    pub fn weight(&self, terms: u64) -> f64 {
        self.chosen(terms).map(|term| term.weight).sum()
    }

    /// The sum of the weights of terms that stand in a title.
    pub fn title_weight(&self, terms: u64) -> f64 {
        self.chosen(terms).map(|term| term.title_weight).sum()
    }

    fn chosen(&self, terms: u64) -> impl Iterator<Item = &Term> {
        self.terms
            .iter()
            .enumerate()
            .filter(move |(number, _)| terms & (1 << number) != 0)
            .map(|(_, term)| term)
    }
}

/// What a word tells where `some` of `all` passages hold it: ln(1 + (N - n + 0.5) / (n + 0.5)) (Robertson and Zaragoza,
/// "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
fn bm25_weight(all: f64, some: f64) -> f64 {
    (1.0 + (all - some + 0.5) / (some + 0.5)).ln()
}

/// A word as a string of FTS5's query language. Words have no quotes, but the rule is the language's.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\""))
}
