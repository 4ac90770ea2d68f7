//! Channels whose value is kept between runs.

use std::sync::Arc;

use super::{Home, Reader};
use crate::diagnostic::code;
use crate::infer::{Only, Scope};
use crate::source::{Key, Node};
use crate::{Channel, Persist, nearest};

/// The word for a value that is kept with the thread.
const THREAD: &str = "thread";

impl Reader<'_> {
    /// The channels of a graph, with where the first graph's are kept.
    pub(crate) fn kept_channels(&mut self, home: Home<'_>) -> Vec<Channel> {
        let state = home.own.node.get("state").map(Node::entries).unwrap_or_default();
        let mut channels = Vec::new();
        for channel in &home.own.channels {
            let declared = state.iter().find(|(key, _)| key.name == channel.name);
            let persist = declared.and_then(|(_, node)| node.entry("persist"));
            let persist = persist.and_then(|(key, node)| self.persist(key, node, home));
            channels.push(Channel {
                name: channel.name.clone(),
                field: channel.field.clone(),
                reducer: channel.reducer,
                initial: channel.initial.clone(),
                // What a called graph holds is its caller's to keep: several may run at once.
                persist: persist.filter(|_| home.own.is_first()),
            });
        }
        channels
    }

    fn persist(&mut self, key: &Key, node: &Node, home: Home<'_>) -> Option<Persist> {
        if home.own.parent.is_some() {
            let message =
                format!("{} is called, and only the graph that is run keeps its state", home.own.title());
            self.error(code::CONFLICT, key.place, message)
                .help("keep the value in the root graph, give it by `input` and take it back by `output`");
            return None;
        }
        let text = self.plain_text(node, "`persist`")?;
        if &*text == THREAD {
            return Some(Persist::Thread);
        }
        if text.trim().is_empty() {
            self.error(code::BAD_VALUE, node.place, "`persist` is thread, or the text of a key");
            return None;
        }
        if !text.contains("{{") && nearest::nearest(&text, [THREAD]).is_some() {
            let message = format!("`persist` is thread, or the text of a key; \"{text}\" looks like neither");
            self.error(code::BAD_VALUE, node.place, message).help("did you mean \"thread\"?");
            return None;
        }
        let scope = Scope { only: Some(Only::Input), ..Scope::plain(home) };
        self.inline_text(node, &scope, "`persist`").map(|read| Persist::Key(read.text))
    }

    /// Whether `persist` stands at a channel that has a type; an error where it does not.
    pub(crate) fn check_persisted(&mut self, name: &Arc<str>, node: &Node) -> bool {
        let Some((key, _)) = node.entry("persist") else { return true };
        let typed = node.get("type").is_some() || node.get("enum").is_some();
        if !typed {
            let message = format!("the channel \"{name}\" is kept and has no `type`");
            self.error(code::MISSING_KEY, key.place, message).help("write {type: ..., persist: ...}");
        }
        typed
    }
}
