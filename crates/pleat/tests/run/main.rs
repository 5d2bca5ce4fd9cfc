//! `pleat run`, `pleat trace` and `pleat agent sessions`: the built program with agents that are processes.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

mod agent_sessions;
mod beside_a_server;
mod house;
mod json;
mod outcomes;
mod permissions;
mod printed;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod stopping;
#[cfg(unix)]
mod terminal;
mod traces;
