//! The figures of the embedded database.

use super::deltas;
use super::sample::{Outcome, fill, quantile, session_id};
use super::table::{Aim, beside, figure};
use pleat_store::search::{Query, SearchFilter, SearchOrder, SearchRequest};
use pleat_store::sqlite::SqliteStore;
use pleat_store::{Durability, Store};
use pleat_transcript::document::Window;
use pleat_transcript::event::{CallReport, CallStatus, Event, PromptKey};
use pleat_transcript::ids::{AgentCallId, CountedIds};
use pleat_transcript::record::SessionRecord;
use pleat_transcript::session::Session;
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const CALLS: usize = 3_000;
const MESSAGES: usize = 100_000;
const SEARCHES: usize = 40;

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

pub(crate) async fn measure(folder: &Path) -> Outcome<()> {
    change_sets(folder).await?;
    calls(folder).await?;
    let small = Arc::new(SqliteStore::open(&folder.join("small.db"))?);
    fill(&*small, "s", 100).await?;
    let file = folder.join("large.db");
    let large = Arc::new(SqliteStore::open(&file)?);
    let begun = Instant::now();
    let text_bytes = fill(&*large, "s", MESSAGES).await?;
    beside("100,000 messages stored and indexed, in lists of 200", begun.elapsed().as_secs_f64(), "s");
    windows(&small, &large).await?;
    searches(&*large).await?;
    drop(large);
    growth(&file, text_bytes)?;
    Ok(())
}

async fn change_sets(folder: &Path) -> Outcome<()> {
    let file = folder.join("deltas.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file)?);
    deltas::prepare(&*store).await?;
    let ours = deltas::count() / deltas::run(&store).await?.as_secs_f64();
    drop(store);
    let bare = deltas::count() / bare_change_sets(&file)?.as_secs_f64();
    beside("a bare loop: change sets of one delta", bare, "/s");
    beside("change sets of one delta, 8 sessions", ours, "/s");
    figure("… of the bare loop's", Aim::AtLeast(70.0), ours / bare * 100.0, "%");
    Ok(())
}

/// The same rows by keys, each change set a transaction: the least that any program does.
fn bare_change_sets(file: &Path) -> Outcome<Duration> {
    let connection = Connection::open(file)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let keys =
        "SELECT part.key, message.session FROM part JOIN message ON message.key = part.message ORDER BY part.key";
    let mut statement = connection.prepare(keys)?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    let keys = rows.collect::<Result<Vec<_>, _>>()?;
    connection.execute("UPDATE part SET text = ''", [])?;
    let mut append = connection.prepare("UPDATE part SET text = text || ?2 WHERE key = ?1")?;
    let mut bump = connection.prepare("UPDATE session SET revision = revision + 1, updated_at = 2 WHERE key = ?1")?;
    let (mut begin, mut commit) = (connection.prepare("BEGIN IMMEDIATE")?, connection.prepare("COMMIT")?);
    let started = Instant::now();
    for message in 0..deltas::MESSAGES {
        for _ in 0..deltas::DELTAS {
            for (part, session) in keys.iter().skip(message).step_by(deltas::MESSAGES) {
                begin.execute([])?;
                append.execute((part, deltas::DELTA))?;
                bump.execute([session])?;
                commit.execute([])?;
            }
        }
    }
    Ok(started.elapsed())
}

/// A prompt and two events for each call, each event through the record and a commit of its own.
async fn calls(folder: &Path) -> Outcome<()> {
    let store = SqliteStore::open(&folder.join("calls.db"))?;
    let session = session_id("calls")?;
    store.create_session(Session::new(session.clone())).await?;
    let mut record = SessionRecord::new(session.clone());
    let mut ids = CountedIds::default();
    let prompt = PromptKey("p".to_owned());
    let mut events = vec![Event::Prompt { prompt, text: "Read them all.".to_owned(), attachments: Vec::new() }];
    for number in 0..CALLS {
        let id = AgentCallId(format!("toolu_{number}"));
        let mut begun = CallReport::new(id.clone());
        begun.announced = true;
        begun.title = Some(format!("Read src/file_{number}.rs"));
        begun.input = Some(json!({"path": format!("/workspace/src/file_{number}.rs")}));
        events.push(Event::Call(Box::new(begun)));
        let mut ended = CallReport::new(id);
        ended.status = Some(CallStatus::Completed);
        let text = format!("fn function_{number}() {{ todo() }}");
        ended.content = Some(vec![json!({"type": "content", "content": {"type": "text", "text": text}})]);
        events.push(Event::Call(Box::new(ended)));
    }
    let begun = Instant::now();
    let mut commits = Vec::with_capacity(events.len());
    for event in events {
        let changes = record.apply(event, 1_790_000_000_000, &mut ids);
        commits.push(store.commit(session.clone(), changes, 1_790_000_000_000, Durability::Agent));
    }
    futures::future::try_join_all(commits).await?;
    figure("3,000 calls (6,001 events) recorded", Aim::AtMost(400.0), milliseconds(begun.elapsed()), "ms");
    Ok(())
}

async fn windows(small: &Arc<SqliteStore>, large: &Arc<SqliteStore>) -> Outcome<()> {
    let session = session_id("s")?;
    let mut took = Vec::new();
    for _ in 0..200 {
        let begun = Instant::now();
        large.excerpt(session.clone(), Window::Latest).await?;
        took.push(milliseconds(begun.elapsed()));
    }
    figure("newest window of 100,000 messages, median", Aim::AtMost(1.0), quantile(&mut took, 0.5), "ms");
    let [of_small, of_large] = [small, large].map(|store| pages_read(store.file()));
    let (of_small, of_large) = (of_small.await?, of_large.await?);
    beside("pages read for the newest window of 100 messages", of_small, "pages");
    beside("pages read for the newest window of 100,000", of_large, "pages");
    Ok(())
}

/// The pages that a connection which knows nothing yet reads, by what the system counts.
async fn pages_read(file: &Path) -> Outcome<f64> {
    let store = SqliteStore::open(file)?;
    // The first read opens a connection and reads the schema.
    store.sessions(None, 1).await?;
    let before = bytes_read()?;
    store.excerpt(session_id("s")?, Window::Latest).await?;
    Ok((bytes_read()? - before) / 4096.0)
}

fn bytes_read() -> Outcome<f64> {
    let counters = std::fs::read_to_string("/proc/self/io")?;
    let read = counters.lines().find_map(|line| line.strip_prefix("rchar: ")).ok_or("the system counts no reads")?;
    Ok(read.trim().parse()?)
}

async fn searches(store: &dyn Store) -> Outcome<()> {
    for (order, aim, name) in [
        (SearchOrder::Newest, 30.0, "search for a common word, newest first, p95"),
        (SearchOrder::Best, 150.0, "search for a common word, best first, p95"),
    ] {
        let mut took = Vec::new();
        for _ in 0..SEARCHES {
            let query = Query::parse("the")?;
            let request = SearchRequest { query, filter: SearchFilter::default(), order, after: None, limit: 20 };
            let begun = Instant::now();
            let page = store.search(request).await?;
            took.push(milliseconds(begun.elapsed()));
            assert_eq!(page.hits.len(), 20);
        }
        figure(name, Aim::AtMost(aim), quantile(&mut took, 0.95), "ms");
    }
    Ok(())
}

fn growth(file: &Path, text_bytes: u64) -> Outcome<()> {
    let connection = Connection::open(file)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    #[allow(clippy::cast_precision_loss, reason = "bytes")]
    let (size, text) = (file.metadata()?.len() as f64, text_bytes as f64);
    beside("text of 100,000 messages", text / 1e6, "MB");
    figure("size of the file, of its text", Aim::AtMost(2.5), size / text, "times");
    Ok(())
}
