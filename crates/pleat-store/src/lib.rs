//! Everything Pleat keeps, durably.
//!
//! Between [`record`](pleat_transcript::record), whose changes it commits, and the faces, which read from it. One trait,
//! [`Store`], stands for every database: [`sqlite`] is the embedded one, [`postgres`] the one that several servers share.
//! The tables and all that is done with them are written once (`tables`), over a connection that either brings. A list
//! of changes is one transaction that also bumps the session's revision, so nothing is shown before it is durable and
//! nothing is half stored.

mod database;
mod error;
mod failure;
mod listing;
pub mod maintenance;
pub mod postgres;
mod process_mark;
pub mod search;
mod sharing;
mod signal;
pub mod sqlite;
mod store;
mod tables;

pub use error::{IdKind, StoreError};
pub use listing::{Revision, SessionCursor, SessionListing, StoredDocument, StoredExcerpt};
pub use process_mark::ProcessMark;
pub use sharing::{Claim, CommandId, ServerId, StoredCommand};
pub use signal::{Signal, Signals};
pub use store::{Durability, Store, StoreFuture};

/// The longest that growing text waits to share a commit with what other sessions say.
pub const LONGEST_WAIT: std::time::Duration = std::time::Duration::from_millis(50);
