//! The op `read`: a document by name or passage, a page of the web by its URL or a passage of it.

use deepgraph_protocol::{ErrorKind, Map, Source, StepError, Value};
use deepgraph_research::canonical::canonical;
use deepgraph_research::passage::render;

use super::heads::{self, MOST_LINKS};
use super::search::no_sources;
use super::{PageRead, Sources, WebSource};
use crate::ops::beside;

/// Most bytes of passage text that one call brings back.
const MOST_BYTES: usize = 24 * 1024;

/// Reads what `source` names.
pub(crate) async fn read(sources: &Sources, input: Map) -> Result<Value, StepError> {
    let named = input.get("source").and_then(Value::as_str).map(bare).unwrap_or_default();
    if let Some(web) = &sources.web {
        if let Some(url) = url_of(&named) {
            return page(sources, web.as_ref(), &url, &input).await;
        }
        if let Some(url) = sources.page_of(named.trim_matches(['[', ']'])) {
            let mut input = input.clone();
            if let Some(number) =
                passage_number(&named).filter(|_| !is_given(&input, "query") && !is_given(&input, "from"))
            {
                input.insert("from".into(), Value::Int(number.saturating_sub(1).max(1)));
            }
            return page(sources, web.as_ref(), &url, &input).await;
        }
    }
    let Some(corpus) = sources.corpus.clone() else {
        return Err(match (&sources.web, named.is_empty()) {
            (None, _) => no_sources(),
            (Some(_), true) => invalid("the parameter \"source\" is missing".to_owned()),
            (Some(_), false) => unknown(&named),
        });
    };
    beside("reading the documents", move || deepgraph_tools::read_op(&corpus, &input)).await
}

async fn page(sources: &Sources, web: &dyn WebSource, url: &str, input: &Map) -> Result<Value, StepError> {
    let query = input.get("query").and_then(Value::as_str).filter(|query| !query.trim().is_empty());
    let from = input.get("from").and_then(Value::as_int).unwrap_or(0);
    let page = web.read(url, query, usize::try_from(from).unwrap_or(0), MOST_BYTES).await?;
    sources.note(&page.passages);
    Ok(answer(&page, query.is_some()))
}

/// `{text, document, title, sources, links}`.
fn answer(page: &PageRead, for_query: bool) -> Value {
    let mut parts = vec![
        heads::extent(page, for_query),
        heads::links(page),
        render(&page.passages.iter().collect::<Vec<_>>()),
    ];
    parts.retain(|part| !part.is_empty());
    let by_id = |source: &Source| (source.id.clone(), Value::of(source));
    let links = page.links.iter().take(MOST_LINKS).filter_map(|(url, _)| canonical(url)).map(Value::from);
    Value::record([
        ("text", Value::from(parts.join("\n"))),
        ("document", Value::from(page.url.as_str())),
        ("title", Value::from(page.title.as_str())),
        ("sources", Value::record(page.passages.iter().map(by_id))),
        ("links", links.collect()),
    ])
}

/// What a model wrote for a source without what it put around it: `<URL>`, `[text](URL)`, quotes.
fn bare(source: &str) -> String {
    let mut text = source.trim().trim_matches(['"', '\'', '`']).trim();
    if let Some(target) =
        text.strip_suffix(')').and_then(|text| text.split_once("](")).map(|(_, target)| target)
    {
        text = target.split_whitespace().next().unwrap_or("");
    }
    text.trim_start_matches('<').trim_end_matches('>').trim().to_owned()
}

/// The URL that a source is named by, whatever its scheme: what may be asked is decided by who asks.
fn url_of(named: &str) -> Option<String> {
    if named.contains("://") || has_scheme(named) {
        return Some(named.to_owned());
    }
    if let Some(rest) = named.strip_prefix("//") {
        return Some(format!("https://{rest}"));
    }
    if named.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("www.")) {
        return Some(format!("https://{named}"));
    }
    canonical(named)
}

/// Schemes that do without slashes.
fn has_scheme(named: &str) -> bool {
    let schemes = ["file:", "data:", "javascript:", "about:", "view-source:", "mailto:", "ftp:"];
    schemes
        .iter()
        .any(|scheme| named.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)))
}

fn passage_number(named: &str) -> Option<i64> {
    named.trim_matches(['[', ']']).rsplit_once('-')?.1.parse().ok()
}

fn is_given(input: &Map, name: &str) -> bool {
    input.get(name).is_some_and(|value| !value.is_null() && value.as_int() != Some(0))
}

fn invalid(message: String) -> StepError {
    StepError::new(ErrorKind::InvalidInput, message)
}

/// There are no documents, and what was asked for is no URL.
fn unknown(named: &str) -> StepError {
    let named = heads::one_line(named);
    let message = format!(
        "\"{named}\" is neither the whole URL of a page (https://...) nor the id of a passage that was read; this run has no \
         documents"
    );
    StepError::new(ErrorKind::NotFound, message)
}
