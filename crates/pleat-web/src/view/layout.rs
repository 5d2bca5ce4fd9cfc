//! The page around a tree of blocks, and pages that say one thing.

use super::block::Block;
use crate::assets;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use pleat_transcript::session::Millis;

/// What a page's script needs to stay true.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    /// The address of its event stream.
    pub(crate) address: String,
    /// What the page shows, as the stream's event ids say it.
    pub(crate) at: String,
    /// The time by the server's clock, from which the script counts what goes on.
    pub(crate) now: Millis,
    /// Under which name the draft is kept.
    pub(crate) draft: Option<String>,
}

/// A whole page of blocks.
pub(crate) fn page(title: &str, stream: &Stream, root: &Block) -> Markup {
    let body = html! {
        body data-stream=(stream.address) data-at=(stream.at) data-now=(stream.now) data-draft=[&stream.draft] {
            div.banner #banner role="alert" hidden {}
            (PreEscaped(root.html()))
        }
    };
    document(title, &body, true)
}

/// A page without a stream.
pub(crate) fn still_page(title: &str, content: &Markup) -> Markup {
    let body = html! { body { (content) } };
    document(title, &body, true)
}

/// A page that needs nothing from the server, for those who may have nothing from it.
pub(crate) fn bare_page(title: &str, content: &Markup, head: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                // Else browsers ask for /favicon.ico.
                link rel="icon" href="data:,";
                (head)
            }
            body { main { (content) } }
        }
    }
}

fn document(title: &str, body: &Markup, script: bool) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Pleat" }
                link rel="stylesheet" href=(assets::STYLE.address());
                link rel="icon" type="image/svg+xml" href=(assets::ICON.address());
                @if script { script type="module" src=(assets::SCRIPT.address()) blocking="render" {} }
            }
            (body)
        }
    }
}
