//! The host with real agents: child processes that play a few lines of a script or of shell, over a database in a file.

#![allow(clippy::expect_used, reason = "a test fails by panicking, in its helpers too")]

mod cases;
mod failing_agents;
mod house_rules;
mod leftovers;
mod permissions;
mod queue;
mod recovery;
mod served;
mod settings;
mod sharing;
mod stage;
mod stopping;
mod switched_store;
mod turns;
