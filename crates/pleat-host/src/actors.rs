//! Which actor works on which session: started when it is needed, and taken up again when the store failed it.

use crate::agents::AgentName;
use crate::error::HostError;
use crate::recovery;
use crate::session_actor::{ActorEnd, Asked, Command, SessionActor};
use crate::{Host, House};
use pleat_store::Claim;
use pleat_transcript::ids::SessionId;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{OnceCell, mpsc, oneshot};

/// How long after a failure of the store a session is taken up again.
const RETRY: Duration = Duration::from_secs(1);

/// Where a session's actor is, once it has started.
pub(crate) type ActorPlace = Arc<OnceCell<mpsc::UnboundedSender<Command>>>;

impl Host {
    /// The actor of a session, started where none works. Sessions do not wait for each other's start.
    pub(crate) async fn actor(&self, session: &SessionId) -> Result<mpsc::UnboundedSender<Command>, HostError> {
        let place = {
            let mut actors = self.house.actors.lock().await;
            let place = actors.as_mut().ok_or(HostError::Stopping)?.entry(session.clone()).or_default();
            if place.get().is_some_and(mpsc::UnboundedSender::is_closed) {
                *place = Arc::default();
            }
            place.clone()
        };
        let actor = place.get_or_try_init(|| self.start_actor(session)).await?.clone();
        if self.house.actors.lock().await.is_none() {
            // It was started while the host was shut down, and nobody else ends it.
            let (reply, ended) = oneshot::channel();
            if actor.send(Command { what: Asked::ShutDown, reply }).is_ok() {
                let _ = ended.await;
            }
            return Err(HostError::Stopping);
        }
        Ok(actor)
    }

    /// Starts the actor of a session. Its state is rebuilt from the store.
    async fn start_actor(&self, session: &SessionId) -> Result<mpsc::UnboundedSender<Command>, HostError> {
        match self.store().claim(session.clone()).await? {
            Claim::Ours => {}
            Claim::Theirs(_) => return Err(HostError::Elsewhere),
        }
        recovery::close_session(&**self.store(), session).await?;
        let stored = self.store().document(session.clone()).await?;
        let name = stored.document.session.agent.clone().unwrap_or_default();
        let agent = self.house.agents.get(&AgentName(name.clone())).cloned().ok_or(name);
        let (sender, commands) = mpsc::unbounded_channel();
        let actor = SessionActor::new(&stored.document, agent, self.house.shared.clone());
        tokio::spawn(keep_at_work(Arc::downgrade(&self.house), session.clone(), actor, commands));
        Ok(sender)
    }
}

/// Boxed: the actor that is started may come to take up its session again.
fn take_up(host: Host, session: SessionId) -> Pin<Box<dyn Future<Output = Result<(), HostError>> + Send>> {
    Box::pin(async move { host.actor(&session).await.map(drop) })
}

/// Runs an actor. One that ends because nothing could be stored is followed by another as soon as that works again, so
/// that no session shows a turn which nobody works on.
async fn keep_at_work(
    house: Weak<House>,
    session: SessionId,
    actor: SessionActor,
    commands: mpsc::UnboundedReceiver<Command>,
) {
    if actor.run(commands).await == ActorEnd::Finished {
        return;
    }
    loop {
        tokio::time::sleep(RETRY).await;
        let Some(house) = house.upgrade() else { return };
        match take_up(Host { house }, session.clone()).await {
            Err(HostError::Store(error)) => tracing::warn!(%session, %error, "the session still cannot be taken up"),
            Ok(()) | Err(_) => return,
        }
    }
}
