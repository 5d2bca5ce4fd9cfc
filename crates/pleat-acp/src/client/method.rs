//! The methods that the client serves.

use crate::connection::messages::method;

/// A method that is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    ReadTextFile,
    WriteTextFile,
    TerminalCreate,
    TerminalOutput,
    TerminalWaitForExit,
    TerminalKill,
    TerminalRelease,
}

impl Method {
    /// The method of this name, if it is served.
    pub(super) fn of(name: &str) -> Option<Self> {
        const SERVED: [(&str, Method); 7] = [
            (method::FS_READ_TEXT_FILE, Method::ReadTextFile),
            (method::FS_WRITE_TEXT_FILE, Method::WriteTextFile),
            (method::TERMINAL_CREATE, Method::TerminalCreate),
            (method::TERMINAL_OUTPUT, Method::TerminalOutput),
            (method::TERMINAL_WAIT_FOR_EXIT, Method::TerminalWaitForExit),
            (method::TERMINAL_KILL, Method::TerminalKill),
            (method::TERMINAL_RELEASE, Method::TerminalRelease),
        ];
        SERVED.iter().find(|(served, _)| *served == name).map(|(_, method)| *method)
    }
}
