//! From what an agent said to its transcript: all recorded traces (`tests/traces/*.jsonl.zst`), the
//! cases of docs/cases.md and the oddities of docs/agents.md at this level.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without a reference")]

mod cases;
mod every_trace;
mod live;
mod loads;
mod oddities;
mod rebuilt;
mod rules;
mod said;
mod tampered;
mod traces;
mod transcript;
