//! Markdown and plain text as blocks.

use super::block::{Block, escape};
use crate::text::markdown::{MarkdownBlock, blocks};
use crate::text::terminal::visible;

/// A text's Markdown, a block for each of its own.
pub(super) fn markdown(key: &str, text: &str) -> Block {
    let children =
        blocks(text).into_iter().enumerate().map(|(n, block)| top_level(format!("{key}/{n}"), block)).collect();
    Block::parent("div", key, children).class("prose")
}

fn top_level(key: String, block: MarkdownBlock) -> Block {
    match block {
        MarkdownBlock::Html(html) => Block::leaf("div", key, html).attribute("dir", "auto"),
        MarkdownBlock::Code { language, pieces } => code(key, language, &pieces),
    }
}

fn code(key: String, language: Option<String>, pieces: &[String]) -> Block {
    let pieces = pieces.iter().enumerate().map(|(n, piece)| Block::leaf("span", format!("{key}/{n}"), escape(piece)));
    let code = Block::parent("code", format!("{key}/code"), pieces.collect());
    let pre = Block::parent("pre", key, vec![code]).attribute("tabindex", "0");
    match language {
        Some(language) => pre.attribute("data-language", language),
        None => pre,
    }
}

/// Text as a person typed it.
pub(super) fn plain(key: impl Into<String>, text: &str) -> Block {
    Block::leaf("div", key, escape(text)).class("plain").attribute("dir", "auto")
}

/// Raw text of a program, with every character visible.
pub(super) fn raw(key: impl Into<String>, text: &str) -> Block {
    Block::leaf("pre", key, escape(&visible(text))).class("output").attribute("tabindex", "0")
}
