//! The channels that a graph declares, and those of them that it takes and gives.

use super::Reader;
use super::declare::{Decl, Named, named, typing};
use crate::diagnostic::code;
use crate::source::{Kind, Place};
use crate::{Channel, ChannelIx, nearest};

/// Reads the channels.
pub(super) fn state(reader: &mut Reader<'_>, decl: &mut Decl<'_>) {
    if decl.node.get("state").is_none() && matches!(decl.node.kind, Kind::Map(_)) {
        reader.error(code::MISSING_KEY, decl.place, format!("{} has no `state`", decl.title()));
    }
    for Named { key, node } in named(reader, decl.node, "state", "a channel") {
        let extra = ["reduce", "persist"];
        if let Some((reduce, _)) = node.entry("reduce")
            && node.get("type").is_none()
            && node.get("enum").is_none()
        {
            let message = format!("the channel \"{}\" has a reducer and no `type`", key.name);
            reader.error(code::MISSING_KEY, reduce.place, message).help("write {type: ..., reduce: ...}");
            decl.channels.push(reader.lost_channel(key, node));
        } else if !reader.check_persisted(&key.name, node) {
            decl.channels.push(reader.lost_channel(key, node));
        } else {
            let channel = match typing(reader).field(node, &decl.types, &extra) {
                Some(field) => reader.channel(key, node, field),
                None => reader.lost_channel(key, node),
            };
            decl.channels.push(channel);
        }
        decl.channel_places.push(key.place);
    }
}

impl Reader<'_> {
    /// The channel of a name; an error where the graph has none.
    pub(crate) fn channel_named<'d>(
        &mut self,
        own: &'d Decl<'_>,
        name: &str,
        at: Place,
    ) -> Option<(ChannelIx, &'d Channel)> {
        let found = own.channel(name);
        if found.is_none() {
            let message = format!("{} has no channel \"{}\"", own.title(), nearest::shortened(name));
            let help = nearest::hint(name, own.channel_names());
            self.error(code::UNKNOWN_CHANNEL, at, message).hint(help);
        }
        found
    }
}

/// The channels that `input` or `output` lists.
pub(super) fn channel_list(reader: &mut Reader<'_>, decl: &Decl<'_>, what: &str) -> Vec<ChannelIx> {
    let Some(list) = decl.node.get(what) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, place) in reader.name_list(list, &format!("`{what}`")) {
        match decl.channel(&name) {
            Some((ix, _)) if found.contains(&ix) => {
                reader.error(code::TAKEN, place, format!("\"{name}\" is listed twice"));
            }
            Some((ix, _)) => found.push(ix),
            None => {
                let message = format!("unknown channel \"{}\" in `{what}`", nearest::shortened(&name));
                reader
                    .error(code::UNKNOWN_CHANNEL, place, message)
                    .hint(nearest::hint(&name, decl.channel_names()));
            }
        }
    }
    found
}
