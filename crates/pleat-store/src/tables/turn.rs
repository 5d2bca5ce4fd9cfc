//! Rows of turns.

use super::session::{SessionRow, does_not_fit, id_taken};
use super::sql::{Row, Sql, json_text, object_text, values};
use super::window::members;
use crate::IdKind;
use crate::failure::Failure;
use pleat_transcript::change::{ChangeError, TurnUpdate};
use pleat_transcript::ids::TurnId;
use pleat_transcript::session::{Turn, TurnState};

/// Stores a turn after all others.
pub(crate) async fn insert<S: Sql>(sql: &S, session: &SessionRow, turn: &Turn) -> Result<(), Failure> {
    let statement = "INSERT INTO turn (session, id, seq, state, stop_reason, started_at, ended_at, usage, extra) \
         VALUES ($1, $2, (SELECT coalesce(max(seq), -1) + 1 FROM turn WHERE session = $1), $3, $4, $5, $6, $7, $8) \
         ON CONFLICT (session, id) DO NOTHING";
    let inserted = sql
        .execute(
            statement,
            values![
                session.key,
                turn.id.as_str(),
                turn.state.word(),
                &turn.stop_reason,
                turn.started_at,
                turn.ended_at,
                json_text(turn.usage.as_ref()),
                object_text(&turn.extra)?,
            ],
        )
        .await?;
    if inserted == 0 { Err(id_taken(session, IdKind::Turn, turn.id.as_str())) } else { Ok(()) }
}

/// Sets what is given of a turn; tells whether that altered something.
pub(crate) async fn update<S: Sql>(
    sql: &S,
    session: &SessionRow,
    id: &TurnId,
    update: &TurnUpdate,
) -> Result<bool, Failure> {
    let statement = "UPDATE turn SET state = coalesce($1, state), stop_reason = coalesce($2, stop_reason), \
         ended_at = coalesce($3, ended_at), usage = coalesce($4, usage) \
         WHERE session = $5 AND id = $6 AND (state <> coalesce($1, state) \
         OR stop_reason IS DISTINCT FROM coalesce($2, stop_reason) \
         OR ended_at IS DISTINCT FROM coalesce($3, ended_at) OR usage IS DISTINCT FROM coalesce($4, usage))";
    let updated = sql
        .execute(
            statement,
            values![
                update.state.map(TurnState::word),
                &update.stop_reason,
                update.ended_at,
                json_text(update.usage.as_ref()),
                session.key,
                id.as_str(),
            ],
        )
        .await?;
    if updated == 0 && !exists(sql, session, id).await? {
        return Err(does_not_fit(session, ChangeError::UnknownTurn(id.clone())));
    }
    Ok(updated > 0)
}

async fn exists<S: Sql>(sql: &S, session: &SessionRow, id: &TurnId) -> Result<bool, Failure> {
    let statement = "SELECT key FROM turn WHERE session = $1 AND id = $2";
    Ok(!sql.query(statement, values![session.key, id.as_str()]).await?.is_empty())
}

/// The columns that [`from_row`] reads.
macro_rules! turn_columns {
    () => {
        "id, state, stop_reason, started_at, ended_at, usage, extra"
    };
}

/// All turns of a session, in order.
pub(crate) async fn read_all<S: Sql>(sql: &S, session: &SessionRow) -> Result<Vec<Turn>, Failure> {
    let statement = concat!("SELECT ", turn_columns!(), " FROM turn WHERE session = $1 ORDER BY seq");
    sql.query(statement, values![session.key]).await?.iter_mut().map(from_row).collect()
}

/// The turns that the messages of a window name, the live one and the newest, in order.
pub(crate) async fn read_of_window<S: Sql>(
    sql: &S,
    session: &SessionRow,
    start: i64,
    end: i64,
) -> Result<Vec<Turn>, Failure> {
    let statement = concat!(
        "SELECT ",
        turn_columns!(),
        " FROM turn WHERE key IN (\
         SELECT named.key FROM turn AS named WHERE named.session = $1 \
         AND named.id IN (SELECT message.turn FROM message WHERE message.key IN ",
        members!(),
        ") UNION SELECT live.key FROM session JOIN turn AS live ON live.session = session.key \
         AND live.id = session.live_turn WHERE session.key = $1 \
         UNION SELECT newest.key FROM turn AS newest WHERE newest.session = $1 \
         AND newest.seq = (SELECT max(seq) FROM turn WHERE session = $1)) ORDER BY seq"
    );
    sql.query(statement, values![session.key, start, end]).await?.iter_mut().map(from_row).collect()
}

fn from_row(row: &mut Row) -> Result<Turn, Failure> {
    Ok(Turn {
        id: row.id(TurnId::new)?,
        state: row.word(&TurnState::WORDS)?,
        stop_reason: row.optional_text()?,
        started_at: row.optional_integer()?,
        ended_at: row.optional_integer()?,
        usage: row.json()?,
        extra: row.object()?,
    })
}
