//! PDF: the text of each page. The reader that we use may panic, overflow its stack or never end on files that
//! are made to break it, so it works on a thread of its own, behind checks, for a limited time.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Once, mpsc};
use std::thread;
use std::time::Duration;

use pdf_extract::{Document, PlainTextOutput, decode_text_string, output_doc_page};

use crate::mapped::Mapped;
use crate::passage::{Block, Origin};
use crate::report::SkipReason;

use super::date::iso_date;
use super::pdf_guard::is_safe_page;
use super::{Extracted, clean_title, plain, stem};

/// Stack of the reading thread: the reader goes down as deep as forms are nested.
const STACK: usize = 64 * 1024 * 1024;
/// Longest time for one document. Only files that are made to hang take as long.
const PATIENCE: Duration = Duration::from_secs(120);

/// What was read of a file.
struct Text {
    title: Option<String>,
    date: Option<String>,
    pages: Vec<String>,
}

/// Reads the text of a PDF.
pub fn extract(name: &str, bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let broken = |detail: String| SkipReason::Broken { format: "PDF".into(), detail };
    let head = bytes.get(..1024).unwrap_or(bytes);
    if !head.windows(5).any(|window| window == b"%PDF-") {
        return Err(broken("it does not begin like one".into()));
    }
    let text = read_apart(bytes.to_vec()).map_err(broken)?;
    let mut passages = Vec::new();
    for (number, page) in (1..).zip(&text.pages) {
        let paragraphs = joined(plain::paragraphs(page, plain::PROPORTIONAL_WIDTH));
        let blocks: Vec<Block> =
            paragraphs.into_iter().map(|text| Block { text, ..Block::default() }).collect();
        passages.extend(Origin::page(page, number).passages(&blocks));
    }
    let first_line =
        || text.pages.iter().find(|page| !page.trim().is_empty()).and_then(|page| plain::title(page));
    let title = text.title.clone().or_else(first_line).unwrap_or_else(|| stem(name));
    Ok(Extracted { title, date: text.date, passages, ..Extracted::default() })
}

/// Widely set lines look like paragraphs. One that begins with a small letter goes on with the sentence before it.
fn joined(paragraphs: Vec<Mapped>) -> Vec<Mapped> {
    let mut joined: Vec<Mapped> = Vec::new();
    for next in paragraphs {
        let goes_on = next.text().starts_with(char::is_lowercase);
        match joined.last_mut() {
            Some(last)
                if goes_on && last.text().ends_with(|end: char| end.is_alphanumeric() || end == ',') =>
            {
                let gap =
                    last.runs().last().zip(next.runs().first()).map(|(last, next)| (last.end, next.start));
                let (start, end) = gap.unwrap_or_default();
                last.push_run(" ", start, end);
                last.push(&next);
            }
            _ => joined.push(next),
        }
    }
    joined
}

/// Reads on a thread of its own. A thread that does not come back in time is left alone: it has nothing but its
/// own copy of the file.
fn read_apart(bytes: Vec<u8>) -> Result<Text, String> {
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        quietly(|| {
            // The receiver may have given up: then nobody wants the result.
            let _ = sender.send(read(&bytes));
        })
    };
    let thread = thread::Builder::new().name("pdf".into()).stack_size(STACK).spawn(work);
    thread.map_err(|error| error.to_string())?;
    match receiver.recv_timeout(PATIENCE) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            Err(format!("it could not be read within {} seconds", PATIENCE.as_secs()))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("it could not be read".into()),
    }
}

fn read(bytes: &[u8]) -> Result<Text, String> {
    let mut document = guarded(|| Document::load_mem(bytes))?.map_err(|error| error.to_string())?;
    if document.is_encrypted() {
        let decrypted = guarded(AssertUnwindSafe(|| document.decrypt("")))?;
        decrypted.map_err(|_| "it is locked by a password".to_owned())?;
    }
    let (mut pages, mut trouble) = (Vec::new(), None);
    for (number, id) in guarded(|| document.get_pages())? {
        let page = if guarded(|| is_safe_page(&document, id))? {
            guarded(|| page_text(&document, number)).flatten()
        } else {
            Err("its parts hold each other".into())
        };
        pages.push(page.unwrap_or_else(|error| {
            trouble = Some(format!("page {number}: {error}"));
            String::new()
        }));
    }
    match trouble {
        Some(error) if pages.iter().all(|page| page.trim().is_empty()) => Err(error),
        _ if pages.is_empty() => Err("it has no pages".into()),
        _ => Ok(Text {
            title: info(&document, b"Title").filter(|t| !is_no_title(t)),
            date: created(&document),
            pages,
        }),
    }
}

fn page_text(document: &Document, number: u32) -> Result<String, String> {
    let mut text = String::new();
    let mut output = PlainTextOutput::new(&mut text);
    output_doc_page(document, &mut output, number).map_err(|error| error.to_string())?;
    Ok(text)
}

/// An entry of the document's own description.
fn info(document: &Document, key: &[u8]) -> Option<String> {
    let info = document.trailer.get_deref(b"Info", document).ok()?.as_dict().ok()?;
    let text = decode_text_string(info.get_deref(key, document).ok()?).ok()?;
    clean_title(&text)
}

fn is_no_title(title: &str) -> bool {
    title.eq_ignore_ascii_case("untitled") || title.starts_with("Microsoft Word - ")
}

/// The day of `D:20240531120000Z`.
fn created(document: &Document) -> Option<String> {
    let text = info(document, b"CreationDate")?;
    let digits = text.strip_prefix("D:").unwrap_or(&text);
    let part = |range| digits.get(range);
    iso_date(&format!("{}-{}-{}", part(0..4)?, part(4..6)?, part(6..8)?))
}

fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| "its content makes no sense".into())
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs work whose panics are caught and told otherwise, so that they need no message on standard error.
fn quietly(work: impl FnOnce()) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                before(panic);
            }
        }));
    });
    QUIET.set(true);
    work();
    QUIET.set(false);
}
