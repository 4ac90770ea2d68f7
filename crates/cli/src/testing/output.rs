//! Where it is told what came of cases.

use std::path::{Path, PathBuf};

use super::Timed;
use super::junit;
use crate::error::CliError;
use crate::out_file::{Holds, OutFile};
use crate::screen::{self, Screen};

/// Where the lines go.
#[derive(Debug)]
pub struct Output {
    screen: Screen,
    /// Where standard output has the JUnit XML: then the lines go to standard error.
    has_xml: bool,
}

impl Output {
    /// To standard output, but where the XML goes there.
    pub fn new(screen: &Screen, junit: Option<&Junit>) -> Output {
        Output { screen: screen.clone(), has_xml: matches!(junit, Some(Junit::Stdout)) }
    }

    /// Prints a text. Whether somebody still reads.
    ///
    /// # Errors
    ///
    /// Standard output can not be written.
    pub fn print(&self, text: &str) -> Result<bool, CliError> {
        if self.has_xml {
            self.screen.say(text.trim_end_matches('\n'));
            return Ok(true);
        }
        screen::print_to_reader(text)
    }
}

/// Where the JUnit XML goes.
#[derive(Debug)]
pub enum Junit {
    /// To standard output: `-`.
    Stdout,
    /// To a file.
    File(OutFile),
}

impl Junit {
    /// Finds out whether it can be written, before a case is played.
    ///
    /// # Errors
    ///
    /// It can not.
    pub fn check(path: &Path) -> Result<Junit, CliError> {
        match path == Path::new("-") {
            true => Ok(Junit::Stdout),
            false => OutFile::check(path, Holds::Junit).map(Junit::File),
        }
    }

    /// Writes it.
    ///
    /// # Errors
    ///
    /// It can not be made or written.
    pub fn write(&self, played: &[Timed], took: std::time::Duration) -> Result<(), CliError> {
        let path = match self {
            Junit::Stdout => PathBuf::from("-"),
            Junit::File(file) => file.name().to_owned(),
        };
        let failed = |problem| CliError::OutFile { holds: Holds::Junit, path, problem };
        let text = junit::report(played, took).map_err(failed)?;
        match self {
            Junit::Stdout => screen::print_raw(&text).map_err(CliError::Stdout),
            Junit::File(file) => file.write(&text),
        }
    }
}
