//! The tables, which both databases have in one shape, and all that is read and written in them.
//!
//! Everything here is written once, for any [`sql::Sql`]; [`crate::sqlite`] and [`crate::postgres`] bring the
//! connections. Each function runs inside a transaction that its caller has begun.

pub(crate) mod blob;
pub(crate) mod call;
pub(crate) mod change;
pub(crate) mod check;
mod check_search;
pub(crate) mod check_values;
pub(crate) mod copy_mark;
pub(crate) mod derived;
pub(crate) mod list;
pub(crate) mod message;
mod message_columns;
pub(crate) mod outline;
pub(crate) mod part;
mod permission;
mod piece;
mod plan;
pub(crate) mod process;
pub(crate) mod prompt;
pub(crate) mod recovery;
pub(crate) mod search_find;
pub(crate) mod search_index;
mod search_value;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod sql;
pub(crate) mod turn;
pub(crate) mod window;
mod words;
