//! The wire log, from what goes over a connection to what a replay of its files gives.

#![allow(clippy::expect_used, reason = "a test fails by panicking, in its helpers too")]

mod bounds;
mod conversation;
mod replayed;
mod rotation;
mod several_sessions;
mod torn;
