//! What a run needs to go on: values of the configuration, raised until `resume` would take them.

use std::collections::BTreeMap;

use deepgraph_engine::NotResumable;
use deepgraph_graph::{Bundle, Counted, Limit, Setting};
use deepgraph_protocol::{ErrorKind, Exit, LimitHit, Meter, ResumeFrom, StepError};

use super::limit::limit_of;
use super::outlook::{No, Outlook};
use crate::when;

/// Values of the configuration by key, as `--set` takes them.
pub type Sets = BTreeMap<String, String>;

/// How often values are raised before it is given up: each time one of the limits in the way gets further.
const TRIES: usize = 12;

/// `deepgraph resume RUN --set KEY=VALUE ...`
pub fn resume(run: &str, sets: &Sets, from: ResumeFrom) -> String {
    let stage = match from {
        ResumeFrom::Report => " --from report",
        ResumeFrom::Research if sets.is_empty() => " --from research",
        ResumeFrom::Research => "",
    };
    format!("deepgraph resume {run}{stage}{}", options(sets))
}

/// `deepgraph fork RUN --at STEP --set KEY=VALUE ...`
pub fn fork(run: &str, step: &str, sets: &Sets) -> String {
    format!("deepgraph fork {run} --at {step}{}", options(sets))
}

/// ` --set KEY=VALUE ...`
pub fn options(sets: &Sets) -> String {
    sets.iter().map(|(key, value)| format!(" --set {key}={value}")).collect()
}

/// These values and all that a further attempt needs beside them; none where no value of the configuration lets it go on.
pub fn settled(outlook: &dyn Outlook, bundle: &Bundle, mut sets: Sets, from: ResumeFrom) -> Option<Sets> {
    for _ in 0..TRIES {
        match outlook.resumes(&sets, from) {
            Ok(()) => return Some(sets),
            Err(No::Engine(NotResumable::AtOnce { limit, meter, used, bound, key, .. })) => {
                let key = match key {
                    Some(key) => key.to_string(),
                    None => root_key(bundle, granted(&limit)?)?.0,
                };
                raise(&mut sets, key, meter, doubled(used.max(bound)));
            }
            Err(No::Engine(NotResumable::Saturated { key: Some(key), .. })) => {
                if sets.insert(key.to_string(), "0".to_owned()).is_some_and(|before| before == "0") {
                    return None;
                }
            }
            Err(_) => return None,
        }
    }
    None
}

/// The values with which an instance would have got further: none where its end depends on none, or where they have been
/// raised since.
pub fn of_exit(outlook: &dyn Outlook, bundle: &Bundle, exit: &Exit) -> Option<Sets> {
    let hit = exit.limit.as_ref()?;
    let mut sets = Sets::new();
    match limit_of(exit, hit, bundle) {
        Some((_, limit)) => of_limit(outlook, bundle, limit, hit, exit, &mut sets)?,
        None => of_grant(outlook, bundle, granted(&hit.name)?, hit, exit, &mut sets)?,
    }
    Some(sets)
}

fn of_limit(
    outlook: &dyn Outlook,
    bundle: &Bundle,
    limit: &Limit,
    hit: &LimitHit,
    exit: &Exit,
    sets: &mut Sets,
) -> Option<()> {
    let config = outlook.config();
    if let Counted::Gain { below, .. } = &limit.counted {
        let Setting::Config(key) = below else { return None };
        let is_on = below.number(config).is_some_and(|below| below > 0.0);
        return is_on.then(|| drop(sets.insert(key.to_string(), "0".to_owned())));
    }
    let meter = if let Counted::Meter(meter) = limit.counted { Some(meter) } else { None };
    let max @ Setting::Config(key) = limit.max.as_ref()? else { return None };
    let unit = meter.map_or(1.0, Meter::base_units);
    let now = max.number(config).map(|now| (now * unit).round() as u64)?;
    if now > hit.bound {
        // It was raised since, or what the graph above granted was less.
        let meter = meter.filter(|meter| meter.is_quantity() && !exit.scope.is_root())?;
        return of_grant(outlook, bundle, meter, hit, exit, sets);
    }
    let mut more = doubled(hit.value.max(hit.bound).max(now));
    if let Some(call) = meter.and_then(|meter| outlook.last_call(&exit.scope, meter)) {
        let kept = super::limit::kept(limit, config);
        // What is kept grows with the bound.
        more = more.max(scaled(hit.value.saturating_add(doubled(call)), now, now.saturating_sub(kept)));
    }
    raise(sets, key.to_string(), meter, more);
    Some(())
}

/// A share of what the run has grows as that does.
fn of_grant(
    outlook: &dyn Outlook,
    bundle: &Bundle,
    meter: Meter,
    hit: &LimitHit,
    exit: &Exit,
    sets: &mut Sets,
) -> Option<()> {
    let (key, limit) = root_key(bundle, meter)?;
    let now = limit.max.as_ref()?.number(outlook.config())?;
    let now = (now * meter.base_units()).round() as u64;
    let mut more = doubled(now);
    if let Some(call) = outlook.last_call(&exit.scope, meter) {
        more = more.max(scaled(hit.value.saturating_add(doubled(call)), now, hit.bound));
    }
    raise(sets, key, Some(meter), more);
    Some(())
}

/// The values with which a report that a limit refused would be made: all that it needs beside what is used.
pub fn of_report(outlook: &dyn Outlook, bundle: &Bundle, error: Option<&StepError>) -> Sets {
    let mut sets = Sets::new();
    let refused = error.is_some_and(|error| error.kind == ErrorKind::Refused);
    let used = outlook.used();
    for meter in [Meter::Tokens, Meter::CostUsd] {
        let Some((key, limit)) = root_key(bundle, meter) else { continue };
        let now = limit.max.as_ref().and_then(|max| max.number(outlook.config()));
        let Some(now) = now.map(|now| (now * meter.base_units()).round() as u64) else { continue };
        let Some(call) = outlook.last_call(&Default::default(), meter) else { continue };
        let used = match meter {
            Meter::Tokens => used.settled.tokens.saturating_add(used.unknown.tokens),
            _ => used.settled.cost_micro_usd.saturating_add(used.unknown.cost_micro_usd),
        };
        if refused || used.saturating_add(call) > now {
            raise(
                &mut sets,
                key,
                Some(meter),
                doubled(now.max(used)).max(used.saturating_add(doubled(call))),
            );
        }
    }
    sets
}

/// Both together: of a key that both have, the higher value.
pub fn joined(bundle: &Bundle, one: &Sets, other: &Sets) -> Sets {
    let number = |key: &str, text: &str| {
        let field = bundle.config.get(key)?;
        field.parse_text(text).ok()?.as_float()
    };
    let mut sets = one.clone();
    for (key, value) in other {
        match sets.get(key) {
            Some(before) if number(key, before) >= number(key, value) => {}
            _ => drop(sets.insert(key.clone(), value.clone())),
        }
    }
    sets
}

/// The key that sets the bound of a meter for the whole run, and its limit.
fn root_key(bundle: &Bundle, meter: Meter) -> Option<(String, &Limit)> {
    bundle.root().limits.iter().find_map(|limit| match (&limit.counted, &limit.max) {
        (Counted::Meter(m), Some(Setting::Config(key))) if *m == meter => Some((key.to_string(), limit)),
        _ => None,
    })
}

/// The meter of a limit that follows from a grant.
pub fn granted(limit: &str) -> Option<Meter> {
    limit.strip_prefix("grant.").and_then(Meter::parse)
}

/// Puts a value in, or twice what is there where that is higher.
fn raise(sets: &mut Sets, key: String, meter: Option<Meter>, more: u64) {
    let text = as_value(meter, more);
    if sets.get(&key) == Some(&text) {
        sets.insert(key, as_value(meter, doubled(more)));
    } else {
        sets.insert(key, text);
    }
}

/// An amount in base units as a value of the configuration. Times are at least a second.
fn as_value(meter: Option<Meter>, more: u64) -> String {
    match meter {
        // When::money has a dollar before it.
        Some(Meter::CostUsd) => when::money(more).trim_start_matches('$').to_owned(),
        Some(meter) if meter.is_clock() => match more.div_ceil(1000).max(1) {
            seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
            seconds => format!("{seconds}s"),
        },
        Some(Meter::Tokens) => rounded(more).to_string(),
        _ => more.to_string(),
    }
}

/// Up to two figures: a proposal is no measurement. What has few figures stays.
fn rounded(n: u64) -> u64 {
    let step = 10u64.saturating_pow(n.max(1).ilog10().saturating_sub(1));
    if n.is_multiple_of(step) { n } else { n.div_ceil(step).saturating_mul(step) }
}

fn doubled(n: u64) -> u64 {
    n.saturating_mul(2).max(1)
}

/// What the whole has to be for a part of it to be `wanted`, where `part` of `whole` is now.
fn scaled(wanted: u64, whole: u64, part: u64) -> u64 {
    let scaled = u128::from(wanted) * u128::from(whole) / u128::from(part.max(1)) + 1;
    u64::try_from(scaled).unwrap_or(u64::MAX)
}
