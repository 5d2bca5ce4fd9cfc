//! The rules, as the specifications number them.

use super::read;
use crate::command::Failure;
use crate::paths;

const SPECIFICATIONS: [&str; 2] = ["fold", "record"];

/// A rule with its name: `fold 4.3`, `record Calls.4.2`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) name: String,
    /// Its first words, to tell a reader which it is.
    pub(super) beginning: String,
}

impl Rule {
    /// Whether it is the rule of that name, or one of the section of that name.
    pub(super) fn is_within(&self, name: &str) -> bool {
        self.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// The rules of all specifications, in their order.
pub(super) fn all() -> Result<Vec<Rule>, Failure> {
    let mut rules = Vec::new();
    for specification in SPECIFICATIONS {
        let text = read(&paths::root().join(format!("docs/spec/{specification}.md")))?;
        let found = rules_in(&text, specification);
        if found.is_empty() {
            return Err(Failure::new(format!("docs/spec/{specification}.md has no rule.")));
        }
        rules.extend(found);
    }
    if let Some(twice) = rules.iter().enumerate().find(|(n, rule)| rules[..*n].iter().any(|it| it.name == rule.name)) {
        return Err(Failure::new(format!("two rules are named {}.", twice.1.name)));
    }
    Ok(rules)
}

/// A rule begins an item of a list, a row of a table or a paragraph with its name in bold.
fn rules_in(text: &str, specification: &str) -> Vec<Rule> {
    let rule = |line: &str| {
        let (name, rest) = line.trim_start_matches(['-', '|', ' ']).strip_prefix("**")?.split_once("**")?;
        let is_of_it = name.strip_prefix(specification).is_some_and(|rest| rest.starts_with(' '));
        let beginning = rest.trim_start_matches(['|', ' ']).to_owned();
        is_of_it.then(|| Rule { name: name.to_owned(), beginning })
    };
    text.lines().filter_map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_rows_begin_with_the_name() {
        let text =
            "- **fold 1.1** A window\n  holds **fold 1.2** less\n| **fold 5.live** | `live`: on |\n**record X.1** a\n";
        let names: Vec<_> = rules_in(text, "fold").into_iter().map(|rule| (rule.name, rule.beginning)).collect();
        let expected = [("fold 1.1", "A window"), ("fold 5.live", "`live`: on |")];
        assert_eq!(names, expected.map(|(name, beginning)| (name.to_owned(), beginning.to_owned())));
    }

    #[test]
    fn a_section_holds_its_rules_and_no_other() {
        let rule = Rule { name: "fold 1.10".to_owned(), beginning: String::new() };
        assert!(rule.is_within("fold 1") && rule.is_within("fold 1.10"));
        assert!(!rule.is_within("fold 1.1") && !rule.is_within("fold 1.10.2"));
    }
}
