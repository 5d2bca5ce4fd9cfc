//! What a session is at, in a word and a mark.

use super::words::StateWord;
use pleat_host::{Activity, LiveState, StoredActivity};
use pleat_store::SessionListing;
use pleat_transcript::session::TurnState;

/// What a session of the list is at.
pub(crate) fn activity_of(listing: &SessionListing, live: &LiveState) -> Activity {
    let stored = StoredActivity {
        runs: listing.live,
        asks: listing.needs_person,
        waits: listing.waiting > 0,
        last_turn: listing.last_turn,
    };
    Activity::of(stored, live)
}

/// In a word: where nothing goes on, that is how the newest turn ended, unless it ended well.
pub(crate) fn word(activity: Activity, last_turn: Option<TurnState>) -> StateWord {
    let (mark, class) = match activity {
        Activity::Starting => ("◌", "busy"),
        Activity::Queued => ("≡", "quiet"),
        Activity::Running => ("◐", "busy"),
        Activity::NeedsYou => ("▲", "ask"),
        Activity::Stopping => ("□", "busy"),
        Activity::Failed => ("✕", "bad"),
        Activity::Idle => return at_rest(last_turn),
    };
    StateWord { mark, word: activity.word(), class }
}

fn at_rest(last_turn: Option<TurnState>) -> StateWord {
    match last_turn {
        Some(TurnState::Interrupted) => StateWord { mark: "⌁", word: "interrupted", class: "bad" },
        Some(TurnState::Cancelled) => StateWord { mark: "■", word: "stopped", class: "quiet" },
        Some(TurnState::Queued | TurnState::Running | TurnState::Completed | TurnState::Failed) | None => {
            StateWord { mark: "○", word: Activity::Idle.word(), class: "quiet" }
        }
    }
}

/// A title of the browser's tab, with what the session is at where it is at something.
pub(crate) fn tab_title(activity: Activity, title: String) -> String {
    let word = match activity {
        Activity::Starting => "Starting",
        Activity::Queued => "Queued",
        Activity::Running => "Running",
        Activity::NeedsYou => "Needs you",
        Activity::Stopping => "Stopping",
        Activity::Failed => "Failed",
        Activity::Idle => return title,
    };
    format!("{word} · {title}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_host::AgentState;
    use pleat_transcript::ids::SessionId;
    use std::collections::HashSet;

    fn listing(last_turn: Option<TurnState>, live: bool, needs_person: bool, waiting: usize) -> SessionListing {
        SessionListing {
            id: SessionId::new("s").unwrap(),
            title: None,
            agent: None,
            root: None,
            updated_at: 0,
            last_turn,
            live,
            needs_person,
            waiting,
            last_words: None,
        }
    }

    #[test]
    fn a_session_of_the_list_is_at_what_its_page_says() {
        let starting = AgentState::Starting { since: 0, says: None };
        let failed = AgentState::Failed { reason: "gone".to_owned() };
        for (listing, agent, stopping_since, word) in [
            (listing(None, false, false, 0), AgentState::NotStarted, None, "idle"),
            (listing(None, false, false, 0), starting.clone(), None, "starting"),
            (listing(None, false, false, 1), starting, None, "starting"),
            (listing(None, false, false, 2), AgentState::NotStarted, None, "queued"),
            (listing(Some(TurnState::Running), true, false, 2), AgentState::Ready, None, "running"),
            (listing(Some(TurnState::Running), true, true, 0), AgentState::Ready, None, "needs you"),
            (listing(Some(TurnState::Running), true, true, 0), AgentState::Ready, Some(1), "stopping"),
            (listing(Some(TurnState::Failed), false, false, 0), AgentState::Ready, None, "failed"),
            (listing(Some(TurnState::Completed), false, false, 0), failed, None, "failed"),
            (listing(Some(TurnState::Completed), false, false, 0), AgentState::Ready, None, "idle"),
            (listing(Some(TurnState::Cancelled), false, false, 0), AgentState::Ready, None, "stopped"),
            (listing(Some(TurnState::Interrupted), false, false, 0), AgentState::NotStarted, None, "interrupted"),
        ] {
            let live = LiveState { agent, stopping_since, ..LiveState::default() };
            let shown = super::word(activity_of(&listing, &live), listing.last_turn);
            assert_eq!(shown.word, word, "{listing:?} {live:?}");
        }
    }

    #[test]
    fn no_two_words_share_a_mark() {
        let all = [
            Activity::Starting,
            Activity::Queued,
            Activity::Running,
            Activity::NeedsYou,
            Activity::Stopping,
            Activity::Failed,
            Activity::Idle,
        ];
        let marks: HashSet<_> = all.map(|activity| word(activity, None).mark).into();
        assert_eq!(marks.len(), all.len());
        for activity in all {
            let title = tab_title(activity, "T".to_owned());
            let is_told = title.to_lowercase().starts_with(activity.word());
            assert_eq!(is_told, activity != Activity::Idle, "{title}");
        }
    }
}
