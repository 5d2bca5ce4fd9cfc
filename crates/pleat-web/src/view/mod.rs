//! What the pages show: pure functions from documents to blocks.

mod activity;
pub(crate) mod block;
mod call;
mod composer;
pub(crate) mod details;
pub(crate) mod diff;
pub(crate) mod front;
mod index;
pub(crate) mod layout;
mod message;
mod permission;
mod plan;
mod prose;
pub(crate) mod transcript;
pub(crate) mod words;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
