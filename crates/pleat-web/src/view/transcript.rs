//! The page of a session.

use super::activity::{activity, questions};
use super::agent::agent;
use super::block::Block;
use super::composer::{composer, stop_forms};
use super::facts::facts;
use super::index::{Index, calls_of};
use super::message::{Place, message, notice};
use super::permission;
use super::plan::plan;
use super::queue::queue;
use super::state;
use super::words::{elapsed_since, is_asking};
use crate::links;
use crate::text::preview::one_line;
use maud::html;
use pleat_host::{Activity, LiveState, StoredActivity};
use pleat_transcript::call::Call;
use pleat_transcript::document::Window;
use pleat_transcript::fold::Excerpt;
use pleat_transcript::ids::{CallId, MessageId, TurnId};
use pleat_transcript::message::{Body, RoundState};
use pleat_transcript::rows::{MessageRole, Row, RowsDocument};
use pleat_transcript::session::Session;
use std::collections::HashSet;

/// What the page of a session is made of.
pub(crate) struct Transcript<'a> {
    /// The session.
    pub(super) session: &'a Session,
    /// The window of it that the page shows.
    pub(super) excerpt: &'a Excerpt,
    /// What the host knows of it beside that.
    pub(super) live: &'a LiveState,
    /// Calls outside of the window that a person is asked about.
    asked_elsewhere: &'a [Call],
    /// The rows of the window.
    pub(super) rows: &'a RowsDocument,
    /// Finds what rows name.
    pub(super) index: Index<'a>,
    /// Which window.
    pub(super) window: &'a Window,
    /// The agent's name for people.
    pub(super) agent_title: Option<&'a str>,
    /// The key of the next prompt that is sent without script.
    pub(super) form_key: &'a str,
}

impl<'a> Transcript<'a> {
    pub(crate) fn new(
        excerpt: &'a Excerpt,
        live: &'a LiveState,
        asked_elsewhere: &'a [Call],
        rows: &'a RowsDocument,
        window: &'a Window,
        agent_title: Option<&'a str>,
        form_key: &'a str,
    ) -> Self {
        let (session, index) = (&excerpt.document.session, Index::new(excerpt));
        Self { session, excerpt, live, asked_elsewhere, rows, index, window, agent_title, form_key }
    }

    /// Whether this turn is running.
    pub(super) fn is_live(&self, turn: Option<&TurnId>) -> bool {
        turn.is_some() && turn == self.session.live_turn.as_ref()
    }

    /// The page.
    pub(crate) fn page(&self) -> Block {
        let mut children = vec![self.head(), self.main(), self.dock()];
        children.extend(stop_forms(self));
        Block::parent("div", "page", children).class("page session").attribute("data-title", self.title_with_state())
    }

    /// What the browser's tab says.
    pub(crate) fn title_with_state(&self) -> String {
        state::tab_title(self.activity(), self.title())
    }

    fn activity(&self) -> Activity {
        Activity::of(StoredActivity::of(self.session, self.is_asking()), self.live)
    }

    /// The agent's name, to begin a sentence with.
    pub(super) fn agent_name(&self) -> &'a str {
        self.agent_title.unwrap_or("The agent")
    }

    fn title(&self) -> String {
        let titled = self.session.title.as_deref().filter(|title| !title.trim().is_empty());
        let title = titled.or_else(|| self.first_prompt()).map(|text| one_line(&first_line(text)));
        let without = if self.rows.window.before == 0 { "New session" } else { "A session without a title" };
        title.unwrap_or_else(|| without.to_owned())
    }

    /// The prompt that the session began with, where the window shows it.
    fn first_prompt(&self) -> Option<&str> {
        if self.rows.window.before > 0 {
            return None;
        }
        self.excerpt
            .document
            .messages
            .iter()
            .find_map(|message| if let Body::User(user) = &message.body { Some(user.text.as_str()) } else { None })
    }

    fn head(&self) -> Block {
        let home = html! { a href="/" { "Pleat" } };
        let last_turn = self.session.turns.last().map(|turn| turn.state);
        let state = state::word(self.activity(), last_turn).markup();
        let status = vec![Block::leaf("span", "head/state/word", state.into_string())];
        let mut facts = facts(self);
        let mut children = vec![
            Block::leaf("nav", "head/home", home.into_string()).attribute("aria-label", "Pleat"),
            Block::leaf("h1", "head/title", super::block::escape(&self.title())).attribute("dir", "auto"),
        ];
        facts.insert(1, Block::parent("p", "head/state", status).attribute("role", "status"));
        children.append(&mut facts);
        Block::parent("header", "head", children).class("top")
    }

    fn main(&self) -> Block {
        let rows: Vec<_> = self.rows.rows.iter().flat_map(|row| self.row(row)).collect();
        let first = rows.iter().find(|row| row.is_linkable()).map(|row| row.key().to_owned());
        let last = rows.iter().rfind(|row| row.is_linkable()).map(|row| row.key().to_owned());
        let mut children = Vec::new();
        children.extend(self.earlier(first.as_deref()));
        if rows.is_empty() && self.session.live_turn.is_none() && self.session.waiting.is_empty() {
            children.push(
                Block::leaf("p", "empty", "Nothing has been said yet. Write the first prompt below.").class("quiet"),
            );
        }
        children.push(Block::parent("div", "rows", rows).class("rows"));
        children.extend(self.waiting());
        children.extend(agent(self));
        children.extend(queue(self));
        children.extend(self.later(last.as_deref()));
        children.push(Block::leaf("div", "end", "").linkable());
        Block::parent("main", "main", children).class("column")
    }

    fn row(&self, row: &Row) -> Vec<Block> {
        match row {
            Row::Message(row) => message(self, row).into_iter().collect(),
            Row::Activity(row) => activity(self, row),
            Row::Plan(row) => plan(self, row).into_iter().collect(),
            Row::Notice(row) => notice(self, row).into_iter().collect(),
        }
    }

    fn earlier(&self, first_row: Option<&str>) -> Option<Block> {
        let bounds = &self.rows.window;
        let first = bounds.first.clone().filter(|_| bounds.earlier)?;
        let address = links::window(&self.session.id, &Window::Earlier(first), first_row);
        let html = html! { a rel="prev" href=(address) { "Earlier" } " " span.quiet { (bounds.before) " more" } };
        Some(Block::leaf("nav", "earlier", html.into_string()).class("pager").attribute("aria-label", "Earlier"))
    }

    fn later(&self, last_row: Option<&str>) -> Option<Block> {
        let bounds = &self.rows.window;
        let id = &self.session.id;
        let later = bounds.last.clone().filter(|_| bounds.later);
        if later.is_none() && *self.window == Window::Latest {
            return None;
        }
        let html = html! {
            @if let Some(last) = later {
                a rel="next" href=(links::window(id, &Window::Later(last), last_row)) { "Later" }
                " " span.quiet { (bounds.after) " more" } " "
            }
            a href=(links::session_end(id)) { "Latest" }
        };
        Some(Block::leaf("nav", "later", html.into_string()).class("pager").attribute("aria-label", "Later"))
    }

    /// A quiet line while a live turn shows nothing that moves, and waits for nobody.
    fn waiting(&self) -> Option<Block> {
        if self.rows.window.later || self.session.live_turn.is_none() {
            return None;
        }
        if let Some(since) = self.live.stopping_since {
            let words = html! { "Stopping… " (elapsed_since(since)) };
            return Some(Block::leaf("p", "stopping", words.into_string()).class("waiting quiet"));
        }
        if self.is_asking() {
            return None;
        }
        let moves = match self.rows.rows.last() {
            Some(Row::Activity(row)) => row.summary.current.is_some(),
            Some(Row::Message(row)) => row.role == MessageRole::Assistant && self.is_streaming(&row.message),
            Some(Row::Plan(_) | Row::Notice(_)) | None => false,
        };
        if moves {
            return None;
        }
        let thinks = self.excerpt.document.messages.last().is_some_and(|message| {
            if let Body::Assistant(round) = &message.body { round.state == Some(RoundState::Streaming) } else { false }
        });
        let words = if thinks { "The agent is thinking…" } else { "Waiting for the agent…" };
        Some(Block::leaf("p", "waiting", words).class("waiting quiet"))
    }

    fn is_streaming(&self, message: &MessageId) -> bool {
        self.index.round(message).is_some_and(|round| round.state == Some(RoundState::Streaming))
    }

    /// Whether a turn was told to stop and has not ended.
    pub(super) fn is_stopping(&self) -> bool {
        self.session.live_turn.is_some() && self.live.stopping_since.is_some()
    }

    /// Whether something is before the next prompt: a turn that runs, or prompts that are to be sent.
    pub(super) fn is_before_next(&self) -> bool {
        self.session.live_turn.is_some() || self.session.waiting.iter().any(|prompt| prompt.held.is_none())
    }

    /// Whether a person is asked something.
    pub(super) fn is_asking(&self) -> bool {
        self.open_questions().next().is_some()
    }

    /// The calls that a person is asked about: those of the window in order, then others.
    fn open_questions(&self) -> impl Iterator<Item = &'a Call> {
        let calls = self.excerpt.document.messages.iter().flat_map(calls_of).chain(self.asked_elsewhere);
        calls.filter(|call| is_asking(self.session, call))
    }

    /// The address of an image of a message whose data is not at hand; `None` where its place is not known either.
    pub(super) fn media_address(&self, place: &Place<'_>) -> Option<String> {
        // Without the calls that are shown elsewhere, what follows them has moved up.
        let is_known = !self.excerpt.lost_calls.contains(place.message);
        is_known.then(|| links::media(&self.session.id, place.message, place.number))
    }

    /// A line for each question whose card stands on the page, and the cards of all others.
    fn bar(&self) -> Option<Block> {
        let on_page: HashSet<&CallId> = self
            .rows
            .rows
            .iter()
            .filter_map(|row| if let Row::Activity(row) = row { Some(questions(self, &row.rounds)) } else { None })
            .flatten()
            .map(|call| &call.id)
            .collect();
        let question = |call: &Call| {
            if on_page.contains(&call.id) { permission::line(self, call) } else { permission::card(self, call, "bar") }
        };
        let questions: Vec<_> = self.open_questions().filter_map(question).collect();
        let is_empty = questions.is_empty();
        let bar = Block::parent("section", "bar", questions).class("bar").attribute("aria-label", "Needs your answer");
        (!is_empty).then_some(bar)
    }

    fn dock(&self) -> Block {
        let mut children: Vec<_> = self.bar().into_iter().collect();
        let latest = html! { a href=(links::session_end(&self.session.id)) { "Latest ↓" } };
        children
            .push(Block::leaf("nav", "latest", latest.into_string()).class("latest").attribute("aria-label", "Latest"));
        children.push(composer(self));
        Block::parent("footer", "dock", children).class("dock")
    }
}

const TITLE_CHARACTERS: usize = 120;

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("New session");
    if line.chars().count() <= TITLE_CHARACTERS {
        return line.to_owned();
    }
    let mut cut: String = line.chars().take(TITLE_CHARACTERS - 1).collect();
    cut.push('…');
    cut
}
