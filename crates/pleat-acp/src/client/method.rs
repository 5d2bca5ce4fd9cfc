//! The methods that the client serves.

use agent_client_protocol::v1::schema::CLIENT_METHOD_NAMES as NAMES;

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
            (NAMES.fs_read_text_file, Method::ReadTextFile),
            (NAMES.fs_write_text_file, Method::WriteTextFile),
            (NAMES.terminal_create, Method::TerminalCreate),
            (NAMES.terminal_output, Method::TerminalOutput),
            (NAMES.terminal_wait_for_exit, Method::TerminalWaitForExit),
            (NAMES.terminal_kill, Method::TerminalKill),
            (NAMES.terminal_release, Method::TerminalRelease),
        ];
        SERVED.iter().find(|(served, _)| *served == name).map(|(_, method)| *method)
    }
}
