//! What was said and done, and how it is shown: the middle of the house.
//!
//! Everything here is plain data and pure functions: domain types, [`record`] (what an agent says becomes stored
//! messages) and [`fold`] (stored messages become display rows). There is no IO, no clock and no async in this crate,
//! so it cannot fail for a reason outside its arguments. Adapters and importers feed it [`event::Event`]s, the store
//! keeps its [`change::Change`]s, and the faces draw its [`rows`].

pub mod call;
pub mod change;
pub mod document;
pub mod event;
pub mod fold;
pub mod ids;
pub mod message;
pub mod preview;
pub mod record;
pub mod request;
pub mod rows;
pub mod session;
