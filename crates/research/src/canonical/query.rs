//! Parameters: which of them choose the page, and which only follow a reader around.

use super::percent;

/// Names that begin so only track.
const BEGINNINGS: [&str; 6] = ["utm_", "pk_", "mtm_", "hsa_", "__hs", "guce_"];

/// Names that only track, or name a session. Sorted.
const NAMES: [&str; 44] = [
    "__s",
    "__twitter_impression",
    "_branch_match_id",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_openstat",
    "cmpid",
    "dclid",
    "epik",
    "fb_action_ids",
    "fb_action_types",
    "fb_ref",
    "fb_source",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "guccounter",
    "hsctatracking",
    "icid",
    "igsh",
    "igshid",
    "jsessionid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "phpsessid",
    "ref_src",
    "s_cid",
    "s_kwcid",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_id",
    "wbraid",
    "wickedid",
    "yclid",
];

/// Whether a parameter has no say in which page is shown.
fn is_tracking(name: &str) -> bool {
    let name = percent::decoded(name).to_ascii_lowercase();
    NAMES.binary_search(&name.as_str()).is_ok()
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// A query without parameters that only track, as it is otherwise.
pub fn without_tracking(query: &str) -> String {
    kept(query).collect::<Vec<_>>().join("&")
}

/// A query in its normal form, ordered by name; "" where nothing stays.
pub fn canonical(query: &str) -> String {
    // In a query a plus sign is a space as a rule.
    let mut parts: Vec<String> = kept(query).map(|part| percent::normal(&part.replace('+', "%20"))).collect();
    parts.sort_by(|one, other| name(one).cmp(name(other)));
    parts.join("&")
}

fn kept(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|part| !part.is_empty() && !is_tracking(name(part)))
}

fn name(part: &str) -> &str {
    part.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(NAMES.is_sorted());
    }
}
