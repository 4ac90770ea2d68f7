//! Stopping by evidence: the stock graph over small documents, with the real ops. Only the model is scripted: it reads the
//! documents that it is told to, one a turn, for as long as it is let.

mod narrow_and_broad;
mod scorer;
mod size;
mod stale;
mod supervised;
mod veins;
mod world;
