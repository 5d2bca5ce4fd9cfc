//! The promise of this module, on made-up texts: a database never misses what [`Query::find_in`] finds.

use super::characters::{Class, class};
use super::*;
use proptest::prelude::*;
use rusqlite::Connection;
use std::ops::Range;

/// Pieces of which texts and queries are made, so that queries hit.
fn fragment() -> impl Strategy<Value = String> {
    let fixed: &'static [&'static str] = &[
        "foo",
        "bar",
        "fooBar",
        "HTTPServer",
        "a",
        "B",
        "E0308",
        "1",
        "100",
        "é",
        "e\u{301}",
        "ß",
        "ﬁ",
        "Жж",
        "й",
        "का",
        "\u{301}",
        "\u{200b}",
        "\u{640}",
        "重定",
        "向",
        "ガ",
        "ｶﾞ",
        "한글",
        "ㄱ",
        "\u{1161}",
        "กิ",
        "々",
        "İ",
        "ς",
        "ﷺ",
        "½",
        "🎉",
        "👨\u{200d}👩",
        "\u{fe0f}",
        " ",
        " ",
        " ",
        "  ",
        "\n",
        "\u{3000}",
        "_",
        "%",
        "-",
        "/",
        ".",
        "'",
        "’",
        "\"",
        "*",
        "\\",
        ":",
        "\u{0}",
        "´",
        "\u{85}",
        "\u{20e3}",
    ];
    prop_oneof![
        40 => prop::sample::select(fixed).prop_map(str::to_owned),
        1 => (50_usize..140).prop_map(|count| "x".repeat(count)),
        1 => (20_usize..80).prop_map(|count| "é1".repeat(count)),
        1 => (100_usize..200).prop_map(|count| "Zm9vYmE+".repeat(count)),
        1 => (200_usize..400).prop_map(|count| "w fooBar ".repeat(count)),
        1 => (200_usize..400).prop_map(|count| "字向".repeat(count)),
        2 => any::<char>().prop_map(String::from),
    ]
}

fn fragments(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(fragment(), 0..most).prop_map(|fragments| fragments.concat())
}

/// A text, and a query that is a piece of it or made of the same.
fn text_and_query() -> impl Strategy<Value = (String, String)> {
    let text = fragments(60);
    let piece = (any::<prop::sample::Index>(), 0_usize..60, 0_usize..5);
    (text, piece, fragments(6), 0..3).prop_map(|(text, (from, length, dressing), other, kind)| {
        if kind == 0 || text.is_empty() {
            return (text, other);
        }
        let chars: Vec<char> = text.chars().collect();
        let piece: String = chars[from.index(chars.len())..].iter().take(length).collect();
        let query = match dressing {
            0 => piece,
            1 => format!("{piece}*"),
            2 => format!("\"{piece}\""),
            3 => format!("\"{piece}\"*"),
            _ => format!("{other} {piece}"),
        };
        (text, query)
    })
}

/// What FTS5 and PostgreSQL make of a phrase in a row of tokens.
fn in_a_row(tokens: &[&str], phrase: &IndexPhrase) -> bool {
    let Some((last, others)) = phrase.tokens().split_last() else { return false };
    tokens.windows(phrase.tokens().len()).any(|window| {
        let (end, start) = window.split_last().unwrap();
        start == others && if phrase.is_prefix() { end.starts_with(&**last) } else { end == last }
    })
}

/// The tokens of a chunk at each position, the first one being 1.
fn positions(chunk: &Chunk) -> Vec<Vec<String>> {
    let mut positions = vec![Vec::new(); CHUNK_TOKENS + 1];
    for lexeme in chunk.tsvector_text().split(' ') {
        let (token, position) = lexeme.rsplit_once(':').unwrap();
        let token = token.strip_prefix('\'').and_then(|token| token.strip_suffix('\'')).unwrap();
        positions[position.parse::<usize>().unwrap()].push(token.to_owned());
    }
    positions
}

fn at_positions(positions: &[Vec<String>], phrase: &IndexPhrase) -> bool {
    positions.windows(phrase.tokens().len()).any(|window| {
        window.iter().zip(phrase.tokens()).enumerate().all(|(index, (there, token))| {
            let prefix = phrase.is_prefix() && index + 1 == phrase.tokens().len();
            there.iter().any(|there| if prefix { there.starts_with(&**token) } else { there == token })
        })
    })
}

fn fts5() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    let table = "CREATE VIRTUAL TABLE chunk USING fts5 (tokens, content = '', tokenize = 'ascii')";
    connection.execute_batch(table).unwrap();
    connection
}

fn index(connection: &Connection, text: &str) {
    connection.execute("INSERT INTO chunk (chunk) VALUES ('delete-all')", []).unwrap();
    for chunk in chunks(text) {
        connection.execute("INSERT INTO chunk (tokens) VALUES (?1)", [chunk.fts5_text()]).unwrap();
    }
}

fn fts5_has(connection: &Connection, phrase: &IndexPhrase) -> bool {
    let question = "SELECT EXISTS (SELECT 1 FROM chunk WHERE chunk MATCH ?1)";
    connection.query_row(question, [phrase.fts5_expression()], |row| row.get(0)).unwrap()
}

fn check_ranges(text: &str, ranges: &[Range<usize>]) {
    assert!(!ranges.is_empty() && ranges.len() <= MAX_RANGES);
    assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
    assert!(ranges.iter().all(|range| !text[range.clone()].is_empty()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn tokens_are_fit_for_every_database(text in fragments(60)) {
        let mut next = 0;
        for token in tokens(&text) {
            prop_assert!((1..=MAX_TOKEN_BYTES).contains(&token.text.len()));
            prop_assert!(token.text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || !c.is_ascii()));
            prop_assert!(!token.text.contains(char::is_whitespace));
            prop_assert!(!text[token.start..token.end].is_empty());
            if token.kind == TokenKind::Word {
                prop_assert_eq!(token.position, next);
                next += 1;
            }
            prop_assert_eq!(token.position + 1, next);
        }
    }

    #[test]
    fn indexes_have_what_is_found((text, query) in text_and_query()) {
        let Ok(query) = Query::parse(&query) else { return Ok(()) };
        let Some(ranges) = query.find_in(&text) else { return Ok(()) };
        check_ranges(&text, &ranges);
        let chunks = chunks(&text);
        let phrases = query.terms().iter().flat_map(Term::phrases).chain(query.phrases());
        for phrase in phrases {
            prop_assert!(phrase.tokens().len() <= PHRASE_TOKENS);
            prop_assert!(chunks.iter().any(|chunk| in_a_row(&chunk.tokens().collect::<Vec<_>>(), phrase)));
            prop_assert!(chunks.iter().any(|chunk| at_positions(&positions(chunk), phrase)));
        }
    }

    #[test]
    fn sqlite_has_what_is_found(cases in prop::collection::vec(text_and_query(), 4)) {
        let connection = fts5();
        for (text, query) in cases {
            let Ok(query) = Query::parse(&query) else { continue };
            index(&connection, &text);
            let found = query.find_in(&text).is_some();
            for phrase in query.phrases() {
                let has = fts5_has(&connection, phrase);
                prop_assert!(has || !found, "{:?}", phrase);
            }
        }
    }

    /// What stands in a text from one word to another is found there as a phrase.
    #[test]
    fn every_row_of_words_is_found(text in fragments(40), first in any::<prop::sample::Index>(), count in 1_usize..40) {
        // One character of several words would be found with all of them.
        let text: String = text.chars().filter(|c| tokens(&c.to_string()).count() <= 1).collect();
        let words: Vec<_> = tokens(&text).filter(|token| token.kind == TokenKind::Word).collect();
        prop_assume!(!words.is_empty());
        let first = first.index(words.len());
        let last = (first + count).min(words.len()) - 1;
        prop_assume!(words[first.saturating_sub(1)..(last + 2).min(words.len())].iter().all(|word| word.text.len() < 60));
        let shares = |pair: &[Token]| {
            let unspaced = pair[0].text.chars().next().map(class) == Some(Class::Unspaced);
            pair[0].end > pair[1].start && !unspaced
        };
        prop_assume!(!words.windows(2).any(shares));
        let wanted = words[first].start..words[last].end;
        let phrase = &text[wanted.clone()];
        prop_assume!(!phrase.contains(['"', '“', '”', '„']) && !phrase.contains("Zm9vYmE+"));
        prop_assume!(phrase.chars().count() < MAX_QUERY_CHARACTERS - 2);
        let ranges = Query::parse(&format!("\"{phrase}\"")).unwrap().find_in(&text);
        prop_assert!(ranges.is_some(), "{phrase:?}");
        let ranges = ranges.unwrap();
        // The same may stand before it.
        prop_assert!(ranges[0].start <= wanted.start);
    }

    #[test]
    fn snippets_show_what_was_found((text, query) in text_and_query(), most in 0_usize..200) {
        use unicode_segmentation::UnicodeSegmentation;
        let ranges = Query::parse(&query).ok().and_then(|query| query.find_in(&text));
        let snippet = snippet(&text, ranges.as_deref().unwrap_or_default(), most);
        let shown = snippet.text.trim_matches('…');
        prop_assert!(shown.graphemes(true).count() <= most.max(1), "{:?}", snippet);
        prop_assert_eq!(snippet.marks.is_empty(), ranges.is_none(), "{:?}", snippet);
        prop_assert!(snippet.marks.windows(2).all(|pair| pair[0].end <= pair[1].start));
        prop_assert!(snippet.marks.iter().all(|mark| !snippet.text[mark.clone()].is_empty()));
        prop_assert!(!snippet.text.contains(char::is_control));
        let source = &text[snippet.start..snippet.end];
        let squeezed = |text: &str| text.split(|c: char| c.is_whitespace() || c.is_control()).collect::<String>();
        prop_assert_eq!(squeezed(shown), squeezed(source.trim_matches('…')));
        let starts: Vec<_> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
        prop_assert!(starts.contains(&snippet.start) && starts.contains(&snippet.end));
    }
}
