//! What an agent answers when a session begins, and what it offers: nothing of it makes the readers panic, a command to
//! log in by is told whatever it holds, and what was offered is the same when it is offered again.
//!
//! The input is lines of JSON, each an answer, an update, or a list of sessions.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_acp::connection::messages::{AgentInfo, listed_sessions};
use pleat_acp::offers::SessionOffers;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let mut offers = SessionOffers::default();
    for line in input.split(|byte| *byte == b'\n') {
        let Ok(answer) = serde_json::from_slice::<Value>(line) else { continue };
        for method in AgentInfo::read(&answer).auth_methods {
            if let Some(login) = method.login {
                assert!(!login.command_line("agent", &[]).is_empty());
            }
        }
        let (sessions, _) = listed_sessions(&answer);
        assert!(sessions.iter().all(|session| !session.id.0.is_empty() || answer.is_object()));
        offers.opened(&answer);
        offers.update(&answer);
        let before = offers.clone();
        offers.update(&answer);
        assert_eq!(offers, before, "the same update again changed what is offered");
        offers.option_set(&answer);
    }
});
