//! The web behind search engines and sites.

use async_trait::async_trait;
use deepgraph_protocol::{Fee, StepError};
use deepgraph_tools::web::{SearchQuery, Web, WebPage};

use super::{PageRead, WebHits, WebQuery, WebSource};

#[async_trait]
impl WebSource for Web {
    async fn search(&self, query: &WebQuery) -> Result<WebHits, StepError> {
        let answer = Web::search(self, &asked(query)).await?;
        let failed =
            answer.failed.iter().map(|failed| format!("{}: {}", failed.engine, failed.error.message));
        let notes = answer.notes.iter().cloned().chain(failed).collect();
        Ok(WebHits { hits: answer.hits, notes, fee: answer.fee })
    }

    async fn read(
        &self,
        url: &str,
        query: Option<&str>,
        from: usize,
        most_bytes: usize,
    ) -> Result<PageRead, StepError> {
        let page = Web::read(self, url, query, from, most_bytes).await?;
        let WebPage { url, title, passages, total_passages, next, links, notes, .. } = page;
        let links = links.into_iter().map(|link| (link.url, link.text)).collect();
        Ok(PageRead { url, title, passages, total_passages, next, links, notes })
    }

    fn fee(&self, query: &WebQuery) -> Option<Fee> {
        Some(self.engines().fee(&asked(query))).filter(|fee| !fee.is_none())
    }
}

fn asked(query: &WebQuery) -> SearchQuery {
    let query = query.clone();
    SearchQuery {
        text: query.text,
        limit: query.limit,
        from: query.from_date,
        to: query.to_date,
        language: query.language,
        include_sites: query.sites,
        exclude_sites: query.exclude_sites,
        ..SearchQuery::default()
    }
}
