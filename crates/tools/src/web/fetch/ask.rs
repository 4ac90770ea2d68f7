//! One request and its answer, within bounds of time and size.

use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio::time::{Instant, timeout};
use url::Url;

use super::super::guard::{Guard, Trust};
use super::client::Clients;
use super::failure::{failure, of_request};
use super::packed::{self, ACCEPTED, Unpacked};

/// What we can read, best first.
const ACCEPT: &str =
    "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,application/json;q=0.8,*/*;q=0.1";
/// Most bytes of the body of an answer that is an error.
const MOST_OF_ERROR: usize = 64 * 1024;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, unpacked.
    pub body: Unpacked,
}

/// Time that is left for a page. Only what goes over the network is counted.
#[derive(Clone, Copy, Debug)]
pub struct TimeLeft {
    whole: Duration,
    left: Duration,
}

impl TimeLeft {
    /// All of it.
    pub fn new(whole: Duration) -> TimeLeft {
        TimeLeft { whole, left: whole }
    }
}

/// The headers of every request.
pub fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPT));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
    headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("en;q=0.9, *;q=0.5"));
    headers
}

/// Asks for URLs that may be asked.
pub struct Asker {
    clients: Clients,
    guard: Guard,
}

/// Shown the headers of an answer of status 2xx before its body is read; it may refuse it.
pub type Wanted<'w> = &'w (dyn Fn(&HeaderMap) -> Result<(), StepError> + Sync);

impl Asker {
    /// With clients that look names up through the same guard.
    pub fn new(clients: Clients, guard: Guard) -> Asker {
        Asker { clients, guard }
    }

    /// Asks for a URL with the headers of every request.
    pub async fn ask_plainly(
        &self,
        url: &Url,
        most: usize,
        time: &mut TimeLeft,
    ) -> Result<Answer, StepError> {
        self.ask(url, headers(), most, time, &|_| Ok(())).await
    }

    /// How a URL may be asked.
    pub fn check(&self, url: &Url) -> Result<Trust, StepError> {
        self.guard.check(url).map_err(|what| failure(ErrorKind::Refused, url, &what).unsent())
    }

    /// Asks for a URL. Redirects are not followed. No more than `most` bytes are read, and no more unpacked.
    pub async fn ask(
        &self,
        url: &Url,
        headers: HeaderMap,
        most: usize,
        time: &mut TimeLeft,
        wanted: Wanted<'_>,
    ) -> Result<Answer, StepError> {
        let client = self.clients.of(self.check(url)?, url);
        ask(client, url, headers, most, time, wanted).await
    }
}

async fn ask(
    client: &reqwest::Client,
    url: &Url,
    headers: HeaderMap,
    most: usize,
    time: &mut TimeLeft,
    wanted: Wanted<'_>,
) -> Result<Answer, StepError> {
    let begin = Instant::now();
    let work = async {
        let request = client.get(url.clone()).headers(headers);
        let mut response = request.send().await.map_err(|error| of_request(url, &error))?;
        let status = response.status();
        let headers = response.headers().clone();
        if status.is_success() {
            wanted(&headers)?;
        }
        let most = if status.is_success() { most } else { most.min(MOST_OF_ERROR) };
        let mut body = Vec::new();
        let mut cut = false;
        // What a redirect says besides its goal is not read.
        while !cut
            && !status.is_redirection()
            && let Some(chunk) = response.chunk().await.map_err(|error| of_request(url, &error))?
        {
            cut = body.len() + chunk.len() > most;
            let fits = chunk.len().min(most - body.len());
            body.extend_from_slice(chunk.get(..fits).unwrap_or_default());
        }
        Ok::<_, StepError>((status, headers, body, cut))
    };
    let outcome = timeout(time.left, work).await;
    time.left = time.left.saturating_sub(begin.elapsed());
    let (status, headers, body, cut) = match outcome {
        Ok(outcome) => outcome?,
        Err(_) => {
            let what = format!("was not there within {} seconds", time.whole.as_secs());
            return Err(failure(ErrorKind::Network, url, &what));
        }
    };
    let encodings = list(&headers, &header::CONTENT_ENCODING);
    let unpacked = tokio::task::spawn_blocking(move || packed::unpack(body, &encodings, cut, most))
        .await
        .map_err(|error| failure(ErrorKind::Tool, url, &format!("could not be unpacked: {error}")))?;
    let body = match unpacked {
        Ok(body) => body,
        // An error is told by its status.
        Err(_) if !status.is_success() => Unpacked::default(),
        Err(what) => return Err(failure(ErrorKind::InvalidRequest, url, &what)),
    };
    Ok(Answer { status, headers, body })
}

/// The values of a header that may be there more than once.
fn list(headers: &HeaderMap, name: &header::HeaderName) -> String {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",")
}
