//! The host with real agents: child processes that play a few lines of Python or shell, over a database in a file.

#![allow(clippy::expect_used, reason = "a test fails by panicking, in its helpers too")]

mod failing_agents;
mod house_rules;
mod permissions;
mod recovery;
mod stage;
mod stopping;
mod switched_store;
mod turns;
