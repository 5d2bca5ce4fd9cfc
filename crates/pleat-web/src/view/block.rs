//! A page as a tree of keyed blocks.
//!
//! Every element that may change while a page is open is a [`Block`] with a key of its own. The whole page is the tree
//! written as HTML; a live page gets what [`super::diff`] finds between the [`Outline`] of what it shows and the new tree.
//! An element holds either HTML that is exchanged as a whole or further blocks, never both, so a patch needs no position
//! but "after that block".

use std::hash::{DefaultHasher, Hash, Hasher};

/// An element with a key that is unique in its page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    key: String,
    shell: Shell,
    content: Content,
}

/// An element's tag and attributes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shell {
    tag: &'static str,
    attributes: Vec<(&'static str, String)>,
}

/// What stands inside an element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// HTML, exchanged as a whole.
    Leaf {
        /// Escaped already.
        html: String,
        /// What a change is told by.
        hash: u64,
    },
    /// Blocks.
    Children(Vec<Block>),
}

/// What a connection remembers of a block that its page shows: no HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The block's key.
    pub(crate) key: String,
    /// Its tag.
    pub(crate) tag: &'static str,
    /// The hash of its tag and attributes.
    pub(crate) shell: u64,
    /// What stands inside.
    pub(crate) content: OutlineContent,
}

/// What a connection remembers of the inside of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OutlineContent {
    /// The hash of its HTML.
    Leaf(u64),
    /// Its blocks.
    Children(Vec<Outline>),
}

impl Block {
    /// An element whose HTML is exchanged as a whole. The HTML is escaped already.
    pub(crate) fn leaf(tag: &'static str, key: impl Into<String>, html: impl Into<String>) -> Self {
        let html = html.into();
        let hash = hash_of(&html);
        Self::new(tag, key, Content::Leaf { html, hash })
    }

    /// A leaf whose HTML differs between two renderings without meaning anything, such as a form's one-time key.
    pub(crate) fn constant_leaf(tag: &'static str, key: impl Into<String>, html: impl Into<String>) -> Self {
        Self::new(tag, key, Content::Leaf { html: html.into(), hash: 0 })
    }

    /// An element that holds blocks.
    pub(crate) fn parent(tag: &'static str, key: impl Into<String>, children: Vec<Self>) -> Self {
        Self::new(tag, key, Content::Children(children))
    }

    fn new(tag: &'static str, key: impl Into<String>, content: Content) -> Self {
        Self { key: key.into(), shell: Shell { tag, attributes: Vec::new() }, content }
    }

    /// With an attribute. The value is not escaped yet.
    #[must_use]
    pub(crate) fn attribute(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.shell.attributes.push((name, value.into()));
        self
    }

    /// With an attribute without a value, where `set`.
    #[must_use]
    pub(crate) fn flag(self, name: &'static str, set: bool) -> Self {
        if set { self.attribute(name, "") } else { self }
    }

    /// With a `class`.
    #[must_use]
    pub(crate) fn class(self, class: impl Into<String>) -> Self {
        self.attribute("class", class)
    }

    /// With an `id` that is the key, so that a link can point here.
    #[must_use]
    pub(crate) fn linkable(self) -> Self {
        let id = self.key.clone();
        self.attribute("id", id)
    }

    /// Whether a link can point here.
    pub(crate) fn is_linkable(&self) -> bool {
        self.shell.attributes.iter().any(|(name, _)| *name == "id")
    }

    /// Its key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Its tag.
    pub(crate) fn tag(&self) -> &'static str {
        self.shell.tag
    }

    /// Its attributes, without the key.
    pub(crate) fn attributes(&self) -> &[(&'static str, String)] {
        &self.shell.attributes
    }

    /// What stands inside.
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// The hash of its tag and attributes.
    pub(crate) fn shell_hash(&self) -> u64 {
        hash_of(&self.shell)
    }

    /// The element as HTML.
    pub(crate) fn html(&self) -> String {
        let mut out = String::new();
        self.write_html(&mut out);
        out
    }

    fn write_html(&self, out: &mut String) {
        out.push('<');
        out.push_str(self.shell.tag);
        write_attribute(out, "data-key", &self.key);
        for (name, value) in &self.shell.attributes {
            write_attribute(out, name, value);
        }
        out.push('>');
        match &self.content {
            Content::Leaf { html, .. } => out.push_str(html),
            Content::Children(children) => children.iter().for_each(|child| child.write_html(out)),
        }
        out.push_str("</");
        out.push_str(self.shell.tag);
        out.push('>');
    }

    /// What a connection remembers of it.
    pub(crate) fn outline(&self) -> Outline {
        let content = match &self.content {
            Content::Leaf { hash, .. } => OutlineContent::Leaf(*hash),
            Content::Children(children) => OutlineContent::Children(children.iter().map(Self::outline).collect()),
        };
        Outline { key: self.key.clone(), tag: self.shell.tag, shell: self.shell_hash(), content }
    }
}

/// A key segment made of an id. `/` separates segments, so it may not stand in one.
pub(crate) fn segment(id: &str) -> String {
    id.replace('~', "~0").replace('/', "~1")
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn write_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    if !value.is_empty() {
        out.push_str("=\"");
        escape_into(out, value);
        out.push('"');
    }
}

fn escape_into(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
}

/// Text as HTML, safe between tags and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    escape_into(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_keys_are_escaped() {
        let block = Block::leaf("p", "m:\"><script>", "x").class("a\"b").flag("hidden", true);
        assert_eq!(block.html(), "<p data-key=\"m:&quot;&gt;&lt;script&gt;\" class=\"a&quot;b\" hidden>x</p>");
    }

    #[test]
    fn segments_hold_no_separator_and_stay_different() {
        assert_eq!(segment("a/b"), "a~1b");
        assert_ne!(segment("a/b"), segment("a~1b"));
    }

    #[test]
    fn a_constant_leaf_has_one_hash_whatever_it_holds() {
        assert_eq!(Block::constant_leaf("i", "k", "a").outline(), Block::constant_leaf("i", "k", "b").outline());
        assert_ne!(Block::leaf("i", "k", "a").outline(), Block::leaf("i", "k", "b").outline());
    }
}
