//! A site on the loopback interface, with a search engine over it that answers as SearXNG does.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::json;

/// A page of the site.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Its path.
    pub path: String,
    /// Its HTML, or where it leads if it begins with `->`.
    pub body: String,
    /// Title and snippet as the search engine has them; none: it does not know the page.
    pub listed: Option<(String, String)>,
}

impl Page {
    /// A page that the search engine knows.
    pub fn listed(path: &str, title: &str, snippet: &str, body: &str) -> Page {
        let listed = Some((title.to_owned(), snippet.to_owned()));
        Page { listed, ..Page::new(path, title, body) }
    }

    /// A page that only links lead to.
    pub fn new(path: &str, title: &str, body: &str) -> Page {
        let html = match body.starts_with("->") {
            true => body.to_owned(),
            false => format!(
                "<!doctype html><html lang=\"en\"><head><title>{title}</title></head><body><main>{body}</main></body></html>"
            ),
        };
        Page { path: path.to_owned(), body: html, listed: None }
    }
}

/// A running site. It lives as long as the test process.
pub struct Site {
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub fn start(pages: Vec<Page>) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (noted, own) = (asked.clone(), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (noted, own, pages) = (noted.clone(), own.clone(), pages.clone());
                std::thread::spawn(move || drop(serve(stream, &own, &pages, &noted)));
            }
        });
        Site { url, asked }
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// What was asked for so far: paths with their queries.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("noting does not panic").clone()
    }

    /// A configuration file that allows the site and asks its search engine.
    pub fn config(&self) -> String {
        format!(
            "services:\n  web: {{allow: [\"{}\"], gap: 0}}\n  search:\n    engines: [searxng]\n    options: {{searxng: \
             {{base_url: \"{}\", gap: 0}}}}\n",
            self.host(),
            self.url
        )
    }
}

fn serve(stream: TcpStream, own: &str, pages: &[Page], noted: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut out = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    let mut first = String::new();
    input.read_line(&mut first)?;
    let mut line = String::new();
    while input.read_line(&mut line)? > 2 {
        line.clear();
    }
    let target = first.split(' ').nth(1).unwrap_or("/").to_owned();
    noted.lock().expect("noting does not panic").push(target.clone());
    let path = target.split('?').next().unwrap_or("/");
    let page = pages.iter().find(|page| page.path == path);
    let (status, head, body) = match page {
        _ if path == "/search" => ("200 OK", "Content-Type: application/json".to_owned(), found(own, pages)),
        Some(page) if page.body.starts_with("->") => {
            ("302 Found", format!("Location: {}", page.body.trim_start_matches("->")), String::new())
        }
        Some(page) => {
            ("200 OK", "Content-Type: text/html; charset=utf-8".to_owned(), page.body.replace("{site}", own))
        }
        None => ("404 Not Found", "Content-Type: text/plain".to_owned(), "there is no such page".to_owned()),
    };
    write!(
        out,
        "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn found(own: &str, pages: &[Page]) -> String {
    let known = pages.iter().filter_map(|page| Some((page, page.listed.as_ref()?)));
    let results: Vec<_> = known
        .map(|(page, (title, text))| json!({"url": format!("{own}{}", page.path), "title": title, "content": text, "engine": "test"}))
        .collect();
    json!({"query": "q", "number_of_results": results.len(), "results": results, "unresponsive_engines": []})
        .to_string()
}
