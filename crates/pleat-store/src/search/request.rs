//! What is searched for, and what is found.

use super::{Query, Snippet};
use pleat_transcript::call::{CallState, ToolKind};
use pleat_transcript::ids::{CallId, MessageId, SessionId};
use pleat_transcript::session::Millis;

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// The words and phrases that must all be in a text.
    pub query: Query,
    /// Where to look.
    pub filter: SearchFilter,
    /// Which hits come first.
    pub order: SearchOrder,
    /// Behind which hit the page begins; `None` for the first page.
    pub after: Option<SearchCursor>,
    /// How many hits a page has at most.
    pub limit: usize,
}

/// Where to look. What is absent does not restrict.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchFilter {
    /// In this session.
    pub session: Option<SessionId>,
    /// In sessions with this agent.
    pub agent: Option<String>,
    /// In sessions whose working directory is this one, or inside of it.
    pub directory: Option<String>,
    /// In these fields; empty: in all.
    pub fields: Vec<SearchField>,
    /// In calls of this kind.
    pub kind: Option<ToolKind>,
    /// In calls in this state.
    pub state: Option<CallState>,
    /// Said or done at this time or later; whole seconds.
    pub since: Option<Millis>,
    /// Said or done before this time; whole seconds.
    pub until: Option<Millis>,
}

/// Which hits come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchOrder {
    /// Those that were said last.
    #[default]
    Newest,
    /// Those that the database's ranking puts first; it may differ between databases.
    Best,
}

/// Which part of a transcript a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchField {
    /// What a person said.
    User,
    /// What an agent said.
    Reply,
    /// What an agent thought.
    Thinking,
    /// A plan.
    Plan,
    /// The title of a call.
    Title,
    /// What a call asks for.
    Request,
    /// What came of a call.
    Result,
}

impl SearchField {
    /// All, with a word for each.
    pub const WORDS: [(Self, &'static str); 7] = [
        (Self::User, "user"),
        (Self::Reply, "reply"),
        (Self::Thinking, "thinking"),
        (Self::Plan, "plan"),
        (Self::Title, "title"),
        (Self::Request, "request"),
        (Self::Result, "result"),
    ];

    /// Its number in the database: a bit, so that several are one number too.
    pub(crate) fn bit(self) -> i64 {
        match self {
            Self::User => 1,
            Self::Reply => 2,
            Self::Thinking => 4,
            Self::Plan => 8,
            Self::Title => 16,
            Self::Request => 32,
            Self::Result => 64,
        }
    }

    pub(crate) fn of_bit(bit: i64) -> Option<Self> {
        Self::WORDS.iter().map(|(field, _)| *field).find(|field| field.bit() == bit)
    }

    /// All of a filter as one number.
    pub(crate) fn bits(fields: &[Self]) -> i64 {
        if fields.is_empty() { i64::MAX } else { fields.iter().fold(0, |bits, field| bits | field.bit()) }
    }
}

/// A place in the hits of a search: behind those of a page. It is only good for the same query, filter and order. A text
/// that changes between two pages may be found on both, never on none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchCursor(pub(crate) Place);

/// How far the pages before went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Through the texts that wait for the index, down to this one.
    Waiting { message: i64, part: i64 },
    /// Through the index, newest first, down to this chunk.
    Newest { at: i64, key: i64 },
    /// Through so many chunks of the index, best first.
    Best(i64),
}

/// A text that has all that is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// In which session.
    pub session: SessionId,
    /// The session's title.
    pub title: Option<String>,
    /// The session's agent.
    pub agent: Option<String>,
    /// The session's working directory.
    pub root: Option<String>,
    /// In which message.
    pub message: MessageId,
    /// In which call, where it is in one.
    pub call: Option<CallId>,
    /// In which part of it.
    pub field: SearchField,
    /// When the message was made.
    pub at: Option<Millis>,
    /// A piece of the text with what was found.
    pub snippet: Snippet,
}

/// A page of hits.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage {
    /// The hits, in order.
    pub hits: Vec<SearchHit>,
    /// Where the next page begins; `None` where there is none.
    pub next: Option<SearchCursor>,
}
