//! Pages that are none, and pages that only speak of such.

use super::*;

fn judge(title: &str, text: &str, html: &str) -> Option<Obstacle> {
    let url = Url::parse("https://site.test/a").expect("a URL");
    obstacle(&Judged { title, text, html, url: &url })
}

#[test]
fn pages_that_are_none_are_told() {
    for (expected, title, text, html) in [
        (
            Obstacle::BotCheck,
            "Just a moment...",
            "site.test needs to review the security of your connection",
            "<script>window._cf_chl_opt={}</script>",
        ),
        (
            Obstacle::BotCheck,
            "Attention Required! | Cloudflare",
            "Sorry, you have been blocked",
            "<div>Ray ID: 1</div>",
        ),
        (Obstacle::BotCheck, "Robot Check", "Enter the characters you see below", "<img src=captcha.jpg>"),
        (
            Obstacle::BotCheck,
            "Search",
            "Our systems have detected unusual traffic from your computer network.",
            "",
        ),
        (Obstacle::Consent, "Search", "Before you continue to Search. We use cookies.", "<button>Accept"),
        (Obstacle::Login, "Sign in", "Sign in to your account. Password", "<input type=password>"),
        (Obstacle::Login, "News", "The first line of it. Subscribe to continue reading.", ""),
        (
            Obstacle::Script,
            "App",
            "You need to enable JavaScript to run this app.",
            "<div id=root></div><script src=a.js></script>enable JavaScript",
        ),
        (Obstacle::Script, "App", "", "<div id=\"app\"></div><script src=a.js></script>"),
        (
            Obstacle::Script,
            "App",
            "Loading...",
            "<div id=\"__next\">Loading...</div><script src=a.js></script>",
        ),
        (
            Obstacle::NotThere,
            "Page not found | Site",
            "We could not find what you looked for. Home. Contact.",
            "",
        ),
        (Obstacle::NotThere, "Site", "404\nGo back home", ""),
        (Obstacle::NotThere, "Oops! 404", "We can\u{2019}t find the page you're looking for.", ""),
        (Obstacle::NotThere, "Site", "We can't find the page you're looking for.", ""),
        (Obstacle::NotThere, "Site", "The page you are looking for has moved or does not exist.", ""),
        (
            Obstacle::Parked,
            "site.test",
            "site.test. This domain is for sale! Related searches: Hotels, Loans.",
            "",
        ),
        (Obstacle::Empty, "", "", "<html><body></body></html>"),
        (Obstacle::Notice, "Site", "Please accept cookies to view your page.", ""),
    ] {
        assert_eq!(judge(title, text, html), Some(expected), "{title}: {text}");
    }
}

#[test]
fn pages_that_speak_of_them_pass() {
    let long = "The survey counted how many sites ask readers to enable JavaScript before they show text. "
        .repeat(12);
    for (title, text, html) in [
        (
            "Enable JavaScript: a survey",
            long.as_str(),
            "<div id=root></div><script></script>enable javascript",
        ),
        (
            "HTTP 404",
            "The status 404 Not Found says that a server has nothing at an address. It was defined in 1992.",
            "",
        ),
        (
            "CAPTCHA",
            "A CAPTCHA is a test that tells people from programs. The word was coined in 2003.",
            "<p>captcha</p>",
        ),
        (
            "Handbook",
            "To log in, open the console. The password is set by the administrator.",
            "<script></script>",
        ),
        ("Just a moment of silence", "The town remembered its dead with a moment of silence on Friday.", ""),
        ("Prices", "Apples: 3\nPears: 4", "<script></script>"),
        ("Domains", "The registry sold 40 domains last year. Each domain brought 900 euros.", ""),
        ("Cookies", "Bakers use 200 grams of butter. Cookies keep for a week.", ""),
    ] {
        assert_eq!(judge(title, text, html), None, "{title}");
    }
}

#[test]
fn errors_that_are_checks_are_told() {
    let mut headers = HeaderMap::new();
    assert!(!is_challenge(&headers));
    headers.insert("cf-mitigated", http::HeaderValue::from_static("challenge"));
    assert!(is_challenge(&headers));
    for page in [
        "<html><title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/h/b/x>",
        "<title>Just a moment...</title><body>Checking your browser before accessing</body>",
        "<title>Just a moment...</title><noscript>Enable JavaScript and cookies to continue</noscript>",
    ] {
        assert!(is_challenge_page(page.as_bytes()), "{page}");
    }
    for page in [
        "<title>403 Forbidden</title>",
        "<title>Busy</title>Please wait a moment",
        "<title>Access denied</title>",
        "",
    ] {
        assert!(!is_challenge_page(page.as_bytes()), "{page}");
    }
}
