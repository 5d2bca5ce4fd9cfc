//! JSON with variables in its texts.

use serde_json::Value;

/// Names with their values, in the order of the script.
pub(crate) type Fields = Vec<(String, Template)>;

/// A JSON value, which may hold variables.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Template {
    /// As it stands.
    Literal(Value),
    /// A variable's own value, whatever its type.
    Variable(Reference),
    /// A text with variables in it.
    Text(Vec<Piece>),
    List(Vec<Template>),
    Object(Fields),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Variable(Reference),
}

/// A variable, or what is at a place inside of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reference {
    pub(crate) name: String,
    /// Names of fields, and indices of lists.
    pub(crate) path: Vec<String>,
}

impl Template {
    /// A text as it stands.
    pub(crate) fn literal(text: &str) -> Self {
        Self::Literal(text.into())
    }

    /// A value whose texts may hold variables.
    pub(crate) fn of(value: Value) -> Result<Self, String> {
        Ok(match value {
            Value::String(text) => Self::text(&text)?,
            Value::Array(items) => Self::List(items.into_iter().map(Self::of).collect::<Result<_, _>>()?),
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| Ok((name, Self::of(value)?)));
                Self::Object(fields.collect::<Result<_, String>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Literal(value),
        })
    }

    /// A text which may hold variables; one that is nothing else is the variable's value.
    pub(crate) fn text(source: &str) -> Result<Self, String> {
        let mut pieces = pieces(source)?;
        Ok(match pieces.as_mut_slice() {
            [] => Self::literal(""),
            [Piece::Text(text)] => Self::Literal(std::mem::take(text).into()),
            [Piece::Variable(reference)] => Self::Variable(reference.clone()),
            _ => Self::Text(pieces),
        })
    }

    /// The variables in it.
    pub(crate) fn references(&self) -> Vec<&Reference> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Variable(reference) => vec![reference],
            Self::Text(pieces) => pieces.iter().filter_map(Piece::reference).collect(),
            Self::List(items) => items.iter().flat_map(Self::references).collect(),
            Self::Object(fields) => fields.iter().flat_map(|(_, value)| value.references()).collect(),
        }
    }
}

impl Piece {
    fn reference(&self) -> Option<&Reference> {
        match self {
            Self::Text(_) => None,
            Self::Variable(reference) => Some(reference),
        }
    }
}

fn pieces(source: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = source;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            text.push('$');
            rest = after;
            continue;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        let (reference, after) = reference(after)?;
        pieces.push(Piece::Variable(reference));
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// The variable that a text begins with, and the rest.
fn reference(source: &str) -> Result<(Reference, &str), String> {
    let (path, rest) = match source.strip_prefix('{') {
        Some(inner) => inner.split_once('}').ok_or("a `${` is not closed")?,
        None => source.split_at(path_length(source)),
    };
    let mut segments = path.split('.').map(str::to_owned);
    let name = segments.next().unwrap_or_default();
    let path: Vec<_> = segments.collect();
    if !is_name(&name) || path.iter().any(String::is_empty) {
        return Err("a `$` begins no variable; write `$$` for the character".to_owned());
    }
    Ok((Reference { name, path }, rest))
}

/// As far as a name goes on by its fields: a point at the end of a sentence is none of it.
fn path_length(source: &str) -> usize {
    let word = |from: usize| source[from..].find(|c| !is_word(c)).unwrap_or(source.len() - from);
    let mut length = word(0);
    while source[length..].starts_with('.') && word(length + 1) > 0 {
        length += 1 + word(length + 1);
    }
    length
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a variable can be called so.
pub(crate) fn is_name(name: &str) -> bool {
    name.chars().all(is_word) && name.starts_with(|c: char| !c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn variable(path: &str) -> Piece {
        let mut segments = path.split('.').map(str::to_owned);
        Piece::Variable(Reference { name: segments.next().unwrap(), path: segments.collect() })
    }

    fn words(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[test]
    fn texts_are_taken_apart_at_their_variables() {
        for (source, expected) in [
            ("", vec![]),
            ("plain", vec![words("plain")]),
            ("c$i", vec![words("c"), variable("i")]),
            ("${i}x", vec![variable("i"), words("x")]),
            ("say $a.b.0.", vec![words("say "), variable("a.b.0"), words(".")]),
            ("${a.b}.c", vec![variable("a.b"), words(".c")]),
            ("$a$b", vec![variable("a"), variable("b")]),
            ("5 $$ and $$i", vec![words("5 $ and $i")]),
        ] {
            assert_eq!(pieces(source).unwrap(), expected, "{source}");
        }
        for source in ["$", "a $ b", "$1", "${a", "${}", "${a..b}", "${a b}"] {
            assert!(pieces(source).is_err(), "{source}");
        }
    }

    #[test]
    fn a_text_that_is_one_variable_has_its_type() {
        let template = Template::of(json!({"a": ["$x", "$x $y.z"], "b": 1})).unwrap();
        let Template::Object(fields) = &template else { panic!("{template:?}") };
        let Template::List(items) = &fields[0].1 else { panic!("{template:?}") };
        assert!(matches!(&items[..], [Template::Variable(_), Template::Text(_)]), "{items:?}");
        let names: Vec<_> = template.references().iter().map(|reference| reference.name.as_str()).collect();
        assert_eq!(names, ["x", "x", "y"]);
    }
}
