//! Playing a script: what is heard and said.

use super::end::Ending;
use super::player::{Player, SESSION};
use super::script::{Asked, Hearing, Stream};
use super::template::{Fields, Template};
use super::wire::FILLER;
use serde_json::{Map, Value, json};

impl Player {
    pub(crate) fn hear(&mut self, hearing: &Hearing) -> Result<(), Ending> {
        let message = self.wait_for(hearing)?;
        self.take(hearing, message);
        Ok(())
    }

    /// Waits for a message without taking it to heart.
    pub(crate) fn wait_for(&self, hearing: &Hearing) -> Result<Value, Ending> {
        let expand = |template: &Option<Template>| template.as_ref().map(|template| self.expand(template)).transpose();
        let (method, session) = (expand(&hearing.method)?, expand(&hearing.session)?);
        self.process.wire.hear(|message| {
            method.as_ref().is_none_or(|method| message.get("method") == Some(method))
                && session.as_ref().is_none_or(|session| &message["params"]["sessionId"] == session)
        })
    }

    /// Gives a message its name; its session is the one that is spoken of from now on.
    pub(crate) fn take(&mut self, hearing: &Hearing, message: Value) {
        if let Some(session) = message["params"].get("sessionId") {
            self.variables.set(SESSION, session.clone());
        }
        if let Some(name) = &hearing.name {
            self.variables.set(name, message);
        }
    }

    pub(crate) fn hear_answer(&mut self, request: &Template, name: Option<&str>) -> Result<(), Ending> {
        let id = self.expand(request)?;
        let answer =
            self.process.wire.hear(|message| message.get("method").is_none() && message.get("id") == Some(&id))?;
        if let Some(name) = name {
            self.variables.set(name, answer);
        }
        Ok(())
    }

    /// Reads everything and leaves it to whoever waits for it.
    pub(crate) fn listen(&self) -> Result<(), Ending> {
        self.process.wire.hear(|_| false).map(drop)
    }

    pub(crate) fn initialize(&self, fields: &Fields) -> Result<(), Ending> {
        let mut result = Map::new();
        result.insert("protocolVersion".to_owned(), json!(1));
        result.insert("agentCapabilities".to_owned(), json!({}));
        result.extend(self.object(fields)?);
        self.answer_next("initialize", &result.into())
    }

    pub(crate) fn authenticate(&self) -> Result<(), Ending> {
        self.answer_next("authenticate", &json!({}))
    }

    pub(crate) fn new_session(&mut self, name: Option<&str>, fields: &Fields) -> Result<(), Ending> {
        let session = Value::from(self.process.next_session());
        self.variables.set(SESSION, session.clone());
        if let Some(name) = name {
            self.variables.set(name, session.clone());
        }
        let mut result = Map::new();
        result.insert("sessionId".to_owned(), session);
        result.extend(self.object(fields)?);
        self.answer_next("session/new", &result.into())
    }

    fn answer_next(&self, method: &str, result: &Value) -> Result<(), Ending> {
        let request = self.process.wire.hear(|message| message["method"] == method)?;
        self.answer(&request, "result", result)
    }

    pub(crate) fn reply(&self, request: &str, result: &Template) -> Result<(), Ending> {
        self.answer(self.heard(request)?, "result", &self.expand(result)?)
    }

    pub(crate) fn refuse(&self, request: &str, code: &Template, message: &Template) -> Result<(), Ending> {
        let error = json!({"code": self.expand(code)?, "message": self.expand(message)?});
        self.answer(self.heard(request)?, "error", &error)
    }

    fn heard(&self, request: &str) -> Result<&Value, Ending> {
        self.variables.get(request).map_err(Ending::trouble)
    }

    fn answer(&self, request: &Value, outcome: &str, value: &Value) -> Result<(), Ending> {
        let Some(id) = request.get("id") else {
            return Err(Ending::trouble(format!("that was no request, so it has no answer: {request}")));
        };
        self.say(json!({"id": id, outcome: value}))
    }

    /// Says what may lack its `jsonrpc`.
    pub(crate) fn say(&self, message: Value) -> Result<(), Ending> {
        self.process.wire.say(&completed(message)?)
    }

    pub(crate) fn request(&self, id: &Template, method: &Template, fields: &Fields) -> Result<(), Ending> {
        let (id, method) = (self.expand(id)?, self.expand(method)?);
        let mut params = Map::new();
        params.insert("sessionId".to_owned(), self.session(None)?);
        params.extend(self.object(fields)?);
        self.say(json!({"id": id, "method": method, "params": params}))
    }

    pub(crate) fn update(&self, session: Option<&Template>, fields: &Fields) -> Result<(), Ending> {
        let (session, update) = (self.session(session)?, self.object(fields)?);
        self.say(json!({"method": "session/update", "params": {"sessionId": session, "update": update}}))
    }

    pub(crate) fn ask(&self, asked: &Asked) -> Result<(), Ending> {
        let (id, session) = (self.expand(&asked.request)?, self.session(asked.session.as_ref())?);
        let (call, options) = (self.object(&asked.call)?, self.expand(&asked.options)?);
        let params = json!({"sessionId": session, "toolCall": call, "options": options});
        self.say(json!({"id": id, "method": "session/request_permission", "params": params}))
    }

    /// The one that a script names, or else the one that is spoken of.
    fn session(&self, named: Option<&Template>) -> Result<Value, Ending> {
        match named {
            Some(named) => self.expand(named),
            None => self.heard(SESSION).cloned(),
        }
    }

    pub(crate) fn long_line(&self, bytes: &Template) -> Result<(), Ending> {
        let bytes = self.number(bytes)?;
        let line = |text: &str| -> Result<Value, Ending> {
            let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
            let params = json!({"sessionId": self.session(None)?, "update": update});
            completed(json!({"method": "session/update", "params": params}))
        };
        let around = line("")?.to_string().len();
        match bytes_of(bytes)?.checked_sub(around) {
            Some(length) => self.process.wire.say(&line(&filler(length))?),
            None => Err(Ending::trouble(format!("a line with a text has {around} bytes at least"))),
        }
    }

    /// A text as it stands, or so many bytes.
    pub(crate) fn write(&self, stream: Stream, what: &Template) -> Result<(), Ending> {
        match self.expand(what)? {
            Value::String(text) => self.process.wire.write(stream, text.as_bytes()),
            Value::Number(_) => self.process.wire.write_filler(stream, self.number(what)?),
            other @ (Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                Err(Ending::trouble(format!("a text or a number of bytes is wanted, not {other}")))
            }
        }
    }

    pub(crate) fn fill(&mut self, name: &str, bytes: &Template) -> Result<(), Ending> {
        let text = filler(bytes_of(self.number(bytes)?)?);
        self.variables.set(name, text.into());
        Ok(())
    }
}

fn completed(message: Value) -> Result<Value, Ending> {
    let Value::Object(fields) = message else {
        return Err(Ending::trouble(format!("a message is an object, not {message}")));
    };
    let mut completed = Map::new();
    completed.insert("jsonrpc".to_owned(), json!("2.0"));
    completed.extend(fields);
    Ok(completed.into())
}

fn bytes_of(number: u64) -> Result<usize, Ending> {
    usize::try_from(number).map_err(|_| Ending::trouble("that is more than there is memory"))
}

/// A text of which only the length matters.
fn filler(bytes: usize) -> String {
    char::from(FILLER).to_string().repeat(bytes)
}
