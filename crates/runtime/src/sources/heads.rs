//! What stands before passages and hits in the answer of an op.

use deepgraph_research::passage::{QUOTE, address, visible};

use super::PageRead;

/// The most links of a page that are told.
pub(super) const MOST_LINKS: usize = 15;
/// The longest text of a link, and of a note, in characters.
const LONGEST: usize = 120;
/// The longest text of why something failed, in characters: there is a URL in it.
const LONGEST_FAILURE: usize = 600;
/// The longest URL of a link that is told, in bytes.
const LONGEST_URL: usize = 500;

/// Stands before pages that a search named.
pub(super) const SNIPPETS: &str = "Pages of the web. What follows each is a snippet of a search engine, not a source: read a page (`read`, source: its URL) \
     before you use or cite it.";

/// Stands before passages of documents behind hits of the web.
pub(super) const DOCUMENTS: &str = "Passages of the documents:";

/// Stands before the passages of pages that were read along with a search.
pub(super) const READ_ALONG: &str = "Passages of pages that were read:";

/// A text of somebody else on one line, short enough to stand between ours.
pub(super) fn one_line(text: &str) -> String {
    line_within(text, LONGEST)
}

fn line_within(text: &str, longest: usize) -> String {
    let line = visible(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !matches!(c, '<' | '>' | '[' | ']')).collect();
    match line.char_indices().nth(longest) {
        Some((cut, _)) => format!("{}…", line[..cut].trim_end()),
        None => line,
    }
}

/// Notes, a line each.
pub(super) fn notes(notes: &[String]) -> String {
    notes.iter().map(|note| format!("Note: {}\n", one_line(note))).collect()
}

/// Failures, a line each.
pub(super) fn failures(failures: &[String]) -> String {
    failures.iter().map(|failure| format!("Note: {}\n", line_within(failure, LONGEST_FAILURE))).collect()
}

/// What part of a page was read, where it is not all, and what else a reader should know.
pub(super) fn extent(page: &PageRead, for_query: bool) -> String {
    let (shown, total) = (page.passages.len(), page.total_passages);
    let extent = match page.next {
        Some(next) => {
            let (first, last) = (next.saturating_sub(shown), next.saturating_sub(1));
            format!("Passages {first} to {last} of {total}. Read on with from: {next}.\n")
        }
        None if for_query && shown < total => {
            format!(
                "The {shown} of {total} passages that answer the query best. Leave out the query to read all.\n"
            )
        }
        None if shown < total => format!("The last {shown} of {total} passages.\n"),
        None => String::new(),
    };
    extent + &notes(&page.notes)
}

/// The links of a page. They stand before its passages, so that they are there where the answer is cut.
pub(super) fn links(page: &PageRead) -> String {
    if page.links.is_empty() {
        return String::new();
    }
    let line = |(url, text): &(String, String)| {
        format!("{QUOTE}{} {}\n", address(url), one_line(text)).replace(" \n", "\n")
    };
    let fit = page.links.iter().filter(|(url, _)| url.len() <= LONGEST_URL);
    let shown: String = fit.take(MOST_LINKS).map(line).collect();
    let more = page.links.len().saturating_sub(MOST_LINKS);
    let more = if more == 0 { String::new() } else { format!(" ({more} more are not shown)") };
    format!("Links of the page, to be read by their URL{more}:\n{shown}")
}
