//! Model nodes.

use deepgraph_protocol::{Map, ToolSpec};

use super::declare::Named;
use super::keys::Keys;
use super::nodes::{built_in, record};
use super::settings::at_least_one;
use super::{Home, Reader};
use crate::diagnostic::code;
use crate::infer::{Scope, unknown};
use crate::nearest::{self, shortened};
use crate::reducer::is_messages;
use crate::source::{Kind, Node, Place};
use crate::{ChannelIx, Cut, Field, ModelNode, Reducer, Setting, ToolIx, Truncate, Type, vocabulary};

impl Reader<'_> {
    /// Reads a model node; with the type of its result.
    pub(crate) fn model(&mut self, node: &Node, named: Named<'_>, scope: &Scope<'_>) -> (ModelNode, Type) {
        let home = scope.home;
        let what = format!("node \"{}\"", named.key.name);
        let conversation = self.conversation(node, home);
        let system = node.get("system").and_then(|n| self.text(n, scope, "`system`"));
        let prompt = node.get("prompt").and_then(|n| self.text(n, scope, "`prompt`"));
        if node.get("messages").is_none() && node.get("prompt").is_none() {
            let place = node.entry("model").map_or(node.place, |(k, _)| k.place);
            self.error(code::MISSING_KEY, place, format!("{what} needs `prompt` or `messages`"));
        }
        if scope.item.is_ok() {
            self.check_item_talk(node, &what);
        }
        let tools = self.offered(node, home, &what);
        let returns = self.returns(node, named, home);
        let (messages, extends) = conversation.map_or((None, true), |(ix, extends)| (Some(ix), extends));
        let mut reads: Vec<ChannelIx> = Vec::new();
        for name in [&system, &prompt].into_iter().flatten().flat_map(|t| t.reads.iter()) {
            if let Some((ix, _)) = home.own.channel(name)
                && Some(ix) != messages
                && !reads.contains(&ix)
            {
                reads.push(ix);
            }
        }
        reads.sort();
        let mut fields = vec![
            ("text", Field::of(Type::String)),
            ("tool_calls", Field::of(Type::List(Box::new(built_in("tool_call").ty)))),
            ("finish", Field::of(Type::String)),
            ("message", built_in("message")),
        ];
        match &returns {
            Some(returns) => fields.push(("data", returns.field.clone())),
            None if node.get("returns").is_some() => fields.push(("data", unknown())),
            None => {}
        }
        let model = ModelNode {
            model: self.model_name(node, home),
            system: system.map(|t| t.text),
            messages,
            extends,
            prompt: prompt.map(|t| t.text),
            specs: self.specs(&tools, home),
            tools,
            returns,
            max_output: node
                .get("max_output")
                .and_then(|n| self.setting(n, home, &at_least_one(), "`max_output`")),
            truncate: self.truncate(node, scope),
            options: self.options(node),
            reads,
        };
        (model, record(fields))
    }

    fn model_name(&mut self, node: &Node, home: Home<'_>) -> Setting {
        let fallback = Setting::Literal("".into());
        let Some(model) = node.get("model") else { return fallback };
        let found = self.setting(model, home, &Field::of(Type::String), "`model`");
        if let Some(Setting::Literal(name)) = &found
            && name.as_str().is_some_and(|n| n.trim().is_empty())
        {
            self.error(code::BAD_VALUE, model.place, "`model` names no model");
        }
        found.unwrap_or(fallback)
    }

    /// The channel of the conversation, and whether replies are added to it.
    fn conversation(&mut self, node: &Node, home: Home<'_>) -> Option<(ChannelIx, bool)> {
        let messages = node.get("messages")?;
        let (named, extends) = match &messages.kind {
            Kind::Map(_) => {
                self.check_keys(messages, Keys::of("`messages`", &vocabulary::MESSAGES));
                match messages.get("read") {
                    Some(read) => (read, false),
                    None => {
                        self.error(
                            code::MISSING_KEY,
                            messages.place,
                            "`messages` is a channel or {read: CHANNEL}",
                        );
                        return None;
                    }
                }
            }
            _ => (messages, true),
        };
        let name = self.plain_text(named, "`messages`")?;
        let (ix, channel) = self.channel_named(home.own, &name, named.place)?;
        let fits = is_messages(&channel.field.ty) && (!extends || channel.reducer == Reducer::Messages);
        if !fits && home.own.sound {
            let message = format!(
                "`messages` needs a channel of the type messages; \"{name}\" is {}",
                channel.field.ty
            );
            self.error(code::MISMATCH, named.place, message);
        }
        Some((ix, extends))
    }

    fn offered(&mut self, node: &Node, home: Home<'_>, what: &str) -> Vec<ToolIx> {
        let Some((key, list)) = node.entry("tools") else { return Vec::new() };
        if node.get("each").is_some() {
            // Told already that it can offer none.
        } else if node.get("messages").is_none() {
            self.error(code::MISSING_KEY, key.place, format!("{what} offers tools and so needs `messages`"))
                .help("calls and their answers are kept in a channel of the type messages");
        } else if let Some((key, messages)) = node.entry("messages")
            && matches!(messages.kind, Kind::Map(_))
        {
            let message = format!("{what} offers tools, so its replies must be added to the conversation");
            self.error(code::CONFLICT, key.place, message).help("write `messages: CHANNEL` without `read`");
        }
        let mut tools: Vec<ToolIx> = Vec::new();
        for (name, place) in self.name_list(list, "`tools`") {
            match home.own.tools_named(&name) {
                Some(found) if found.iter().any(|ix| tools.contains(ix)) => {
                    self.error(code::TAKEN, place, format!("the tool \"{name}\" is listed twice"));
                }
                Some(found) => {
                    for ix in found {
                        self.check_offered(&tools, ix, place, home.own);
                        tools.push(ix);
                    }
                }
                None => {
                    let help = nearest::hint(&name, home.own.tool_names());
                    let message = format!("{} has no tool \"{}\"", home.own.title(), shortened(&name));
                    self.error(code::UNKNOWN_TOOL, place, message).hint(help);
                }
            }
        }
        tools
    }

    fn specs(&mut self, tools: &[ToolIx], home: Home<'_>) -> Vec<ToolSpec> {
        tools
            .iter()
            .filter_map(|ix| home.own.tools.get(ix.0))
            .map(|named| self.tool_spec(home, *named))
            .collect()
    }

    fn options(&mut self, node: &Node) -> Map {
        let Some(options) = node.get("options") else { return Map::new() };
        if !self.mapping(options, "`options`") {
            return Map::new();
        }
        options.entries().iter().map(|(k, v)| (k.name.clone(), v.to_value())).collect()
    }

    fn truncate(&mut self, node: &Node, scope: &Scope<'_>) -> Truncate {
        let mut truncate =
            Truncate { cut: vec![Cut::ToolResults, Cut::Oldest], to: 0.9, shrink: 0.1, tries: 3 };
        let Some(node) = node.get("truncate") else { return truncate };
        if !self.check_keys(node, Keys::of("`truncate`", &vocabulary::TRUNCATE)) {
            return truncate;
        }
        if let Some(list) = node.get("cut") {
            truncate.cut = self.cuts(list, scope);
        }
        if let Some(to) = node.get("to").and_then(|n| self.number_in(n, 0.05, 1.0, "`to`")) {
            truncate.to = to;
        }
        if let Some(shrink) = node.get("shrink").and_then(|n| self.number_in(n, 0.01, 0.9, "`shrink`")) {
            truncate.shrink = shrink;
        }
        if let Some(tries) = node.get("tries").and_then(|n| self.whole(n, 1, "`tries`")) {
            truncate.tries = u32::try_from(tries).unwrap_or(u32::MAX);
        }
        truncate
    }

    fn cuts(&mut self, list: &Node, scope: &Scope<'_>) -> Vec<Cut> {
        let home = scope.home;
        let mut cuts = Vec::new();
        for (name, place) in self.name_list(list, "`cut`") {
            match (&*name, home.own.channel(&name)) {
                ("tool_results", _) => cuts.push(Cut::ToolResults),
                ("oldest", _) => cuts.push(Cut::Oldest),
                ("item", _) => cuts.extend(self.cut_item(place, scope)),
                (_, Some((ix, channel))) => {
                    if !matches!(channel.field.ty, Type::List(_) | Type::String | Type::Any) {
                        let message =
                            format!("only lists and texts can be cut; \"{name}\" is {}", channel.field.ty);
                        self.error(code::MISMATCH, place, message);
                    }
                    cuts.push(Cut::Channel(ix));
                }
                (_, None) => {
                    let item = scope.item.is_ok().then_some("item");
                    let words = ["tool_results", "oldest"].into_iter().chain(item);
                    let help = nearest::hint(&name, words.chain(home.own.channel_names()));
                    let message = format!("unknown channel \"{}\" in `cut`", shortened(&name));
                    self.error(code::UNKNOWN_CHANNEL, place, message).hint(help);
                }
            }
        }
        cuts
    }

    fn cut_item(&mut self, at: Place, scope: &Scope<'_>) -> Option<Cut> {
        match &scope.item {
            Err(_) => {
                self.error(code::MISPLACED, at, "`item` can be cut in nodes with `each` only");
                None
            }
            Ok(ty @ (Type::Boolean | Type::Integer | Type::Number | Type::Duration)) => {
                let message = format!("an item is cut at the longest text in it; here it is {ty}");
                self.error(code::MISMATCH, at, message);
                None
            }
            Ok(_) => Some(Cut::Item),
        }
    }
}
