//! What the pages show: pure functions from excerpts to blocks.

mod activity;
mod agent;
mod asked;
pub(crate) mod block;
mod call;
mod composer;
pub(crate) mod details;
pub(crate) mod diff;
mod edits;
mod exit;
mod facts;
pub(crate) mod front;
pub(crate) mod index;
pub(crate) mod layout;
pub(crate) mod message;
pub(crate) mod permission;
mod plan;
mod prose;
mod queue;
pub(crate) mod state;
pub(crate) mod transcript;
pub(crate) mod words;

#[cfg(test)]
mod question_tests;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod session_tests;
#[cfg(test)]
mod tests;
