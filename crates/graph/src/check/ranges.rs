//! Bounds of limits that come from the configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::Meter;

use super::Checked;
use crate::diagnostic::code;
use crate::read::Decl;
use crate::{Counted, Field, OnReach, Setting};

/// Reports bounds whose config key has a default that the limit does not take: the run would end before it begins.
pub(super) fn limits(checked: &mut Checked<'_, '_>, decl: &Decl<'_>, config: &BTreeMap<Arc<str>, Field>) {
    for (limit, named) in checked.graph.limits.iter().zip(&decl.limits) {
        let (Some(Setting::Config(key)), Some(max)) = (&limit.max, named.node.get("max")) else { continue };
        let Some(default) = config.get(key).and_then(|field| field.default.as_ref()) else { continue };
        let least = match &limit.counted {
            // Of these, nothing at all may be meant.
            Counted::Meter(meter) if *meter == Meter::CostUsd || meter.is_clock() => 0.0,
            _ if limit.on_reach == OnReach::Refuse => 0.0,
            _ => 1.0,
        };
        if default.as_float().is_some_and(|number| number < least) {
            let message = format!(
                "`max` must be at least {least}, and the default of config.{key} is {}",
                default.to_json_text()
            );
            let help = format!("give config.{key} a greater default and `minimum: {least}`");
            checked.reader.error(code::OUT_OF_RANGE, max.place, message).help(help);
        }
    }
}
