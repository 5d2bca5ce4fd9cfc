//! What servers tell each other: sessions that changed and commands that wait, batched and outside of the write path.
//!
//! One connection listens and notifies. While there is none, and now and then in any case (a pooler between us and the
//! server may swallow notifications), whoever listens is told that anything may have changed.

use super::address::Address;
use crate::signal::{Signal, Signalling};
use crate::{Revision, ServerId};
use pleat_transcript::ids::SessionId;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::future::poll_fn;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Socket, tls::NoTlsStream};

const CHANNEL: &str = "pleat";

/// What is told within so long goes out together.
const BATCH: Duration = Duration::from_millis(10);

/// At most so many notices go out in one statement.
const MAX_BATCH: usize = 512;

/// How long we wait before we connect again.
const RECONNECT: Duration = Duration::from_secs(1);

/// How often we look for ourselves whether something changed.
const POLL: Duration = Duration::from_secs(2);

/// How often we give a sign of life.
const BEAT: Duration = Duration::from_secs(3);

/// The task that tells the other servers and hears from them; it ends when `outgoing`'s sender is dropped.
pub(super) struct Notices {
    pub(super) address: Address,
    pub(super) server: ServerId,
    pub(super) signalling: Signalling,
    pub(super) outgoing: mpsc::UnboundedReceiver<Signal>,
}

/// Why a connection is not used any more.
enum Ended {
    /// The store is closed.
    Store,
    /// The connection is gone.
    Connection,
}

impl Notices {
    pub(super) async fn run(mut self) {
        loop {
            match self.address.config().connect(NoTls).await {
                Ok((client, connection)) => match self.converse(client, connection).await {
                    Ended::Store => return,
                    Ended::Connection => {}
                },
                Err(error) => {
                    tracing::debug!(%error, database = self.address.name(), "no connection to listen on");
                }
            }
            self.signalling.give(Signal::Missed);
            if self.is_closed_before(Instant::now() + RECONNECT).await {
                return;
            }
        }
    }

    /// Waits; what is to be told meanwhile reaches the others when they look for themselves.
    async fn is_closed_before(&mut self, until: Instant) -> bool {
        loop {
            tokio::select! {
                () = sleep_until(until) => return false,
                signal = self.outgoing.recv() => if signal.is_none() { return true },
            }
        }
    }

    async fn converse(&mut self, client: Client, connection: Connection<Socket, NoTlsStream>) -> Ended {
        let (heard, mut incoming) = mpsc::unbounded_channel();
        let reader = tokio::spawn(read(connection, heard));
        let ended = self.exchange(&client, &mut incoming).await;
        drop(client);
        reader.abort();
        ended.unwrap_or_else(|error| {
            tracing::debug!(%error, database = self.address.name(), "the connection that listens ended");
            Ended::Connection
        })
    }

    async fn exchange(
        &mut self,
        client: &Client,
        incoming: &mut mpsc::UnboundedReceiver<String>,
    ) -> Result<Ended, tokio_postgres::Error> {
        client.batch_execute("LISTEN pleat").await?;
        // Looked first: what happens after this is heard or found by the next look.
        let mut known = look(client).await?;
        // Whatever happened before is not heard.
        self.signalling.give(Signal::Missed);
        let (mut polls, mut beats) = (interval(POLL), interval(BEAT));
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                payload = incoming.recv() => match payload {
                    None => return Ok(Ended::Connection),
                    Some(payload) => self.hear(&payload),
                },
                signal = self.outgoing.recv() => match signal {
                    None => return Ok(Ended::Store),
                    Some(first) => self.tell(client, first).await?,
                },
                _ = polls.tick() => {
                    let found = look(client).await?;
                    self.tell_differences(&known, &found);
                    known = found;
                    self.tell_commands(client).await?;
                }
                _ = beats.tick() => beat(client, &self.server).await?,
            }
        }
    }

    /// Tells the others what is to be told now, each thing once.
    async fn tell(&mut self, client: &Client, first: Signal) -> Result<(), tokio_postgres::Error> {
        tokio::time::sleep(BATCH).await;
        let mut newest = HashMap::new();
        let mut next = Some(first);
        while let Some(signal) = next {
            if let Some((key, payload)) = payload(&self.server, &signal) {
                newest.insert(key, payload);
            }
            next = if newest.len() < MAX_BATCH { self.outgoing.try_recv().ok() } else { None };
        }
        let payloads: Vec<String> = newest.into_values().collect();
        let statement = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload";
        client.execute(statement, &[&CHANNEL, &payloads]).await?;
        Ok(())
    }

    fn hear(&self, payload: &str) {
        let Ok(Value::Object(payload)) = serde_json::from_str(payload) else { return };
        let text = |key: &str| payload.get(key).and_then(Value::as_str);
        if text("by") == Some(&self.server.0) {
            // Given here already, before it went out.
            return;
        }
        let Some(Ok(session)) = text("session").map(SessionId::new) else { return };
        self.signalling.give(match payload.get("revision").and_then(Value::as_u64) {
            Some(revision) => Signal::Changed { session, revision: Revision(revision) },
            None => Signal::Command { session },
        });
    }

    fn tell_differences(&self, known: &HashMap<String, u64>, found: &HashMap<String, u64>) {
        for (id, revision) in found {
            if known.get(id) != Some(revision)
                && let Ok(session) = SessionId::new(id.as_str())
            {
                self.signalling.give(Signal::Changed { session, revision: Revision(*revision) });
            }
        }
    }

    /// Commands that wait for us, whose sender could not notify us.
    async fn tell_commands(&self, client: &Client) -> Result<(), tokio_postgres::Error> {
        let statement = "SELECT id FROM session WHERE owner = $1 \
             AND EXISTS (SELECT 1 FROM command WHERE command.session = session.key AND taken_by IS NULL)";
        for row in client.query(statement, &[&self.server.0]).await? {
            if let Ok(session) = SessionId::new(row.get::<_, String>(0)) {
                self.signalling.give(Signal::Command { session });
            }
        }
        Ok(())
    }
}

/// Drives the connection and passes on what is notified.
async fn read(mut connection: Connection<Socket, NoTlsStream>, heard: mpsc::UnboundedSender<String>) {
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message
            && heard.send(notification.payload().to_owned()).is_err()
        {
            return;
        }
    }
}

/// What a signal is about, and what is sent of it: at most some 400 bytes, of the 8,000 that may be.
fn payload(server: &ServerId, signal: &Signal) -> Option<((SessionId, bool), String)> {
    match signal {
        Signal::Changed { session, revision } => {
            let payload = json!({"by": server.0, "session": session, "revision": revision.0});
            Some(((session.clone(), true), payload.to_string()))
        }
        Signal::Command { session } => {
            Some(((session.clone(), false), json!({"by": server.0, "session": session}).to_string()))
        }
        Signal::Missed => None,
    }
}

/// The revisions of the sessions that may be changing: those that a server works on, and the newest.
async fn look(client: &Client) -> Result<HashMap<String, u64>, tokio_postgres::Error> {
    let statement = "SELECT id, revision FROM session WHERE owner IS NOT NULL \
         UNION (SELECT id, revision FROM session ORDER BY updated_at DESC, key DESC LIMIT 50)";
    let rows = client.query(statement, &[]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get::<_, i64>(1).cast_unsigned())).collect())
}

/// Of a server that has not left: a sign of life after that would bring it back, and with it what it owned.
async fn beat(client: &Client, server: &ServerId) -> Result<(), tokio_postgres::Error> {
    let statement = "UPDATE server SET beat_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE id = $1";
    client.execute(statement, &[&server.0]).await?;
    Ok(())
}
