//! Nodes that run once per item of a list.

use super::values::ReadValue;
use super::{Home, Reader, settings};
use crate::diagnostic::code;
use crate::infer::{Scope, fits};
use crate::reducer::is_messages;
use crate::source::{Key, Kind, Node};
use crate::{Channel, Each, Field, Reducer, Type, ValueExpr};

/// The items of a node with `each`.
pub(crate) struct Items {
    /// None where it could not be read.
    pub each: Option<Each>,
    /// The type of an item.
    pub ty: Type,
    /// Whether there may be several.
    pub several: bool,
}

impl Reader<'_> {
    /// The items of a node; none where it runs once.
    pub(crate) fn items(&mut self, node: &Node, what: &str, home: Home<'_>) -> Option<Items> {
        let Some((key, list)) = node.entry("each") else {
            for name in ["max_items", "parallel"] {
                if let Some((key, _)) = node.entry(name) {
                    self.error(code::CONFLICT, key.place, format!("`{name}` in {what} needs `each`"));
                }
            }
            return None;
        };
        if node.get("run_tools").is_some() {
            let message = format!("{what} runs the calls of one reply, so `each` means nothing here");
            self.error(code::CONFLICT, key.place, message)
                .help("call a graph per item that has a loop of its own: call: GRAPH, each: ...");
        }
        let scope = Scope::plain(home);
        let list = self.value(list, &scope);
        let ty = list.as_ref().map_or(Type::Any, |list| self.item_type(list));
        let max_items = match node.get("max_items") {
            Some(max) => self.max_items(max, &scope),
            None => {
                let message = format!("`each` in {what} needs `max_items`");
                self.error(code::MISSING_KEY, key.place, message)
                    .help("it bounds how many items are run: max_items: 20");
                None
            }
        };
        let parallel =
            node.get("parallel").and_then(|n| self.setting(n, home, &settings::at_least_one(), "`parallel`"));
        let one = matches!(&max_items, Some(ValueExpr::Literal(n)) if n.as_int() == Some(1));
        let each =
            list.zip(max_items).map(|(list, max_items)| Each { list: list.value, max_items, parallel });
        Some(Items { each, ty, several: !one })
    }

    fn item_type(&mut self, list: &ReadValue) -> Type {
        let found = match (&list.gives.ty, &list.value) {
            (Type::List(item), _) => return (**item).clone(),
            (_, ValueExpr::Literal(value)) if value.is_null() => "null".to_owned(),
            (Type::Any, _) => return Type::Any,
            (other, _) => crate::nearest::shortened(&other.to_string()),
        };
        let help = match (&list.gives.ty, &list.value) {
            (Type::Map(_), _) => Some("the pairs [key, value] of a map are a list: MAP | items"),
            (_, ValueExpr::Text(_)) => Some("leave out `{{` and `}}`"),
            _ => None,
        };
        let message = format!("`each` runs over a list, and this is {found}");
        self.error(code::MISMATCH, list.place, message).hint(help.map(str::to_owned));
        Type::Any
    }

    fn max_items(&mut self, node: &Node, scope: &Scope<'_>) -> Option<ValueExpr> {
        let read = self.value(node, scope)?;
        if let ValueExpr::Literal(value) = &read.value {
            if let Err(mismatch) = settings::at_least_one().check(value) {
                self.error(code::BAD_VALUE, node.place, format!("`max_items` {mismatch}"));
            }
        } else if let Err(why) = fits::field_fits(&read.gives, &Field::of(Type::Integer)) {
            self.error(code::MISMATCH, node.place, format!("`max_items` takes integer, and this {why}"));
        }
        Some(read.value)
    }

    /// What an item writes to a channel that is replaced: there are as many writers as items.
    pub(crate) fn check_written_per_item(&mut self, key: &Key, channel: &Channel) {
        if channel.reducer != Reducer::Replace {
            return;
        }
        let message =
            format!("every item writes the channel \"{}\", and `replace` keeps only one value", key.name);
        let help = match &channel.field.ty {
            ty if is_messages(ty) => "join them: reduce: messages, or append".to_owned(),
            Type::List(_) | Type::Any => "join them: reduce: append, or union".to_owned(),
            Type::Map(_) | Type::Record(_) => {
                "join them: reduce: merge, or make it a list with append".to_owned()
            }
            Type::Integer | Type::Number | Type::Duration => {
                "join them: reduce: sum, or max, or make it a list with append".to_owned()
            }
            Type::String | Type::Boolean => {
                format!("make it a list: {}: {{type: [{}], reduce: append}}", key.name, channel.field.ty)
            }
        };
        self.error(code::TWO_WRITERS, key.place, message).help(help);
    }

    /// A conversation can not be extended by items that run side by side, nor can tools be offered in them.
    pub(crate) fn check_item_talk(&mut self, node: &Node, what: &str) {
        if let Some((key, messages)) = node.entry("messages")
            && !matches!(messages.kind, Kind::Map(_))
        {
            let message = "the items run side by side and can not all extend one conversation";
            self.error(code::CONFLICT, key.place, message)
                .help("use `prompt`, with `messages: {read: CHANNEL}` where the conversation is to be seen");
        }
        if let Some((key, _)) = node.entry("tools") {
            let message = format!("{what} runs per item, so it can not offer tools");
            self.error(code::CONFLICT, key.place, message)
                .help("call a graph per item that has the loop of a model and its tools");
        }
    }
}
