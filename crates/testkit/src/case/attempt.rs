//! A further attempt of a run that is over: what of the configuration is raised, where it goes on, what comes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{Map, ResumeFrom};

use super::expect::Expect;
use super::read::Reader;
use super::scripts::Scripts;
use super::tree::{Node, Place};
use super::words;

/// A further attempt. It follows on the one before it in the case.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// The keys of the configuration that are set to something else.
    pub(crate) config: Map,
    /// Where it goes on.
    pub(crate) from: ResumeFrom,
    pub(crate) scripts: Scripts,
    /// What the refusal says, where there is to be none such attempt.
    pub(crate) refused: Option<Arc<str>>,
    pub(crate) expect: Option<Expect>,
    pub(crate) place: Place,
}

impl Attempt {
    pub(crate) fn read_all(reader: &mut Reader, node: &Node) -> Vec<Attempt> {
        if !node.is_list() {
            reader.error(node.place, "`attempts` is a list of attempts");
        }
        node.items().iter().map(|item| Attempt::read(reader, item)).collect()
    }

    fn read(reader: &mut Reader, node: &Node) -> Attempt {
        let mut attempt = Attempt {
            config: Map::new(),
            from: ResumeFrom::Research,
            scripts: Scripts::default(),
            refused: None,
            expect: None,
            place: node.place,
        };
        for (key, value) in reader.entries(node, "an attempt", &words::ATTEMPT) {
            match &*key.name {
                "config" => attempt.config = reader.map(value, "`config`").unwrap_or_default(),
                "from" => attempt.from = from(reader, value),
                "refused" => attempt.refused = reader.text(value, "`refused`"),
                "expect" => attempt.expect = Some(Expect::read(reader, value)),
                script => drop(attempt.scripts.read_key(reader, script, value)),
            }
        }
        if node.is_map() && attempt.expect.is_some() == attempt.refused.is_some() {
            reader.error(node.place, "an attempt needs one of the keys `expect` and `refused`");
        }
        attempt
    }

    /// The configuration with what the attempt sets: to be read again, so that durations and the like are what they are.
    pub(crate) fn over(&self, config: &Map) -> BTreeMap<String, deepgraph_protocol::Value> {
        let all = config.iter().chain(&self.config);
        all.map(|(key, value)| (key.to_string(), value.clone())).collect()
    }
}

fn from(reader: &mut Reader, node: &Node) -> ResumeFrom {
    let known = [ResumeFrom::Research, ResumeFrom::Report];
    let named = known.into_iter().find(|from| node.value.as_str() == Some(from.name()));
    named.unwrap_or_else(|| reader.wrong(node, "`from`", "research or report").unwrap_or_default())
}
