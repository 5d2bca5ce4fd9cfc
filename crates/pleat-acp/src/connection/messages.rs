//! What we send, built with the official SDK's schema types (ACP v1), and what we need to know from
//! the answers that begin a session, read leniently: the raw answer stays with the caller, and what
//! the types do not know (`models`, extensions in `_meta`) is found there.

use std::path::Path;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema as acp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// ACP's names for what a client sends.
pub mod method {
    use agent_client_protocol::v1::schema::AGENT_METHOD_NAMES as NAMES;

    /// The handshake.
    pub const INITIALIZE: &str = NAMES.initialize;
    /// Logs in by one of the methods that the handshake named.
    pub const AUTHENTICATE: &str = NAMES.authenticate;
    /// A new session.
    pub const SESSION_NEW: &str = NAMES.session_new;
    /// An old session, replayed.
    pub const SESSION_LOAD: &str = NAMES.session_load;
    /// An old session, not replayed.
    pub const SESSION_RESUME: &str = NAMES.session_resume;
    /// A prompt; its answer ends the turn.
    pub const SESSION_PROMPT: &str = NAMES.session_prompt;
    /// Stop; a notification.
    pub const SESSION_CANCEL: &str = NAMES.session_cancel;
    /// Another mode.
    pub const SESSION_SET_MODE: &str = NAMES.session_set_mode;
}

/// What we call ourselves in the handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIdentity {
    /// A name for programs.
    pub name: String,
    /// A name for people.
    pub title: String,
    /// Our version.
    pub version: String,
}

/// What we do for the agent when it asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientOffers {
    /// `fs/read_text_file` and `fs/write_text_file`
    pub files: bool,
    /// `terminal/*`
    pub terminal: bool,
    /// `_meta.terminal_output`: Claude then sends commands' output as it is, not as a fenced block (docs/agents.md, 8).
    pub terminal_output: bool,
}

/// The params of `initialize`.
pub fn initialize(identity: &ClientIdentity, offers: ClientOffers) -> Value {
    let info = acp::Implementation::new(&identity.name, &identity.version).title(identity.title.clone());
    let fs = acp::FileSystemCapabilities::new().read_text_file(offers.files).write_text_file(offers.files);
    let mut capabilities = acp::ClientCapabilities::new().fs(fs).terminal(offers.terminal);
    if offers.terminal_output {
        capabilities = capabilities.meta(Map::from_iter([("terminal_output".to_owned(), Value::Bool(true))]));
    }
    to_value(&acp::InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities).client_info(info))
}

/// The params of `authenticate`.
pub fn authenticate(method_id: &str) -> Value {
    to_value(&acp::AuthenticateRequest::new(method_id.to_owned()))
}

/// The params of `session/new`.
pub fn new_session(cwd: &Path) -> Value {
    to_value(&acp::NewSessionRequest::new(cwd))
}

/// The params of `session/load`.
pub fn load_session(session_id: &str, cwd: &Path) -> Value {
    to_value(&acp::LoadSessionRequest::new(session_id.to_owned(), cwd))
}

/// The params of `session/resume`.
pub fn resume_session(session_id: &str, cwd: &Path) -> Value {
    to_value(&acp::ResumeSessionRequest::new(session_id.to_owned(), cwd))
}

/// The params of `session/set_mode`.
pub fn set_mode(session_id: &str, mode_id: &str) -> Value {
    to_value(&acp::SetSessionModeRequest::new(session_id.to_owned(), mode_id.to_owned()))
}

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptPart {
    /// Text, exactly as typed.
    Text(String),
    /// An image, for agents that take them ([`AgentInfo::takes_images`]).
    Image {
        /// In base64.
        data: String,
        /// Its mime type.
        mime_type: String,
    },
    /// A file or page that the agent can open itself.
    ResourceLink {
        /// What to call it.
        name: String,
        /// Where it is.
        uri: String,
    },
}

/// The params of `session/prompt`.
pub fn prompt(session_id: &str, parts: Vec<PromptPart>) -> Value {
    let blocks = parts.into_iter().map(content_block).collect();
    to_value(&acp::PromptRequest::new(session_id.to_owned(), blocks))
}

fn content_block(part: PromptPart) -> acp::ContentBlock {
    match part {
        PromptPart::Text(text) => acp::ContentBlock::Text(acp::TextContent::new(text)),
        PromptPart::Image { data, mime_type } => acp::ContentBlock::Image(acp::ImageContent::new(data, mime_type)),
        PromptPart::ResourceLink { name, uri } => acp::ContentBlock::ResourceLink(acp::ResourceLink::new(name, uri)),
    }
}

/// The params of `session/cancel`.
pub fn cancel(session_id: &str) -> Value {
    to_value(&acp::CancelNotification::new(session_id.to_owned()))
}

/// The answer to `session/request_permission` when an option was chosen.
pub fn permission_selected(option_id: &str) -> Value {
    let selected = acp::SelectedPermissionOutcome::new(option_id.to_owned());
    permission(acp::RequestPermissionOutcome::Selected(selected))
}

/// The answer to `session/request_permission` when the turn was stopped (docs/cases.md, B10).
pub fn permission_cancelled() -> Value {
    permission(acp::RequestPermissionOutcome::Cancelled)
}

fn permission(outcome: acp::RequestPermissionOutcome) -> Value {
    to_value(&acp::RequestPermissionResponse::new(outcome))
}

/// A schema type as JSON. Its maps have text keys and its numbers are finite, so it always can be.
fn to_value(message: &impl Serialize) -> Value {
    serde_json::to_value(message).unwrap_or_else(|error| {
        tracing::error!(%error, "a message to the agent could not be written as JSON");
        Value::Null
    })
}

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
    /// Whether prompts may hold images.
    pub takes_images: bool,
    /// `_meta.steering.supported`: a prompt during a turn steers it (Claude, Codex).
    pub takes_steering: bool,
    /// How one can log in.
    pub auth_methods: Vec<AuthMethod>,
}

/// A way to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthMethod {
    /// For `authenticate`.
    pub id: String,
    /// For people.
    pub name: String,
}

impl AgentInfo {
    /// Reads an answer to `initialize`; what is missing or wrong in it counts as not there.
    pub fn read(answer: &Value) -> Self {
        let capabilities: acp::AgentCapabilities = read_or_default(&answer["agentCapabilities"]);
        let info: Option<acp::Implementation> = read(&answer["agentInfo"]);
        let methods: Vec<acp::AuthMethod> = answer["authMethods"]
            .as_array()
            .map(|methods| methods.iter().filter_map(read).collect())
            .unwrap_or_default();
        Self {
            title: info.as_ref().and_then(|info| info.title.clone()),
            version: info.as_ref().map(|info| info.version.clone()),
            name: info.map(|info| info.name),
            loads_sessions: capabilities.load_session,
            resumes_sessions: capabilities.session_capabilities.resume.is_some(),
            takes_images: capabilities.prompt_capabilities.image,
            takes_steering: takes_steering(answer),
            auth_methods: methods.iter().map(AuthMethod::from_schema).collect(),
        }
    }
}

/// Recorded in both places (docs/agents.md, 17).
fn takes_steering(answer: &Value) -> bool {
    [&answer["_meta"], &answer["agentCapabilities"]["_meta"]]
        .iter()
        .any(|meta| meta["steering"]["supported"].as_bool().unwrap_or(false))
}

impl AuthMethod {
    fn from_schema(method: &acp::AuthMethod) -> Self {
        Self { id: method.id().to_string(), name: method.name().to_owned() }
    }
}

/// The session id in the answer to `session/new`.
pub fn session_id(answer: &Value) -> Option<&str> {
    answer["sessionId"].as_str()
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

fn read_or_default<T: DeserializeOwned + Default>(value: &Value) -> T {
    read(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_what_acp_says() {
        let identity = ClientIdentity { name: "pleat".into(), title: "Pleat".into(), version: "1".into() };
        let offers = ClientOffers { files: true, terminal_output: true, ..ClientOffers::default() };
        let sent = initialize(&identity, offers);
        assert_eq!(sent["protocolVersion"], 1);
        assert_eq!(sent["clientInfo"], json!({"name": "pleat", "title": "Pleat", "version": "1"}));
        assert_eq!(sent["clientCapabilities"]["fs"], json!({"readTextFile": true, "writeTextFile": true}));
        assert_eq!(sent["clientCapabilities"]["_meta"], json!({"terminal_output": true}));
        assert_eq!(new_session(Path::new("/w")), json!({"cwd": "/w", "mcpServers": []}));
        assert_eq!(load_session("s", Path::new("/w")), json!({"mcpServers": [], "cwd": "/w", "sessionId": "s"}));
        assert_eq!(
            prompt("s", vec![PromptPart::Text("a\n  b".into())]),
            json!({"sessionId": "s", "prompt": [{"type": "text", "text": "a\n  b"}]})
        );
        assert_eq!(cancel("s"), json!({"sessionId": "s"}));
        assert_eq!(permission_selected("o"), json!({"outcome": {"outcome": "selected", "optionId": "o"}}));
        assert_eq!(permission_cancelled(), json!({"outcome": {"outcome": "cancelled"}}));
    }

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
        let info = AgentInfo::read(&answer);
        assert_eq!(info.title.as_deref(), Some("Codex"));
        assert!(info.loads_sessions && info.resumes_sessions && info.takes_images && info.takes_steering);
        assert_eq!(info.auth_methods, [AuthMethod { id: "key".into(), name: "API key".into() }]);
        for nothing in [json!(null), json!("text"), json!({"agentInfo": 3, "authMethods": {}, "agentCapabilities": []})]
        {
            assert_eq!(AgentInfo::read(&nothing), AgentInfo::default());
        }
    }
}
