//! What the program says when something is wrong, and its exit code.

use crate::plain_text::visible_lines;
use pleat_store::StoreError;
use std::fmt::Display;
use std::io::Write;
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
    /// What was to be run could not begin.
    Usage,
    /// It could not go on without a person, or the agent refused.
    NeedsPerson,
    /// A person stopped it.
    Stopped,
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

    /// The same of something whose exit code tells how it ended: this kept it from beginning.
    pub(crate) fn before_it_began(self) -> Self {
        Self { kind: Kind::Usage, ..self }
    }

    /// The same of a turn that had begun: it has failed.
    pub(crate) fn of_a_turn(self) -> Self {
        match self.kind {
            Kind::NeedsPerson | Kind::Stopped => self,
            Kind::User | Kind::Configuration | Kind::Unsound | Kind::Agent | Kind::Usage | Kind::Internal => {
                Self { kind: Kind::User, ..self }
            }
        }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self.kind {
            Kind::User => 1,
            // As where the command line cannot be read.
            Kind::Usage => 2,
            Kind::Configuration | Kind::NeedsPerson => 3,
            Kind::Agent => 4,
            Kind::Unsound => 5,
            Kind::Internal => 70,
            // What shells give for Ctrl-C.
            Kind::Stopped => 130,
        }
    }

    /// The sentence for a terminal: it may repeat what an agent said.
    fn words(&self) -> String {
        visible_lines(&self.sentence)
    }

    /// Says it on stderr.
    pub(crate) fn report(&self) -> ExitCode {
        // The terminal may be gone, and then there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "pleat: {}", self.words());
        ExitCode::from(self.code())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_said_is_repeated_without_what_a_terminal_would_obey() {
        for kind in [Kind::User, Kind::Agent, Kind::NeedsPerson, Kind::Internal] {
            let failure = Failure::new(kind, "it said:\n\x1b]0;mine\x07\n\u{202e}x");
            assert_eq!(failure.words(), "it said:\n␛]0;mine␇\n�x");
        }
    }
}
