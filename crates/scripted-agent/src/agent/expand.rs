//! The variables of a script, and values with them filled in.

use super::template::{Fields, Piece, Reference, Template};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::time::SystemTime;

/// The microseconds since 1970, at the moment at which it is read.
pub(crate) const NOW: &str = "NOW";

#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    values: HashMap<String, Value>,
}

impl Variables {
    /// Gives a name to a value; the value that had it before, if one did.
    pub(crate) fn set(&mut self, name: &str, value: Value) -> Option<Value> {
        self.values.insert(name.to_owned(), value)
    }

    pub(crate) fn get(&self, name: &str) -> Result<&Value, String> {
        self.values.get(name).ok_or_else(|| format!("nothing was called `{name}` yet"))
    }

    pub(crate) fn expand(&self, template: &Template) -> Result<Value, String> {
        Ok(match template {
            Template::Literal(value) => value.clone(),
            Template::Variable(reference) => self.there(reference)?,
            Template::Text(pieces) => self.text_of(pieces)?.into(),
            Template::List(items) => {
                Value::Array(items.iter().map(|item| self.expand(item)).collect::<Result<_, _>>()?)
            }
            Template::Object(fields) => self.object(fields)?.into(),
        })
    }

    pub(crate) fn object(&self, fields: &Fields) -> Result<Map<String, Value>, String> {
        fields.iter().map(|(name, value)| Ok((name.clone(), self.expand(value)?))).collect()
    }

    pub(crate) fn text(&self, template: &Template) -> Result<String, String> {
        self.expand(template).map(as_text)
    }

    pub(crate) fn number(&self, template: &Template) -> Result<u64, String> {
        let value = self.expand(template)?;
        value.as_u64().ok_or_else(|| format!("a number from 0 is wanted, not {value}"))
    }

    /// A value to compare, which is null where a variable has nothing at that place.
    pub(crate) fn compared(&self, template: &Template) -> Result<Value, String> {
        match template {
            Template::Variable(reference) => Ok(self.find(reference)?.unwrap_or_default()),
            Template::Literal(_) | Template::Text(_) | Template::List(_) | Template::Object(_) => self.expand(template),
        }
    }

    fn text_of(&self, pieces: &[Piece]) -> Result<String, String> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(words) => text.push_str(words),
                Piece::Variable(reference) => text.push_str(&as_text(self.there(reference)?)),
            }
        }
        Ok(text)
    }

    fn there(&self, reference: &Reference) -> Result<Value, String> {
        self.find(reference)?.ok_or_else(|| {
            let path = reference.path.join(".");
            format!(
                "`{}` has no `{path}`: {}",
                reference.name,
                self.values.get(&reference.name).unwrap_or(&Value::Null)
            )
        })
    }

    fn find(&self, reference: &Reference) -> Result<Option<Value>, String> {
        if reference.name == NOW {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            return Ok(Some(Value::from(u64::try_from(now.as_micros()).unwrap_or_default())));
        }
        let mut value = self.get(&reference.name)?;
        for segment in &reference.path {
            let inner = match value {
                Value::Array(items) => segment.parse().ok().and_then(|index: usize| items.get(index)),
                Value::Object(fields) => fields.get(segment),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            };
            let Some(inner) = inner else { return Ok(None) };
            value = inner;
        }
        Ok(Some(value.clone()))
    }
}

/// A text as it stands, anything else as JSON.
fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn variables() -> Variables {
        let mut variables = Variables::default();
        variables.set("i", json!(7));
        variables.set("answer", json!({"id": 1, "result": {"lines": ["a", "b"]}, "none": null}));
        variables
    }

    fn template(value: Value) -> Template {
        Template::of(value).unwrap()
    }

    #[test]
    fn variables_are_filled_in() {
        for (source, expected) in [
            (json!("c$i"), json!("c7")),
            (json!("$i"), json!(7)),
            (json!(["$answer.id", {"a": "$answer.result.lines.1"}]), json!([1, {"a": "b"}])),
            (json!("got $answer.result.lines"), json!("got [\"a\",\"b\"]")),
            (json!({"b": 1, "a": null}), json!({"b": 1, "a": null})),
        ] {
            assert_eq!(variables().expand(&template(source.clone())), Ok(expected), "{source}");
        }
        assert!(variables().number(&template(json!("$NOW"))).unwrap() > 1_000_000_000_000_000);
    }

    #[test]
    fn what_is_not_there_is_an_error_but_null_in_a_comparison() {
        for source in ["$answer.result.path", "$answer.result.lines.2", "$answer.id.x", "in $answer.error"] {
            let error = variables().expand(&template(json!(source))).unwrap_err();
            assert!(error.contains("`answer` has no `"), "{error}");
        }
        assert_eq!(variables().compared(&template(json!("$answer.error.code"))), Ok(Value::Null));
        assert_eq!(variables().compared(&template(json!("$answer.none"))), Ok(Value::Null));
        assert!(variables().compared(&template(json!("$later"))).is_err());
        for value in [json!("x"), json!(-1), json!(1.5), json!("$answer")] {
            assert!(variables().number(&template(value.clone())).is_err(), "{value}");
        }
    }
}
