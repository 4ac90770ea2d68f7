//! Pages that are none.

use super::site::Answer;
use super::*;

#[tokio::test]
async fn what_stands_in_front_of_a_page_is_no_page() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/empty" => Answer::html("<html><head><title>Site</title></head><body> <nav>Home</nav></body></html>"),
        "/blank" => Answer::html("  \n"),
        "/script" => Answer::html("<title>App</title><noscript>You need to enable JavaScript to run this app.</noscript><div id=\"root\"></div><script src=/a.js></script>"),
        "/login" => Answer::html("<title>Sign in</title><h1>Sign in</h1><form><label>Password</label><input type=\"password\"></form>"),
        "/check" => Answer::html("<title>Just a moment...</title><p>Checking your browser</p><script>window._cf_chl_opt={}</script>"),
        "/blocked" => Answer::html("<title>Just a moment...</title><script>window._cf_chl_opt={}</script>").having_status(403).with("cf-mitigated", "challenge"),
        "/busy" => Answer::html("<title>Busy</title>").having_status(503),
        "/consent" => Answer::html("<title>Search</title><p>Before you continue to Search, we use cookies and data.</p>"),
        "/soft" => Answer::html("<title>Page not found | Site</title><h1>Oops</h1><p>Nothing is here. Try the search.</p>"),
        "/parked" => Answer::html("<title>site.test</title><p>This domain is for sale. Related links</p>"),
        _ => Answer::html("<title>Captchas</title><h1>Captchas</h1><p>A site may ask its readers to verify you are human, or show \"Just a moment...\" \
                           while it is checking your browser; others want you to enable JavaScript or to sign in. A survey of 2024 \
                           counted 31 of 100 sites that did so on the first visit, and 12 that did on every visit. Its authors named \
                           404 Not Found as the answer that they had most often otherwise, in 8 of 100 cases, before timeouts. The \
                           share was highest among shops, where half of the sites kept programs out, and lowest among libraries, \
                           where a single one did. The survey was repeated a year later with the same list of sites and found that \
                           the share had risen by a third, mostly since two large hosts had begun to do it for all of their customers \
                           without being asked. Readers lost eleven seconds each time in the median, and one in twelve gave up.</p>"),
    })
    .await;
    for (path, kind, words) in [
        ("/empty", ErrorKind::NotFound, "is empty"),
        ("/blank", ErrorKind::NotFound, "is empty"),
        ("/script", ErrorKind::NotFound, "JavaScript"),
        ("/login", ErrorKind::Unauthorized, "behind a login"),
        ("/check", ErrorKind::Refused, "keeps programs out"),
        ("/blocked", ErrorKind::Refused, "keeps programs out"),
        ("/busy", ErrorKind::Unavailable, "503"),
        ("/consent", ErrorKind::Refused, "cookies"),
        ("/soft", ErrorKind::NotFound, "does not exist"),
        ("/parked", ErrorKind::NotFound, "parked"),
    ] {
        let (found, message) = failed(page_of(&site, path).await);
        assert_eq!(found, kind, "{path}: {message}");
        assert!(message.starts_with(&site.url(path)) && message.contains(words), "{message}");
    }
    assert!(text_of(&page_of(&site, "/about").await.expect("a page")).contains("31 of 100"));
}
