//! Which sessions a line of a process belongs to.
//!
//! A session is opened by a request that does not name it yet, and agents speak of it before they answer. So lines about
//! sessions that nobody knows are held while one is being opened, and go where they belong once its name is known.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pleat_transcript::ids::{AgentSessionId, SessionId};

use super::held::{Held, HeldFor};
use super::line::{LogLine, Opening};
use crate::connection::Token;

/// How much of what a process says before its first session is open is kept for the heads of files.
const MAX_PRELUDE_BYTES: usize = 64 * 1024;

/// How many sessions of agents, sub-agents' among them, are remembered.
const MAX_PLACES: usize = 10_000;

/// A line and the sessions whose files it goes to.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    pub(super) sessions: Vec<SessionId>,
    pub(super) line: LogLine,
    pub(super) part: Part,
}

/// What a line is in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What the process said before its first session was open.
    Prelude,
    /// The request that opens the session, or its answer.
    Opening,
    /// Everything else.
    Conversation,
}

/// What one process serves and what it said of it.
#[derive(Debug, Default)]
pub(super) struct Routing {
    tenants: Vec<Tenant>,
    prelude: Vec<LogLine>,
    prelude_bytes: usize,
    /// Whether a session has been opened: the prelude ends there.
    has_opened: bool,
    places: HashMap<Arc<str>, Place>,
    /// Requests for new sessions that are not answered, and whom they are for where that is clear.
    openings: HashMap<Token, Option<SessionId>>,
    /// New sessions of the agent of which nobody has said yet whose they are.
    nameless: HashSet<Arc<str>>,
    held: Held,
}

/// A session that the process serves.
#[derive(Debug)]
struct Tenant {
    id: SessionId,
    is_named: bool,
}

/// Where lines about a session of the agent go.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Session(SessionId),
    /// A sub-agent's session, say: it is its parent's matter, and whose parent that is only the adapter knows.
    Everyone,
}

impl Routing {
    /// A session that the process serves from now on: what it gets first.
    pub(super) fn add(&mut self, session: SessionId) -> Vec<Delivery> {
        if self.serves(&session) {
            return Vec::new();
        }
        let sessions = vec![session.clone()];
        self.tenants.push(Tenant { id: session, is_named: false });
        let prelude = self.prelude.iter().cloned();
        prelude.map(|line| Delivery { sessions: sessions.clone(), line, part: Part::Prelude }).collect()
    }

    /// What the agent calls a session.
    pub(super) fn name(&mut self, session: &SessionId, agent_session: AgentSessionId) -> Vec<Delivery> {
        if !self.serves(session) {
            return Vec::new();
        }
        let mut deliveries = self.named(session, agent_session.0.into());
        deliveries.extend(self.settle());
        deliveries
    }

    /// A session that the process no longer serves: what it, or others, get because of it.
    pub(super) fn remove(&mut self, session: &SessionId) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        if self.unnamed().as_slice() == [session.clone()] {
            // What is held can only be its own.
            deliveries = self.release_held();
        }
        self.tenants.retain(|tenant| tenant.id != *session);
        deliveries.extend(self.settle());
        deliveries
    }

    /// What is held, of which nobody will say any more whose it is: the process is over, say.
    pub(super) fn release_held(&mut self) -> Vec<Delivery> {
        let held = self.held.take_all();
        self.release(held)
    }

    fn release(&self, held: Vec<(HeldFor, LogLine)>) -> Vec<Delivery> {
        let deliver = |(held_for, line)| match held_for {
            HeldFor::Opening(_) => self.to_the_unnamed(line),
            HeldFor::Session(_) => self.to_all(line),
        };
        held.into_iter().map(deliver).collect()
    }

    /// Lines are missing. Answers may be among them, so they are not waited for.
    pub(super) fn lines_missing(&mut self, note: LogLine) -> Vec<Delivery> {
        self.openings.clear();
        let mut deliveries = self.settle();
        deliveries.push(self.to_all(note));
        deliveries
    }

    /// A line of the process.
    pub(super) fn line(&mut self, line: LogLine) -> Vec<Delivery> {
        match (line.session.clone(), line.opens) {
            (None, Some(Opening::Asked(token))) => self.opening_asked(token, line),
            (Some(id), Some(Opening::Answered(token))) if self.openings.contains_key(&token) => {
                self.opening_answered(token, id, line)
            }
            (None, Some(Opening::Answered(token))) => self.opening_refused(token, line),
            (None, None) => vec![self.about_the_process(line)],
            (Some(id), _) => self.about(id, line),
        }
    }

    /// The sessions that the process serves.
    pub(super) fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.tenants.iter().map(|tenant| &tenant.id)
    }

    /// A line to all of them.
    fn to_all(&self, line: LogLine) -> Delivery {
        Delivery { sessions: self.sessions().cloned().collect(), line, part: Part::Conversation }
    }

    fn opening_asked(&mut self, token: Token, line: LogLine) -> Vec<Delivery> {
        let bound: Vec<_> = self.openings.values().flatten().cloned().collect();
        let waiting: Vec<_> = self.unnamed().into_iter().filter(|session| !bound.contains(session)).collect();
        let [session] = waiting.as_slice() else {
            self.openings.insert(token, None);
            return self.hold(HeldFor::Opening(token), line);
        };
        self.openings.insert(token, Some(session.clone()));
        vec![opening(session, line)]
    }

    fn opening_answered(&mut self, token: Token, id: Arc<str>, line: LogLine) -> Vec<Delivery> {
        let Some(session) = self.openings.remove(&token).flatten() else {
            self.held.rename(token, &id);
            self.nameless.insert(Arc::clone(&id));
            let mut deliveries = self.hold(HeldFor::Session(id), line);
            deliveries.extend(self.settle());
            return deliveries;
        };
        let mut deliveries = self.named(&session, id);
        deliveries.push(opening(&session, line));
        deliveries.extend(self.settle());
        deliveries
    }

    fn opening_refused(&mut self, token: Token, line: LogLine) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        if let Some(session) = self.openings.remove(&token).flatten() {
            deliveries.push(opening(&session, line));
        } else {
            let asked = self.held.take(&HeldFor::Opening(token)).into_iter();
            deliveries.extend(asked.chain([line]).map(|line| self.to_the_unnamed(line)));
        }
        deliveries.extend(self.settle());
        deliveries
    }

    fn about_the_process(&mut self, line: LogLine) -> Delivery {
        let is_prelude = !self.has_opened && self.prelude_bytes + line.text.len() <= MAX_PRELUDE_BYTES;
        if is_prelude {
            self.prelude_bytes += line.text.len();
            self.prelude.push(line.clone());
        }
        let part = if is_prelude { Part::Prelude } else { Part::Conversation };
        Delivery { part, ..self.to_all(line) }
    }

    fn about(&mut self, id: Arc<str>, line: LogLine) -> Vec<Delivery> {
        match self.places.get(&id) {
            Some(Place::Session(session)) => vec![part_of(&session.clone(), line)],
            Some(Place::Everyone) => vec![self.to_all(line)],
            None if self.may_become_known() => self.hold(HeldFor::Session(id), line),
            None => {
                self.remember(id, Place::Everyone);
                vec![self.to_all(line)]
            }
        }
    }

    fn named(&mut self, session: &SessionId, id: Arc<str>) -> Vec<Delivery> {
        self.has_opened = true;
        for tenant in self.tenants.iter_mut().filter(|tenant| tenant.id == *session) {
            tenant.is_named = true;
        }
        self.nameless.remove(&id);
        self.openings.retain(|_, bound| bound.as_ref() != Some(session));
        let held = self.held.take(&HeldFor::Session(Arc::clone(&id)));
        self.remember(id, Place::Session(session.clone()));
        held.into_iter().map(|line| part_of(session, line)).collect()
    }

    /// Once no session is being opened, what is held is about sessions that nobody will name.
    fn settle(&mut self) -> Vec<Delivery> {
        if self.may_become_known() {
            return Vec::new();
        }
        self.nameless.clear();
        for id in self.held.sessions() {
            self.remember(id, Place::Everyone);
        }
        self.release_held()
    }

    fn hold(&mut self, held_for: HeldFor, line: LogLine) -> Vec<Delivery> {
        let too_many = self.held.push(held_for, line);
        self.release(too_many)
    }

    /// Whether a session of the agent that nobody knows may turn out to be one of ours.
    fn may_become_known(&self) -> bool {
        let is_opened = !self.nameless.is_empty() || self.openings.values().any(Option::is_none);
        let is_opening = self.openings.values().flatten().any(|session| self.serves(session));
        self.tenants.is_empty() || is_opening || is_opened && !self.unnamed().is_empty()
    }

    fn to_the_unnamed(&self, line: LogLine) -> Delivery {
        match self.unnamed() {
            unnamed if unnamed.is_empty() => self.to_all(line),
            sessions => Delivery { sessions, part: part(&line), line },
        }
    }

    fn unnamed(&self) -> Vec<SessionId> {
        self.tenants.iter().filter(|tenant| !tenant.is_named).map(|tenant| tenant.id.clone()).collect()
    }

    fn serves(&self, session: &SessionId) -> bool {
        self.tenants.iter().any(|tenant| tenant.id == *session)
    }

    fn remember(&mut self, id: Arc<str>, place: Place) {
        if self.places.len() < MAX_PLACES || matches!(place, Place::Session(_)) {
            self.places.insert(id, place);
        }
    }
}

fn opening(session: &SessionId, line: LogLine) -> Delivery {
    Delivery { sessions: vec![session.clone()], line, part: Part::Opening }
}

fn part_of(session: &SessionId, line: LogLine) -> Delivery {
    Delivery { sessions: vec![session.clone()], part: part(&line), line }
}

fn part(line: &LogLine) -> Part {
    if line.opens.is_some() { Part::Opening } else { Part::Conversation }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use serde_json::Value;

    use super::*;
    use crate::connection::messages::method;
    use crate::connection::{Connection, ConnectionOptions};

    /// A process that serves two sessions, of which the agent knows the first as `a`.
    fn routing() -> (Routing, SessionId, SessionId) {
        let [one, two] = ["s1", "s2"].map(|id| SessionId::new(id).expect("an id"));
        let mut routing = Routing::default();
        routing.add(one.clone());
        routing.name(&one, AgentSessionId("a".to_owned()));
        routing.add(two.clone());
        (routing, one, two)
    }

    fn line(session: Option<&str>, opens: Option<Opening>) -> LogLine {
        LogLine { session: session.map(Arc::from), opens, ..LogLine::note(UNIX_EPOCH, "x") }
    }

    fn token() -> Token {
        let (connection, _incoming) =
            Connection::over(tokio::io::empty(), tokio::io::sink(), ConnectionOptions::default());
        connection.request(method::SESSION_NEW, Value::Null)
    }

    fn told(deliveries: Vec<Delivery>) -> Vec<Vec<SessionId>> {
        deliveries.into_iter().map(|delivery| delivery.sessions).collect()
    }

    fn sub_agent(routing: &mut Routing, id: &str) -> Vec<Vec<SessionId>> {
        told(routing.line(line(Some(id), None)))
    }

    /// An agent that hangs while it opens a session keeps no lines of another one back for ever.
    #[tokio::test]
    async fn an_answer_that_never_comes_is_not_waited_for() {
        let (mut routing, one, two) = routing();
        let both = || vec![one.clone(), two.clone()];
        let asked = token();
        assert_eq!(sub_agent(&mut routing, "x"), [both()]);
        assert_eq!(told(routing.line(line(None, Some(Opening::Asked(asked))))), [[two.clone()]]);
        assert_eq!(sub_agent(&mut routing, "y"), [[]; 0], "it may be the new one");
        assert_eq!(sub_agent(&mut routing, "x"), [both()]);
        // The answer may be among lines that are missing.
        assert_eq!(told(routing.lines_missing(line(None, None))), [both(), both()]);
        assert_eq!(sub_agent(&mut routing, "z"), [both()]);
        // The session is given up.
        routing.line(line(None, Some(Opening::Asked(asked))));
        routing.remove(&two);
        assert_eq!(sub_agent(&mut routing, "w"), [[one.clone()]]);
        // It is answered after all.
        let answered = routing.line(line(Some("b"), Some(Opening::Answered(asked))));
        assert!(answered.iter().all(|delivery| delivery.sessions == [two.clone()]));
        assert_eq!(sub_agent(&mut routing, "b"), [[two]]);
        assert_eq!(sub_agent(&mut routing, "a"), [[one]]);
    }

    /// What is held is bounded.
    #[tokio::test]
    async fn the_oldest_of_too_much_is_let_go() {
        let (mut routing, one, two) = routing();
        routing.line(line(None, Some(Opening::Asked(token()))));
        let long = || LogLine { text: vec![b'x'; 1_500_000], ..line(Some("early"), None) };
        assert_eq!(told(routing.line(long())), [[]; 0]);
        assert_eq!(told(routing.line(long())), [[]; 0]);
        assert_eq!(told(routing.line(long())), [[one, two.clone()]]);
        assert_eq!(told(routing.name(&two, AgentSessionId("early".to_owned()))), [[two.clone()], [two]]);
    }

    #[test]
    fn what_a_process_says_first_is_kept_up_to_a_bound() {
        let mut routing = Routing::default();
        let long = || LogLine { text: vec![b'x'; MAX_PRELUDE_BYTES / 2], ..line(None, None) };
        for _ in 0..3 {
            routing.line(long());
        }
        let one = SessionId::new("s1").expect("an id");
        assert_eq!(routing.add(one.clone()).len(), 2);
        assert_eq!(routing.add(one).len(), 0, "it is there already");
    }
}
