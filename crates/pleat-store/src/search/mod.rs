//! Full text, the part that needs no database: what is indexed, what a query asks for, and what truly matches.
//!
//! A database only proposes texts; [`Query::find_in`] decides. So every database gives the same hits, and what its index
//! cannot express (punctuation, the gap in a phrase) is still exact. For that the index may propose too much, but never
//! too little: where `find_in` finds, each of [`Query::phrases`] matches one of the text's [`chunks()`].
//!
//! # What matches
//!
//! Texts and queries are folded first (`fold`): compatibility forms (NFKC), case, and the diacritics of Latin and Greek
//! make no difference, so `cafe` finds `Café`; nor do the points of Arabic and Hebrew, typographic quotes and dashes,
//! and invisible characters. The marks of other scripts count.
//!
//! - A word matches as a whole, or as one part of a camel-case word: `case` finds `camelCase` and `snake_case`.
//! - Scripts without spaces, and Hangul, match anywhere: their text is indexed as overlapping pairs of characters.
//! - Punctuation in a query is literal: `foo_bar` does not find `foo bar`, and `100%` does not find `100`.
//! - White space in a phrase between two words stands for anything between two words: `"hello world"` finds
//!   `hello, **world**`. Beside punctuation it stands for white space. Control characters are white space.
//! - Unbroken runs of over 1 KiB that look like base64 are not searched.

mod characters;
mod chunks;
mod fold;
mod parse;
mod pattern;
mod phrase;
mod query;
mod request;
mod snippet;
mod tokens;

#[cfg(test)]
mod properties;

pub use chunks::{CHUNK_TOKENS, Chunk, OVERLAP_TOKENS, chunks};
pub use phrase::{IndexPhrase, PHRASE_TOKENS};
pub use query::{MAX_QUERY_CHARACTERS, MAX_RANGES, Query, QueryError, Term};
pub(crate) use request::Place;
pub use request::{SearchCursor, SearchField, SearchFilter, SearchHit, SearchOrder, SearchPage, SearchRequest};
pub use snippet::{Snippet, snippet};
pub use tokens::{MAX_TOKEN_BYTES, Token, TokenKind, Tokens, tokens};
