//! The language and the program that plays it.

mod commands;
mod conversation;
mod cursor;
mod end;
mod error;
mod expand;
mod notes;
mod parse;
mod player;
mod process;
mod script;
mod template;
mod wire;

pub use end::play;
pub use error::ScriptError;
pub use parse::check;
