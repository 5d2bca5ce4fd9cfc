//! What somebody searches for.

use super::fold::Folded;
use super::parse::terms;
use super::pattern::Pattern;
use super::phrase::IndexPhrase;
use std::ops::Range;

/// The longest query, in Unicode scalar values.
pub const MAX_QUERY_CHARACTERS: usize = 1000;
/// The most places of a text that [`Query::find_in`] tells.
pub const MAX_RANGES: usize = 1000;
/// The most phrases that a database is asked for. Fewer only propose more.
const MAX_PHRASES: usize = 16;

/// Why a query is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It is blank, or has only blank phrases and invisible characters.
    #[error("there is nothing to search for; type a word, or a phrase in quotes")]
    Empty,
    /// It is longer than [`MAX_QUERY_CHARACTERS`].
    #[error("a search may have at most {MAX_QUERY_CHARACTERS} characters, this one has {0}; shorten it")]
    TooLong(usize),
}

/// A query: terms that must all be in a text.
///
/// A term is a word, with a `*` after it the beginning of one, or a `"phrase"`. Everything else is literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    terms: Vec<Term>,
    phrases: Vec<IndexPhrase>,
}

/// A term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    text: String,
    pattern: Pattern,
}

impl Query {
    /// Reads a query as it was typed.
    pub fn parse(query: &str) -> Result<Self, QueryError> {
        let characters = query.chars().count();
        if characters > MAX_QUERY_CHARACTERS {
            return Err(QueryError::TooLong(characters));
        }
        let mut read: Vec<Term> = Vec::new();
        for typed in terms(query) {
            if let Some(pattern) = Pattern::new(typed.text, typed.prefix)
                && read.iter().all(|term| term.pattern != pattern)
            {
                read.push(Term { text: typed.text.to_owned(), pattern });
            }
        }
        if read.is_empty() {
            return Err(QueryError::Empty);
        }
        let phrases = most_selective(read.iter().flat_map(Term::phrases));
        Ok(Self { terms: read, phrases })
    }

    /// The terms, at least one, each once.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// What an index must have of every text that matches: each phrase in some chunk of the text, **not all in the same
    /// one**. It may also have it of texts that do not match, which [`find_in`](Self::find_in) tells.
    ///
    /// Empty where no term has a letter or digit (`%`, `->`): an index cannot help then, and every text is to be read.
    pub fn phrases(&self) -> &[IndexPhrase] {
        &self.phrases
    }

    /// Where the terms are in a text, if all of them are: ranges of bytes, in order, apart from each other, at most
    /// [`MAX_RANGES`]. Each term has one.
    ///
    /// Takes time in proportion to the text; for a phrase that nearly matches everywhere, times its words.
    pub fn find_in(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let folded = Folded::new(text);
        let most = (MAX_RANGES / self.terms.len().max(1)).max(1);
        let mut ranges = Vec::new();
        for term in &self.terms {
            let found = term.pattern.find(&folded, most);
            if found.is_empty() {
                return None;
            }
            ranges.extend(found);
        }
        Some(merged(ranges))
    }
}

impl Term {
    /// As it was typed, without its quotes and its `*`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What an index must have of every text that matches this term; empty where it has no letter or digit.
    pub fn phrases(&self) -> &[IndexPhrase] {
        self.pattern.phrases()
    }
}

fn most_selective<'a>(phrases: impl Iterator<Item = &'a IndexPhrase>) -> Vec<IndexPhrase> {
    let mut kept: Vec<IndexPhrase> = Vec::new();
    for phrase in phrases {
        if !kept.contains(phrase) {
            kept.push(phrase.clone());
        }
    }
    kept.sort_by_key(|phrase| std::cmp::Reverse(phrase.weight()));
    kept.truncate(MAX_PHRASES);
    kept
}

fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(query: &str, text: &'a str) -> Option<Vec<&'a str>> {
        let ranges = Query::parse(query).unwrap().find_in(text)?;
        Some(ranges.into_iter().map(|range| &text[range]).collect())
    }

    #[track_caller]
    fn hit(query: &str, text: &str, marked: &[&str]) {
        assert_eq!(found(query, text).as_deref(), Some(marked), "{query:?} in {text:?}");
    }

    #[track_caller]
    fn miss(query: &str, text: &str) {
        assert_eq!(found(query, text), None, "{query:?} in {text:?}");
    }

    /// Case B51.
    #[test]
    fn chinese_and_ascii_stuck_to_it_are_found() {
        let texts = ["修复了登录页面的重定向循环", "部署xyz-task前先备份", "xyz-task failed"];
        let count = |query| texts.iter().filter(|text| found(query, text).is_some()).count();
        assert_eq!(["重定向", "xyz", "部署 xyz", "备份"].map(count), [1, 2, 1, 1]);
        assert_eq!(["%", "_", "x%z", "xyz_task", "重定%", "xyz-task"].map(count), [0, 0, 0, 0, 0, 2]);
        assert_eq!(["份", "修", "向循", "部署xyz", "xyz-t*"].map(count), [1, 1, 1, 1, 2]);
        hit("%", "100% of a_b", &["%"]);
        hit("_ 100%", "100% of a_b", &["100%", "_"]);
    }

    #[test]
    fn words_match_whole_or_as_a_camel_case_part() {
        hit("foo", "a Foo, foobar", &["Foo"]);
        miss("foo", "foobar barfoo foo1");
        hit("foo*", "foobar barfoo", &["foo"]);
        hit("case", "camelCase snake_case CaseMate showcase", &["Case", "case", "Case"]);
        hit("camelcase camel", "camelCase", &["camelCase"]);
        hit("http serv*", "HTTPServer", &["HTTPServ"]);
        hit("camelc*", "camelCase", &["camelC"]);
        miss("amel", "camelCase");
        miss("camelca", "camelCase");
        miss("some.case", "some.camelCase");
        miss("casex*", "camelCaseXy");
        hit("case(", "camelCase(x)", &["Case("]);
    }

    #[test]
    fn identifiers_are_found_whole_and_in_parts() {
        let text = "foo_bar src/lib.rs E0308 --no-open v1.2.3 C++";
        for whole in text.split(' ') {
            hit(whole, text, &[whole]);
        }
        for part in ["foo", "bar", "lib.rs", "src/lib", "e0308", "no-open", "v1.2", "2.3", "rs", "c", "\"2 3\""] {
            assert!(found(part, text).is_some(), "{part}");
        }
        for other in ["foo-bar", "foobar", "src_lib", "0308", "---no-open", "v1,2", "C+++"] {
            miss(other, text);
        }
        miss("foo_bar", "foo bar");
    }

    #[test]
    fn phrases_are_exact_but_for_what_stands_between_words() {
        hit("\"hello world\"", "Hello, **world**! hello\n  > world", &["Hello, **world", "hello\n  > world"]);
        miss("\"hello world\"", "hello my world");
        miss("\"hello world\"", "helloworld");
        hit("\"a, b\"", "a,\n b", &["a,\n b"]);
        miss("\"a, b\"", "a; b");
        miss("\"a, b\"", "a,b");
        hit("\"foo ba\"*", "foo bar", &["foo ba"]);
        hit("\"foo ba", "foo ba", &["foo ba"]);
        hit("\"key\": \"value\"", "{\"key\":  \"value\"}", &["key\":  \"value"]);
        hit("\"部署 xyz\"", "部署, xyz", &["部署, xyz"]);
        miss("\"部署 xyz\"", "部署xyz");
    }

    #[test]
    fn forms_of_characters_make_no_difference() {
        hit("cafe", "le Cafe\u{301}!", &["Cafe\u{301}"]);
        hit("CAFÉ", "cafe", &["cafe"]);
        hit("don't", "Don’t", &["Don’t"]);
        hit("ﬁnd", "find", &["find"]);
        hit("f*", "ﬁnd", &["ﬁ"]);
        hit("ガ", "ｶﾞｰﾄﾞ", &["ｶﾞ"]);
        hit("กา", "มากา", &["กา"]);
        miss("क", "का");
        hit("क*", "का", &["का"]);
    }

    #[test]
    fn ranges_are_merged_and_bounded() {
        hit("哈哈", "哈哈哈哈x哈", &["哈哈哈哈"]);
        let ranges = Query::parse("a b").unwrap().find_in(&"a ".repeat(5000).replace("a a a", "a b a")).unwrap();
        assert_eq!(ranges.len(), MAX_RANGES);
        let late = format!("{}b", "a ".repeat(5000));
        assert_eq!(Query::parse("a b").unwrap().find_in(&late).unwrap().last(), Some(&(late.len() - 1..late.len())));
    }

    #[test]
    fn what_looks_like_base64_is_not_searched() {
        let blob = "Zm9v8ioj+".repeat(150);
        miss("zm9v8ioj", &blob);
        miss("\"a b\"", &format!("a {blob} b"));
        hit("ж", &format!("{blob}ж"), &["ж"]);
    }

    #[test]
    fn a_query_has_something_in_it() {
        for blank in ["", " ", "\"\"", "\"  \" \"\"", "\u{200b}", "\u{301}"] {
            assert_eq!(Query::parse(blank), Err(QueryError::Empty), "{blank:?}");
        }
        assert_eq!(Query::parse(&"é".repeat(1001)), Err(QueryError::TooLong(1001)));
        assert!(Query::parse(&"x ".repeat(500)).is_ok());
    }

    #[test]
    fn databases_are_asked_for_tokens_only() {
        let check = |query: &str, fts5: &[&str], tsquery: &[&str]| {
            let query = Query::parse(query).unwrap();
            let phrases = query.phrases().iter();
            assert_eq!(phrases.clone().map(IndexPhrase::fts5_expression).collect::<Vec<_>>(), fts5);
            assert_eq!(phrases.map(IndexPhrase::tsquery_text).collect::<Vec<_>>(), tsquery);
        };
        check("foo_bar", &["\"foo bar\""], &["'foo' <-> 'bar'"]);
        check("foo* 100%", &["\"foo\"*", "\"100\""], &["'foo':*", "'100'"]);
        check("NOT(a:^b\\') -c", &["\"not a b\"", "\"c\""], &["'not' <-> 'a' <-> 'b'", "'c'"]);
        check("重定向", &["\"重定 定向\""], &["'重定' <-> '定向'"]);
        check("向", &["\"向\"*"], &["'向':*"]);
        check("部署xyz向", &["\"部署 署 xyz 向\"*"], &["'部署' <-> '署' <-> 'xyz' <-> '向':*"]);
        check("向%", &["\"向\""], &["'向'"]);
        check("% _ ->", &[], &[]);
    }
}
