//! What the program says when something is wrong, and its exit code.

use pleat_store::StoreError;
use std::fmt::Display;
use std::process::ExitCode;

/// Whose matter a failure is; the exit code tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What was asked cannot be done so.
    User,
    /// A setting, a folder or a port does not fit.
    Configuration,
    /// A database holds what it should not.
    Unsound,
    /// An agent failed.
    Agent,
    /// Pleat is at fault.
    Internal,
}

/// A failure: a sentence that names the thing and says what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    sentence: String,
}

impl Failure {
    pub(crate) fn new(kind: Kind, sentence: impl Display) -> Self {
        Self { kind, sentence: sentence.to_string() }
    }

    pub(crate) fn user(sentence: impl Display) -> Self {
        Self::new(Kind::User, sentence)
    }

    pub(crate) fn configuration(sentence: impl Display) -> Self {
        Self::new(Kind::Configuration, sentence)
    }

    pub(crate) fn unsound(sentence: impl Display) -> Self {
        Self::new(Kind::Unsound, sentence)
    }

    pub(crate) fn internal(sentence: impl Display) -> Self {
        Self::new(Kind::Internal, sentence)
    }

    /// Says it on stderr.
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("pleat: {}", self.sentence);
        // 2 is taken: the command line could not be read.
        ExitCode::from(match self.kind {
            Kind::User => 1,
            Kind::Configuration => 3,
            Kind::Agent => 4,
            Kind::Unsound => 5,
            Kind::Internal => 70,
        })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::UnknownSession(_)
            | StoreError::OwnedElsewhere(_)
            | StoreError::NoWindow(_)
            | StoreError::NoQuery(_)
            | StoreError::FileExists { .. } => Kind::User,
            StoreError::SessionExists(_) => return Self::user(format!("{error} (--new-id)")),
            StoreError::DoesNotFit { .. } | StoreError::IdTaken { .. } | StoreError::Closed => Kind::Internal,
            StoreError::NewerVersion { .. }
            | StoreError::NotADatabase { .. }
            | StoreError::Damaged { .. }
            | StoreError::Unwritable { .. }
            | StoreError::DiskFull { .. }
            | StoreError::Locked { .. }
            | StoreError::NoAddress
            | StoreError::Unreachable { .. }
            | StoreError::UnfinishedCopy { .. }
            | StoreError::NotEmpty { .. }
            | StoreError::OtherCopy { .. }
            | StoreError::Failed { .. } => Kind::Configuration,
        };
        Self::new(kind, error)
    }
}
