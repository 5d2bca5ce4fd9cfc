//! Windows of a session, with what their rows need from outside (docs/spec/fold.md, sections 1, 3.4 and 4).
//!
//! Every statement finds its rows by an index, and none looks at more messages than the window shows: the cost is that
//! of what is returned, however long the session is.

use super::call::{call_columns, light_columns};
use super::message::{StoredMessage, from_row, message_columns, with_parts};
use super::outline::Makes;
use super::part::{self, Extent, part_columns};
use super::session::{self, SessionRow};
use super::sql::{Row, Sql, values};
use super::{call, turn};
use crate::StoreError;
use crate::failure::Failure;
use pleat_transcript::document::Window;
use pleat_transcript::fold::{Around, Excerpt, FoldError, keep_shown, span};
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{Body, Message, Part};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// The messages of a window: the top-level ones between two ordinals, and what travels with them.
macro_rules! members {
    () => {
        "(SELECT top.key FROM message AS top WHERE top.session = $1 AND top.ordinal >= $2 AND top.ordinal < $3 \
         UNION SELECT inside.key FROM message AS top JOIN message AS inside ON inside.shown_by = top.key \
         WHERE top.session = $1 AND top.ordinal >= $2 AND top.ordinal < $3 \
         UNION SELECT part.message FROM message AS top JOIN call ON call.shown_by = top.key \
         JOIN part ON part.key = call.key WHERE top.session = $1 AND top.ordinal >= $2 AND top.ordinal < $3)"
    };
}

pub(crate) use members;

/// Top-level messages by position.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    start: i64,
    end: i64,
}

impl Bounds {
    fn of(span: &Range<usize>) -> Self {
        let position = |position: usize| i64::try_from(position).unwrap_or(i64::MAX);
        Self { start: position(span.start), end: position(span.end) }
    }
}

/// Reads a window.
pub(crate) async fn read<S: Sql>(sql: &S, session: &SessionRow, window: &Window) -> Result<Excerpt, Failure> {
    let mut document = session::read(sql, session, Extent::Preview).await?;
    document.extra = pleat_transcript::message::JsonObject::new();
    let count = top_level_count(sql, session).await?;
    let mut positions = HashMap::new();
    for id in named(window) {
        positions.insert(id.clone(), position_of(sql, session, id).await?);
    }
    let is_live = document.session.live_turn.is_some();
    let span = span(window, count, is_live, |id| Ok::<_, FoldError>(positions.get(id).copied().flatten()))
        .map_err(StoreError::from)?;
    let bounds = Bounds::of(&span);
    let members = Members::read(sql, session, bounds).await?;
    let around = Around {
        before: span.start,
        after: count.saturating_sub(span.end),
        run_start: if members.continues_run { run_start(sql, session, bounds).await? } else { None },
        run_goes_on: span.end < count && run_goes_on(sql, session, bounds).await?,
        followed: span.end < count && is_followed(sql, session, bounds).await?,
    };
    document.session.turns = turn::read_of_window(sql, session, bounds.start, bounds.end).await?;
    document.messages = members.messages;
    let plan_contents = plan_contents(sql, session, bounds).await?;
    Ok(Excerpt {
        document,
        lost_calls: members.lost_calls,
        superseded_plans: members.superseded_plans,
        plan_contents,
        around,
    })
}

fn named(window: &Window) -> Vec<&MessageId> {
    match window {
        Window::Latest => Vec::new(),
        Window::At(id) | Window::Earlier(id) | Window::Later(id) => vec![id],
        Window::Range { from, to } => vec![from, to],
    }
}

async fn top_level_count<S: Sql>(sql: &S, session: &SessionRow) -> Result<usize, Failure> {
    let statement = "SELECT ordinal + 1 FROM message WHERE session = $1 AND ordinal IS NOT NULL \
         ORDER BY ordinal DESC LIMIT 1";
    let row = sql.query(statement, values![session.key]).await?.into_iter().next();
    row.map_or(Ok(0), |mut row| row.count())
}

/// The position of the top-level message that shows the one of this id.
async fn position_of<S: Sql>(sql: &S, session: &SessionRow, id: &MessageId) -> Result<Option<usize>, Failure> {
    let statement = "SELECT coalesce(message.ordinal, top.ordinal) FROM message \
         LEFT JOIN message AS top ON top.key = message.shown_by WHERE message.session = $1 AND message.id = $2";
    let row = sql.query(statement, values![session.key, id.as_str()]).await?.into_iter().next();
    row.map(|mut row| row.count()).transpose()
}

/// The messages of a window, and what only their rows tell.
struct Members {
    messages: Vec<Message>,
    lost_calls: BTreeSet<MessageId>,
    superseded_plans: BTreeSet<MessageId>,
    /// The first round goes on from before the window.
    continues_run: bool,
}

impl Members {
    async fn read<S: Sql>(sql: &S, session: &SessionRow, bounds: Bounds) -> Result<Self, Failure> {
        let statement = concat!(
            "SELECT message.ordinal, message.shown_by, message.makes, message.starts_run, message.key, ",
            message_columns!(),
            " FROM message WHERE message.key IN ",
            members!(),
            " ORDER BY message.seq"
        );
        let rows = sql.query(statement, values![session.key, bounds.start, bounds.end]).await?;
        let mut stored = Vec::with_capacity(rows.len());
        let mut shown = HashSet::new();
        let mut top_level = HashSet::new();
        let mut placed = Vec::with_capacity(rows.len());
        let mut superseded_plans = BTreeSet::new();
        let mut first: Option<(Makes, bool)> = None;
        for mut row in rows {
            let (ordinal, shown_by) = (row.optional_integer()?, row.optional_integer()?);
            let (makes, starts_run) = (Makes::from_number(row.integer()?), row.boolean()?);
            let message = from_row(&mut row)?;
            if ordinal.is_some_and(|ordinal| (bounds.start..bounds.end).contains(&ordinal)) {
                top_level.insert(message.key);
                if makes != Makes::Nothing {
                    first = first.or(Some((makes, starts_run)));
                } else if matches!(message.message.body, Body::Plan(_)) {
                    superseded_plans.insert(message.message.id.clone());
                }
            }
            placed.push((message.key, shown_by));
            stored.push(message);
        }
        for (key, shown_by) in placed {
            if top_level.contains(&key) || shown_by.is_some_and(|by| top_level.contains(&by)) {
                shown.insert(key);
            }
        }
        let (messages, lost_calls) =
            with_shown_parts(sql, session, bounds, stored, &Shown { top_level, shown }).await?;
        let continues_run = first.is_some_and(|(makes, starts_run)| makes == Makes::Round && !starts_run);
        Ok(Self { messages, lost_calls, superseded_plans, continues_run })
    }
}

/// The keys of messages that are shown in a window: at its top level, and anywhere in it.
struct Shown {
    top_level: HashSet<i64>,
    shown: HashSet<i64>,
}

/// Puts the parts into the messages, but for calls that are shown elsewhere; tells which messages lost some.
async fn with_shown_parts<S: Sql>(
    sql: &S,
    session: &SessionRow,
    bounds: Bounds,
    stored: Vec<StoredMessage>,
    shown: &Shown,
) -> Result<(Vec<Message>, BTreeSet<MessageId>), Failure> {
    let statement = concat!(
        "SELECT coalesce(call.shown_by, message.shown_by, part.message), ",
        part_columns!(),
        " FROM message JOIN part ON part.message = message.key LEFT JOIN call ON call.key = part.key ",
        call::newest_permission!(),
        " WHERE message.key IN ",
        members!(),
        " ORDER BY message.seq, part.place"
    );
    let mut parts = Vec::new();
    let mut shown_calls = HashSet::new();
    for mut row in sql.query(statement, values![session.key, bounds.start, bounds.end]).await? {
        let shown_by = row.integer()?;
        let part = part::from_row(sql, &mut row, Extent::Preview, None, call::FullValues::default()).await?;
        if let Part::Call(call) = &part.part
            && shown.top_level.contains(&shown_by)
        {
            shown_calls.insert(call.id.clone());
        }
        parts.push(part);
    }
    let keys: Vec<i64> = stored.iter().map(|message| message.key).collect();
    let mut messages = with_parts(stored, parts)?;
    let mut lost_calls = BTreeSet::new();
    for (message, key) in messages.iter_mut().zip(keys) {
        let itself = shown.shown.contains(&key);
        if keep_shown(message, itself, |call| shown_calls.contains(call)) && itself {
            lost_calls.insert(message.id.clone());
        }
    }
    Ok((messages, lost_calls))
}

async fn run_start<S: Sql>(sql: &S, session: &SessionRow, bounds: Bounds) -> Result<Option<MessageId>, Failure> {
    let statement = "SELECT id FROM message WHERE session = $1 AND ordinal < $2 AND starts_run \
         ORDER BY ordinal DESC LIMIT 1";
    let row = sql.query(statement, values![session.key, bounds.start]).await?.into_iter().next();
    row.map(|mut row| row.id(MessageId::new)).transpose()
}

/// Whether the next message that makes something goes on with a run: the first of each kind is found by the index.
async fn run_goes_on<S: Sql>(sql: &S, session: &SessionRow, bounds: Bounds) -> Result<bool, Failure> {
    let statement = "SELECT round.starts_run, NOT EXISTS (SELECT 1 FROM message AS other \
         WHERE other.session = $1 AND other.makes IN (2, 3) AND other.ordinal >= $2 AND other.ordinal < round.ordinal) \
         FROM message AS round WHERE round.session = $1 AND round.makes = 1 AND round.ordinal >= $2 \
         ORDER BY round.ordinal LIMIT 1";
    let Some(mut row) = sql.query(statement, values![session.key, bounds.end]).await?.into_iter().next() else {
        return Ok(false);
    };
    let (starts_run, is_next) = (row.boolean()?, row.boolean()?);
    Ok(is_next && !starts_run)
}

/// Whether another run, or a finished reply, stands behind the window.
async fn is_followed<S: Sql>(sql: &S, session: &SessionRow, bounds: Bounds) -> Result<bool, Failure> {
    let statement = "SELECT EXISTS (SELECT 1 FROM message WHERE session = $1 AND ordinal >= $2 AND starts_run) \
         OR EXISTS (SELECT 1 FROM message WHERE session = $1 AND makes = 2 AND ordinal >= $2 \
         AND state IS DISTINCT FROM 'streaming')";
    let mut rows = sql.query(statement, values![session.key, bounds.end]).await?;
    rows.first_mut().map_or(Ok(false), Row::boolean)
}

/// The newest content of plans that have their place in the window and their newest snapshot behind it.
async fn plan_contents<S: Sql>(
    sql: &S,
    session: &SessionRow,
    bounds: Bounds,
) -> Result<BTreeMap<MessageId, Message>, Failure> {
    let statement = concat!(
        "SELECT place.id, message.key, ",
        message_columns!(),
        " FROM message AS place JOIN plan_identity AS plan ON plan.first_message = place.key \
         JOIN message ON message.key = plan.newest_message \
         WHERE place.session = $1 AND place.ordinal >= $2 AND place.ordinal < $3 AND place.role = 'plan' \
         AND message.ordinal >= $3"
    );
    let mut contents = BTreeMap::new();
    for mut row in sql.query(statement, values![session.key, bounds.start, bounds.end]).await? {
        contents.insert(row.id(MessageId::new)?, from_row(&mut row)?.message);
    }
    Ok(contents)
}
