//! What is searched for, and what is asked of the engines for it.

use deepgraph_protocol::{ErrorKind, StepError};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::settings::SearchSettings;
use super::text::cut_at_word;
use super::{dates, sites};

/// The most characters of a query; a longer one is cut.
const MOST_CHARS: usize = 1_000;
/// The most hits of a search.
const MOST_HITS: usize = 50;
/// Hits where the query does not say how many.
const USUAL_HITS: usize = 10;
/// The most sites that a query can name, each way.
const MOST_SITES: usize = 50;

/// What is searched for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchQuery {
    /// The words, as a person would type them.
    pub text: String,
    /// The most hits that are wanted; 0: 10. No more than 50 are given.
    pub limit: usize,
    /// Only what was published on this day or later: `YYYY-MM-DD`.
    pub from: Option<String>,
    /// Only what was published on this day or before: `YYYY-MM-DD`.
    pub to: Option<String>,
    /// Only what was published within so long before now; not beside `from` and `to`.
    pub within: Option<TimeRange>,
    /// The language: its code, with or without a country: `en`, `pt-br`.
    pub language: Option<String>,
    /// Only pages of these sites: hosts, with all below them.
    pub include_sites: Vec<String>,
    /// No pages of these sites.
    pub exclude_sites: Vec<String>,
}

/// A time until now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeRange {
    /// The last day.
    Day,
    /// The last seven days.
    Week,
    /// The last 31 days.
    Month,
    /// The last 366 days.
    Year,
}

impl TimeRange {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TimeRange::Day => "day",
            TimeRange::Week => "week",
            TimeRange::Month => "month",
            TimeRange::Year => "year",
        }
    }

    fn days(self) -> i64 {
        match self {
            TimeRange::Day => 1,
            TimeRange::Week => 7,
            TimeRange::Month => 31,
            TimeRange::Year => 366,
        }
    }
}

/// A query that was checked, in the form in which engines are asked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) text: String,
    /// How many hits are wanted of the search as a whole.
    pub(super) limit: usize,
    /// How many results this engine is asked for.
    pub(super) count: usize,
    /// Bounds of the dates, those of `within` included.
    pub(super) from: Option<Date>,
    pub(super) to: Option<Date>,
    pub(super) within: Option<TimeRange>,
    /// In lower case.
    pub(super) language: Option<String>,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) today: Date,
}

impl Asked {
    /// The query, checked; and whether it was cut.
    ///
    /// # Errors
    ///
    /// `invalid_input`: what of the query can not be asked, and what would do.
    pub(super) fn of(
        query: &SearchQuery,
        settings: &SearchSettings,
        today: Date,
    ) -> Result<(Asked, bool), StepError> {
        let text = normal(&query.text);
        if !text.chars().any(char::is_alphanumeric) {
            return Err(invalid("the query is empty: give words to search for"));
        }
        let (text, is_cut) = cut_at_word(&text, MOST_CHARS);
        let has_range = query.from.is_some() || query.to.is_some();
        if query.within.is_some() && has_range {
            return Err(invalid("`within` stands beside `from` or `to`: give one of them"));
        }
        let from = match query.within {
            Some(within) => dates::before(today, within.days()),
            None => date(query.from.as_deref(), "from")?,
        };
        let to = date(query.to.as_deref(), "to")?;
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            return Err(invalid(format!("`from` ({from}) is after `to` ({to})")));
        }
        let include =
            if query.include_sites.is_empty() { &settings.include_sites } else { &query.include_sites };
        let mut exclude = hosts(&query.exclude_sites)?;
        exclude.extend(hosts(&settings.exclude_sites)?);
        let asked = Asked {
            text,
            limit: if query.limit == 0 { USUAL_HITS } else { query.limit.min(MOST_HITS) },
            count: 0,
            from,
            to,
            within: query.within,
            language: language(query.language.as_deref().or(settings.language.as_deref()))?,
            include: sorted(hosts(include)?),
            exclude: sorted(exclude),
            today,
        };
        Ok((asked, is_cut))
    }

    /// What makes two queries the same for an engine: the words but for case, and all filters.
    pub(super) fn key(&self) -> String {
        let range = match self.within {
            Some(within) => format!("within {}", within.name()),
            None => format!("{:?} to {:?}", self.from, self.to),
        };
        let (language, include, exclude) = (&self.language, &self.include, &self.exclude);
        let words = self.text.to_lowercase();
        format!("{words}\n{} {range} {language:?} {include:?} {exclude:?}", self.count)
    }

    pub(super) fn has_dates(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// The language without a country; none where none is asked for.
    pub(super) fn plain_language(&self) -> Option<&str> {
        self.language.as_deref().and_then(|language| language.split('-').next())
    }

    /// The words with the operators of web engines for the sites that are wanted and those that are not, as far as no
    /// more than `most` characters come of it.
    pub(super) fn with_site_operators(&self, most: usize) -> String {
        let mut text = self.text.clone();
        if !self.include.is_empty() {
            let sites: Vec<String> = self.include.iter().map(|site| format!("site:{site}")).collect();
            push_if_fits(&mut text, &sites.join(" OR "), most);
        }
        for site in &self.exclude {
            push_if_fits(&mut text, &format!("-site:{site}"), most);
        }
        text
    }
}

fn push_if_fits(text: &mut String, operator: &str, most: usize) {
    if text.chars().count() + 1 + operator.chars().count() <= most {
        text.push(' ');
        text.push_str(operator);
    }
}

/// A text as it is sent: Unicode NFKC, one space between words, straight quotes, no characters that can not be seen.
pub(super) fn normal(text: &str) -> String {
    let plain = |c: char| match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => Some('\''),
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '«' | '»' => Some('"'),
        // Zero width, direction marks, byte order mark, soft hyphen.
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}'
        | '\u{ad}' => None,
        c if c.is_control() => Some(' '),
        c => Some(c),
    };
    // Quotes first: some are taken apart by NFKC.
    let text: String = text.chars().filter_map(plain).nfkc().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn date(text: Option<&str>, name: &str) -> Result<Option<Date>, StepError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let is_written_so = text.len() == 10;
    match text.parse::<Date>() {
        Ok(date) if is_written_so => Ok(Some(date)),
        _ => Err(invalid(format!("`{name}` is \"{text}\": it must be a date such as 2024-05-31"))),
    }
}

/// The code of a language in lower case. "" and `all` are none.
fn language(code: Option<&str>) -> Result<Option<String>, StepError> {
    let Some(code) = code.map(|code| code.trim().to_lowercase().replace('_', "-")) else { return Ok(None) };
    if code.is_empty() || code == "all" {
        return Ok(None);
    }
    let mut parts = code.split('-');
    let is_word = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric());
    let first = parts.next().unwrap_or_default();
    let is_first = matches!(first.len(), 2 | 3) && first.bytes().all(|b| b.is_ascii_lowercase());
    if is_first && parts.all(|part| (2..=8).contains(&part.len()) && is_word(part)) {
        return Ok(Some(code));
    }
    Err(invalid(format!("the language \"{code}\" is no code of one, such as `en` or `pt-br`")))
}

fn hosts(names: &[String]) -> Result<Vec<String>, StepError> {
    if names.len() > MOST_SITES {
        return Err(invalid(format!("{} sites are named: at most {MOST_SITES} can be", names.len())));
    }
    let host = |name: &String| {
        sites::read(name)
            .ok_or_else(|| invalid(format!("the site \"{name}\" is no host, such as `example.com`")))
    };
    names.iter().map(host).collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

fn invalid(message: impl Into<String>) -> StepError {
    StepError::new(ErrorKind::InvalidInput, message).unsent()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: SearchQuery) -> Result<Asked, String> {
        let today = "2024-06-01".parse().unwrap();
        Asked::of(&query, &SearchSettings::default(), today)
            .map(|(asked, _)| asked)
            .map_err(|e| e.to_string())
    }

    fn words(text: &str) -> SearchQuery {
        SearchQuery { text: text.into(), ..SearchQuery::default() }
    }

    #[test]
    fn queries_that_read_the_same_are_the_same() {
        let key = asked(words("Tidal  \"energy\" cafés")).unwrap().key();
        for same in [
            "tidal \u{201c}energy\u{201d} cafés",
            " tidal\n\"ENERGY\"\tcafe\u{301}s ",
            "ｔidal «energy» ca\u{200b}fés",
        ] {
            assert_eq!(asked(words(same)).unwrap().key(), key, "{same}");
        }
        for other in ["energy tidal cafés", "tidal energy cafés"] {
            assert_ne!(asked(words(other)).unwrap().key(), key, "{other}");
        }
        let filtered = SearchQuery { language: Some("de".into()), ..words("Tidal \"energy\" cafés") };
        assert_ne!(asked(filtered).unwrap().key(), key);
        assert_eq!(asked(words("Tidal")).unwrap().text, "Tidal", "it is sent as it was written");
    }

    #[test]
    fn what_can_not_be_asked_is_told() {
        let with = |change: fn(&mut SearchQuery)| {
            let mut query = words("tides");
            change(&mut query);
            asked(query).unwrap_err()
        };
        for (error, told) in [
            (asked(words(" \u{200b} ?!\n")).unwrap_err(), "the query is empty"),
            (with(|q| q.from = Some("31.05.2024".into())), "`from` is \"31.05.2024\""),
            (with(|q| q.to = Some("2024-02-30".into())), "`to` is"),
            (with(|q| (q.from, q.to) = (Some("2024-02-02".into()), Some("2024-02-01".into()))), "is after"),
            (with(|q| (q.from, q.within) = (Some("2024-02-02".into()), Some(TimeRange::Day))), "`within`"),
            (with(|q| q.language = Some("english please".into())), "the language"),
            (with(|q| q.include_sites = vec!["not a host".into()]), "the site \"not a host\""),
            (with(|q| q.exclude_sites = vec!["a.example".into(); 51]), "51 sites"),
        ] {
            assert!(error.starts_with("invalid_input") && error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_huge_query_is_cut_at_a_word() {
        let query = words(&"tide ".repeat(100_000));
        let (asked, is_cut) =
            Asked::of(&query, &SearchSettings::default(), "2024-06-01".parse().unwrap()).unwrap();
        assert!(is_cut && asked.text.ends_with("tide") && asked.text.chars().count() <= MOST_CHARS);
    }

    #[test]
    fn a_time_until_now_is_a_range_of_days() {
        let asked = asked(SearchQuery { within: Some(TimeRange::Week), ..words("tides") }).unwrap();
        assert_eq!((asked.from, asked.to), (Some("2024-05-25".parse().unwrap()), None));
    }

    #[test]
    fn operators_for_sites_are_added_as_far_as_they_fit() {
        let query = SearchQuery {
            include_sites: vec!["b.example".into(), "www.a.example".into()],
            exclude_sites: vec!["c.example".into()],
            ..words("tides")
        };
        let asked = asked(query).unwrap();
        let all = "tides site:a.example OR site:b.example -site:c.example";
        assert_eq!(asked.with_site_operators(400), all);
        assert_eq!(asked.with_site_operators(all.len() - 1), "tides site:a.example OR site:b.example");
        assert_eq!(asked.with_site_operators(10), "tides");
    }
}
