//! Agents that speak ACP (the Agent Client Protocol): everything that touches the wire.
//!
//! [`connection`] and [`process`] run an agent as a child and carry JSON-RPC lines; [`wire_log`] keeps them in files;
//! [`client`] serves the agent files and terminals; [`offers`] is what it lets people choose; [`adapter`], with one file
//! of `dialect` for each agent, turns what it says into events of [`pleat_transcript`]. [`trace`] reads recorded
//! conversations, [`trace_replay`] takes one through adapter and record, and [`replay_agent`] plays the agent's side of
//! one. Nothing here decides whose turn it is, or keeps a transcript: that is the host's and the store's.

pub mod adapter;
pub mod client;
pub mod connection;
mod dialect;
pub mod offers;
pub mod process;
pub mod replay_agent;
pub mod trace;
pub mod trace_replay;
mod utf8;
pub mod wire_log;
