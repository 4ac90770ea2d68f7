//! The cells of the table: where something goes wrong, and what.

use std::fmt;

use super::server::{Asked, Fault, Stage, What};
use super::world::SPARE;

/// Where something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The check of the question.
    Clarify,
    /// The brief.
    Brief,
    /// The supervisor, before it has delegated.
    FirstTurn,
    /// The supervisor, once its researchers have handed over.
    NextTurn,
    /// All researchers, before they have looked anything up.
    Research,
    /// All researchers, once they have read.
    HasRead,
    /// All researchers, at their handoff.
    Compress,
    /// The report.
    Report,
    /// Everything from the first request on.
    All,
    /// Everything once researchers have read.
    Late,
}

impl Place {
    /// All places.
    pub const ALL: [Place; 10] = {
        use Place::*;
        [Clarify, Brief, FirstTurn, NextTurn, Research, HasRead, Compress, Report, All, Late]
    };

    /// Whether a request comes from there.
    pub fn holds(self, asked: &Asked) -> bool {
        match self {
            Place::Clarify => asked.stage == Stage::Clarify,
            Place::Brief => asked.stage == Stage::Brief,
            Place::FirstTurn => (asked.stage, asked.turn) == (Stage::Supervisor, 0),
            Place::NextTurn => (asked.stage, asked.turn) == (Stage::Supervisor, 1),
            Place::Research => (asked.stage, asked.turn) == (Stage::Researcher, 0),
            Place::HasRead => (asked.stage, asked.turn) == (Stage::Researcher, 2),
            Place::Compress => asked.stage == Stage::Compress,
            Place::Report => asked.stage == Stage::Report,
            Place::All => true,
            Place::Late => [Place::HasRead, Place::Compress, Place::NextTurn, Place::Report]
                .iter()
                .any(|p| p.holds(asked)),
        }
    }

    /// Whether something can go wrong there.
    pub fn takes(self, what: What) -> bool {
        match self {
            Place::Clarify => what.fits(Stage::Clarify, 0),
            Place::Brief => what.fits(Stage::Brief, 0),
            Place::FirstTurn => what.fits(Stage::Supervisor, 0),
            Place::NextTurn => what.fits(Stage::Supervisor, 1),
            Place::Research => what.fits(Stage::Researcher, 0),
            Place::HasRead => what.fits(Stage::Researcher, 2),
            Place::Compress => what.fits(Stage::Compress, 0),
            Place::Report => what.fits(Stage::Report, 0),
            // What fits every stage.
            Place::All | Place::Late => !matches!(what, What::Words | What::BadArguments),
        }
    }
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub place: Place,
    pub what: What,
}

impl Cell {
    /// All cells, by place.
    pub fn all() -> Vec<Cell> {
        let cells = |place: Place| What::ALL.into_iter().map(move |what| Cell { place, what });
        Place::ALL.into_iter().flat_map(cells).filter(|cell| cell.place.takes(cell.what)).collect()
    }

    /// The fault, each time.
    pub fn always(self) -> Fault {
        Fault::at(self.what, move |asked| asked.model != SPARE && self.place.holds(asked))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Place::Clarify => "clarify",
            Place::Brief => "brief",
            Place::FirstTurn => "supervisor, first turn",
            Place::NextTurn => "supervisor, next turn",
            Place::Research => "researchers, first turn",
            Place::HasRead => "researchers, have read",
            Place::Compress => "compress",
            Place::Report => "report",
            Place::All => "everything",
            Place::Late => "everything, have read",
        })
    }
}
