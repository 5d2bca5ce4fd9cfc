//! What is looked at in a session to tell whether its rows say one thing: nothing is altered.

use super::outline::{Placement, Wanted, WantedPlan};
use super::session::{self, SessionRow};
use super::sql::{Row, Sql, values};
use super::{change, check_search, list, server};
use crate::failure::Failure;
use crate::maintenance::ProblemKind;
use pleat_transcript::document::Document;
use pleat_transcript::ids::SessionId;
use std::collections::{BTreeMap, HashMap};

/// What was found in a session: how often, and one place of each kind.
#[derive(Debug, Default)]
pub(crate) struct Findings(BTreeMap<ProblemKind, (u64, String)>);

impl Findings {
    pub(crate) fn add(&mut self, kind: ProblemKind, place: impl FnOnce() -> String) {
        self.0.entry(kind).or_insert_with(|| (0, place())).0 += 1;
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = (ProblemKind, u64, String)> {
        self.0.into_iter().map(|(kind, (count, place))| (kind, count, place))
    }
}

/// Looks through a session.
pub(crate) async fn session<S: Sql>(sql: &S, id: &SessionId) -> Result<Findings, Failure> {
    let session = session::find(sql, id).await?;
    let mut findings = Findings::default();
    sequences(sql, &session, &mut findings).await?;
    belongings(sql, &session, &mut findings).await?;
    match change::read(sql, &session).await {
        Ok(document) => outline(sql, &session, &document, &mut findings).await?,
        Err(Failure::Unreadable(reason)) => findings.add(ProblemKind::Unreadable, || reason),
        Err(failure) => return Err(failure),
    }
    match check_search::texts(sql, &session, &mut findings).await {
        // Told by the document already.
        Ok(()) | Err(Failure::Unreadable(_)) => Ok(findings),
        Err(failure) => Err(failure),
    }
}

/// What is numbered from 0, without holes and doubles, in its owner: the rows are what is not.
const SEQUENCES: [(&str, &str); 4] = [
    (
        "turns",
        "SELECT 'the session' FROM turn WHERE session = $1 GROUP BY session HAVING count(*) <> count(DISTINCT seq) OR min(seq) <> 0 \
         OR max(seq) <> count(*) - 1",
    ),
    (
        "messages",
        "SELECT 'the session' FROM message WHERE session = $1 GROUP BY session HAVING count(*) <> count(DISTINCT seq) \
         OR min(seq) <> 0 OR max(seq) <> count(*) - 1",
    ),
    (
        "parts",
        "SELECT 'message ' || message.id FROM message JOIN part ON part.message = message.key \
         WHERE message.session = $1 GROUP BY message.key, message.id HAVING count(*) <> count(DISTINCT part.place) \
         OR min(part.place) <> 0 OR max(part.place) <> count(*) - 1",
    ),
    (
        "pieces",
        "SELECT 'message ' || message.id FROM message JOIN part ON part.message = message.key \
         JOIN piece ON piece.part = part.key WHERE message.session = $1 GROUP BY part.key, message.id \
         HAVING count(*) <> count(DISTINCT piece.seq) OR min(piece.seq) <> 0 OR max(piece.seq) <> count(*) - 1",
    ),
];

async fn sequences<S: Sql>(sql: &S, session: &SessionRow, findings: &mut Findings) -> Result<(), Failure> {
    for (what, statement) in SEQUENCES {
        for mut row in sql.query(statement, values![session.key]).await? {
            let owner = row.text()?;
            findings.add(ProblemKind::Sequence, || format!("the {what} of {owner} are not numbered without holes"));
        }
    }
    Ok(())
}

/// Rows that stand beside others as they cannot; no database refuses them by itself.
const BELONGINGS: [(&str, &str); 2] = [
    (
        "has a part that is no call, or a call that is no part",
        "SELECT 'message ' || message.id FROM message JOIN part ON part.message = message.key \
         LEFT JOIN call ON call.key = part.key WHERE message.session = $1 \
         AND ((part.type = 'call') <> (call.key IS NOT NULL) OR call.session <> message.session)",
    ),
    (
        "has a permission request of another session",
        "SELECT 'call ' || call.id FROM call JOIN permission ON permission.call = call.key \
         WHERE call.session = $1 AND permission.session <> call.session",
    ),
];

async fn belongings<S: Sql>(sql: &S, session: &SessionRow, findings: &mut Findings) -> Result<(), Failure> {
    for (what, statement) in BELONGINGS {
        for mut row in sql.query(statement, values![session.key]).await? {
            let owner = row.text()?;
            findings.add(ProblemKind::Reference, || format!("{owner} {what}"));
        }
    }
    Ok(())
}

/// The stored outline is what the fold says of the document.
async fn outline<S: Sql>(
    sql: &S,
    session: &SessionRow,
    document: &Document,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let wanted = Wanted::of(sql, session, document).await?;
    let statement = "SELECT key, id, ordinal, shown_by, makes, starts_run FROM message WHERE session = $1 ORDER BY seq";
    let stored = sql.query(statement, values![session.key]).await?;
    for (mut row, (key, placement)) in stored.into_iter().zip(wanted.messages) {
        let (found, id) = (row.integer()?, row.text()?);
        if found != key || !is_at(&mut row, &placement)? {
            findings.add(ProblemKind::Outline, || format!("message {id} stands elsewhere than the fold says"));
        }
    }
    let mut calls: HashMap<&str, Option<i64>> = wanted.calls.into_iter().collect();
    for mut row in sql.query("SELECT id, shown_by FROM call WHERE session = $1", values![session.key]).await? {
        let (id, shown_by) = (row.text()?, row.optional_integer()?);
        if calls.remove(id.as_str()) != Some(shown_by) {
            findings.add(ProblemKind::Outline, || format!("call {id} stands elsewhere than the fold says"));
        }
    }
    plans(sql, session, wanted.plans, findings).await
}

fn is_at(row: &mut Row, placement: &Placement) -> Result<bool, Failure> {
    let Placement { ordinal, shown_by, makes, starts_run } = placement;
    Ok(row.optional_integer()? == *ordinal
        && row.optional_integer()? == *shown_by
        && row.integer()? == makes.number()
        && row.boolean()? == *starts_run)
}

async fn plans<S: Sql>(
    sql: &S,
    session: &SessionRow,
    wanted: Vec<WantedPlan<'_>>,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let owned = |plan: WantedPlan<'_>| ((plan.turn.to_owned(), plan.stream.to_owned()), (plan.first, plan.newest));
    let mut wanted: HashMap<(String, String), (i64, i64)> = wanted.into_iter().map(owned).collect();
    let statement = "SELECT turn, stream, first_message, newest_message FROM plan_identity WHERE session = $1";
    for mut row in sql.query(statement, values![session.key]).await? {
        let (plan, messages) = ((row.text()?, row.text()?), (row.integer()?, row.integer()?));
        if wanted.remove(&plan) != Some(messages) {
            let (turn, stream) = plan;
            findings
                .add(ProblemKind::Plan, || format!("the plan of turn `{turn}`, call `{stream}` has other snapshots"));
        }
    }
    for (turn, stream) in wanted.into_keys() {
        findings.add(ProblemKind::Plan, || format!("the plan of turn `{turn}`, call `{stream}` is not known"));
    }
    Ok(())
}

/// Sessions in which something is open and that no living server works on, oldest first.
pub(crate) async fn left_open<S: Sql>(sql: &S) -> Result<Vec<SessionId>, Failure> {
    let mut left = Vec::new();
    for id in list::open(sql).await? {
        let session = session::find(sql, &id).await?;
        if !server::is_owned_by_another(sql, &session, "").await? {
            left.push(id);
        }
    }
    Ok(left)
}

/// All sessions, oldest first.
pub(crate) async fn sessions<S: Sql>(sql: &S) -> Result<Vec<SessionId>, Failure> {
    let rows = sql.query("SELECT id FROM session ORDER BY key", values![]).await?;
    rows.into_iter().map(|mut row| row.id(SessionId::new)).collect()
}
