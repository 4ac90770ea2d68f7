//! Settings: literals or `config.KEY`.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::Value;

use super::declare::{Decl, Decls};
use super::fields::boolean_help;
use super::{Home, Reader};
use crate::diagnostic::{code, misfit};
use crate::infer::fits;
use crate::source::{Kind, Node, Place};
use crate::{Concurrency, ConfigUse, Field, Retry, Setting, Type, vocabulary};

impl Reader<'_> {
    /// A setting that must fit a field.
    pub(crate) fn setting(
        &mut self,
        node: &Node,
        home: Home<'_>,
        want: &Field,
        what: &str,
    ) -> Option<Setting> {
        if let Some(text) = node.text()
            && let Some(key) = text.trim().strip_prefix("config.")
        {
            if home.own.config_lost.contains(key) {
                return None;
            }
            let (field, _) = self.config_key(home.own, key, node.place)?;
            if let Err(message) = fits::field_fits(&field, want) {
                let message = format!("{what} takes {}, and config.{key} {message}", want.phrase());
                self.error(code::MISMATCH, node.place, message);
                return None;
            }
            let by = format!("{what} ({})", self.place_text(node.place));
            self.config_uses.push(ConfigUse { key: key.into(), takes: want.clone(), by });
            return Some(Setting::Config(key.into()));
        }
        let value = node.to_value();
        if value.as_str().is_some_and(|t| t.contains("{{")) {
            self.error(
                code::TEMPLATE,
                node.place,
                format!("{what} is a fixed value or config.KEY, no template"),
            );
            return None;
        }
        match want.check(&value) {
            Ok(value) => Some(Setting::Literal(value)),
            Err(mismatch) => {
                let help = boolean_help(node, &want.ty);
                let code = misfit(&value, want, code::BAD_VALUE);
                self.error(code, node.place, format!("{what} {mismatch}")).hint(help);
                None
            }
        }
    }

    /// The config key of a graph; an error where it is not declared there.
    pub(crate) fn config_key(&mut self, own: &Decl<'_>, key: &str, at: Place) -> Option<(Field, Place)> {
        if let Some(found) = own.config.get(key) {
            return Some(found.clone());
        }
        let (message, help) = own.no_config_key(key);
        self.error(code::UNKNOWN_CONFIG, at, message).help(help);
        None
    }

    /// A fixed whole number of at least `min`.
    pub(crate) fn whole(&mut self, node: &Node, min: i64, what: &str) -> Option<u64> {
        let field = Field { minimum: Some(min as f64), ..Field::of(Type::Integer) };
        match field.check(&node.to_value()) {
            Ok(value) => value.as_int().and_then(|n| u64::try_from(n).ok()),
            Err(mismatch) => {
                let code = misfit(&node.to_value(), &field, code::BAD_VALUE);
                self.error(code, node.place, format!("{what} {mismatch}"));
                None
            }
        }
    }

    /// A fixed number in a range, its ends included.
    pub(crate) fn number_in(&mut self, node: &Node, min: f64, max: f64, what: &str) -> Option<f64> {
        let field = Field { minimum: Some(min), maximum: Some(max), ..Field::of(Type::Number) };
        match field.check(&node.to_value()) {
            Ok(value) => value.as_float(),
            Err(mismatch) => {
                let code = misfit(&node.to_value(), &field, code::BAD_VALUE);
                self.error(code, node.place, format!("{what} {mismatch}"));
                None
            }
        }
    }

    /// The caps of the driver.
    pub(crate) fn concurrency(&mut self, root: &Node) -> Concurrency {
        let mut caps = Concurrency::default();
        let Some(node) = root.get("concurrency") else { return caps };
        self.check_keys(node, super::keys::Keys::of("`concurrency`", &vocabulary::CONCURRENCY));
        for (key, value) in node.entries() {
            let slot = match &*key.name {
                "graphs" => &mut caps.graphs,
                "model_calls" => &mut caps.model_calls,
                "tool_calls" => &mut caps.tool_calls,
                _ => continue,
            };
            *slot = self.whole(value, 1, &format!("`{}`", key.name)).and_then(|n| usize::try_from(n).ok());
        }
        caps
    }

    /// A timeout.
    pub(crate) fn timeout(&mut self, node: &Node, home: Home<'_>) -> Option<Setting> {
        node.get("timeout").and_then(|t| self.setting(t, home, &duration(), "`timeout`"))
    }

    /// How long results are reused; none for `false`.
    pub(crate) fn cache(&mut self, node: &Node, home: Home<'_>) -> Option<Setting> {
        let cache = node.get("cache")?;
        if matches!(cache.kind, Kind::Bool(false)) {
            return None;
        }
        self.setting(cache, home, &duration(), "`cache`")
    }
}

/// A length of time.
pub(crate) fn duration() -> Field {
    Field::of(Type::Duration)
}

/// A whole number of at least 1.
pub(crate) fn at_least_one() -> Field {
    Field { minimum: Some(1.0), ..Field::of(Type::Integer) }
}

/// What holds where nothing is said: 3 attempts, 1 s before the second, doubled each time, transient kinds.
pub(crate) fn default_retry() -> Retry {
    Retry {
        max: Setting::Literal(Value::Int(3)),
        backoff: Setting::Literal(Value::Int(1)),
        factor: 2.0,
        condition: None,
    }
}

/// A config key as it was first declared.
struct FirstDecl {
    field: Field,
    file: usize,
    at: String,
}

/// Joins the configuration of all graphs: one value per key, so declarations must agree. Between files the default
/// may differ: that of the file nearest to the first one holds.
pub(crate) fn join_config(reader: &mut Reader<'_>, decls: &mut Decls<'_>) {
    let mut joined: BTreeMap<Arc<str>, FirstDecl> = BTreeMap::new();
    for (index, graph) in decls.graphs.iter().enumerate() {
        reader.enter(decls.files, graph.file);
        for (key, (field, place)) in &graph.config {
            let Some(first) = joined.get_mut(key) else {
                let at = reader.place_text(*place);
                joined.insert(key.clone(), FirstDecl { field: field.clone(), file: graph.file, at });
                continue;
            };
            if index >= decls.kept {
                // Nothing calls the graph, so its key is not that of a run.
                continue;
            }
            if let Some(difference) = differs(&first.field, field, first.file == graph.file) {
                let message = format!("config key \"{key}\" has {difference} here than in {}", first.at);
                reader
                    .error(code::CONFIG_DIFFERS, *place, message)
                    .help("one name is one value run-wide: declare it the same everywhere");
                continue;
            }
            if first.field.default.is_none() {
                first.field.default = field.default.clone();
            }
        }
    }
    decls.config = joined.into_iter().map(|(key, first)| (key, first.field)).collect();
}

fn differs(a: &Field, b: &Field, same_file: bool) -> Option<&'static str> {
    if a.ty != b.ty {
        return Some("another type");
    }
    if a.options != b.options
        || a.minimum != b.minimum
        || a.maximum != b.maximum
        || a.max_items != b.max_items
    {
        return Some("other bounds");
    }
    let both = a.default.is_some() && b.default.is_some();
    (same_file && both && a.default != b.default).then_some("another default")
}
