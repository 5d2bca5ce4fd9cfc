//! Agents that speak ACP: connection, adapter with its dialects, traces and the replay agent.
