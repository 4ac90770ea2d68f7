//! The rules of a `robots.txt` for us: RFC 9309, with `Crawl-delay`, which many sites use.

use std::time::Duration;

use super::super::canonical::normal_part;

/// Most rules that are kept.
const MOST_RULES: usize = 5000;
/// Most wildcards of a rule. Matching takes their number times the length of the path at worst.
const MOST_WILDCARDS: usize = 32;

/// A rule: a pattern of paths, and whether they may be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    allow: bool,
    /// The parts between wildcards, in normal percent-encoding.
    parts: Vec<String>,
    /// Whether the path ends with the pattern.
    ends: bool,
    /// Octets of the pattern: the longest that fits decides.
    length: usize,
}

/// What a site asks of us.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    rules: Vec<Rule>,
    delay: Option<Duration>,
}

/// A group for some names: the lines below `User-agent`.
#[derive(Default)]
struct Group {
    for_us: bool,
    for_all: bool,
    rules: Rules,
}

impl Rules {
    /// Reads a file. `name` is what we are called, in lower case. Groups for that name together count, else those for
    /// `*`, else nothing is asked. Lines that are none are passed over.
    pub fn read(text: &str, name: &str) -> Rules {
        let mut groups: Vec<Group> = Vec::new();
        let mut in_names = false;
        for line in text.trim_start_matches('\u{FEFF}').split(['\n', '\r']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if key == "user-agent" {
                if !in_names {
                    groups.push(Group::default());
                }
                in_names = true;
                if let Some(group) = groups.last_mut() {
                    group.for_us |= is_for(value, name);
                    group.for_all |= value == "*";
                }
                continue;
            }
            let Some(group) = groups.last_mut() else { continue };
            match key.as_str() {
                "allow" | "disallow" => group.rules.add(key == "allow", value),
                "crawl-delay" => group.rules.set_delay(value),
                // Such as `Sitemap`: it belongs to no group and does not end one.
                _ => continue,
            }
            in_names = false;
        }
        let is_named = groups.iter().any(|group| group.for_us);
        let mut rules = Rules::default();
        for group in groups.into_iter().filter(|group| if is_named { group.for_us } else { group.for_all }) {
            rules.rules.extend(group.rules.rules);
            rules.delay = rules.delay.max(group.rules.delay);
        }
        rules
    }

    /// Whether a path with its query may be asked for: the longest rule that fits decides, `Allow` where two are
    /// equally long; without one it may.
    pub fn allow(&self, path: &str) -> bool {
        let path = normal_part(path);
        let fitting = self.rules.iter().filter(|rule| rule.fits(&path));
        let best = fitting.max_by_key(|rule| (rule.length, rule.allow));
        path == "/robots.txt" || best.is_none_or(|rule| rule.allow)
    }

    /// The pause between two requests that the site asks for.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    fn add(&mut self, allow: bool, pattern: &str) {
        // An empty pattern fits nothing.
        if pattern.is_empty()
            || self.rules.len() >= MOST_RULES
            || pattern.matches('*').count() > MOST_WILDCARDS
        {
            return;
        }
        let (body, ends) = match pattern.strip_suffix('$') {
            Some(body) => (body, true),
            None => (pattern, false),
        };
        let parts = body.split('*').map(normal_part).collect();
        self.rules.push(Rule { allow, parts, ends, length: pattern.len() });
    }

    fn set_delay(&mut self, value: &str) {
        let seconds = value.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds > 0.0);
        self.delay = self.delay.max(seconds.map(|seconds| Duration::from_secs_f64(seconds.min(3600.0))));
    }
}

impl Rule {
    fn fits(&self, path: &str) -> bool {
        let Some((first, others)) = self.parts.split_first() else { return false };
        let Some(mut rest) = path.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = others.split_last() else { return !self.ends || rest.is_empty() };
        for part in middle {
            let Some(at) = rest.find(part.as_str()) else { return false };
            rest = rest.get(at + part.len()..).unwrap_or_default();
        }
        if self.ends { rest.ends_with(last.as_str()) } else { rest.contains(last.as_str()) }
    }
}

/// Whether a `User-agent` line means us: the product name, without version, in any case.
fn is_for(value: &str, name: &str) -> bool {
    let is_of_name = |char: char| char.is_ascii_alphabetic() || char == '-' || char == '_';
    let end = value.find(|char| !is_of_name(char)).unwrap_or(value.len());
    value.get(..end).is_some_and(|product| product.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn allow(file: &str, path: &str) -> bool {
        Rules::read(file, "deepgraph").allow(path)
    }

    #[test]
    fn the_longest_rule_that_fits_decides() {
        let file = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c$\nDisallow: /*.pdf$\nDisallow: /x*y*z\n\
                    Disallow: /same\nAllow: /same\nDisallow: /%C3%A9\nDisallow:\nDisallow: /q?id=";
        for (path, allowed) in [
            ("/", true),
            ("/a", false),
            ("/ab", false),
            ("/A", true),
            ("/a/b", true),
            ("/a/b/c", false),
            ("/a/b/c/d", true),
            ("/file.pdf", false),
            ("/file.pdf?x=1", true),
            ("/x/1/y/2/z/3", false),
            ("/x/1/z/2/y", true),
            ("/same/1", true),
            ("/é", false),
            ("/%c3%a9/x", false),
            ("/q", true),
            ("/q?id=5", false),
            ("/robots.txt", true),
        ] {
            assert_eq!(allow(file, path), allowed, "{path}");
        }
    }

    #[test]
    fn our_group_counts_before_that_of_all() {
        let file = "\u{FEFF}User-agent: other\nDisallow: /\n\nuser-AGENT : DeepGraph/1.0 # us\nUser-agent: friend\n\
                    Disallow: /ours\r\nCrawl-delay: 2.5\nSitemap: https://example.com/map\nDisallow: /also\n\n\
                    User-agent: *\nDisallow: /\n\nUser-agent: deepgraph\nDisallow: /later\n";
        let rules = Rules::read(file, "deepgraph");
        for (path, allowed) in [("/", true), ("/ours", false), ("/also", false), ("/later", false)] {
            assert_eq!(rules.allow(path), allowed, "{path}");
        }
        assert_eq!(rules.delay(), Some(Duration::from_millis(2500)));
        assert!(!Rules::read(file, "somebody").allow("/x"));
        assert!(!allow("User-agent: *\nDisallow: /", "/x"));
        assert!(allow("User-agent: deepgraphs\nDisallow: /", "/x"));
    }

    #[test]
    fn no_rule_is_no_wish() {
        for file in
            ["", "<html>Not found</html>", "Disallow: /", "User-agent: other\nDisallow: /", ":::\n\n#"]
        {
            assert!(allow(file, "/x"), "{file}");
        }
        for delay in ["-1", "NaN", "inf", "soon", ""] {
            let file = format!("User-agent: *\nCrawl-delay: {delay}");
            assert_eq!(Rules::read(&file, "deepgraph").delay(), None, "{delay}");
        }
    }

    proptest! {
        #[test]
        fn any_file_is_read(file in "((User-agent|Allow|Disallow|Crawl-delay)?:? ?\\PC{0,20}\n){0,10}", path in "/\\PC{0,20}") {
            let _ = allow(&file, &path);
        }
    }
}
