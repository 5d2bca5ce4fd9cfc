//! The sessions that an agent knows (ACP, `session/list`).

use std::path::PathBuf;

use pleat_transcript::ids::AgentSessionId;
use serde_json::Value;

/// A session that an agent knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// What the agent calls it.
    pub id: AgentSessionId,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// Its title.
    pub title: Option<String>,
    /// When something last happened in it, as the agent writes it: ISO 8601 by ACP.
    pub updated_at: Option<String>,
}

/// The sessions in the answer to `session/list`, and the cursor of the next page if there is one. What is wrong in it
/// counts as not there; only a session without an id is left out.
pub fn listed_sessions(answer: &Value) -> (Vec<ListedSession>, Option<String>) {
    let sessions = answer["sessions"].as_array().into_iter().flatten().filter_map(ListedSession::read).collect();
    (sessions, answer["nextCursor"].as_str().map(str::to_owned))
}

impl ListedSession {
    fn read(session: &Value) -> Option<Self> {
        let text = |name: &str| session[name].as_str().map(str::to_owned);
        Some(Self {
            id: AgentSessionId(text("sessionId")?),
            cwd: text("cwd").map(PathBuf::from),
            title: text("title"),
            updated_at: text("updatedAt"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_wrong_session_loses_no_other() {
        let answer = json!({"sessions": [
            {"sessionId": "a", "cwd": "/w", "title": "T", "updatedAt": "2026-11-30T13:52:36Z"},
            {"title": "has no id"}, 17, {"sessionId": "b", "cwd": null, "title": 3},
        ], "nextCursor": "c"});
        let (sessions, cursor) = listed_sessions(&answer);
        let expect = [
            ListedSession {
                id: AgentSessionId("a".into()),
                cwd: Some("/w".into()),
                title: Some("T".into()),
                updated_at: Some("2026-11-30T13:52:36Z".into()),
            },
            ListedSession { id: AgentSessionId("b".into()), cwd: None, title: None, updated_at: None },
        ];
        assert_eq!(sessions, expect);
        assert_eq!(cursor.as_deref(), Some("c"));
        assert_eq!(listed_sessions(&json!(null)), (Vec::new(), None));
    }
}
