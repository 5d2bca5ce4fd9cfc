//! What the client says, read on a thread so that it is noticed during a pause.

use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Instant;

use serde_json::{Map, Value};

/// A message of the client's.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ClientMessage {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
    Answer { to: Value, result: Value },
}

impl ClientMessage {
    fn parse(line: &str) -> Option<Self> {
        let mut message: Map<String, Value> = serde_json::from_str(line).ok()?;
        let params = message.remove("params").unwrap_or(Value::Null);
        match (message.remove("method"), message.remove("id")) {
            (Some(Value::String(method)), Some(id)) => Some(Self::Request { id, method, params }),
            (Some(Value::String(method)), None) => Some(Self::Notification { method, params }),
            (None, Some(to)) => Some(Self::Answer { to, result: message.remove("result").unwrap_or(Value::Null) }),
            (Some(_) | None, _) => None,
        }
    }
}

/// The client has closed our input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Closed;

/// The client's messages that were not taken yet, in order.
pub(super) struct Mailbox {
    arriving: Receiver<ClientMessage>,
    kept: VecDeque<ClientMessage>,
}

impl Mailbox {
    pub(super) fn open(input: impl BufRead + Send + 'static) -> Self {
        let (sender, arriving) = channel();
        std::thread::spawn(move || read_all(input, &sender));
        Self { arriving, kept: VecDeque::new() }
    }

    /// The next message to arrive, however long it takes.
    pub(super) fn wait(&self) -> Result<ClientMessage, Closed> {
        self.arriving.recv().map_err(|_| Closed)
    }

    /// The next message to arrive until then, or `None`.
    pub(super) fn wait_until(&self, deadline: Instant) -> Result<Option<ClientMessage>, Closed> {
        match self.arriving.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Closed),
        }
    }

    /// Keeps a message for later.
    pub(super) fn keep(&mut self, message: ClientMessage) {
        self.kept.push_back(message);
    }

    /// Puts a message back to where it was taken from.
    pub(super) fn put_back(&mut self, message: ClientMessage) {
        self.kept.push_front(message);
    }

    /// The oldest message that was kept.
    pub(super) fn take_kept(&mut self) -> Option<ClientMessage> {
        self.kept.pop_front()
    }

    /// Whether a request of that method is kept.
    pub(super) fn keeps_request(&self, wanted: &str) -> bool {
        self.kept.iter().any(|message| match message {
            ClientMessage::Request { method, .. } => method == wanted,
            ClientMessage::Notification { .. } | ClientMessage::Answer { .. } => false,
        })
    }

    /// Takes the kept messages for which `wanted` holds.
    pub(super) fn take_kept_where(&mut self, wanted: impl Fn(&ClientMessage) -> bool) -> Vec<ClientMessage> {
        let (taken, kept) = std::mem::take(&mut self.kept).into_iter().partition(|message| wanted(message));
        self.kept = kept;
        Vec::from_iter::<VecDeque<ClientMessage>>(taken)
    }
}

fn read_all(input: impl BufRead, sender: &Sender<ClientMessage>) {
    for line in input.lines() {
        let Ok(line) = line else { return };
        let Some(message) = ClientMessage::parse(&line) else { continue };
        if sender.send(message).is_err() {
            return;
        }
    }
}
