//! Maintenance of the database on a server.

use super::connection::PostgresConnection;
use super::failure::{into_store_error, postgres_error};
use super::{PostgresStore, pool};
use crate::database::Database;
use crate::failure::Failure;
use crate::maintenance::{Maintained, Problem, ProblemKind};
use crate::tables::sql::{Sql, values};
use crate::{StoreError, StoreFuture};
use futures::future::BoxFuture;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

/// All tables: who may not vacuum the system's should not be warned of that.
const VACUUM: &str = "VACUUM (ANALYZE) session, agent_session, turn, message, blob, part, call, piece, permission, \
     plan_identity, search_chunk, command, prompt, server, agent_process, import_source, setting, token";

const HAS_AMCHECK: &str = "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'amcheck')";

/// Our tables and their B-trees, with what looks through each.
const AMCHECKS: &str = "SELECT class.relname::text, CASE class.relkind \
     WHEN 'i' THEN 'SELECT bt_index_check(' || class.oid || ', true)' \
     ELSE 'SELECT blkno, msg FROM verify_heapam(' || class.oid || ')' END \
     FROM pg_class AS class LEFT JOIN pg_am AS method ON method.oid = class.relam \
     WHERE class.relnamespace = current_schema()::regnamespace \
     AND (class.relkind = 'r' OR class.relkind = 'i' AND method.amname = 'btree') ORDER BY class.relname";

/// Counts rows that refer to what is not there.
macro_rules! lost {
    ($($child:literal $column:literal $parent:literal $key:literal),* $(,)?) => {
        [$((
            $child,
            $parent,
            concat!(
                "SELECT count(*) FROM ", $child, " AS child WHERE child.", $column, " IS NOT NULL AND NOT EXISTS (",
                "SELECT 1 FROM ", $parent, " AS parent WHERE parent.", $key, " = child.", $column, ")"
            ),
        )),*]
    };
}

/// The server keeps these true, unless it was told not to.
const REFERENCES: [(&str, &str, &str); 24] = lost![
    "agent_session" "session" "session" "key",
    "turn" "session" "session" "key",
    "message" "session" "session" "key",
    "part" "message" "message" "key",
    "part" "blob" "blob" "hash",
    "call" "key" "part" "key",
    "call" "session" "session" "key",
    "call" "input_blob" "blob" "hash",
    "call" "output_blob" "blob" "hash",
    "piece" "part" "part" "key",
    "permission" "session" "session" "key",
    "permission" "call" "call" "key",
    "plan_identity" "session" "session" "key",
    "plan_identity" "first_message" "message" "key",
    "plan_identity" "newest_message" "message" "key",
    "search_chunk" "session" "session" "key",
    "search_chunk" "message" "message" "key",
    "search_chunk" "part" "part" "key",
    "command" "session" "session" "key",
    "prompt" "session" "session" "key",
    "prompt" "attachments_blob" "blob" "hash",
    "import_source" "session" "session" "key",
    "message" "shown_by" "message" "key",
    "call" "shown_by" "message" "key",
];

/// A snapshot waits while the other side is read, for as long as that takes.
const SNAPSHOT: &[&str] =
    &["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SET LOCAL idle_in_transaction_session_timeout TO 0"];

impl Maintained for PostgresStore {
    fn name(&self) -> String {
        self.shared.address.name().to_owned()
    }

    fn told(&self, failure: Failure) -> StoreError {
        into_store_error(failure, self.shared.address.name())
    }

    fn snapshot(&self) -> StoreFuture<'_, PostgresConnection> {
        Box::pin(async move {
            let pooled = pool::get(&self.shared.pool).await.map_err(|failure| self.told(failure))?;
            PostgresConnection::begin(pooled, SNAPSHOT).await.map_err(|failure| self.told(failure))
        })
    }

    fn end_snapshot(&self, snapshot: PostgresConnection) -> BoxFuture<'_, ()> {
        Box::pin(snapshot.roll_back())
    }

    fn bytes(&self) -> StoreFuture<'_, u64> {
        self.read(|sql| {
            Box::pin(async move {
                let mut rows = sql.query("SELECT pg_database_size(current_database())", values![]).await?;
                rows.first_mut().map_or(Ok(0), |row| row.count().map(|bytes| bytes as u64))
            })
        })
    }

    fn verify(&self) -> StoreFuture<'_, (Vec<Problem>, Vec<String>)> {
        Box::pin(async move {
            let client = self.connect().await?;
            let told = |error: &tokio_postgres::Error| postgres_error(error, Maintained::name(self));
            let mut remarks = Vec::new();
            let has_amcheck: bool = client.query_one(HAS_AMCHECK, &[]).await.map_err(|error| told(&error))?.get(0);
            let mut problems = if has_amcheck {
                amcheck(&client, &mut remarks).await.map_err(|error| told(&error))?
            } else {
                let remark = "the server's files were only read: with the extension amcheck they are looked through";
                remarks.push(remark.to_owned());
                Vec::new()
            };
            problems.extend(self.read(|sql| Box::pin(lost_references(sql))).await?);
            Ok((problems, remarks))
        })
    }

    fn compact(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let client = self.connect().await?;
            // Not with parameters: it may not be in a transaction.
            client.batch_execute(VACUUM).await.map_err(|error| postgres_error(&error, Maintained::name(self)))
        })
    }
}

impl PostgresStore {
    /// A connection outside of the pool, and of any transaction.
    async fn connect(&self) -> Result<Client, StoreError> {
        let connected = self.shared.address.config().connect(NoTls).await;
        let (client, connection) = connected.map_err(|error| postgres_error(&error, Maintained::name(self)))?;
        tokio::spawn(async move {
            // Whoever uses the client is told.
            let _ = connection.await;
        });
        Ok(client)
    }
}

/// What the server's own check finds in each table and index.
async fn amcheck(client: &Client, remarks: &mut Vec<String>) -> Result<Vec<Problem>, tokio_postgres::Error> {
    let mut problems = Vec::new();
    for row in client.query(AMCHECKS, &[]).await? {
        let (name, statement): (String, String) = (row.get(0), row.get(1));
        let found = match client.simple_query(&statement).await {
            Ok(messages) => rows_of(&messages, &name),
            Err(error) => match error.as_db_error() {
                Some(told) if [SqlState::INDEX_CORRUPTED, SqlState::DATA_CORRUPTED].contains(told.code()) => {
                    Some((1, format!("`{name}`: {}", told.message())))
                }
                Some(told) if *told.code() == SqlState::INSUFFICIENT_PRIVILEGE => {
                    remarks.push("amcheck is there, but this user may not use it".to_owned());
                    return Ok(problems);
                }
                Some(_) | None => return Err(error),
            },
        };
        if let Some((count, place)) = found {
            problems.push(Problem { session: None, kind: ProblemKind::Damage, count, place });
        }
    }
    Ok(problems)
}

/// What `verify_heapam` told of a table.
fn rows_of(messages: &[tokio_postgres::SimpleQueryMessage], name: &str) -> Option<(u64, String)> {
    let mut found: Option<(u64, String)> = None;
    for message in messages {
        if let tokio_postgres::SimpleQueryMessage::Row(row) = message
            && let Ok(Some(told)) = row.try_get("msg")
        {
            found.get_or_insert_with(|| (0, format!("`{name}`: {told}"))).0 += 1;
        }
    }
    found
}

async fn lost_references<S: Sql>(sql: &S) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    for (child, parent, statement) in REFERENCES {
        let mut rows = sql.query(statement, values![]).await?;
        let count = rows.first_mut().map_or(Ok(0), crate::tables::sql::Row::count)?;
        if count > 0 {
            let place = format!("rows of `{child}` refer to rows of `{parent}` that are not there");
            problems.push(Problem { session: None, kind: ProblemKind::Reference, count: count as u64, place });
        }
    }
    Ok(problems)
}
