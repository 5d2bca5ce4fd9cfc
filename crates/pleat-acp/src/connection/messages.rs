//! What we send, built with the official SDK's schema types (ACP v1), and what we need to know from
//! the answers that begin a session, read leniently: the raw answer stays with the caller, and what
//! the types do not know (`models`, extensions in `_meta`) is found there.

use std::path::{Path, PathBuf};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema as acp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub use self::agent_info::AgentInfo;
pub use self::listed_sessions::{ListedSession, listed_sessions};
pub use self::login::{AuthMethod, LoginCommand, quoted};

mod agent_info;
mod listed_sessions;
mod login;

/// ACP's names for what a client sends, and for what an agent does.
pub mod method {
    use agent_client_protocol::v1::schema::{AGENT_METHOD_NAMES as NAMES, CLIENT_METHOD_NAMES as OF_THE_AGENT};

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
    /// The sessions that the agent knows.
    pub const SESSION_LIST: &str = NAMES.session_list;
    /// Ends a session and frees what it holds; it can be loaded again.
    pub const SESSION_CLOSE: &str = NAMES.session_close;
    /// Another mode.
    pub const SESSION_SET_MODE: &str = NAMES.session_set_mode;
    /// Another value of a config option.
    pub const SESSION_SET_CONFIG_OPTION: &str = NAMES.session_set_config_option;
    /// Another model, for agents that offer `models`; no longer in the schema.
    pub const SESSION_SET_MODEL: &str = "session/set_model";

    /// What happens in a session; a notification of the agent.
    pub const SESSION_UPDATE: &str = OF_THE_AGENT.session_update;
    /// The agent asks whether it may do something.
    pub const SESSION_REQUEST_PERMISSION: &str = OF_THE_AGENT.session_request_permission;
    /// The agent asks for the text of a file.
    pub const FS_READ_TEXT_FILE: &str = OF_THE_AGENT.fs_read_text_file;
    /// The agent asks to write a file.
    pub const FS_WRITE_TEXT_FILE: &str = OF_THE_AGENT.fs_write_text_file;
    /// The agent asks to run a command.
    pub const TERMINAL_CREATE: &str = OF_THE_AGENT.terminal_create;
    /// The agent asks what a command has printed so far.
    pub const TERMINAL_OUTPUT: &str = OF_THE_AGENT.terminal_output;
    /// The agent waits until a command has exited.
    pub const TERMINAL_WAIT_FOR_EXIT: &str = OF_THE_AGENT.terminal_wait_for_exit;
    /// The agent asks to end a command.
    pub const TERMINAL_KILL: &str = OF_THE_AGENT.terminal_kill;
    /// The agent needs a terminal no more.
    pub const TERMINAL_RELEASE: &str = OF_THE_AGENT.terminal_release;
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

/// The params of `initialize`. Logins in a terminal are always offered, in ACP's words and in the older ones of Claude's
/// adapter (`_meta["terminal-auth"]`): a person is shown their command ([`LoginCommand`]).
pub fn initialize(identity: &ClientIdentity, offers: ClientOffers) -> Value {
    let info = acp::Implementation::new(&identity.name, &identity.version).title(identity.title.clone());
    let fs = acp::FileSystemCapabilities::new().read_text_file(offers.files).write_text_file(offers.files);
    let mut meta = Map::from_iter([("terminal-auth".to_owned(), Value::Bool(true))]);
    if offers.terminal_output {
        meta.insert("terminal_output".to_owned(), Value::Bool(true));
    }
    let auth = acp::AuthCapabilities::new().terminal(true);
    let capabilities = acp::ClientCapabilities::new().fs(fs).terminal(offers.terminal).auth(auth).meta(meta);
    to_value(&acp::InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities).client_info(info))
}

/// The params of `authenticate`.
pub fn authenticate(method_id: &str) -> Value {
    to_value(&acp::AuthenticateRequest::new(method_id.to_owned()))
}

/// The params of `session/new`. Further directories only for agents that take them ([`AgentInfo::takes_directories`]).
pub fn new_session(cwd: &Path, further: &[PathBuf]) -> Value {
    to_value(&acp::NewSessionRequest::new(cwd).additional_directories(further.to_vec()))
}

/// The params of `session/load`; further directories as for [`new_session`].
pub fn load_session(session_id: &str, cwd: &Path, further: &[PathBuf]) -> Value {
    to_value(&acp::LoadSessionRequest::new(session_id.to_owned(), cwd).additional_directories(further.to_vec()))
}

/// The params of `session/resume`; further directories as for [`new_session`].
pub fn resume_session(session_id: &str, cwd: &Path, further: &[PathBuf]) -> Value {
    to_value(&acp::ResumeSessionRequest::new(session_id.to_owned(), cwd).additional_directories(further.to_vec()))
}

/// The params of `session/list`: the sessions of one working directory or of all, from a cursor on.
pub fn list_sessions(cwd: Option<&Path>, cursor: Option<&str>) -> Value {
    let request = acp::ListSessionsRequest::new().cwd(cwd.map(Path::to_owned)).cursor(cursor.map(str::to_owned));
    to_value(&request)
}

/// The params of `session/close`.
pub fn close_session(session_id: &str) -> Value {
    to_value(&acp::CloseSessionRequest::new(session_id.to_owned()))
}

/// The params of `session/set_mode`.
pub fn set_mode(session_id: &str, mode_id: &str) -> Value {
    to_value(&acp::SetSessionModeRequest::new(session_id.to_owned(), mode_id.to_owned()))
}

/// The params of `session/set_config_option`: the id of a choice, or true or false for a switch.
pub fn set_config_option(session_id: &str, option_id: &str, value: &Value) -> Value {
    match value {
        Value::Bool(_) => json!({"sessionId": session_id, "configId": option_id, "type": "boolean", "value": value}),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            json!({"sessionId": session_id, "configId": option_id, "value": value})
        }
    }
}

/// The params of the older `session/set_model`.
pub fn set_model(session_id: &str, model_id: &str) -> Value {
    json!({"sessionId": session_id, "modelId": model_id})
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
    /// Audio, for agents that take it ([`AgentInfo::takes_audio`]).
    Audio {
        /// In base64.
        data: String,
        /// Its mime type.
        mime_type: String,
    },
    /// A file or page with its content, for agents that take them ([`AgentInfo::takes_embedded_resources`]).
    Resource {
        /// Where it is.
        uri: String,
        /// Its mime type.
        mime_type: Option<String>,
        /// What it holds.
        content: ResourceContent,
    },
    /// A file or page that the agent can open itself.
    ResourceLink {
        /// What to call it.
        name: String,
        /// Where it is.
        uri: String,
        /// Its mime type.
        mime_type: Option<String>,
    },
}

/// What an embedded resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceContent {
    /// Text.
    Text(String),
    /// Bytes, in base64.
    Blob(String),
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
        PromptPart::Audio { data, mime_type } => acp::ContentBlock::Audio(acp::AudioContent::new(data, mime_type)),
        PromptPart::Resource { uri, mime_type, content } => {
            acp::ContentBlock::Resource(acp::EmbeddedResource::new(embedded(uri, mime_type, content)))
        }
        PromptPart::ResourceLink { name, uri, mime_type } => {
            acp::ContentBlock::ResourceLink(acp::ResourceLink::new(name, uri).mime_type(mime_type))
        }
    }
}

fn embedded(uri: String, mime_type: Option<String>, content: ResourceContent) -> acp::EmbeddedResourceResource {
    match content {
        ResourceContent::Text(text) => acp::EmbeddedResourceResource::TextResourceContents(
            acp::TextResourceContents::new(text, uri).mime_type(mime_type),
        ),
        ResourceContent::Blob(blob) => acp::EmbeddedResourceResource::BlobResourceContents(
            acp::BlobResourceContents::new(blob, uri).mime_type(mime_type),
        ),
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
        assert_eq!(sent["clientCapabilities"]["_meta"], json!({"terminal-auth": true, "terminal_output": true}));
        assert_eq!(sent["clientCapabilities"]["auth"], json!({"terminal": true}));
        assert_eq!(
            prompt("s", vec![PromptPart::Text("a\n  b".into())]),
            json!({"sessionId": "s", "prompt": [{"type": "text", "text": "a\n  b"}]})
        );
        assert_eq!(cancel("s"), json!({"sessionId": "s"}));
        assert_eq!(permission_selected("o"), json!({"outcome": {"outcome": "selected", "optionId": "o"}}));
        assert_eq!(permission_cancelled(), json!({"outcome": {"outcome": "cancelled"}}));
    }

    #[test]
    fn sessions_are_opened_listed_and_closed() {
        let (root, further) = (Path::new("/w"), ["/x".into()]);
        assert_eq!(new_session(root, &[]), json!({"cwd": "/w", "mcpServers": []}));
        let with_further = json!({"cwd": "/w", "additionalDirectories": ["/x"], "mcpServers": []});
        assert_eq!(new_session(root, &further), with_further);
        assert_eq!(load_session("s", root, &[]), json!({"mcpServers": [], "cwd": "/w", "sessionId": "s"}));
        assert_eq!(load_session("s", root, &further)["additionalDirectories"], json!(["/x"]));
        assert_eq!(resume_session("s", root, &further)["additionalDirectories"], json!(["/x"]));
        assert_eq!(list_sessions(None, None), json!({}));
        assert_eq!(list_sessions(Some(root), Some("c")), json!({"cwd": "/w", "cursor": "c"}));
        assert_eq!(close_session("s"), json!({"sessionId": "s"}));
    }

    #[test]
    fn what_a_session_can_be_set_to() {
        assert_eq!(set_mode("s", "m"), json!({"sessionId": "s", "modeId": "m"}));
        assert_eq!(set_model("s", "m"), json!({"sessionId": "s", "modelId": "m"}));
        let choice = json!({"sessionId": "s", "configId": "o", "value": "high"});
        assert_eq!(set_config_option("s", "o", &json!("high")), choice);
        let switch = json!({"sessionId": "s", "configId": "o", "type": "boolean", "value": true});
        assert_eq!(set_config_option("s", "o", &json!(true)), switch);
        for params in [choice, switch] {
            assert!(read::<acp::SetSessionConfigOptionRequest>(&params).is_some(), "{params}");
        }
    }

    #[test]
    fn parts_of_a_prompt_are_content_blocks() {
        let check = |part: PromptPart, expect: Value| assert_eq!(prompt("s", vec![part])["prompt"][0], expect);
        let (data, mime_type) = ("ZGF0YQ==".to_owned(), "audio/wav".to_owned());
        let audio = json!({"type": "audio", "data": "ZGF0YQ==", "mimeType": "audio/wav"});
        check(PromptPart::Audio { data: data.clone(), mime_type: mime_type.clone() }, audio);
        let uri = || "file:///w/a.txt".to_owned();
        check(
            PromptPart::Resource { uri: uri(), mime_type: None, content: ResourceContent::Text("t".into()) },
            json!({"type": "resource", "resource": {"uri": "file:///w/a.txt", "text": "t"}}),
        );
        check(
            PromptPart::Resource { uri: uri(), mime_type: Some(mime_type), content: ResourceContent::Blob(data) },
            json!({"type": "resource", "resource": {"uri": "file:///w/a.txt", "mimeType": "audio/wav", "blob": "ZGF0YQ=="}}),
        );
        check(
            PromptPart::ResourceLink { name: "a".into(), uri: uri(), mime_type: Some("text/plain".into()) },
            json!({"type": "resource_link", "name": "a", "uri": "file:///w/a.txt", "mimeType": "text/plain"}),
        );
    }
}
