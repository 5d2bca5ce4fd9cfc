//! The routes, and the server that answers them.

use crate::access::{Access, guard};
use crate::{assets, live, pages};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use pleat_host::Host;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What every handler needs.
#[derive(Clone)]
pub(crate) struct App {
    /// Does what a person asks for.
    pub(crate) host: Host,
    /// Names this run of the server: what a page shows is only known to the run that rendered it.
    pub(crate) epoch: Arc<str>,
    /// Becomes true when the server ends, so that event streams end too.
    pub(crate) closing: watch::Receiver<bool>,
}

/// Prompts may be long.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// All routes, behind the checks of `access`.
pub fn router(host: Host, access: Access) -> Router {
    // Its sender is gone at once: these streams end with their connections.
    let (_, closing) = watch::channel(false);
    routes(App { host, epoch: new_epoch(), closing }, access)
}

/// Answers requests until `shutdown` comes.
pub async fn serve(
    listener: TcpListener,
    host: Host,
    access: Access,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let (close, closing) = watch::channel(false);
    let app = App { host, epoch: new_epoch(), closing };
    let shutdown = async move {
        shutdown.await;
        close.send_replace(true);
    };
    // Patches are small and should not wait for each other.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
    });
    axum::serve(listener, routes(app, access)).with_graceful_shutdown(shutdown).await
}

fn routes(app: App, access: Access) -> Router {
    Router::new()
        .route("/", get(pages::front::show))
        .route("/events", get(live::front))
        .route("/sessions", post(pages::commands::new_session))
        .route("/s/{session}", get(pages::transcript::show))
        .route("/s/{session}/events", get(live::session))
        .route("/s/{session}/prompt", post(pages::commands::prompt))
        .route("/s/{session}/stop", post(pages::commands::stop))
        .route("/s/{session}/stop/force", post(pages::commands::force_stop))
        .route("/s/{session}/waiting/{prompt}", post(pages::queue::edit))
        .route("/s/{session}/waiting/{prompt}/remove", post(pages::queue::remove))
        .route("/s/{session}/waiting/{prompt}/send", post(pages::queue::release))
        .route("/s/{session}/agent/start", post(pages::agent::start))
        .route("/s/{session}/agent/login", post(pages::agent::log_in))
        .route("/s/{session}/permissions/{request}", post(pages::commands::answer))
        .route("/s/{session}/calls/{call}", get(pages::call::show))
        .route("/s/{session}/messages/{message}/media/{place}", get(pages::media::show))
        .route("/assets/{name}", get(assets::serve))
        .fallback(pages::nothing_here)
        .with_state(app)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(access, guard))
}

fn new_epoch() -> Arc<str> {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", std::process::id(), since_1970.as_nanos()).into()
}
