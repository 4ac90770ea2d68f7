//! Dates that documents state.

/// The date at the start of an ISO 8601 text: `2024-05-31`, `2024-05-31T10:00:00Z`. None for anything else.
pub fn iso_date(text: &str) -> Option<String> {
    let text = text.trim();
    let (date, rest) = text.split_at_checked(10)?;
    if !(rest.is_empty() || rest.starts_with(['T', 't', ' '])) {
        return None;
    }
    let mut parts = date.split('-');
    let mut number = |digits: usize| {
        let part =
            parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse::<u32>().ok()
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    (year > 0 && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day)).then(|| date.into())
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Whether a key or the name of a meta element says that its value is the document's date.
pub fn names_a_date(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    matches!(
        name.as_str(),
        "date"
            | "published"
            | "updated"
            | "modified"
            | "datepublished"
            | "datemodified"
            | "publishedat"
            | "updatedat"
            | "publisheddate"
            | "updateddate"
            | "publicationdate"
            | "pubdate"
            | "dcdate"
            | "dctermsdate"
            | "dcdateissued"
            | "dctermsissued"
            | "dctermsmodified"
            | "articlepublishedtime"
            | "articlemodifiedtime"
            | "lastmodified"
    )
}
