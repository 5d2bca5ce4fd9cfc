//! The states of a call: what a mention makes of the one before (docs/spec/record.md, Calls 4 and 5).

use crate::call::CallState;
use crate::event::CallStatus;

/// What a mention says of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing; but it may have brought output.
    Nothing,
    /// `pending`.
    Pending,
    /// `in_progress`.
    InProgress,
    /// An end.
    Ended(CallState),
}

impl Said {
    /// What a status means. Between our `session/cancel` and the prompt's answer, a failure is the cancel, and so is a
    /// completion that the dialect marks as an abort.
    pub(super) fn of(status: Option<CallStatus>, aborted: bool, cancelling: bool) -> Self {
        match status {
            None => Self::Nothing,
            Some(CallStatus::Pending) => Self::Pending,
            Some(CallStatus::InProgress) => Self::InProgress,
            Some(CallStatus::Completed) if cancelling && aborted => Self::Ended(CallState::Cancelled),
            Some(CallStatus::Completed) => Self::Ended(CallState::Completed),
            Some(CallStatus::Failed) if cancelling => Self::Ended(CallState::Cancelled),
            Some(CallStatus::Failed) => Self::Ended(CallState::Failed),
        }
    }
}

/// The state after a mention; the same where it changes nothing.
pub(super) fn after(state: CallState, said: Said, brings_output: bool, has_output: bool) -> CallState {
    match (state, said) {
        (CallState::Pending | CallState::Running | CallState::AwaitingPermission, Said::Ended(end)) => end,
        // Output for a pending call makes it running.
        (CallState::Pending, Said::Nothing | Said::Pending) if brings_output => CallState::Running,
        (CallState::Pending, Said::InProgress) => CallState::Running,
        (CallState::Running, Said::Pending) if !has_output => CallState::Pending,
        // Late: a `completed` replaces an end of ours, a `failed` leaves it.
        (CallState::Cancelled | CallState::Interrupted, Said::Ended(CallState::Completed)) => CallState::Completed,
        // The agent corrects its own end.
        (CallState::Completed | CallState::Failed, Said::Ended(end @ (CallState::Completed | CallState::Failed))) => {
            end
        }
        // A person's refusal stands, an ended call does not reopen, and while a request is open the call waits.
        (_, Said::Nothing | Said::Pending | Said::InProgress | Said::Ended(_)) => state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDED: [CallState; 6] = [
        CallState::Completed,
        CallState::Failed,
        CallState::Denied,
        CallState::Cancelled,
        CallState::Superseded,
        CallState::Interrupted,
    ];

    #[test]
    fn an_ended_call_does_not_reopen() {
        for state in ENDED {
            for said in [Said::Nothing, Said::Pending, Said::InProgress] {
                assert_eq!(after(state, said, true, true), state, "{said:?}");
            }
        }
    }

    #[test]
    fn a_refusal_stands_whatever_the_agent_says() {
        for end in [CallState::Failed, CallState::Completed] {
            assert_eq!(after(CallState::Denied, Said::Ended(end), false, false), CallState::Denied);
        }
    }

    #[test]
    fn b12_an_open_request_outlasts_every_word_short_of_an_end() {
        let waiting = CallState::AwaitingPermission;
        for said in [Said::Nothing, Said::Pending, Said::InProgress] {
            assert_eq!(after(waiting, said, true, true), waiting);
        }
        assert_eq!(after(waiting, Said::Ended(CallState::Failed), false, false), CallState::Failed);
    }

    #[test]
    fn a_late_completion_replaces_our_end_and_a_late_failure_does_not() {
        for ours in [CallState::Cancelled, CallState::Interrupted] {
            assert_eq!(after(ours, Said::Ended(CallState::Completed), false, false), CallState::Completed);
            assert_eq!(after(ours, Said::Ended(CallState::Failed), false, false), ours);
        }
    }

    #[test]
    fn while_we_cancel_a_failure_is_the_cancel() {
        let cancelled = Said::Ended(CallState::Cancelled);
        assert_eq!(Said::of(Some(CallStatus::Failed), false, true), cancelled);
        assert_eq!(Said::of(Some(CallStatus::Completed), true, true), cancelled);
        assert_eq!(Said::of(Some(CallStatus::Completed), false, true), Said::Ended(CallState::Completed));
        assert_eq!(Said::of(Some(CallStatus::Completed), true, false), Said::Ended(CallState::Completed));
    }
}
