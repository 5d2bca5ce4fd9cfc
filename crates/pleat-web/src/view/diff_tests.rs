use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

/// A page as a browser would hold it.
#[derive(Debug, Clone, PartialEq)]
struct Element {
    key: String,
    tag: &'static str,
    attributes: Vec<(&'static str, String)>,
    content: ElementContent,
}

#[derive(Debug, Clone, PartialEq)]
enum ElementContent {
    Html(String),
    Elements(Vec<Element>),
}

impl Element {
    fn of(block: &Block) -> Self {
        let content = match block.content() {
            Content::Leaf { html, .. } => ElementContent::Html(html.clone()),
            Content::Children(children) => ElementContent::Elements(children.iter().map(Self::of).collect()),
        };
        Self { key: block.key().into(), tag: block.tag(), attributes: block.attributes().to_vec(), content }
    }

    fn children(&mut self) -> &mut [Self] {
        match &mut self.content {
            ElementContent::Html(_) => &mut [],
            ElementContent::Elements(elements) => elements,
        }
    }

    fn find(&mut self, key: &str) -> Option<&mut Self> {
        if self.key == key {
            return Some(self);
        }
        self.children().iter_mut().find_map(|child| child.find(key))
    }

    fn parent_of(&mut self, key: &str) -> Option<&mut Vec<Self>> {
        let ElementContent::Elements(elements) = &mut self.content else { return None };
        if elements.iter().any(|child| child.key == key) {
            return Some(elements);
        }
        elements.iter_mut().find_map(|child| child.parent_of(key))
    }

    fn apply(&mut self, patch: &Patch<'_>) {
        match patch {
            Patch::Remove { key } => {
                let siblings = self.parent_of(key).expect("a removed key is on the page");
                siblings.retain(|child| child.key != *key);
            }
            Patch::Insert { parent, after, block } => {
                let parent = self.find(parent).expect("an insert's parent is on the page");
                let ElementContent::Elements(elements) = &mut parent.content else {
                    panic!("{parent:?} has no blocks")
                };
                elements.insert(place_after(elements, *after), Element::of(block));
            }
            Patch::Move { key, after } => {
                let siblings = self.parent_of(key).expect("a moved key is on the page");
                let from = siblings.iter().position(|child| child.key == *key).unwrap();
                let moved = siblings.remove(from);
                siblings.insert(place_after(siblings, *after), moved);
            }
            Patch::Replace { block } => {
                *self.find(block.key()).expect("a replaced key is on the page") = Element::of(block);
            }
            Patch::Attributes { block } => {
                self.find(block.key()).expect("a changed key is on the page").attributes = block.attributes().to_vec();
            }
        }
    }
}

fn place_after(siblings: &[Element], after: Option<&str>) -> usize {
    after.map_or(0, |after| 1 + siblings.iter().position(|child| child.key == after).expect("`after` is a sibling"))
}

fn patched(old: &Block, new: &Block) -> (Element, usize) {
    let outline = old.outline();
    let patches = diff(&outline, new);
    let mut page = Element::of(old);
    for patch in &patches {
        page.apply(patch);
    }
    (page, patches.len())
}

fn check(old: &Block, new: &Block, patches: usize) {
    let (page, count) = patched(old, new);
    assert_eq!(page, Element::of(new));
    assert_eq!(count, patches);
}

fn text(key: &str, html: &str) -> Block {
    Block::leaf("p", key, html)
}

fn list(children: Vec<Block>) -> Block {
    Block::parent("ul", "list", children)
}

#[test]
fn an_equal_tree_needs_nothing() {
    let tree = list(vec![text("a", "1"), text("b", "2")]);
    check(&tree, &tree, 0);
}

#[test]
fn a_changed_leaf_is_replaced_alone() {
    check(&list(vec![text("a", "1"), text("b", "2")]), &list(vec![text("a", "1"), text("b", "3")]), 1);
}

#[test]
fn changed_attributes_leave_the_content() {
    let old = list(vec![text("a", "1")]);
    let new = list(vec![text("a", "1").class("x")]);
    let outline = old.outline();
    assert!(matches!(diff(&outline, &new)[..], [Patch::Attributes { .. }]));
    check(&old, &new, 1);
}

#[test]
fn insertions_at_both_ends_and_a_removal() {
    let old = list(vec![text("b", "2"), text("c", "3")]);
    check(&old, &list(vec![text("a", "1"), text("b", "2"), text("d", "4")]), 3);
}

#[test]
fn a_block_that_moves_to_another_parent_is_never_there_twice() {
    let inner = |key: &str, children| Block::parent("div", key, children);
    let old = list(vec![inner("x", vec![text("a", "1")]), inner("y", vec![])]);
    let new = list(vec![inner("x", vec![]), inner("y", vec![text("a", "1")])]);
    let outline = old.outline();
    assert!(matches!(diff(&outline, &new)[..], [Patch::Remove { key: "a" }, Patch::Insert { parent: "y", .. }]));
    check(&old, &new, 2);
}

#[test]
fn details_are_never_replaced_while_their_key_lives() {
    let details = |live: bool, text: &str| {
        let summary = Block::parent("summary", "d/s", vec![Block::leaf("span", "d/t", text)]);
        list(vec![Block::parent("details", "d", vec![summary]).flag("data-live", live)])
    };
    let (old, new) = (details(true, "Working · 1 action"), details(false, "2 actions"));
    let outline = old.outline();
    for patch in diff(&outline, &new) {
        match patch {
            Patch::Replace { block } => assert_eq!(block.tag(), "span"),
            Patch::Attributes { block } => assert_eq!(block.key(), "d"),
            Patch::Remove { .. } | Patch::Insert { .. } | Patch::Move { .. } => panic!("{patch:?}"),
        }
    }
    check(&old, &new, 2);
}

#[test]
fn patches_are_written_as_the_page_reads_them() {
    let old = list(vec![text("a", "1"), text("b", "2"), text("c", "3")]);
    let new = list(vec![text("b", "<i>2</i>"), text("c", "3").class("x"), text("d", "4")]);
    let outline = old.outline();
    let lines: Vec<_> = diff(&outline, &new).iter().map(|patch| serde_json::to_string(patch).unwrap()).collect();
    assert_eq!(
        lines,
        [
            r#"{"op":"remove","key":"a"}"#,
            r#"{"op":"replace","key":"b","html":"<p data-key=\"b\"><i>2</i></p>"}"#,
            r#"{"op":"attributes","key":"c","attributes":{"class":"x"}}"#,
            r#"{"op":"insert","parent":"list","after":"c","html":"<p data-key=\"d\">4</p>"}"#,
        ]
    );
}

/// Trees over few keys, so that two of them share many, in any arrangement.
fn trees() -> impl Strategy<Value = Block> {
    let leaf = (0..24u8, 0..3u8, any::<bool>())
        .prop_map(|(key, html, marked)| text(&key.to_string(), &html.to_string()).flag("data-marked", marked));
    let block = leaf.prop_recursive(3, 40, 6, |inner| {
        (0..24u8, any::<bool>(), prop::collection::vec(inner, 0..6)).prop_map(|(key, details, children)| {
            Block::parent(if details { "details" } else { "div" }, key.to_string(), children)
        })
    });
    prop::collection::vec(block, 0..8).prop_map(|children| unique(&list(children), &mut HashSet::new()).unwrap())
}

/// The tree without blocks whose key stood before.
fn unique(block: &Block, seen: &mut HashSet<String>) -> Option<Block> {
    if !seen.insert(block.key().to_owned()) {
        return None;
    }
    match block.content() {
        Content::Leaf { .. } => Some(block.clone()),
        Content::Children(children) => {
            let children = children.iter().filter_map(|child| unique(child, seen)).collect();
            Some(Block::parent(block.tag(), block.key(), children))
        }
    }
}

proptest! {
    #[test]
    fn the_patches_turn_the_old_tree_into_the_new_one(old in trees(), new in trees()) {
        let (page, _) = patched(&old, &new);
        prop_assert_eq!(page, Element::of(&new));
    }
}
