//! `robots.txt`: what a site asks of programs that read it.

mod rules;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use http::header;
use tokio::time::Instant;
use url::Url;

use super::fetch::{Answer, Asker, TimeLeft, failure};

pub use rules::Rules;

/// The name by which sites address us.
pub const NAME: &str = "deepgraph";
/// Most bytes that are read of it: what RFC 9309 asks for.
const MOST_BYTES: usize = 500 * 1024;
/// Redirects that are followed to it (RFC 9309, section 2.3.1.2).
const MOST_REDIRECTS: usize = 5;
/// How long it is kept.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// How long it is remembered that it could not be had.
const KEPT_FAILURE: Duration = Duration::from_secs(30);
/// Longest pause between two requests that a site may ask for.
const LONGEST_DELAY: Duration = Duration::from_secs(10);
/// Sites that are remembered.
const MOST_SITES: usize = 512;

/// What sites ask for, by scheme, host and port.
#[derive(Debug, Default)]
pub struct Robots {
    sites: Mutex<BTreeMap<String, (Instant, Known)>>,
}

/// What is known of a site.
#[derive(Clone, Debug)]
enum Known {
    Rules(Arc<Rules>),
    /// It could not be had: the site is to be left alone meanwhile (RFC 9309, section 2.3.1.4).
    Unreachable(StepError),
}

impl Robots {
    /// Whether a URL may be asked, and the pause that the site asks for. Who calls it has the turn at the host.
    ///
    /// # Errors
    ///
    /// `refused` where the site does not want it; `unavailable` where the site can not tell now.
    pub async fn allow(
        &self,
        asker: &Asker,
        url: &Url,
        time: &mut TimeLeft,
    ) -> Result<Option<Duration>, StepError> {
        let site = url.origin().ascii_serialization();
        let known = match self.known(&site) {
            Some(known) => known,
            None => {
                let known = fetch(asker, url, time).await;
                // Where nothing was sent the next page may find out at once; a site that hangs is left alone for a while.
                if !matches!(&known, Known::Unreachable(error) if error.unsent) {
                    self.keep(site, known.clone());
                }
                known
            }
        };
        let rules = match known {
            Known::Rules(rules) => rules,
            Known::Unreachable(error) => return Err(error),
        };
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        if !rules.allow(&format!("{}{query}", url.path())) {
            let what = "is closed to programs by the site's robots.txt: use another source";
            return Err(failure(ErrorKind::Refused, url, what));
        }
        Ok(rules.delay().map(|delay| delay.min(LONGEST_DELAY)))
    }

    /// Whether nothing has to be asked to tell.
    pub fn knows(&self, url: &Url) -> bool {
        self.known(&url.origin().ascii_serialization()).is_some()
    }

    fn known(&self, site: &str) -> Option<Known> {
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, known) = sites.get(site)?;
        (*until > Instant::now()).then(|| known.clone())
    }

    fn keep(&self, site: String, known: Known) {
        let kept = match &known {
            Known::Rules(_) => KEPT,
            Known::Unreachable(_) => KEPT_FAILURE,
        };
        let now = Instant::now();
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if sites.len() >= MOST_SITES {
            sites.retain(|_, (until, _)| *until > now);
        }
        if sites.len() >= MOST_SITES {
            sites.pop_first();
        }
        sites.insert(site, (now + kept, known));
    }
}

/// Reads what a site asks for. One that has no such file asks for nothing.
async fn fetch(asker: &Asker, url: &Url, time: &mut TimeLeft) -> Known {
    let Ok(mut at) = url.join("/robots.txt") else { return Known::Rules(Arc::default()) };
    at.set_query(None);
    at.set_fragment(None);
    for _ in 0..=MOST_REDIRECTS {
        let answer = match asker.ask_plainly(&at, MOST_BYTES, time).await {
            Ok(answer) => answer,
            // Where a redirect leads to what may not be asked, there is no such file.
            Err(error) if error.kind == ErrorKind::Refused && at.origin() != url.origin() => break,
            Err(error) => return Known::Unreachable(error),
        };
        if let Some(next) = goal(&answer, &at) {
            at = next;
            continue;
        }
        return match answer.status.as_u16() {
            200..=299 => {
                Known::Rules(Arc::new(Rules::read(&String::from_utf8_lossy(&answer.body.bytes), NAME)))
            }
            429 | 500..=599 => {
                let what = format!(
                    "can not be read now: the site's robots.txt answers with HTTP {}",
                    answer.status.as_u16()
                );
                Known::Unreachable(failure(ErrorKind::Unavailable, url, &what))
            }
            _ => break,
        };
    }
    Known::Rules(Arc::default())
}

fn goal(answer: &Answer, at: &Url) -> Option<Url> {
    let location = answer.headers.get(header::LOCATION).filter(|_| answer.status.is_redirection())?;
    at.join(&String::from_utf8_lossy(location.as_bytes())).ok()
}
