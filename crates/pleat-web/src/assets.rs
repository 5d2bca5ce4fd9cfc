//! The style sheet, the script and the icon, inside the binary.

use axum::extract::{Path, Query};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A file of the page.
#[derive(Debug)]
pub(crate) struct Asset {
    name: &'static str,
    mime: &'static str,
    content: &'static str,
}

/// How everything looks.
pub(crate) static STYLE: Asset =
    Asset { name: "pleat.css", mime: "text/css; charset=utf-8", content: include_str!("../assets/pleat.css") };
/// What keeps a page live.
pub(crate) static SCRIPT: Asset =
    Asset { name: "pleat.js", mime: "text/javascript; charset=utf-8", content: include_str!("../assets/pleat.js") };
/// The parts of the script that help to read, and that keep what is written; it imports them by their bare addresses.
static READING: Asset =
    Asset { name: "reading.js", mime: "text/javascript; charset=utf-8", content: include_str!("../assets/reading.js") };
static WRITING: Asset =
    Asset { name: "writing.js", mime: "text/javascript; charset=utf-8", content: include_str!("../assets/writing.js") };
/// The icon of the tab.
pub(crate) static ICON: Asset =
    Asset { name: "pleat.svg", mime: "image/svg+xml", content: include_str!("../assets/pleat.svg") };

impl Asset {
    /// Its address, which changes with its content.
    pub(crate) fn address(&self) -> String {
        format!("/assets/{}?{VERSION}={}", self.name, self.version())
    }

    fn version(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.content.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

const VERSION: &str = "v";

/// Which content an address asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Version {
    v: Option<String>,
}

/// Serves a file. One asked for by its content's hash may be kept for ever.
pub(crate) async fn serve(Path(name): Path<String>, Query(version): Query<Version>) -> Response {
    let Some(asset) = [&STYLE, &SCRIPT, &READING, &WRITING, &ICON].into_iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let keeps = version.v.is_some_and(|asked| asked == asset.version());
    let cache = if keeps { "private, max-age=31536000, immutable" } else { "no-store" };
    ([(header::CONTENT_TYPE, asset.mime), (header::CACHE_CONTROL, cache)], asset.content).into_response()
}
