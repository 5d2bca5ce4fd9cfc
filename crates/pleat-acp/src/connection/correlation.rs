//! Which requests wait for their answers, and which session each is about.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::incoming::{RequestId, Token};
use super::messages::method;

/// What is known of a request that waits for its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Question {
    /// What the agent calls the session that it is about.
    pub(super) session: Option<Arc<str>>,
    /// Whether it opens one.
    pub(super) opens: bool,
}

impl Question {
    pub(super) fn new(method: &str, params: &Value) -> Self {
        let opens = [method::SESSION_NEW, method::SESSION_LOAD, method::SESSION_RESUME].contains(&method);
        Self { session: session_of(params).map(Arc::from), opens }
    }
}

/// The session that params, or a result, name.
pub(super) fn session_of(params: &Value) -> Option<&str> {
    params.get("sessionId").and_then(Value::as_str)
}

/// Requests of one side that have no answer yet.
#[derive(Debug)]
pub(super) struct Waiting<Id>(Arc<Mutex<HashMap<Id, Question>>>);

/// Ours.
pub(super) type Pending = Waiting<Token>;

/// The agent's.
pub(super) type Asked = Waiting<RequestId>;

impl<Id: Eq + Hash> Waiting<Id> {
    pub(super) fn put(&self, id: Id, question: Question) {
        self.with(|waiting| waiting.insert(id, question));
    }

    /// The request, if it was waiting for its answer; it no longer is.
    pub(super) fn take(&self, id: &Id) -> Option<Question> {
        self.with(|waiting| waiting.remove(id))
    }

    fn with<T>(&self, change: impl FnOnce(&mut HashMap<Id, Question>) -> T) -> T {
        // Nothing can panic while the lock is held.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<Id> Clone for Waiting<Id> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Id> Default for Waiting<Id> {
    fn default() -> Self {
        Self(Arc::default())
    }
}
