//! The house rules: which crate may use which, whose code may be used, what the files look like.

mod files;
mod layers;
mod licences;
mod packages;
