//! The outline: which top-level message shows a message, what that makes, and where runs begin, kept beside each message
//! so that a window is read by index seeks alone. What it says is what the fold would decide over the whole session
//! (docs/spec/fold.md, sections 1 to 4); it is kept up as messages arrive. What rarely happens (a parent that is told
//! later, a call that results or children waited for) is left to one rebuild at the end of the change set.

use super::message::{MessageRow, message_row_columns};
use super::part::Owner;
use super::session::SessionRow;
use super::sql::{Sql, owned_values, values};
use crate::failure::Failure;
use pleat_transcript::call::Call;
use pleat_transcript::document::Document;
use pleat_transcript::fold::{self, PlanIdentity, shows_something, supersedes};
use pleat_transcript::ids::{CallId, TurnId};
use pleat_transcript::message::{Assistant, Body, Message, Plan, PlanContent};
use std::collections::HashMap;

/// What a top-level message makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Makes {
    /// No row; and it ends no run.
    Nothing,
    /// A part of an activity row.
    Round,
    /// A row for a reply.
    Reply,
    /// Another row, or the place of an emptied list: it stands between what is before and after it.
    Row,
}

impl Makes {
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Nothing => 0,
            Self::Round => 1,
            Self::Reply => 2,
            Self::Row => 3,
        }
    }

    pub(crate) fn from_number(number: i64) -> Self {
        match number {
            0 => Self::Nothing,
            1 => Self::Round,
            2 => Self::Reply,
            _ => Self::Row,
        }
    }

    /// What the fold says of a message, with replies told apart.
    pub(crate) fn of(makes: fold::Makes, body: &Body) -> Self {
        match (makes, body) {
            (fold::Makes::Nothing, _) => Self::Nothing,
            (fold::Makes::Round { .. }, _) => Self::Round,
            (fold::Makes::Row, Body::Assistant(_)) => Self::Reply,
            (fold::Makes::Row, Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_)) => Self::Row,
        }
    }
}

/// Where a message stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Its position among the top-level messages; of a new one, which gets the next, anything.
    pub(crate) ordinal: Option<i64>,
    /// The key of the message that shows it, where that is another one.
    pub(crate) shown_by: Option<i64>,
    pub(crate) makes: Makes,
    pub(crate) starts_run: bool,
}

impl Placement {
    fn top_level(makes: Makes, starts_run: bool) -> Self {
        Self { ordinal: Some(0), shown_by: None, makes, starts_run }
    }

    fn inside(shown_by: i64) -> Self {
        Self { ordinal: None, shown_by: Some(shown_by), makes: Makes::Nothing, starts_run: false }
    }

    /// It is not inside of a call.
    pub(crate) fn is_top_level(&self) -> bool {
        self.ordinal.is_some()
    }
}

/// A message that shows or stands beside another.
struct Neighbour {
    key: i64,
    makes: Makes,
    turn: Option<String>,
    /// A plan without stream that is text: it may stand for copies before it.
    is_text_plan: bool,
}

/// Keeps the outline up through one change set.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    /// What happened is left to a rebuild.
    pub(crate) rebuild: bool,
}

impl Upkeep {
    /// Where a new message stands before it has parts.
    pub(crate) async fn place_new<S: Sql>(
        &mut self,
        sql: &S,
        session: &SessionRow,
        message: &Message,
    ) -> Result<Placement, Failure> {
        if self.rebuild {
            return Ok(Placement::top_level(Makes::Nothing, false));
        }
        match &message.body {
            Body::User(_) | Body::Notice(_) => Ok(Placement::top_level(Makes::Row, false)),
            Body::Tool(result) => Ok(match shown_by(sql, session, result.call.as_ref()).await? {
                Some(shown_by) => Placement::inside(shown_by),
                None => Placement::top_level(Makes::Row, false),
            }),
            Body::Assistant(assistant) => self.place_round(sql, session, message, assistant).await,
            Body::Plan(plan) => Ok(Placement::top_level(place_plan(sql, session, message, plan).await?, false)),
        }
    }

    /// Calls are placed when they are stored; a round that has them is first placed as a reply.
    async fn place_round<S: Sql>(
        &mut self,
        sql: &S,
        session: &SessionRow,
        message: &Message,
        assistant: &Assistant,
    ) -> Result<Placement, Failure> {
        if let Some(shown_by) = shown_by(sql, session, assistant.parent.as_ref()).await? {
            return Ok(Placement::inside(shown_by));
        }
        let calls: Vec<&Call> = assistant.calls().collect();
        if calls.iter().any(|call| call.parent.is_some()) {
            // Which of its calls stand inside of others is for the rebuild.
            self.rebuild = true;
            return Ok(Placement::top_level(Makes::Nothing, false));
        }
        if calls.is_empty() {
            let makes = if shows_something(assistant) { Makes::Reply } else { Makes::Nothing };
            return Ok(Placement::top_level(makes, false));
        }
        let before = before(sql, session, i64::MAX).await?;
        Ok(Placement::top_level(Makes::Round, starts_run(before.as_ref(), message.turn.as_ref().map(TurnId::as_str))))
    }

    /// Remembers a new snapshot of a plan.
    pub(crate) async fn remember_plan<S: Sql>(
        &mut self,
        sql: &S,
        session: &SessionRow,
        message: &Message,
        key: i64,
    ) -> Result<(), Failure> {
        let Some(identity) = PlanIdentity::of(message).filter(|_| !self.rebuild) else { return Ok(()) };
        insert_identity(sql, session, &identity, key).await
    }

    /// The message that shows a new call, where that is not its own; `owner` is at its new place afterwards.
    pub(crate) async fn place_call<S: Sql>(
        &mut self,
        sql: &S,
        session: &SessionRow,
        owner: Owner<'_>,
        call: &Call,
    ) -> Result<Option<i64>, Failure> {
        if self.rebuild {
            return Ok(None);
        }
        if is_waited_for(sql, session, &call.id).await? {
            self.rebuild = true;
            return Ok(None);
        }
        let mut parent = find_call(sql, session, call.parent.as_ref().map(CallId::as_str)).await?;
        if parent.is_none() {
            parent = find_call(sql, session, owner.parent).await?;
        }
        let message = find_by_key(sql, owner.key).await?;
        match (parent, message.placement.is_top_level()) {
            (None, true) => {
                self.becomes_round(sql, session, &message).await?;
                Ok(None)
            }
            (Some(shown_by), false) => Ok(Some(shown_by).filter(|shown_by| *shown_by != owner.key)),
            // Inside of a call of its own message.
            (Some(shown_by), true) if shown_by == owner.key => Ok(None),
            // A round that is a sub-agent's after all, or that has calls in several places.
            (Some(_), true) | (None, false) => {
                self.rebuild = true;
                Ok(None)
            }
        }
    }

    async fn becomes_round<S: Sql>(
        &mut self,
        sql: &S,
        session: &SessionRow,
        message: &MessageRow,
    ) -> Result<(), Failure> {
        let (Some(ordinal), false) = (message.placement.ordinal, message.placement.makes == Makes::Round) else {
            return Ok(());
        };
        let before = before(sql, session, ordinal).await?;
        let starts = starts_run(before.as_ref(), message.turn.as_deref());
        set_makes(sql, message.key, Makes::Round, starts).await?;
        self.round_after(sql, session, ordinal, message.turn.as_deref()).await
    }

    /// A top-level message shows something that showed nothing.
    pub(crate) async fn becomes_reply<S: Sql>(
        &mut self,
        sql: &S,
        session: &SessionRow,
        message: &MessageRow,
    ) -> Result<(), Failure> {
        let (Some(ordinal), Makes::Nothing, false) = (message.placement.ordinal, message.placement.makes, self.rebuild)
        else {
            return Ok(());
        };
        set_makes(sql, message.key, Makes::Reply, false).await?;
        // A reply continues no run.
        self.breaks_run_after(sql, session, ordinal).await
    }

    async fn breaks_run_after<S: Sql>(&mut self, sql: &S, session: &SessionRow, ordinal: i64) -> Result<(), Failure> {
        match after(sql, session, ordinal).await? {
            Some(next) if next.makes == Makes::Round => set_makes(sql, next.key, Makes::Round, true).await,
            // Copies that it stands for may be shown again: something stands between now.
            Some(next) if next.is_text_plan => {
                self.rebuild = true;
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }

    async fn round_after<S: Sql>(
        &mut self,
        sql: &S,
        session: &SessionRow,
        ordinal: i64,
        turn: Option<&str>,
    ) -> Result<(), Failure> {
        match after(sql, session, ordinal).await? {
            Some(next) if next.makes == Makes::Round => {
                set_makes(sql, next.key, Makes::Round, next.turn.as_deref() != turn).await
            }
            Some(next) if next.is_text_plan => {
                self.rebuild = true;
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A plan's content is replaced: where that may change what it is a snapshot of, or which copies it stands for.
    pub(crate) async fn plan_content_changes<S: Sql>(
        &mut self,
        sql: &S,
        key: i64,
        content: &PlanContent,
    ) -> Result<(), Failure> {
        let statement = "SELECT call IS NULL, text IS NOT NULL FROM message WHERE key = $1";
        let Some(mut row) = sql.query(statement, values![key]).await?.into_iter().next() else { return Ok(()) };
        let (has_no_stream, was_text) = (row.boolean()?, row.boolean()?);
        if has_no_stream && (was_text || matches!(content, PlanContent::Text(_))) {
            self.rebuild = true;
        }
        Ok(())
    }
}

fn starts_run(before: Option<&Neighbour>, turn: Option<&str>) -> bool {
    !before.is_some_and(|before| before.makes == Makes::Round && before.turn.as_deref() == turn)
}

/// What a new plan makes; a copy that it stands for makes nothing any more.
async fn place_plan<S: Sql>(sql: &S, session: &SessionRow, message: &Message, plan: &Plan) -> Result<Makes, Failure> {
    if let Some(identity) = PlanIdentity::of(message) {
        return Ok(if has_identity(sql, session, &identity).await? { Makes::Nothing } else { Makes::Row });
    }
    if matches!(plan.content, PlanContent::Entries(_)) {
        return Ok(Makes::Row);
    }
    let Some(before) = before(sql, session, i64::MAX).await? else { return Ok(Makes::Row) };
    let statement = "SELECT text FROM message WHERE key = $1 AND role = 'plan' AND call IS NULL AND text IS NOT NULL";
    if let Some(mut row) = sql.query(statement, values![before.key]).await?.into_iter().next() {
        let turn = before.turn.map(TurnId::new).transpose().map_err(|error| Failure::Unreadable(error.to_string()))?;
        let plan = Plan { stream: None, content: PlanContent::Text(row.text()?) };
        let earlier = Message { turn, body: Body::Plan(plan), ..message.clone() };
        if supersedes(message, &earlier) {
            set_makes(sql, before.key, Makes::Nothing, false).await?;
        }
    }
    Ok(Makes::Row)
}

async fn has_identity<S: Sql>(sql: &S, session: &SessionRow, identity: &PlanIdentity<'_>) -> Result<bool, Failure> {
    let statement = "SELECT newest_message FROM plan_identity WHERE session = $1 AND turn = $2 AND stream = $3";
    let (turn, stream) = identity_columns(identity);
    Ok(!sql.query(statement, values![session.key, turn, stream]).await?.is_empty())
}

/// The columns `turn` and `stream`: '' stands for none.
fn identity_columns<'i>(identity: &PlanIdentity<'i>) -> (&'i str, &'i str) {
    match identity {
        PlanIdentity::Stream { turn, call } => (turn.map_or("", TurnId::as_str), call.as_str()),
        PlanIdentity::List { turn } => (turn.as_str(), ""),
    }
}

/// Makes a message the newest snapshot of a plan, and the first where there was none.
async fn insert_identity<S: Sql>(
    sql: &S,
    session: &SessionRow,
    identity: &PlanIdentity<'_>,
    message: i64,
) -> Result<(), Failure> {
    let statement = "INSERT INTO plan_identity (session, turn, stream, first_message, newest_message) \
         VALUES ($1, $2, $3, $4, $4) ON CONFLICT (session, turn, stream) DO UPDATE SET newest_message = $4";
    let (turn, stream) = identity_columns(identity);
    sql.post(statement, owned_values![session.key, turn, stream, message]).await
}

async fn find_by_key<S: Sql>(sql: &S, key: i64) -> Result<MessageRow, Failure> {
    let statement = concat!("SELECT ", message_row_columns!(), " FROM message WHERE key = $1");
    let row = sql.query(statement, values![key]).await?.into_iter().next();
    MessageRow::from_row(&mut row.ok_or_else(|| Failure::Unreadable("a part has no message".to_owned()))?)
}

/// The key of the message that shows a call, by the call's id.
async fn find_call<S: Sql>(sql: &S, session: &SessionRow, id: Option<&str>) -> Result<Option<i64>, Failure> {
    let Some(id) = id else { return Ok(None) };
    let statement = "SELECT coalesce(call.shown_by, message.shown_by, part.message) FROM call \
         JOIN part ON part.key = call.key JOIN message ON message.key = part.message \
         WHERE call.session = $1 AND call.id = $2";
    let row = sql.query(statement, values![session.key, id]).await?.into_iter().next();
    row.map(|mut row| row.integer()).transpose()
}

async fn shown_by<S: Sql>(sql: &S, session: &SessionRow, id: Option<&CallId>) -> Result<Option<i64>, Failure> {
    find_call(sql, session, id.map(CallId::as_str)).await
}

/// Whether a result, a round or a call stood in the session that names a new call.
async fn is_waited_for<S: Sql>(sql: &S, session: &SessionRow, id: &CallId) -> Result<bool, Failure> {
    let statement = "SELECT EXISTS (SELECT 1 FROM message WHERE session = $1 AND call = $2 AND role = 'tool') \
         OR EXISTS (SELECT 1 FROM message WHERE session = $1 AND parent = $2) \
         OR EXISTS (SELECT 1 FROM call WHERE session = $1 AND parent = $2)";
    let mut rows = sql.query(statement, values![session.key, id.as_str()]).await?;
    rows.first_mut().map_or(Ok(false), super::sql::Row::boolean)
}

async fn before<S: Sql>(sql: &S, session: &SessionRow, ordinal: i64) -> Result<Option<Neighbour>, Failure> {
    let statement = "SELECT key, makes, turn, role = 'plan' AND call IS NULL AND text IS NOT NULL FROM message WHERE session = $1 AND ordinal < $2 AND makes <> 0 \
         ORDER BY ordinal DESC LIMIT 1";
    neighbour(sql, session, statement, ordinal).await
}

async fn after<S: Sql>(sql: &S, session: &SessionRow, ordinal: i64) -> Result<Option<Neighbour>, Failure> {
    let statement = "SELECT key, makes, turn, role = 'plan' AND call IS NULL AND text IS NOT NULL FROM message WHERE session = $1 AND ordinal > $2 AND makes <> 0 \
         ORDER BY ordinal LIMIT 1";
    neighbour(sql, session, statement, ordinal).await
}

async fn neighbour<S: Sql>(
    sql: &S,
    session: &SessionRow,
    statement: &'static str,
    ordinal: i64,
) -> Result<Option<Neighbour>, Failure> {
    let Some(mut row) = sql.query(statement, values![session.key, ordinal]).await?.into_iter().next() else {
        return Ok(None);
    };
    Ok(Some(Neighbour {
        key: row.integer()?,
        makes: Makes::from_number(row.integer()?),
        turn: row.optional_text()?,
        is_text_plan: row.boolean()?,
    }))
}

async fn set_makes<S: Sql>(sql: &S, key: i64, makes: Makes, starts_run: bool) -> Result<(), Failure> {
    let statement =
        "UPDATE message SET makes = $1, starts_run = $2 WHERE key = $3 AND (makes <> $1 OR starts_run <> $2)";
    sql.post(statement, owned_values![makes.number(), starts_run, key]).await
}

/// The outline of a session as it should be stored, from the whole transcript and the keys of its messages in order.
pub(crate) struct Wanted<'d> {
    /// Each message's key and place, in order.
    pub(crate) messages: Vec<(i64, Placement)>,
    /// Each call's id, and the key of the message that shows it, where that is not its own.
    pub(crate) calls: Vec<(&'d str, Option<i64>)>,
    pub(crate) plans: Vec<WantedPlan<'d>>,
}

/// A row of `plan_identity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WantedPlan<'d> {
    pub(crate) turn: &'d str,
    pub(crate) stream: &'d str,
    pub(crate) first: i64,
    pub(crate) newest: i64,
}

impl<'d> Wanted<'d> {
    pub(crate) async fn of<S: Sql>(sql: &S, session: &SessionRow, document: &'d Document) -> Result<Self, Failure> {
        let keys = keys(sql, session).await?;
        let key = |number: usize| {
            keys.get(number).copied().ok_or_else(|| Failure::Unreadable("a message has no key".to_owned()))
        };
        let outline = fold::outline(document);
        let mut own = HashMap::new();
        let mut messages = Vec::with_capacity(keys.len());
        for (number, (entry, message)) in outline.messages.iter().zip(&document.messages).enumerate() {
            if let Body::Assistant(assistant) = &message.body {
                own.extend(assistant.calls().map(|call| (&call.id, number)));
            }
            let placement = Placement {
                ordinal: entry.top_level.map(|top| i64::try_from(top.ordinal).unwrap_or(i64::MAX)),
                shown_by: if entry.shown_by == number { None } else { Some(key(entry.shown_by)?) },
                makes: entry.top_level.map_or(Makes::Nothing, |top| Makes::of(top.makes, &message.body)),
                starts_run: entry.top_level.is_some_and(|top| top.makes == fold::Makes::Round { starts_run: true }),
            };
            messages.push((key(number)?, placement));
        }
        let mut calls = Vec::with_capacity(outline.calls.len());
        for call in &outline.calls {
            let is_own = own.get(call.call) == Some(&call.shown_by);
            calls.push((call.call.as_str(), if is_own { None } else { Some(key(call.shown_by)?) }));
        }
        let mut plans = Vec::with_capacity(outline.plans.len());
        for plan in &outline.plans {
            let (turn, stream) = identity_columns(&plan.identity);
            plans.push(WantedPlan { turn, stream, first: key(plan.first)?, newest: key(plan.newest)? });
        }
        Ok(Self { messages, calls, plans })
    }
}

/// Makes the outline of a session anew.
pub(crate) async fn rebuild<S: Sql>(sql: &S, session: &SessionRow, document: &Document) -> Result<(), Failure> {
    let wanted = Wanted::of(sql, session, document).await?;
    for (key, Placement { ordinal, shown_by, makes, starts_run }) in wanted.messages {
        let statement = "UPDATE message SET ordinal = $1, shown_by = $2, makes = $3, starts_run = $4 WHERE key = $5 \
             AND (ordinal IS DISTINCT FROM $1 OR shown_by IS DISTINCT FROM $2 OR makes <> $3 OR starts_run <> $4)";
        sql.post(statement, owned_values![ordinal, shown_by, makes.number(), starts_run, key]).await?;
    }
    for (call, shown_by) in wanted.calls {
        let statement = "UPDATE call SET shown_by = $1 WHERE session = $2 AND id = $3 AND shown_by IS DISTINCT FROM $1";
        sql.post(statement, owned_values![shown_by, session.key, call]).await?;
    }
    sql.post("DELETE FROM plan_identity WHERE session = $1", owned_values![session.key]).await?;
    for plan in wanted.plans {
        let statement = "INSERT INTO plan_identity (session, turn, stream, first_message, newest_message) \
             VALUES ($1, $2, $3, $4, $5)";
        sql.post(statement, owned_values![session.key, plan.turn, plan.stream, plan.first, plan.newest]).await?;
    }
    Ok(())
}

async fn keys<S: Sql>(sql: &S, session: &SessionRow) -> Result<Vec<i64>, Failure> {
    let rows = sql.query("SELECT key FROM message WHERE session = $1 ORDER BY seq", values![session.key]).await?;
    rows.into_iter().map(|mut row| row.integer()).collect()
}
