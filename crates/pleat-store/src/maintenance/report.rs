//! What the maintenance of a database tells.

use pleat_transcript::ids::SessionId;
use std::fmt;

/// How much a database holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// The version of its tables.
    pub version: i64,
    /// Its size: the file with its log, or all of the database on its server.
    pub bytes: u64,
    /// Sessions.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Messages.
    pub messages: u64,
    /// Tool calls.
    pub calls: u64,
    /// Large values, each kept once.
    pub blobs: BlobStats,
    /// Pieces of text in the full-text index.
    pub chunks: u64,
    /// The rows of every table.
    pub tables: Vec<(&'static str, u64)>,
}

/// How much the large values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlobStats {
    /// How many there are.
    pub count: u64,
    /// Their bytes.
    pub value_bytes: u64,
    /// The bytes that are stored of them, compressed.
    pub stored_bytes: u64,
    /// How often they are referred to.
    pub references: u64,
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// The database's own check found damage.
    Damage,
    /// A row refers to what is not there, or stands beside what it cannot.
    Reference,
    /// What is numbered without holes has holes or doubles.
    Sequence,
    /// A transcript cannot be read.
    Unreadable,
    /// A message or call is placed otherwise than the fold says.
    Outline,
    /// The snapshots of a plan are told wrong.
    Plan,
    /// A large value is not what its hash says, or is counted wrong.
    Value,
    /// A text that is searched for is neither indexed nor marked for it.
    FullText,
}

impl ProblemKind {
    /// All, with a word for each.
    pub const WORDS: [(Self, &'static str); 8] = [
        (Self::Damage, "damage"),
        (Self::Reference, "reference"),
        (Self::Sequence, "sequence"),
        (Self::Unreadable, "unreadable"),
        (Self::Outline, "outline"),
        (Self::Plan, "plan"),
        (Self::Value, "value"),
        (Self::FullText, "full-text"),
    ];

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Something that is wrong. It holds ids, never what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// In which session, where it is one's.
    pub session: Option<SessionId>,
    /// What is wrong.
    pub kind: ProblemKind,
    /// How often.
    pub count: u64,
    /// Where, the first time.
    pub place: String,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// How many sessions were looked at.
    pub sessions: u64,
    /// What is wrong; nothing where the database is sound.
    pub problems: Vec<Problem>,
    /// Sessions in which something is open and that no server works on: no damage, the next start closes it.
    pub left_open: Vec<SessionId>,
    /// What could not be looked at, and why.
    pub remarks: Vec<String>,
}

/// What a vacuum did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vacuumed {
    /// The size before.
    pub before: u64,
    /// The size after.
    pub after: u64,
    /// Large values that nothing used any more.
    pub freed_values: u64,
}

/// How far a copy or a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub step: Step,
    /// So many of it are done.
    pub done: u64,
    /// Of so many.
    pub total: u64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The rows of a table are copied.
    Copying(&'static str),
    /// The rows of a table are compared.
    Comparing(&'static str),
    /// Sessions are indexed.
    Indexing,
    /// Sessions are checked.
    Checking,
}

/// Told of progress.
pub type OnProgress<'p> = &'p mut (dyn FnMut(Progress) + Send);

/// What a copy came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReport {
    /// Each table, as it is on both sides.
    pub tables: Vec<ComparedTable>,
}

impl CopyReport {
    /// Both sides hold the same.
    pub fn is_exact(&self) -> bool {
        self.tables.iter().all(ComparedTable::is_same)
    }
}

/// A table on both sides of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedTable {
    /// Its name.
    pub name: &'static str,
    /// What the source has.
    pub source: TableHash,
    /// What the destination has.
    pub destination: TableHash,
}

impl ComparedTable {
    /// Both sides hold the same.
    pub fn is_same(&self) -> bool {
        self.source == self.destination
    }
}

/// The rows of a table in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableHash {
    /// How many.
    pub rows: u64,
    /// The SHA-256 of what they hold, in hexadecimal digits.
    pub sha256: String,
}
