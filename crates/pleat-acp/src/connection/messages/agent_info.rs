//! Who the agent is and what it can.

use agent_client_protocol::v1::schema as acp;
use serde_json::Value;

use super::{AuthMethod, read, read_or_default};

/// What the answer to `initialize` says of the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "ACP's capabilities are flags that do not depend on each other")]
pub struct AgentInfo {
    /// Its name for programs.
    pub name: Option<String>,
    /// Its name for people.
    pub title: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Whether `session/load` is there.
    pub loads_sessions: bool,
    /// Whether `session/resume` is there.
    pub resumes_sessions: bool,
    /// Whether `session/list` is there.
    pub lists_sessions: bool,
    /// Whether `session/close` is there.
    pub closes_sessions: bool,
    /// Whether a session may be given further directories.
    pub takes_directories: bool,
    /// Whether prompts may hold images.
    pub takes_images: bool,
    /// Whether prompts may hold audio.
    pub takes_audio: bool,
    /// Whether prompts may hold resources with their content (`promptCapabilities.embeddedContext`).
    pub takes_embedded_resources: bool,
    /// `_meta.steering.supported`: a prompt during a turn steers it (Claude, Codex).
    pub takes_steering: bool,
    /// How one can log in.
    pub auth_methods: Vec<AuthMethod>,
}

impl AgentInfo {
    /// Reads an answer to `initialize`; what is missing or wrong in it counts as not there.
    pub fn read(answer: &Value) -> Self {
        let capabilities: acp::AgentCapabilities = read_or_default(&answer["agentCapabilities"]);
        let (sessions, prompts) = (capabilities.session_capabilities, capabilities.prompt_capabilities);
        let info: Option<acp::Implementation> = read(&answer["agentInfo"]);
        Self {
            title: info.as_ref().and_then(|info| info.title.clone()),
            version: info.as_ref().map(|info| info.version.clone()),
            name: info.map(|info| info.name),
            loads_sessions: capabilities.load_session,
            resumes_sessions: sessions.resume.is_some(),
            lists_sessions: sessions.list.is_some(),
            closes_sessions: sessions.close.is_some(),
            takes_directories: sessions.additional_directories.is_some(),
            takes_images: prompts.image,
            takes_audio: prompts.audio,
            takes_embedded_resources: prompts.embedded_context,
            takes_steering: takes_steering(answer),
            auth_methods: answer["authMethods"].as_array().into_iter().flatten().filter_map(AuthMethod::read).collect(),
        }
    }
}

/// Recorded in both places (docs/agents.md, 17).
fn takes_steering(answer: &Value) -> bool {
    [&answer["_meta"], &answer["agentCapabilities"]["_meta"]]
        .iter()
        .any(|meta| meta["steering"]["supported"].as_bool().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_agent_is_read_from_whatever_it_answers() {
        let answer = json!({
            "protocolVersion": 1,
            "agentInfo": {"name": "codex", "title": "Codex", "version": "2"},
            "agentCapabilities": {
                "loadSession": true, "promptCapabilities": {"image": true}, "sessionCapabilities": {"resume": {}, "subagents": {}},
            },
            "authMethods": [{"id": "key", "name": "API key"}, 17],
            "_meta": {"steering": {"supported": true}},
        });
        let key = AuthMethod { id: "key".into(), name: "API key".into(), description: None, login: None };
        let expect = AgentInfo {
            name: Some("codex".into()),
            title: Some("Codex".into()),
            version: Some("2".into()),
            loads_sessions: true,
            resumes_sessions: true,
            takes_images: true,
            takes_steering: true,
            auth_methods: vec![key],
            ..AgentInfo::default()
        };
        assert_eq!(AgentInfo::read(&answer), expect);
        for nothing in [json!(null), json!("text"), json!({"agentInfo": 3, "authMethods": {}, "agentCapabilities": []})]
        {
            assert_eq!(AgentInfo::read(&nothing), AgentInfo::default());
        }
    }

    #[test]
    fn each_capability_is_its_own() {
        let check = |capabilities: Value, is_there: fn(&AgentInfo) -> bool| {
            let info = AgentInfo::read(&json!({"agentCapabilities": capabilities}));
            assert!(is_there(&info), "{capabilities}");
            assert!(!is_there(&AgentInfo::default()));
        };
        check(json!({"sessionCapabilities": {"list": {}}}), |info| info.lists_sessions && !info.closes_sessions);
        check(json!({"sessionCapabilities": {"close": {}}}), |info| info.closes_sessions && !info.takes_directories);
        check(json!({"sessionCapabilities": {"additionalDirectories": {}}}), |info| info.takes_directories);
        check(json!({"promptCapabilities": {"audio": true}}), |info| info.takes_audio && !info.takes_images);
        check(json!({"promptCapabilities": {"embeddedContext": true}}), |info| info.takes_embedded_resources);
    }
}
