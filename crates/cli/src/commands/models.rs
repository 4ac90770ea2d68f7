//! `deepgraph models`: which providers and models there are, which keys they want, and what is known of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use deepgraph_model::{ListedModel, ListedProvider, Price};
use serde_json::json;

use crate::args::Global;
use crate::config::{self, Wanted};
use crate::drive::KEY_ENV;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::home::Home;
use crate::screen::{self, Screen};
use crate::settings::Settings;
use crate::{graphs, models, when};

/// Options of `models`.
#[derive(Debug, Args)]
#[command(
    about = "List providers and models: keys, context windows, prices",
    long_about = "List the providers of models with the variables that hold their keys, and what is known of models: context \
                  window, longest reply, price for a million tokens. Prices are list prices as of the day beside them. What is \
                  not known is unknown, never 0: under a money budget such a model is refused until its price is set.\n\n\
                  Providers and facts of your own stand in a configuration file, under services.providers and services.models. \
                  Nothing is connected.",
    after_help = "Examples:\n  deepgraph models\n  deepgraph models anthropic\n  deepgraph models mine:: --config mine.yaml --json"
)]
pub struct Options {
    /// Only names that hold this text
    name: Option<String>,
    /// A configuration file with `services`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let bundle = graphs::bundle(graphs::DEFAULT, &Screen::plain())?;
    let wanted = Wanted {
        own_file: Home::find(global).ok().and_then(|home| home.config_file()),
        file: options.config.clone(),
        ..Wanted::default()
    };
    // Keys of other graphs may stand in the files: only the services are wanted.
    let services = config::given(&bundle, &wanted, &BTreeMap::new())?.services().clone();
    let key_env = KEY_ENV.to_owned();
    let models = models::connect(&Settings { services, key_env, ..Settings::default() });
    models.check().map_err(|error| CliError::Models(vec![error.to_string()]))?;
    let is_wanted = |name: &str| options.name.as_ref().is_none_or(|part| name.contains(part.as_str()));
    let listed: Vec<ListedModel> =
        models.listed_models().into_iter().filter(|model| is_wanted(&model.name)).collect();
    let is_used = |provider: &ListedProvider| {
        let prefix = format!("{}::", provider.name);
        is_wanted(&prefix) || listed.iter().any(|model| model.name.starts_with(&prefix))
    };
    let providers: Vec<ListedProvider> = models.listed_providers().into_iter().filter(is_used).collect();
    let text = if options.json { as_json(&providers, &listed) } else { as_text(&providers, &listed) };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

fn as_json(providers: &[ListedProvider], models: &[ListedModel]) -> String {
    let providers = providers.iter().map(|provider| {
        json!({
            "name": provider.name,
            "base_url": provider.base_url,
            "variables": provider.variables,
            "missing": provider.missing,
        })
    });
    let models = models.iter().map(|model| {
        let price = model.facts.price.map(|price| {
            json!({
                "input": dollars(price.input),
                "output": dollars(price.output),
                "cached_input": price.cached_input.map(dollars),
                "cache_write": price.cache_write.map(dollars),
            })
        });
        json!({
            "name": model.name,
            "context_window": model.facts.context_window,
            "max_output": model.facts.max_output,
            "tools": model.facts.tools,
            "price": price,
            "as_of": model.as_of,
        })
    });
    let all = json!({"providers": providers.collect::<Vec<_>>(), "models": models.collect::<Vec<_>>()});
    serde_json::to_string_pretty(&all).unwrap_or_default()
}

fn as_text(providers: &[ListedProvider], models: &[ListedModel]) -> String {
    let mut out = String::new();
    let width = providers.iter().map(|provider| provider.name.len()).max().unwrap_or(0);
    for provider in providers {
        let key = match (provider.variables.as_slice(), provider.missing.as_slice()) {
            ([], _) => "no key".to_owned(),
            (_, [_, ..]) => format!("{} is not set", provider.missing.join(", ")),
            (variables, []) => format!("key in {}", variables.join(", ")),
        };
        // Writing to a text can not fail.
        let _ = writeln!(out, "{:width$}  {}  ({key})", provider.name, provider.base_url);
    }
    if models.is_empty() {
        let _ = writeln!(out, "\nNothing is known of models of that name; they can be used all the same.");
        return out;
    }
    let width = models.iter().map(|model| model.name.len()).max().unwrap_or(0);
    let _ = writeln!(
        out,
        "\n{:width$}  {:>10}  {:>9}  US$ a million tokens: in, cached, out",
        "model", "window", "reply"
    );
    for model in models {
        let tokens = |tokens: Option<u64>| tokens.map_or_else(|| "unknown".to_owned(), when::number);
        let of_day = model.as_of.map_or_else(|| "set".to_owned(), |day| format!("as of {day}"));
        let _ = writeln!(
            out,
            "{:width$}  {:>10}  {:>9}  {} ({of_day})",
            model.name,
            tokens(model.facts.context_window),
            tokens(model.facts.max_output),
            model.facts.price.map_or_else(|| "unknown".to_owned(), priced),
        );
    }
    out
}

fn priced(price: Price) -> String {
    let cached = price.cached_input.map_or_else(|| "-".to_owned(), |price| dollars(price).to_string());
    format!("{}, {cached}, {}", dollars(price.input), dollars(price.output))
}

/// Micro-dollars as dollars.
fn dollars(micro_usd: u64) -> f64 {
    micro_usd as f64 / 1e6
}
