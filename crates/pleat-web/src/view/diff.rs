//! What must change on a page so that it shows a new tree.
//!
//! Linear in the size of both trees. All removals come first: a key that moves to another parent is then never on the
//! page twice. A `<details>` whose key stays under its parent is never replaced, so what a reader opened stays open.

use super::block::{Block, Content, Outline, OutlineContent};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::HashMap;

/// One change of a page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Patch<'a> {
    /// The block goes.
    Remove {
        /// Its key.
        key: &'a str,
    },
    /// A block comes.
    Insert {
        /// Where it stands.
        parent: &'a str,
        /// The block before it; `None` at the beginning.
        after: Option<&'a str>,
        /// The block.
        block: &'a Block,
    },
    /// The block stands elsewhere among its siblings.
    Move {
        /// Its key.
        key: &'a str,
        /// The block before it; `None` at the beginning.
        after: Option<&'a str>,
    },
    /// The block has new content.
    Replace {
        /// The new block, of the same key.
        block: &'a Block,
    },
    /// The block has new attributes; its content stays. `open` is the reader's and is never touched.
    Attributes {
        /// The new block, of the same key.
        block: &'a Block,
    },
}

/// The patches that turn a page which shows `old` into one that shows `new`. Both have the same root.
pub(crate) fn diff<'a>(old: &'a Outline, new: &'a Block) -> Vec<Patch<'a>> {
    let mut found = Found::default();
    found.compare(old, new);
    found.removals.append(&mut found.others);
    found.removals
}

#[derive(Default)]
struct Found<'a> {
    removals: Vec<Patch<'a>>,
    others: Vec<Patch<'a>>,
}

impl<'a> Found<'a> {
    fn compare(&mut self, old: &'a Outline, new: &'a Block) {
        if old.tag != new.tag() {
            self.others.push(Patch::Replace { block: new });
            return;
        }
        match (&old.content, new.content()) {
            (OutlineContent::Leaf(before), Content::Leaf { hash, .. }) if before == hash => {
                self.compare_shells(old, new);
            }
            (OutlineContent::Children(before), Content::Children(after)) => {
                self.compare_shells(old, new);
                self.compare_children(new.key(), before, after);
            }
            (OutlineContent::Leaf(_) | OutlineContent::Children(_), Content::Leaf { .. } | Content::Children(_)) => {
                self.others.push(Patch::Replace { block: new });
            }
        }
    }

    fn compare_shells(&mut self, old: &Outline, new: &'a Block) {
        if old.shell != new.shell_hash() {
            self.others.push(Patch::Attributes { block: new });
        }
    }

    fn compare_children(&mut self, parent: &'a str, old: &'a [Outline], new: &'a [Block]) {
        let mut before: HashMap<&str, usize> =
            old.iter().enumerate().map(|(place, child)| (child.key.as_str(), place)).collect();
        let mut last_kept = None;
        let mut after = None;
        for child in new {
            match before.remove(child.key()) {
                None => self.others.push(Patch::Insert { parent, after, block: child }),
                Some(place) => {
                    if last_kept.is_some_and(|last| place < last) {
                        self.others.push(Patch::Move { key: child.key(), after });
                    } else {
                        last_kept = Some(place);
                    }
                    self.compare(&old[place], child);
                }
            }
            after = Some(child.key());
        }
        for child in old.iter().filter(|child| before.contains_key(child.key.as_str())) {
            self.removals.push(Patch::Remove { key: &child.key });
        }
    }
}

impl Serialize for Patch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Remove { key } => {
                map.serialize_entry("op", "remove")?;
                map.serialize_entry("key", key)?;
            }
            Self::Insert { parent, after, block } => {
                map.serialize_entry("op", "insert")?;
                map.serialize_entry("parent", parent)?;
                map.serialize_entry("after", after)?;
                map.serialize_entry("html", &block.html())?;
            }
            Self::Move { key, after } => {
                map.serialize_entry("op", "move")?;
                map.serialize_entry("key", key)?;
                map.serialize_entry("after", after)?;
            }
            Self::Replace { block } => {
                map.serialize_entry("op", "replace")?;
                map.serialize_entry("key", block.key())?;
                map.serialize_entry("html", &block.html())?;
            }
            Self::Attributes { block } => {
                map.serialize_entry("op", "attributes")?;
                map.serialize_entry("key", block.key())?;
                map.serialize_entry("attributes", &AttributeMap(block))?;
            }
        }
        map.end()
    }
}

struct AttributeMap<'a>(&'a Block);

impl Serialize for AttributeMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.attributes().iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
