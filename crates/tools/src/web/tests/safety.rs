//! Addresses that may not be asked: at the start, behind a redirect, behind a name.

use std::str::FromStr;
use std::sync::Mutex;

use reqwest::dns::{Name, Resolve};

use super::super::guard::{Guard, GuardedResolver, refused_by_resolver};
use super::site::Answer;
use super::*;

#[tokio::test]
async fn what_is_not_public_is_not_asked() {
    let site = Site::start(|_| Answer::page("Secret.")).await;
    let none = WebSettings { gap: 0, ..WebSettings::default() };
    let port = site.port();
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        // A name that leads there.
        format!("http://inner.test:{port}/"),
        "http://169.254.169.254/latest/meta-data/".into(),
        "http://metadata.google.internal/".into(),
        "file:///etc/passwd".into(),
        "data:text/html,hello".into(),
        "ftp://127.0.0.1/a".into(),
        format!("http://user:secret@127.0.0.1:{port}/"),
    ] {
        let (kind, message) = failed(read(&web(&none), &url).await);
        assert_eq!(kind, ErrorKind::Refused, "{url}: {message}");
        assert!(!message.contains("secret"), "{message}");
    }
    assert_eq!(site.paths(), Vec::<String>::new());
}

#[tokio::test]
async fn a_redirect_does_not_lead_inside() {
    let inner = Site::start(|_| Answer::page("Secret.")).await;
    let target = inner.url("/admin");
    let port = inner.port();
    let site = Site::start(move |asked| match asked.path.as_str() {
        "/address" => Answer::redirect(&target),
        "/name" => Answer::redirect(&format!("http://inner.test:{port}/")),
        "/hop" => Answer::redirect("/address"),
        "/refresh" => Answer::html(&format!("<meta http-equiv=refresh content='0; url={target}'>")),
        "/metadata" => Answer::redirect("http://169.254.169.254/latest/"),
        "/password" => Answer::redirect("http://user:secret@example.com/"),
        _ => Answer::redirect("file:///etc/passwd"),
    })
    .await;
    for path in ["/address", "/name", "/hop", "/refresh", "/metadata", "/password", "/file"] {
        let (kind, message) = failed(page_of(&site, path).await);
        assert_eq!(kind, ErrorKind::Refused, "{path}: {message}");
    }
    assert_eq!(inner.paths(), Vec::<String>::new());
    // A file of robots behind a redirect is looked for no further than the page itself.
    let settings = WebSettings { robots: true, ..settings(&site) };
    let (kind, _) = failed(read(&web(&settings), &site.url("/address")).await);
    assert_eq!((kind, inner.paths().len()), (ErrorKind::Refused, 0));
}

#[tokio::test]
async fn what_is_named_is_asked() {
    let site = Site::start(|_| Answer::page("Open.")).await;
    let port = site.port();
    for (allow, url, may) in [
        (format!("inner.test:{port}"), format!("http://inner.test:{port}/"), true),
        ("inner.test".into(), format!("http://inner.test:{port}/"), true),
        ("127.0.0.0/8".into(), format!("http://inner.test:{port}/"), true),
        ("127.0.0.0/8".into(), site.url("/"), true),
        (format!("inner.test:{port}"), format!("http://other.test:{port}/"), false),
        (format!("inner.test:{port}"), site.url("/"), false),
        ("127.0.0.1:1".into(), site.url("/"), false),
    ] {
        let settings =
            WebSettings { allow: vec![allow.clone()], gap: 0, robots: false, ..WebSettings::default() };
        let outcome = read(&web(&settings), &url).await;
        assert_eq!(outcome.is_ok(), may, "{allow}: {url}");
        if !may {
            let (kind, message) = failed(outcome);
            assert_eq!(kind, ErrorKind::Refused);
            assert!(message.contains("services.web.allow"), "{message}");
        }
    }
}

/// Gives another answer each time.
struct Changing(Mutex<Vec<Vec<IpAddr>>>);

impl Lookup for Changing {
    fn lookup(&self, _name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let next = self.0.lock().expect("no panic").pop().unwrap_or_default();
        Box::pin(async move { Ok(next) })
    }
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_caught_at_the_connection() {
    let (public, inner): (IpAddr, IpAddr) = ([93, 184, 215, 14].into(), [10, 0, 0, 1].into());
    let answers = vec![vec![], vec![inner, public, [127, 0, 0, 1].into()], vec![inner], vec![public]];
    let resolver = GuardedResolver::new(Some(Guard::default()), Arc::new(Changing(Mutex::new(answers))));
    let look = async || {
        let name = Name::from_str("rebind.test").expect("a name");
        resolver.resolve(name).await.map(|found| found.map(|address| address.ip()).collect::<Vec<_>>())
    };
    assert_eq!(look().await.expect("a public address"), [public]);
    let error = look().await.expect_err("a private address");
    assert_eq!(refused_by_resolver(error.as_ref()), Some("a private address"));
    assert_eq!(look().await.expect("the public one of them"), [public]);
    let error = look().await.expect_err("no address");
    assert_eq!(refused_by_resolver(error.as_ref()), None);
}
