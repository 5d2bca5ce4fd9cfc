//! The web face: pages, live patches and access.
//!
//! Pages are rendered on the server and complete without script. A page is a tree of keyed blocks; while it is open its
//! event stream sends the least that makes it true again. This crate decides nothing about a conversation: it draws the
//! rows that [`pleat_transcript::fold`] makes and passes on what a person asks for to [`pleat_host::Host`].
//!
//! Everything an agent wrote is hostile text. It is escaped where it becomes HTML, and a strict Content-Security-Policy
//! stands behind that. Nothing is served to anyone who did not follow the link with the token ([`Access`]).

mod access;
mod app;
mod assets;
mod failure;
mod links;
mod live;
mod pages;
mod text;
mod view;

pub use access::Access;
pub use access::token::{AccessToken, TokenError};
pub use app::{router, serve};
