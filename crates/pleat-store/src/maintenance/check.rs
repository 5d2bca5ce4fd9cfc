//! Looking through a database: what its own check finds, and whether our rows say one thing.

use super::{CheckReport, Maintained, OnProgress, Problem, ProblemKind, Progress, Step};
use crate::StoreError;
use crate::tables::{check, check_values};
use pleat_transcript::ids::SessionId;

/// Looks through a database, a session after the other, each at one moment.
pub(super) async fn check<D: Maintained>(database: &D, on_progress: OnProgress<'_>) -> Result<CheckReport, StoreError> {
    let (problems, remarks) = database.verify().await?;
    let mut report = CheckReport { problems, remarks, ..CheckReport::default() };
    let Some(sessions) = readable(&mut report, None, database.read(|sql| Box::pin(check::sessions(sql))).await)? else {
        return Ok(report);
    };
    let total = sessions.len() as u64;
    for id in sessions {
        check_session(database, &id, &mut report).await?;
        report.sessions += 1;
        on_progress(Progress { step: Step::Checking, done: report.sessions, total });
    }
    let bad = database.read(|sql| Box::pin(check_values::bad_values(sql))).await;
    for bad in readable(&mut report, None, bad)?.unwrap_or_default() {
        let problem = |session| Problem { session, kind: ProblemKind::Value, count: 1, place: bad.what.clone() };
        if bad.sessions.is_empty() {
            report.problems.push(problem(None));
        }
        report.problems.extend(bad.sessions.iter().cloned().map(|session| problem(Some(session))));
    }
    let left_open = database.read(|sql| Box::pin(check::left_open(sql))).await;
    report.left_open = readable(&mut report, None, left_open)?.unwrap_or_default();
    report.problems.sort_by(|left, right| (&left.session, left.kind).cmp(&(&right.session, right.kind)));
    Ok(report)
}

async fn check_session<D: Maintained>(
    database: &D,
    id: &SessionId,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let read = id.clone();
    let findings = database
        .read(move |sql| {
            let id = read.clone();
            Box::pin(async move { check::session(sql, &id).await })
        })
        .await;
    if let Some(findings) = readable(report, Some(id), findings)? {
        for (kind, count, place) in findings.into_iter() {
            report.problems.push(Problem { session: Some(id.clone()), kind, count, place });
        }
    }
    Ok(())
}

/// What was read; what cannot be is a problem.
fn readable<R>(
    report: &mut CheckReport,
    session: Option<&SessionId>,
    read: Result<R, StoreError>,
) -> Result<Option<R>, StoreError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(StoreError::Damaged { reason, .. }) => {
            let kind = ProblemKind::Unreadable;
            report.problems.push(Problem { session: session.cloned(), kind, count: 1, place: reason });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
