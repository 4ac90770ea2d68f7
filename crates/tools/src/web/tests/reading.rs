//! Which passages come back, and under which ids.

use super::site::Answer;
use super::*;

fn long() -> Answer {
    let section = |number: usize| {
        let word = ["copper", "iron", "tin", "zinc", "lead"][number % 5];
        format!(
            "<h2>Part {number}</h2><p>{}</p>",
            format!("This part is about {word} number {number} and its price. ").repeat(12)
        )
    };
    let body: String = (1..=20).map(section).collect();
    Answer::html(&format!("<title>Metals</title><main><h1>Metals</h1>{body}</main>"))
}

#[tokio::test]
async fn a_page_is_read_on_where_it_stopped() {
    let site = Site::start(|_| long()).await;
    let web = web(&settings(&site));
    let url = site.url("/metals");
    let mut ids = Vec::new();
    let mut from = 0;
    loop {
        let page = web.read(&url, None, from, 2000).await.expect("a page");
        assert_eq!(page.total_passages, 20);
        ids.extend(page.passages.into_iter().map(|passage| passage.id));
        match page.next {
            Some(next) => from = next,
            None => break,
        }
    }
    let key = ids[0].split('-').next().expect("a key").to_owned();
    assert_eq!(ids, (1..=20).map(|number| format!("{key}-{number}")).collect::<Vec<_>>());
    let (kind, message) = failed(web.read(&url, None, 21, 2000).await);
    assert_eq!(kind, ErrorKind::NotFound);
    assert!(message.contains("ask for 1 to 20"), "{message}");
}

#[tokio::test]
async fn a_query_chooses_passages() {
    let site = Site::start(|_| long()).await;
    let page =
        web(&settings(&site)).read(&site.url("/"), Some("price of zinc"), 0, 1500).await.expect("a page");
    assert!(!page.passages.is_empty() && page.next.is_none());
    assert!(page.passages.iter().all(|passage| passage.text.contains("zinc")), "{:?}", page.passages);
    let page = web(&settings(&site)).read(&site.url("/"), Some("  "), 0, 1500).await.expect("a page");
    assert_eq!(page.passages[0].section, "Part 1");
}

#[tokio::test]
async fn addresses_of_one_page_give_the_same_sources() {
    let site = Site::start(|_| Answer::page("One.")).await;
    let web = web(&settings(&site));
    let one = read(&web, &site.url("/a?b=1&a=2")).await.expect("a page");
    let other = read(&web, &site.url("/a/?a=2&utm_source=x&b=1#top")).await.expect("a page");
    assert_eq!(one.url, other.url);
    assert_eq!(one.passages[0].id, other.passages[0].id);
    let elsewhere = read(&web, &site.url("/b")).await.expect("a page");
    assert_ne!(one.passages[0].id, elsewhere.passages[0].id);
    // By its canonical URL it is read where it was read before.
    assert!(read(&web, &one.url).await.is_ok());
}

#[tokio::test]
async fn what_is_no_address_is_told() {
    let web = web(&WebSettings::default());
    for text in ["", "metals", "a b c", "://", "doi:x"] {
        let (kind, message) = failed(read(&web, text).await);
        assert_eq!(kind, ErrorKind::InvalidInput, "{text}: {message}");
    }
}

#[test]
fn it_can_be_used_by_tasks() {
    fn is_send<T: Send>(_: &T) {}
    fn is_shared<T: Send + Sync>(_: &T) {}
    let web = web(&WebSettings::default());
    is_shared(&web);
    is_send(&web.read("https://site.test/", None, 0, 1));
}

#[tokio::test]
async fn a_page_that_says_it_is_another_one_is_not_read_in_its_place() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/u/evil" => Answer::of(
            "text/html",
            "<head><link rel=canonical href=\"/official\"></head><p>The harbour has 99 quays, says a visitor.</p>",
        ),
        _ => Answer::page("The harbour has four quays, says its office."),
    })
    .await;
    let web = web(&settings(&site));
    assert!(text_of(&read(&web, &site.url("/u/evil")).await.expect("a page")).contains("99"));
    let official = read(&web, &site.url("/official")).await.expect("a page");
    assert!(text_of(&official).contains("four"), "{official:?}");
    assert_eq!(site.paths(), ["/u/evil", "/official"]);
}

#[tokio::test]
async fn a_page_made_of_tags_costs_no_more_than_a_page() {
    let deep = format!("{}{}", "<div>".repeat(399), "<b>x</b> ".repeat(400_000));
    let site = Site::start(move |_| Answer::of("text/html", deep.as_bytes().to_vec())).await;
    let page = page_of(&site, "/").await.expect("a page");
    assert!(page.notes.iter().any(|note| note.contains("300000")), "{:?}", page.notes);
}
