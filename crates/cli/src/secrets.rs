//! The secrets of a run: what is taken out of all that is written of it.

use std::collections::BTreeSet;
use std::env;

use deepgraph_graph::Bundle;
use deepgraph_protocol::Hidden;
use deepgraph_store::{RunRecord, RunUpdate, Store};

use crate::error::CliError;
use crate::models;
use crate::settings::Settings;

/// The secrets that a run may have come to know, which are to be in nothing that is written of it: the keys of its
/// models, and those of its servers. `key_env` is the variable with the key of its models now.
///
/// # Errors
///
/// One that the run had is not in the environment now, so that it could not be taken out.
pub fn of_run(bundle: &Bundle, record: &RunRecord, key_env: &str) -> Result<Hidden, CliError> {
    let settings = Settings::of(record)?;
    let of_servers = || bundle.servers.iter().flat_map(|server| &server.secrets).map(|name| name.to_string());
    let value = |name: &String| env::var(name).ok();
    let lacks = |name: &String| value(name).is_none_or(|value| value.trim().is_empty());
    // A replay came to know nothing but its recording, which is without secrets.
    if settings.replay.is_none() {
        let noted = settings.keys.iter().flatten().cloned();
        let known: BTreeSet<String> = noted.chain(of_servers()).filter(lacks).collect();
        refuse(record, known, true)?;
        if settings.keys.is_none() && models::may_need_key(bundle, &settings) {
            let unknown = Some(settings.key_env.clone()).filter(|name| env::var_os(name).is_none());
            refuse(record, unknown, false)?;
        }
    }
    let keys = settings.keys.into_iter().flatten().chain([settings.key_env, key_env.to_owned()]);
    Ok(Hidden::new(keys.chain(of_servers()).filter_map(|name| value(&name))))
}

/// The variables that hold a key which a run with these settings uses: of its models and its search engines.
pub fn keys_in_use(bundle: &Bundle, settings: &Settings) -> BTreeSet<String> {
    let mut keys = models::keys_in_use(bundle, settings);
    #[cfg(feature = "web")]
    keys.extend(crate::web::keys_in_use(settings));
    keys
}

fn refuse(
    record: &RunRecord,
    variables: impl IntoIterator<Item = String>,
    is_sure: bool,
) -> Result<(), CliError> {
    let variables: Vec<String> = variables.into_iter().collect();
    if variables.is_empty() {
        return Ok(());
    }
    Err(CliError::NotHidden { run: record.run_id.to_string(), variables, is_sure })
}

/// Notes in a run's record that it is about to be driven with these settings, where they bring another key. The caller
/// holds the run.
///
/// # Errors
///
/// The record can not be read or written.
pub fn note_key(
    store: &dyn Store,
    record: &RunRecord,
    bundle: &Bundle,
    settings: &Settings,
) -> Result<(), CliError> {
    let mut noted = Settings::of(record)?;
    // Of a run whose keys were not noted it is not known whether these are the only ones.
    let Some(keys) = &mut noted.keys else { return Ok(()) };
    let before = keys.len();
    keys.extend(keys_in_use(bundle, settings));
    if keys.len() == before {
        return Ok(());
    }
    let epoch = store.claim(&record.run_id)?;
    let update = RunUpdate { settings: Some(noted.to_record()), ..RunUpdate::default() };
    Ok(store.update_run(&record.run_id, epoch, &update)?)
}
