//! A small web server on the loopback, with the pages that a function gives.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A body with its media type.
pub type Page = (String, Vec<u8>);

/// The server; it ends with this.
pub struct Site {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
}

impl Site {
    /// Serves the page of each path, its query included; there is no other.
    pub fn of(pages: impl Fn(&str) -> Option<Page> + Send + Sync + 'static) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let address = listener.local_addr().expect("it has an address");
        let site = Site { address, asked: Arc::default(), is_over: Arc::default() };
        let (asked, is_over, pages) = (site.asked.clone(), site.is_over.clone(), Arc::new(pages));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (asked, pages) = (asked.clone(), pages.clone());
                // A peer that hangs up is no fault of a test.
                std::thread::spawn(move || drop(answer(stream, &asked, &*pages)));
            }
        });
        site
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The paths that were asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes what waits for the next request.
        drop(TcpStream::connect(self.address));
    }
}

fn answer(
    mut stream: TcpStream,
    asked: &Mutex<Vec<String>>,
    pages: &dyn Fn(&str) -> Option<Page>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let page = pages(&path);
    asked.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    let (status, (kind, body)) = match page {
        Some(page) => ("200 OK", page),
        None => ("404 Not Found", ("text/plain".to_owned(), b"not here".to_vec())),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: max-age=600\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)?;
    stream.flush()
}
