//! Recording and driving a run that begins as another one.

use std::path::Path;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::Millis;
use deepgraph_runtime::{Branch, Clock as _, NewRun, SystemClock, Work};
use deepgraph_store::RunRecord;

use crate::drive::Driver;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::settings::Settings;
use crate::when::{self, counted};
use crate::{models, session};

/// How many runs are looked through, the newest first, for those that are meant.
pub const MOST_RUNS: usize = 10_000;

/// The time now.
pub fn now() -> Millis {
    SystemClock.now()
}

/// Records the run and drives it. `record` is that of the run that it begins as.
///
/// # Errors
///
/// Documents, models or servers can not be had; the store fails; driving fails.
pub fn drive(
    driver: &Driver,
    record: &RunRecord,
    bundle: &Arc<Bundle>,
    mut settings: Settings,
    branch: &Branch,
    own: Option<&Path>,
) -> Result<ExitStatus, CliError> {
    // What it begins with may repeat the keys of the run that it comes from.
    let used = models::keys_in_use(bundle, &settings);
    if let Some(keys) = &mut settings.keys {
        keys.extend(used);
    }
    models::check_prices(bundle, &settings)?;
    let of_servers = driver.servers(bundle, &settings, own)?;
    let ready = driver.ready(bundle, &settings)?;
    session::with(|session| {
        session.prepare(bundle, &of_servers)?;
        let new = NewRun {
            question: record.question.clone(),
            graph: record.graph.clone(),
            bundle: bundle.clone(),
            input: settings.input.clone(),
            config: settings.config.clone(),
            settings: settings.to_record(),
            thread: settings.thread.clone(),
        };
        let run = driver.record_fork(&ready, &new, branch)?;
        let held = driver.hold(&run)?;
        let from = &branch.from;
        let behind = from.step.as_ref().map_or(String::new(), |step| format!(" behind {step}"));
        driver.tell(&format!(
            "run {run} begins as {}{behind}: {} of its entries; paid there, and counted against its budgets: {}, {}",
            from.run,
            when::number(from.rows),
            counted(branch.paid.tokens, "token", "tokens"),
            when::cost(&branch.paid)
        ));
        let work = Work::Resume { bundle: bundle.clone(), answers: Vec::new() };
        driver.drive(session, held, ready, &run, bundle, work)
    })
}

/// The names that are most alike, best first; at most five.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    // Distances of long texts are dear, and such a text is no name.
    let name: String = name.chars().take(200).collect();
    let mut alike: Vec<(f64, &str)> = known
        .map(|known| {
            let ends = known.ends_with(&name) || known.rsplit('/').next() == name.rsplit('/').next();
            let score = strsim::normalized_damerau_levenshtein(&name, known);
            (if ends { score.max(0.9) } else { score }, known)
        })
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    alike.iter().take(5).map(|(_, known)| (*known).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_by_their_end() {
        let known = ["brief.1", "supervise.1/supervisor.1", "supervise.1/supervisor.2", "report.1"];
        assert_eq!(nearest("supervisor.2", known.into_iter())[0], "supervise.1/supervisor.2");
        assert_eq!(nearest("breif.1", known.into_iter())[0], "brief.1");
        assert_eq!(nearest("x", std::iter::empty()), Vec::<String>::new());
    }
}
