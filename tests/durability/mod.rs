//! Faults of the store: each is told by its name, loses nothing that was committed, and the run goes on to the same
//! report once the cause is gone.

mod damaged;
mod desk;
mod disk;
mod file;
mod gc;
mod owners;
mod server;
