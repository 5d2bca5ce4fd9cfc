//! Reading a script: the commands and what they take.

use super::error::ScriptError;
use super::player::BUILT_IN;
use super::script::{Action, Asked, Hearing, Stream};
use super::template::{Fields, Piece, Template, is_name};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// What follows a command in its statement.
pub(crate) struct Arguments {
    line: usize,
    pub(crate) positional: VecDeque<Template>,
    /// `NAME=VALUE`.
    pub(crate) fields: Fields,
    /// `as NAME`.
    pub(crate) name: Option<String>,
}

/// What a command does. `known` are the variables that there are, those of the command among them.
pub(crate) fn actions(
    command: &str,
    mut given: Arguments,
    known: &mut Vec<String>,
) -> Result<Vec<Action>, ScriptError> {
    let action = match command {
        "open_session" => {
            let action = Action::NewSession { name: given.name.take(), fields: given.fields() };
            given.end(command)?;
            return Ok(vec![Action::Initialize(Fields::new()), action]);
        }
        "initialize" => Action::Initialize(given.fields()),
        "authenticate" => Action::Authenticate,
        "new_session" => Action::NewSession { name: given.name.take(), fields: given.fields() },
        "hear" => {
            Action::Hear(Hearing { method: given.optional(), session: given.field("session"), name: given.name.take() })
        }
        "hear_answer" => Action::HearAnswer { request: given.next("the request's id")?, name: given.name.take() },
        "listen" => Action::Listen,
        "reply" => Action::Reply { request: given.known_name(known)?, result: given.next("the result")? },
        "refuse" => Action::Refuse {
            request: given.known_name(known)?,
            code: given.next("the error's code")?,
            message: given.next("the error's message")?,
        },
        "finish" => finish(&mut given, known)?,
        "say" => Action::Say(given.next("the message")?),
        "request" => Action::Request {
            id: given.next("the request's id")?,
            method: given.next("the method")?,
            fields: given.fields(),
        },
        "update" => update(&mut given)?,
        "text" => chunk("agent_message_chunk", &mut given)?,
        "thought" => chunk("agent_thought_chunk", &mut given)?,
        "call" => call(&mut given)?,
        "call_update" => call_update(&mut given)?,
        "ask" => ask(&mut given)?,
        "long_line" => Action::LongLine(given.next("the number of bytes")?),
        "stdout" => Action::Write(Stream::Stdout, given.next("a text or a number of bytes")?),
        "stderr" => Action::Write(Stream::Stderr, given.next("a text or a number of bytes")?),
        "fill" => {
            let name = new_name(&given.literal_text("a name")?, given.line)?;
            known.push(name.clone());
            Action::Fill { name, bytes: given.next("the number of bytes")? }
        }
        "exit" => Action::Exit(given.next("the exit code")?),
        "abort" => Action::Abort,
        "sleep" => Action::Sleep(Some(duration(&given.next("a duration")?, given.line)?)),
        "sleep_forever" => Action::Sleep(None),
        "wait_at" => Action::WaitAt(given.next("the gate")?),
        "spawn" => Action::Spawn(given.next("the shell's command")?),
        _ => return Err(given.error(format!("no command is called `{command}`"))),
    };
    given.end(command)?;
    Ok(vec![action])
}

fn finish(given: &mut Arguments, known: &[String]) -> Result<Action, ScriptError> {
    let request = given.known_name(known)?;
    let reason = given.optional().unwrap_or_else(|| Template::literal("end_turn"));
    let mut result = vec![("stopReason".to_owned(), reason)];
    result.extend(given.fields());
    Ok(Action::Reply { request, result: Template::Object(result) })
}

fn update(given: &mut Arguments) -> Result<Action, ScriptError> {
    let kind = given.next("the kind of update")?;
    Ok(told(kind, Vec::new(), given))
}

fn chunk(kind: &str, given: &mut Arguments) -> Result<Action, ScriptError> {
    let content = text_block(given.next("the text")?);
    Ok(told(Template::literal(kind), vec![("content", content)], given))
}

fn call(given: &mut Arguments) -> Result<Action, ScriptError> {
    let id = given.next("the call's id")?;
    let mut fields = vec![("toolCallId", id.clone())];
    for (name, usual) in [("title", id), ("kind", Template::literal("edit")), ("status", Template::literal("pending"))]
    {
        fields.push((name, given.field(name).unwrap_or(usual)));
    }
    fields.extend(given.output());
    Ok(told(Template::literal("tool_call"), fields, given))
}

fn call_update(given: &mut Arguments) -> Result<Action, ScriptError> {
    let mut fields = vec![("toolCallId", given.next("the call's id")?)];
    fields.extend(given.output());
    Ok(told(Template::literal("tool_call_update"), fields, given))
}

/// An update with these fields and those of the script.
fn told(kind: Template, fields: Vec<(&str, Template)>, given: &mut Arguments) -> Action {
    let session = given.field("session");
    let mut all = vec![("sessionUpdate".to_owned(), kind)];
    all.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    all.extend(given.fields());
    Action::Update { session, fields: all }
}

fn ask(given: &mut Arguments) -> Result<Action, ScriptError> {
    let request = given.next("the request's id")?;
    let id = given.next("the call's id")?;
    let usual = Template::Literal(json!([
        {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]));
    let options = given.field("options").unwrap_or(usual);
    let session = given.field("session");
    let mut call = vec![("toolCallId".to_owned(), id)];
    call.extend(given.fields());
    Ok(Action::Ask(Asked { request, session, call, options }))
}

fn text_block(text: Template) -> Template {
    let text = match text {
        // It is a text, whatever the variable is.
        Template::Variable(reference) => Template::Text(vec![Piece::Variable(reference)]),
        Template::Literal(Value::Number(number)) => Template::literal(&number.to_string()),
        Template::Literal(_) | Template::Text(_) | Template::List(_) | Template::Object(_) => text,
    };
    let fields = [("type", Template::literal("text")), ("text", text)];
    Template::Object(fields.map(|(name, value)| (name.to_owned(), value)).into())
}

impl Arguments {
    pub(crate) fn new(line: usize) -> Self {
        Self { line, positional: VecDeque::new(), fields: Fields::new(), name: None }
    }

    fn error(&self, message: impl Into<String>) -> ScriptError {
        ScriptError::new(self.line, message)
    }

    fn optional(&mut self) -> Option<Template> {
        self.positional.pop_front()
    }

    fn next(&mut self, what: &str) -> Result<Template, ScriptError> {
        self.optional().ok_or_else(|| self.error(format!("{what} is missing")))
    }

    fn literal_text(&mut self, what: &str) -> Result<String, ScriptError> {
        if let Template::Literal(Value::String(text)) = self.next(what)? {
            return Ok(text);
        }
        Err(self.error(format!("{what} is wanted, without a `$`")))
    }

    /// The name of something that was heard, without a `$`.
    fn known_name(&mut self, known: &[String]) -> Result<String, ScriptError> {
        let name = self.literal_text("the name of a request that was heard")?;
        if known.contains(&name) && !BUILT_IN.contains(&name.as_str()) {
            return Ok(name);
        }
        Err(self.error(format!("nothing before it was heard as `{name}`")))
    }

    fn field(&mut self, name: &str) -> Option<Template> {
        let at = self.fields.iter().position(|(key, _)| key == name)?;
        Some(self.fields.remove(at).1)
    }

    /// Those that are left.
    fn fields(&mut self) -> Fields {
        std::mem::take(&mut self.fields)
    }

    /// `output=TEXT`, which is short for a text as the call's content.
    fn output(&mut self) -> Option<(&'static str, Template)> {
        let block = text_block(self.field("output")?);
        let fields = [("type", Template::literal("content")), ("content", block)];
        let content = Template::Object(fields.map(|(name, value)| (name.to_owned(), value)).into());
        Some(("content", Template::List(vec![content])))
    }

    /// Nothing may be left that the command does not take.
    fn end(&self, command: &str) -> Result<(), ScriptError> {
        if !self.positional.is_empty() {
            return Err(self.error(format!("`{command}` takes fewer values; one with blanks needs quotes")));
        }
        if let Some((name, _)) = self.fields.first() {
            return Err(self.error(format!("`{command}` does not take `{name}=`")));
        }
        match &self.name {
            Some(name) => Err(self.error(format!("`{command}` hears nothing that could be called `{name}`"))),
            None => Ok(()),
        }
    }
}

/// A variable of the script's own.
pub(crate) fn new_name(name: &str, line: usize) -> Result<String, ScriptError> {
    if !is_name(name) {
        return Err(ScriptError::new(line, format!("`{name}` is no name; use letters, digits and `_`")));
    }
    if BUILT_IN.contains(&name) {
        return Err(ScriptError::new(line, format!("`{name}` is taken")));
    }
    Ok(name.to_owned())
}

/// `20ms`, or `3s`.
pub(crate) fn duration(value: &Template, line: usize) -> Result<Duration, ScriptError> {
    let text = match value {
        Template::Literal(Value::String(text)) => text.as_str(),
        Template::Literal(_) | Template::Variable(_) | Template::Text(_) | Template::List(_) | Template::Object(_) => {
            ""
        }
    };
    let amount = |unit: &str| text.strip_suffix(unit).and_then(|number| number.parse().ok());
    let duration = amount("ms").map(Duration::from_millis).or_else(|| amount("s").map(Duration::from_secs));
    duration.ok_or_else(|| ScriptError::new(line, "a duration is missing, like `20ms` or `3s`"))
}

#[cfg(test)]
mod tests {
    use super::super::parse::check;

    #[test]
    fn what_a_command_does_not_take_is_refused() {
        for (script, message) in [
            ("hum", "no command is called `hum`"),
            ("text", "the text is missing"),
            ("text a b", "`text` takes fewer values"),
            ("hear_answer", "the request's id is missing"),
            ("listen session=x", "`listen` does not take `session=`"),
            ("reply prompt {}", "nothing before it was heard as `prompt`"),
            ("reply SESSION {}", "nothing before it was heard as `SESSION`"),
            ("reply {}", "the name of a request that was heard is wanted"),
            ("hear as SESSION", "`SESSION` is taken"),
            ("hear as 1st", "`1st` is no name"),
            ("text a as b", "hears nothing that could be called `b`"),
            ("sleep 5", "a duration is missing"),
            ("sleep", "a duration is missing"),
            ("text $nobody", "nothing before it is called `nobody`"),
            ("text $i", "nothing before it is called `i`"),
            ("fill SESSION 5", "`SESSION` is taken"),
        ] {
            let error = check(script).unwrap_err();
            assert!(error.message.contains(message), "{script}: {error}");
        }
    }

    #[test]
    fn every_command_is_read() {
        let script = r#"
open_session as first modes={}
initialize protocolVersion=2; authenticate
new_session as second
hear; hear session/prompt as prompt session=$second
hear_answer "r 1" as answer
reply prompt null; refuse prompt -32603 "No."; finish prompt; finish prompt cancelled usage={"totalTokens": 1}
say {"method": "x"}; request 1 fs/read_text_file path=$answer.result.path
update plan entries=[]; text a messageId=m; thought b; call c title=d output=e; call_update c status=failed session=s
ask r c kind=read options=[]
long_line 65537; stdout 3; stderr "x\n"; fill big 5
sleep 1s; sleep_forever; wait_at gate; spawn "sleep 1"; exit 3; abort; listen
"#;
        assert_eq!(check(script), Ok(()));
    }
}
