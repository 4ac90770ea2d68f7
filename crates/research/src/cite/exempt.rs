//! Sentences that need no source of their own: what they speak of is the sources, what is not known, or what to do.

use crate::text::words::{fold, words};

/// Words for what was read, and for the report itself.
const SOURCES: &[&str] = &[
    "answer",
    "article",
    "articles",
    "document",
    "documents",
    "evidence",
    "excerpt",
    "excerpts",
    "finding",
    "findings",
    "literature",
    "material",
    "materials",
    "page",
    "pages",
    "paper",
    "papers",
    "passage",
    "passages",
    "publication",
    "publications",
    "record",
    "records",
    "report",
    "reports",
    "research",
    "search",
    "searches",
    "source",
    "sources",
    "studies",
    "text",
    "texts",
    "website",
    "websites",
    "quellen",
    "dokumente",
];

/// Words that say of sources that there are none, or how they stand to each other.
const OF_SOURCES: &[&str] = &[
    "consulted",
    "reviewed",
    "searched",
    "examined",
    "available",
    "provided",
    "read",
    "found",
    "agree",
    "agrees",
    "disagree",
    "disagrees",
    "conflict",
    "conflicting",
    "contradict",
    "contradicts",
    "contradictory",
    "differ",
    "cover",
    "covers",
    "covered",
    "mention",
    "mentions",
    "mentioned",
    "name",
    "names",
    "named",
    "give",
    "gives",
    "given",
    "state",
    "states",
    "stated",
    "say",
    "says",
    "said",
    "specify",
    "specifies",
    "specified",
    "report",
    "reported",
    "disclose",
    "disclosed",
    "discuss",
    "discussed",
    "address",
    "addresses",
    "addressed",
    "contain",
    "contains",
    "answer",
    "answers",
    "silent",
    "incomplete",
    "limited",
    "scarce",
    "dated",
    "outdated",
    "independent",
    "primary",
    "secondary",
    "reliable",
    "nennen",
    "enthalten",
    "gefunden",
];

/// Phrases for what is not known.
const GAPS: &[&str] = &[
    "could not be answered",
    "could not be confirmed",
    "could not be determined",
    "could not be established",
    "could not be found",
    "could not be verified",
    "cannot be answered",
    "cannot be confirmed",
    "cannot be determined",
    "can not be answered",
    "can not be confirmed",
    "can not be determined",
    "gap remains",
    "gaps remain",
    "is not known",
    "are not known",
    "is not stated",
    "are not stated",
    "is unclear",
    "are unclear",
    "is unknown",
    "are unknown",
    "keine angaben",
    "more research is needed",
    "not disclosed",
    "not specified",
    "not reported",
    "nothing is known",
    "nothing was found",
    "open question",
    "open questions",
    "remain open",
    "remain unclear",
    "remain unknown",
    "remains open",
    "remains unclear",
    "remains unknown",
    "remains to be seen",
    "was not found",
    "were not found",
    "no information",
    "no details",
    "no figures are given",
    "no figure is given",
];

/// Words and phrases of advice.
const ADVICE: &[&str] = &[
    "advisable",
    "i recommend",
    "i suggest",
    "is recommended",
    "it is worth",
    "it may be worth",
    "ought to",
    "should",
    "we advise",
    "we recommend",
    "we suggest",
    "worth checking",
    "empfehlen",
    "sollte",
    "sollten",
];

/// Verbs that begin advice.
const TO_DO: &[&str] = &[
    "add",
    "agree",
    "ask",
    "assess",
    "avoid",
    "begin",
    "calculate",
    "choose",
    "clarify",
    "collect",
    "compare",
    "confirm",
    "consider",
    "consult",
    "decide",
    "define",
    "don't",
    "ensure",
    "establish",
    "evaluate",
    "examine",
    "explore",
    "identify",
    "insist",
    "invest",
    "negotiate",
    "obtain",
    "prefer",
    "prepare",
    "prioritise",
    "prioritize",
    "reconsider",
    "require",
    "seek",
    "select",
    "verify",
    "weigh",
];

/// Verbs that begin advice, and are nouns too: then no article follows.
const TO_DO_OR_NOUN: &[&str] = &[
    "build", "check", "contact", "demand", "do", "find", "focus", "follow", "get", "hire", "include", "keep",
    "look", "make", "measure", "monitor", "plan", "publish", "put", "read", "request", "review", "run",
    "schedule", "set", "start", "take", "test", "treat", "try", "update", "use", "wait", "watch",
];

/// What follows a verb and no noun.
const OBJECTS: &[&str] = &[
    "a", "all", "an", "any", "both", "each", "every", "for", "its", "not", "on", "only", "out", "that",
    "the", "their", "these", "this", "those", "until", "up", "whether", "which", "with", "your",
];

/// Words of headings over advice, gaps and the way the report was made.
const HEADINGS: &[&str] = &[
    "advice",
    "caveat",
    "caveats",
    "empfehlung",
    "empfehlungen",
    "gaps",
    "limitation",
    "limitations",
    "limits",
    "methodology",
    "recommendation",
    "recommendations",
    "recommended",
    "unknowns",
];

/// Phrases of such headings.
const HEADING_PHRASES: &[&str] =
    &["next steps", "open questions", "about this report", "what is not known", "what to do", "not found"];

/// Whether a sentence speaks of the sources, or of what is not known.
pub(super) fn is_about_sources(text: &str) -> bool {
    let text = Words::of(text);
    let is_of_sources = || text.has(SOURCES) && text.has(OF_SOURCES) && text.begins_with_sources();
    text.has_phrase(GAPS) || is_of_sources()
}

/// Whether a sentence says what to do.
pub(super) fn is_advice(text: &str) -> bool {
    let text = Words::of(text);
    let first = text.list.first().map(String::as_str).unwrap_or("");
    let next = text.list.get(1).map(String::as_str).unwrap_or("");
    let is_told = TO_DO.contains(&first) && !matches!(next, "of" | "is" | "and")
        || TO_DO_OR_NOUN.contains(&first) && OBJECTS.contains(&next);
    is_told || text.has_phrase(ADVICE)
}

/// Whether a heading stands over advice, gaps, or notes on the report.
pub(super) fn is_apart(heading: &str) -> bool {
    let heading = Words::of(heading);
    heading.has(HEADINGS) || heading.has_phrase(HEADING_PHRASES)
}

/// The words of a text in lower case.
struct Words {
    list: Vec<String>,
    /// With one space before, between and behind them.
    line: String,
}

impl Words {
    fn of(text: &str) -> Words {
        let list: Vec<String> = words(text).map(|(_, word)| fold(word)).collect();
        let line = format!(" {} ", list.join(" "));
        Words { list, line }
    }

    fn has(&self, known: &[&str]) -> bool {
        self.list.iter().any(|word| known.contains(&word.as_str()))
    }

    fn has_phrase(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.line.contains(&format!(" {phrase} ")))
    }

    /// Whether the sentence itself is about them: they are its subject, or none of them says it. A sentence that names a
    /// paper somewhere is about the world.
    fn begins_with_sources(&self) -> bool {
        let few = self.list.iter().take(SUBJECT);
        let names_them = few.clone().any(|word| SOURCES.contains(&word.as_str()));
        let points = self.list.first().is_some_and(|word| DETERMINERS.contains(&word.as_str()));
        names_them && points
    }
}

/// In how many words the subject of such a sentence stands: "None of the other sources …".
const SUBJECT: usize = 5;

/// Words with which it begins.
const DETERMINERS: &[&str] = &[
    "all",
    "both",
    "most",
    "neither",
    "no",
    "none",
    "one",
    "only",
    "some",
    "several",
    "sources",
    "the",
    "these",
    "this",
    "two",
    "three",
    "die",
    "keine",
    "documents",
];

#[cfg(test)]
mod tests;
