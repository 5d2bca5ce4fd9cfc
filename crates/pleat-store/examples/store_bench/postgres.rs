//! The figures of a database on a server.

use super::deltas::{self, DELTA, DELTAS, MESSAGES, SESSIONS};
use super::sample::Outcome;
use super::table::{Aim, beside, figure};
use pleat_store::Store;
use pleat_store::postgres::{Address, PostgresStore};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls};

pub(crate) async fn measure(address: &str) -> Outcome<()> {
    let store: Arc<dyn Store> = Arc::new(PostgresStore::open(Address::parse(address)?).await?);
    deltas::prepare(&*store).await?;
    // Every connection is open and has prepared its statements.
    deltas::run(&store).await?;
    let ours = deltas::count() / deltas::run(&store).await?.as_secs_f64();
    let bare = deltas::count() / bare_change_sets(address).await?.as_secs_f64();
    beside("PostgreSQL, a bare pipelined loop, 8 connections", bare, "/s");
    beside("PostgreSQL, change sets of one delta, 8 sessions", ours, "/s");
    figure("… of the bare loop's", Aim::AtLeast(70.0), ours / bare * 100.0, "%");
    Ok(())
}

/// The same rows by keys, each change set a transaction whose statements go out together.
async fn bare_change_sets(address: &str) -> Outcome<Duration> {
    let admin = connect(address).await?;
    admin.execute("UPDATE part SET text = ''", &[]).await?;
    let keys =
        "SELECT part.key, message.session FROM part JOIN message ON message.key = part.message ORDER BY part.key";
    let rows = admin.query(keys, &[]).await?;
    let keys: Vec<(i64, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let mut clients = Vec::new();
    for _ in 0..SESSIONS {
        clients.push(connect(address).await?);
    }
    let begun = Instant::now();
    let tasks = clients.into_iter().zip(keys.chunks(MESSAGES).map(<[_]>::to_vec)).map(|(client, parts)| {
        tokio::spawn(async move { bare_session(&client, &parts).await.map_err(|error| error.to_string()) })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await??;
    }
    Ok(begun.elapsed())
}

async fn bare_session(client: &Client, parts: &[(i64, i64)]) -> Result<(), tokio_postgres::Error> {
    let begin = client.prepare("BEGIN").await?;
    let lock = client.prepare("SELECT revision FROM session WHERE key = $1 FOR UPDATE").await?;
    let append = client.prepare("UPDATE part SET text = text || $2 WHERE key = $1").await?;
    let bump = client.prepare("UPDATE session SET revision = revision + 1, updated_at = 2 WHERE key = $1").await?;
    let commit = client.prepare("COMMIT").await?;
    client.batch_execute("SET synchronous_commit TO off").await?;
    for (part, session) in parts {
        let (of_session, of_append): ([&(dyn ToSql + Sync); 1], [&(dyn ToSql + Sync); 2]) = ([session], [part, &DELTA]);
        for _ in 0..DELTAS {
            tokio::try_join!(
                client.execute(&begin, &[]),
                client.query(&lock, &of_session),
                client.execute(&append, &of_append),
                client.execute(&bump, &of_session),
                client.execute(&commit, &[]),
            )?;
        }
    }
    Ok(())
}

async fn connect(address: &str) -> Outcome<Client> {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
