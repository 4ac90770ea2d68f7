//! `deepgraph explain`: what a code of a mistake means, and what an exit means.

use clap::Args;
use deepgraph_graph::{CODES, help_page};
use deepgraph_protocol::ExitReason;

use crate::advice;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::screen;

/// Options of `explain`.
#[derive(Debug, Args)]
#[command(
    about = "Explain a mistake of a graph file by its code, or an exit by its name",
    long_about = "Explain a mistake that `deepgraph check` found: what it is, why it matters, a graph that has it, and \
                  the same graph without it. Of the name of an exit: why a run ends by it, and what to do. Without \
                  either all codes and exits are listed.",
    after_help = "Examples:\n  deepgraph explain DG0103\n  deepgraph explain 504\n  deepgraph explain token_budget\n  deepgraph explain"
)]
pub struct Options {
    /// The code as `deepgraph check` shows it, DG and the zeros may be left out; or the name of an exit
    #[arg(value_name = "CODE|EXIT")]
    code: Option<String>,
}

/// Carries the command out.
pub fn carry_out(options: &Options) -> Result<ExitStatus, CliError> {
    let text = match &options.code {
        None => list(),
        Some(given) => match advice::page(given.trim()) {
            Some(page) => page,
            None => page(given)?.to_owned(),
        },
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

/// All codes, each with its title, and all exits.
fn list() -> String {
    let codes = CODES.iter().map(|(code, title)| format!("{code}  {}\n", title.trim_end_matches('.')));
    codes.chain(["\nExits:\n".to_owned(), advice::list()]).collect()
}

fn page(given: &str) -> Result<&'static str, CliError> {
    let code = whole(given);
    help_page(&code).ok_or_else(|| CliError::NoCode { given: given.to_owned(), nearest: nearest(&code) })
}

/// The code in its whole form: `DG0103` of `dg0103` and `103`.
fn whole(given: &str) -> String {
    let given = given.trim().to_uppercase();
    let number = given.strip_prefix("DG").unwrap_or(&given);
    match number.parse::<u32>() {
        Ok(number) => format!("DG{number:04}"),
        Err(_) => given,
    }
}

/// What was probably meant: an exit, a code by its number, else by its letters.
fn nearest(code: &str) -> Option<&'static str> {
    nearest_exit(code).or_else(|| nearest_code(code))
}

/// The exit whose name is much like it.
fn nearest_exit(given: &str) -> Option<&'static str> {
    let given = given.to_lowercase();
    let alike = |name: &str| strsim::normalized_damerau_levenshtein(&given, name);
    let names = ExitReason::BUILT_IN.map(|(name, _)| name).into_iter();
    names.filter(|name| alike(name) >= 0.7).max_by(|a, b| alike(a).total_cmp(&alike(b)))
}

fn nearest_code(code: &str) -> Option<&'static str> {
    let number = |code: &str| code.strip_prefix("DG").and_then(|number| number.parse::<u32>().ok());
    let codes = CODES.iter().map(|(code, _)| *code);
    if let Some(wanted) = number(code) {
        return codes.min_by_key(|code| number(code).map_or(u32::MAX, |n| n.abs_diff(wanted)));
    }
    let alike = |known: &str| strsim::normalized_damerau_levenshtein(code, known);
    codes.filter(|known| alike(known) >= 0.6).max_by(|a, b| alike(a).total_cmp(&alike(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for given in ["DG0103", "dg0103", " 103 ", "0103", "DG103"] {
            assert_eq!(whole(given), "DG0103", "{given}");
            assert!(page(given).is_ok_and(|page| page.starts_with("# DG0103: ")), "{given}");
        }
    }

    #[test]
    fn an_unknown_code_is_told_the_nearest() {
        for (given, wanted) in [
            ("104000", Some("DG0901")),
            ("DG0120", Some("DG0110")),
            ("0", Some("DG0001")),
            ("DGO103", Some("DG0103")),
            ("everything", None),
            ("token_buget", Some("token_budget")),
            ("", None),
        ] {
            assert_eq!(nearest(&whole(given)), wanted, "{given}");
            assert!(page(given).is_err(), "{given}");
        }
    }
}
