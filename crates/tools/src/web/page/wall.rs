//! Pages that are not what they were asked for: those that stand in front of a page, and those that say that there is
//! none. They are told by few words of their own together with signs in their mark-up, so a page that speaks of such
//! things passes.

use deepgraph_protocol::{ErrorKind, StepError};
use deepgraph_research::readable::{Unreadable, unreadable};
use deepgraph_research::text::words::words;
use http::HeaderMap;
use url::Url;

use crate::web::fetch::failure;

/// Words that such a page has at most: those of its notice, and of what is around it.
const MOST_WORDS: usize = 150;
/// Words that a page without content has at most.
const ALMOST_NONE: usize = 25;

/// What stands in the place of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It wants to know who we are, or to be paid.
    Login,
    /// It wants a person, not a program.
    BotCheck,
    /// It wants its terms or cookies agreed to first.
    Consent,
    /// It is put together by a script, which we do not run.
    Script,
    /// It says that there is no such page, with a status that says that there is.
    NotThere,
    /// It sells the name of the site.
    Parked,
    /// It says nothing.
    Empty,
    /// It asks for something else first.
    Notice,
}

impl Obstacle {
    /// The failure of a page at a URL.
    pub fn failure(self, url: &Url) -> StepError {
        let (kind, what) = match self {
            Obstacle::Login => (ErrorKind::Unauthorized, "is behind a login"),
            Obstacle::BotCheck => (ErrorKind::Refused, "shows a check that keeps programs out"),
            Obstacle::Consent => (ErrorKind::Refused, "wants its terms or cookies agreed to first"),
            Obstacle::Script => (ErrorKind::NotFound, "has no text without JavaScript, which is not run"),
            Obstacle::NotThere => (ErrorKind::NotFound, "says itself that the page does not exist"),
            Obstacle::Parked => (ErrorKind::NotFound, "is a parked domain without content"),
            Obstacle::Empty => (ErrorKind::NotFound, "is empty: it has no text"),
            Obstacle::Notice => (ErrorKind::NotFound, "shows only a notice in the place of the page"),
        };
        failure(kind, url, &format!("{what}: use another source"))
    }
}

/// A page as it is judged.
pub struct Judged<'p> {
    /// Its title.
    pub title: &'p str,
    /// The text of its content.
    pub text: &'p str,
    /// The whole page, as it came.
    pub html: &'p str,
    /// Where it was at last.
    pub url: &'p Url,
}

/// What stands in the place of the page; none where it is one.
pub fn obstacle(page: &Judged<'_>) -> Option<Obstacle> {
    let count = words(page.text).count();
    if count > MOST_WORDS {
        return None;
    }
    let html = page.html.to_lowercase();
    let text = format!("{}\n{}", page.title, page.text).to_lowercase();
    let title = page.title.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let has = |signs: &[&str]| signs.iter().any(|sign| html.contains(sign));
    if is_check(&html, &title) || (says(CHECK) && (count <= ALMOST_NONE * 2 || has(CHECK_SIGNS))) {
        return Some(Obstacle::BotCheck);
    }
    if says(PARKED) && count <= MOST_WORDS {
        return Some(Obstacle::Parked);
    }
    if is_not_there(&title, page.text) {
        return Some(Obstacle::NotThere);
    }
    let has_password = has(&["type=\"password\"", "type='password'", "type=password"]);
    if (has_password && (says(LOGIN) || count <= ALMOST_NONE)) || (says(PAYWALL) && count <= MOST_WORDS) {
        return Some(Obstacle::Login);
    }
    if says(CONSENT) || page.url.host_str().is_some_and(|host| host.starts_with("consent.")) {
        return Some(Obstacle::Consent);
    }
    let has_script = html.contains("<script");
    let wants_script = has(WANTS_SCRIPT);
    let is_shell = has(SHELL);
    if has_script && count <= ALMOST_NONE && (wants_script || is_shell || count == 0) {
        return Some(Obstacle::Script);
    }
    if count == 0 {
        return Some(Obstacle::Empty);
    }
    if unreadable(page.text) == Some(Unreadable::Wall) {
        return Some(if says(&["javascript"]) {
            Obstacle::Script
        } else if says(&["log in", "login", "sign in", "subscribe"]) {
            Obstacle::Login
        } else if says(&["robot", "captcha", "human", "traffic", "browser"]) {
            Obstacle::BotCheck
        } else if says(&["not found", "404"]) {
            Obstacle::NotThere
        } else {
            Obstacle::Notice
        });
    }
    None
}

/// Whether the headers of an answer that is an error say that it is a check for robots.
pub fn is_challenge(headers: &HeaderMap) -> bool {
    headers.get("cf-mitigated").is_some_and(|value| value.as_bytes() == b"challenge")
        || headers.contains_key("x-datadome")
        || headers.get("x-amzn-waf-action").is_some()
}

/// Whether the page of an answer that is an error is a check for robots: a title that only those have is enough there.
pub fn is_challenge_page(body: &[u8]) -> bool {
    let html = String::from_utf8_lossy(body).to_lowercase();
    let title =
        html.split_once("<title>").and_then(|(_, rest)| rest.split("</title>").next()).unwrap_or_default();
    let is_titled = CHECK_TITLES.iter().any(|known| title.trim().starts_with(known));
    is_titled || is_check(&html, title)
}

/// Signs of the checks that many sites use.
fn is_check(html: &str, title: &str) -> bool {
    let is_titled = TITLES.iter().any(|known| title.trim().starts_with(known));
    html.contains("/cdn-cgi/challenge-platform/h/") && is_titled
        || html.contains("_cf_chl_opt")
        || html.contains("captcha-delivery.com")
        || html.contains("px-captcha")
        || html.contains("_incapsula_resource")
        || html.contains("awswafcaptcha")
        || (is_titled && CHECK_SIGNS.iter().any(|sign| html.contains(sign)))
}

/// A page whose title or first words are that there is none, with little else.
fn is_not_there(title: &str, text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_lowercase();
    let is_short = words(text).count() <= MOST_WORDS / 2;
    is_short && [title, first.as_str()].iter().any(|line| says_not_there(line))
}

fn says_not_there(line: &str) -> bool {
    let line = line.replace('\u{2019}', "'");
    // The name of the site often stands beside it.
    let parts = line.split(['|', '–', '—', '·', ':', '-']).map(str::trim);
    let mut parts = parts.filter(|part| !part.is_empty());
    parts.any(|part| {
        let part = part.trim_matches(|char: char| !char.is_alphanumeric());
        NOT_THERE.contains(&part) || NOT_THERE_STARTS.iter().any(|start| part.starts_with(start))
    })
}

const TITLES: [&str; 9] = [
    "just a moment",
    "attention required",
    "access denied",
    "please wait",
    "one more step",
    "security check",
    "robot check",
    "are you a robot",
    "verify you are human",
];
/// Those of them that no other page of an error has.
const CHECK_TITLES: [&str; 5] =
    ["just a moment", "one more step", "robot check", "are you a robot", "verify you are human"];
const CHECK_SIGNS: &[&str] = &[
    "captcha",
    "challenge-platform",
    "cf-turnstile",
    "cf-browser-verification",
    "datadome",
    "perimeterx",
    "reference #",
    "ray id",
];
const CHECK: &[&str] = &[
    "checking your browser",
    "checking if the site connection is secure",
    "verify you are human",
    "verifying you are human",
    "complete the captcha",
    "solve the captcha",
    "unusual traffic from your",
    "you are not a robot",
    "are you a robot",
    "i'm not a robot",
    "making sure you're not a bot",
    "automated access to this page",
];
const PARKED: &[&str] = &[
    "this domain is for sale",
    "this domain may be for sale",
    "this domain name is for sale",
    "buy this domain",
    "domain is parked",
    "parked free, courtesy of",
    "the domain owner may currently be creating a great site",
    "interested in this domain",
];
const LOGIN: &[&str] = &[
    "log in",
    "login",
    "sign in",
    "signin",
    "log on",
    "anmelden",
    "connexion",
    "iniciar sesión",
    "password",
];
const PAYWALL: &[&str] = &[
    "subscribe to continue",
    "subscribe to read",
    "subscribe to keep reading",
    "sign in to continue",
    "sign in to read",
    "log in to continue",
    "log in to read",
    "this content is for subscribers",
    "this article is for subscribers",
    "create a free account to continue",
    "you have reached your article limit",
];
const CONSENT: &[&str] = &[
    "before you continue to",
    "we value your privacy",
    "accept all cookies",
    "accept cookies to continue",
    "consent to the use of cookies",
];
const WANTS_SCRIPT: &[&str] = &[
    "enable javascript",
    "javascript is disabled",
    "javascript is required",
    "requires javascript",
    "turn on javascript",
    "without javascript",
    "activate javascript",
    "javascript to run this app",
];
/// Elements that a script fills.
const SHELL: &[&str] = &[
    "id=\"root\"",
    "id=root",
    "id=\"app\"",
    "id=app",
    "id=\"__next\"",
    "id=\"__nuxt\"",
    "id=\"svelte\"",
    "<app-root",
    "id='root'",
    "id='app'",
];
const NOT_THERE: [&str; 14] = [
    "404",
    "oops 404",
    "oops! 404",
    "404 oops",
    "oops! page not found",
    "404 error",
    "error 404",
    "404 not found",
    "not found",
    "page not found",
    "404 page not found",
    "page does not exist",
    "seite nicht gefunden",
    "page introuvable",
];
const NOT_THERE_STARTS: [&str; 11] = [
    "we can't find the page",
    "we can't find that page",
    "we cannot find the page",
    "we couldn't find the page",
    "we could not find the page",
    "sorry, this page",
    "sorry, the page you",
    "the page you requested could not be found",
    "the page you are looking for",
    "this page could not be found",
    "oops! that page can't be found",
];

#[cfg(test)]
mod tests;
