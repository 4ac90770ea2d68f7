//! The web of a run: search engines and pages, where it may use them.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::sync::Arc;

use deepgraph_runtime::WebSource;
use deepgraph_tools::web::{Engine, SearchSettings, Web};

use crate::error::CliError;
use crate::screen::Screen;
use crate::settings::Settings;

/// The web as these settings have it; none where the run does not use it. Pages are kept in the folder `cache` where the
/// configuration names no other.
///
/// # Errors
///
/// What of the settings can not be used.
pub fn open(
    settings: &Settings,
    cache: &Path,
    screen: Option<&Screen>,
) -> Result<Option<Arc<dyn WebSource>>, CliError> {
    if !settings.web {
        return Ok(None);
    }
    let mut fetching = settings.services.web();
    fetching.cache.get_or_insert_with(|| cache.to_owned());
    let opened = Web::new(&fetching, &searching(settings), &|name| env::var(name).ok());
    let web = opened.map_err(|error| CliError::Config(vec![error.to_string()]))?;
    if let Some(screen) = screen {
        let engines = web.engines().engines();
        let told: Vec<String> = engines.iter().map(|one| format!("{} ({})", one.engine, one.why)).collect();
        screen.say(&format!("searching the web with {}", told.join(", ")));
    }
    Ok(Some(Arc::new(web)))
}

/// The variables of the environment that hold a key of its search engines.
pub fn keys_in_use(settings: &Settings) -> BTreeSet<String> {
    if !settings.web {
        return BTreeSet::new();
    }
    let searching = searching(settings);
    let engines = if searching.engines.is_empty() { Engine::ALL.to_vec() } else { searching.engines.clone() };
    let variable = |engine: &Engine| {
        let own = searching.options.get(engine).and_then(|options| options.key_env.clone());
        // That of SearXNG is an address.
        own.or_else(|| engine.variable().filter(|_| *engine != Engine::Searxng).map(str::to_owned))
    };
    let is_set = |name: &String| env::var(name).is_ok_and(|value| !value.trim().is_empty());
    engines.iter().filter_map(variable).filter(is_set).collect()
}

fn searching(settings: &Settings) -> SearchSettings {
    let named: Vec<Engine> = settings.search.iter().filter_map(|name| Engine::parse(name)).collect();
    let searching = settings.services.search();
    if named.is_empty() { searching } else { SearchSettings { engines: named, ..searching } }
}

/// The name of a search engine.
pub fn engine_name(text: &str) -> Result<String, String> {
    let name = text.trim().to_lowercase();
    let all = || Engine::ALL.map(|engine| engine.name()).join(", ");
    match Engine::parse(&name) {
        Some(engine) => Ok(engine.name().to_owned()),
        None => Err(format!("there is no search engine \"{name}\"; there are {}", all())),
    }
}
