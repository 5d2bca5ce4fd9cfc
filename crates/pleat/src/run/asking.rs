//! Asking a person: one question at a time, as long as it is open.

use super::face::Face;
use super::following::{Reader, Seen};
use super::question::{About, Choice, Question, Typed, login_json, permission_json, permission_sentence};
use super::stopping::{Stage, Stopper};
use super::typed_lines::{TypedLine, TypedLines};
use crate::failure::Failure;
use crate::plain_text::visible;
use pleat_host::{AgentState, Host, HostError, LiveState, Login};
use pleat_transcript::call::{Call, ToolKind};
use pleat_transcript::ids::SessionId;
use std::io::IsTerminal;

const NOT_OPEN: &str = "This is not asked any more.";

/// What is asked of a person, and who answers.
pub(super) struct Asking {
    /// Where the answers are typed; `None`: nobody is there.
    typed: Option<TypedLines>,
    open: Option<Question>,
    /// What was told as JSON.
    told: Vec<About>,
    /// Why the turn was stopped: nobody was there to answer.
    pub(super) needed: Option<String>,
}

/// Whose session it is.
pub(super) struct Party<'h> {
    pub(super) host: &'h Host,
    pub(super) session: SessionId,
    /// The agent's name for people.
    pub(super) title: String,
    /// What Pleat was told to allow by itself.
    pub(super) allowed: Vec<ToolKind>,
    pub(super) stopper: Stopper,
}

impl Asking {
    /// A person is there where what is asked can be seen and answered.
    pub(super) fn new() -> Result<Self, Failure> {
        let is_there = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let typed = if is_there { Some(TypedLines::of_stdin().map_err(Failure::internal)?) } else { None };
        Ok(Self { typed, open: None, told: Vec::new(), needed: None })
    }

    /// Whether a person is asked something now: nothing else is printed then.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Asks what is open, unless something is asked already, and takes back what is not open any more.
    pub(super) async fn look(
        &mut self,
        party: &Party<'_>,
        seen: &Seen,
        live: &(LiveState, u64),
        face: &mut Face,
        reader: &Reader,
    ) -> Result<(), Failure> {
        if *party.stopper.stage().borrow() != Stage::No {
            self.open = None;
            return Ok(());
        }
        self.take_back(seen, live, face);
        if self.open.is_some() {
            return Ok(());
        }
        if let AgentState::NeedsLogin(login) = &live.0.agent {
            self.login(party, login, live.1, face).await;
        } else if let Some(call) = seen.questions.first() {
            let root = seen.session.root.as_deref();
            let call = reader.call(call).await?;
            self.permission(party, &call, root, face).await;
        }
        Ok(())
    }

    /// The turn is over: nothing is asked any more.
    pub(super) fn close(&mut self, stage: Stage, face: &mut Face) {
        if self.open.take().is_some() && stage == Stage::No {
            face.screen.say(NOT_OPEN);
        }
    }

    fn take_back(&mut self, seen: &Seen, live: &(LiveState, u64), face: &mut Face) {
        let Some(question) = &self.open else { return };
        let is_open = match &question.about {
            About::Permission(id) => seen
                .questions
                .iter()
                .any(|call| call.permission.as_ref().is_some_and(|permission| permission.request.as_ref() == Some(id))),
            About::Login { changes } => live.1 == *changes,
        };
        if !is_open {
            self.open = None;
            face.screen.say(NOT_OPEN);
        }
    }

    async fn permission(&mut self, party: &Party<'_>, call: &Call, root: Option<&str>, face: &mut Face) {
        let Some(question) = Question::permission(call, root, face.screen.style) else { return };
        if self.is_news(&question.about) {
            face.print_json(&permission_json(call, root));
        }
        if self.typed.is_some() {
            self.ask(question, face);
        } else {
            let is_allowed = party.allowed.contains(&call.kind());
            self.needed = Some(permission_sentence(&party.title, call, root, is_allowed));
            party.stopper.stop().await;
        }
    }

    async fn login(&mut self, party: &Party<'_>, login: &Login, changes: u64, face: &mut Face) {
        let about = About::Login { changes };
        if !self.is_news(&about) {
            // Its answer is on its way.
            return;
        }
        face.print_json(&login_json(login));
        let question = Question::login(&party.title, login, changes, face.screen.style);
        if self.typed.is_some() && question.has_choices() {
            self.ask(question, face);
        } else {
            let said = visible(login.said.trim_end_matches('.'));
            let advice = visible(&login.advice());
            self.needed = Some(format!("{} wants a login: {said}.{advice}", party.title));
            party.stopper.stop().await;
        }
    }

    fn is_news(&mut self, about: &About) -> bool {
        let is_news = !self.told.contains(about);
        if is_news {
            self.told.push(about.clone());
        }
        is_news
    }

    fn ask(&mut self, question: Question, face: &mut Face) {
        let text = question.text();
        self.ask_with(question, &text, face);
    }

    fn ask_with(&mut self, question: Question, text: &str, face: &mut Face) {
        // Before it is seen: then whoever is quick is not overheard.
        if let Some(typed) = &mut self.typed {
            typed.want();
        }
        face.screen.ask(text);
        self.open = Some(question);
    }

    /// The next line that is typed as an answer; none comes while nothing is asked.
    pub(super) async fn typed(&mut self) -> TypedLine {
        match &mut self.typed {
            Some(typed) if self.open.is_some() => typed.next().await,
            Some(_) | None => std::future::pending().await,
        }
    }

    /// Does what was typed.
    pub(super) async fn answer(&mut self, line: TypedLine, party: &Party<'_>, face: &mut Face) {
        let Some(question) = self.open.take() else { return };
        let text = match line {
            TypedLine::Text(text) => text,
            TypedLine::End => return party.stopper.stop().await,
        };
        face.screen.was_answered();
        match question.read(&text) {
            Typed::Choice(choice) => {
                if let Err(error) = carry_out(party, &question.about, choice).await {
                    face.screen.say(&visible(&error.to_string()));
                    // What is still open is asked again.
                    self.told.retain(|told| *told != question.about);
                }
            }
            Typed::Nothing => self.ask(question, face),
            Typed::NoAnswer => {
                let text = question.prompt();
                self.ask_with(question, &text, face);
            }
        }
    }
}

async fn carry_out(party: &Party<'_>, about: &About, choice: &Choice) -> Result<(), HostError> {
    match (about, &choice.command) {
        (About::Permission(request), _) => party.host.answer(&party.session, request, &choice.id).await,
        // Who ran its command has logged in: the agent is to look again.
        (About::Login { .. }, Some(_)) => party.host.start_agent(&party.session).await,
        (About::Login { .. }, None) => party.host.log_in(&party.session, choice.id.clone()).await,
    }
}
