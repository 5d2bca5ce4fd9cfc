//! How a command ended, in ACP's words.

use serde_json::{Value, json};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// Signals that have the same number on every system that Pleat runs on.
const SIGNALS: [(i32, &str); 13] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
];

/// ACP's `TerminalExitStatus`: an exit code, or where a signal ended it the signal's name. Neither where the system
/// could not tell.
pub(super) fn exit_status(exit: &io::Result<ExitStatus>) -> Value {
    let exit = exit.as_ref().ok();
    let signal = exit.and_then(ExitStatus::signal).map(signal_name);
    json!({"exitCode": exit.and_then(ExitStatus::code), "signal": signal})
}

fn signal_name(number: i32) -> String {
    let bus = if cfg!(target_os = "linux") { 7 } else { 10 };
    let name = SIGNALS.iter().find(|(signal, _)| *signal == number).map(|(_, name)| *name);
    match name.or_else(|| (number == bus).then_some("SIGBUS")) {
        Some(name) => name.to_owned(),
        None => format!("signal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_code_or_a_signal() {
        let exit = |raw| exit_status(&Ok(ExitStatus::from_raw(raw)));
        assert_eq!(exit(0), json!({"exitCode": 0, "signal": null}));
        assert_eq!(exit(3 << 8), json!({"exitCode": 3, "signal": null}));
        assert_eq!(exit(9), json!({"exitCode": null, "signal": "SIGKILL"}));
        assert_eq!(exit(64), json!({"exitCode": null, "signal": "signal 64"}));
        assert_eq!(exit_status(&Err(io::Error::other("lost"))), json!({"exitCode": null, "signal": null}));
    }
}
