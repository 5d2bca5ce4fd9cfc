//! Searches: the index proposes texts, the query decides (docs: [`crate::search`]), and what waits for the index is
//! looked through beside it.

use super::search_index::{COUNTER_BITS, OF_A_LONG_TEXT};
use super::search_value::{self, SearchedText};
use super::sql::{FullText, Row, Sql, Value, values};
use crate::failure::Failure;
use crate::search::{
    IndexPhrase, Place, SearchCursor, SearchField, SearchFilter, SearchHit, SearchOrder, SearchPage, SearchRequest,
    snippet,
};
use pleat_transcript::call::{CallState, ToolKind};
use pleat_transcript::ids::{CallId, MessageId, SessionId};

/// How many characters of a text are shown with a hit.
const SNIPPET_CHARACTERS: usize = 180;

/// So many texts are read for a page at most: one that finds little has fewer hits, and the next goes on.
const MOST_EXAMINED: usize = 5_000;

/// So many chunks are read at once, at first; each time more.
const FIRST_BATCH: i64 = 64;

/// A chunk, or a marked message or part, and whose it is.
struct Candidate {
    at: i64,
    key: i64,
    message: i64,
    part: Option<i64>,
    field: Option<SearchField>,
    unindexed: bool,
    session: SessionId,
    title: Option<String>,
    agent: Option<String>,
    root: Option<String>,
    message_id: MessageId,
    created_at: Option<i64>,
    call: Option<CallId>,
}

/// The columns of a [`Candidate`] behind the first three, and the tables they come from.
macro_rules! candidate_columns {
    () => {
        "message.key, part.key, coalesce(part.unindexed, message.unindexed), session.id, session.title, session.agent, \
         session.root, message.id, message.created_at, call.id"
    };
}

/// What a filter demands of `session`, `call` and `message`; `$3` to `$7` are its values.
macro_rules! filtered {
    () => {
        "($3 IS NULL OR session.id = $3) AND ($4 IS NULL OR session.agent = $4) \
         AND ($5 IS NULL OR session.root = $5 OR substr(session.root, 1, length($5) + 1) = $5 || '/') \
         AND ($6 IS NULL OR coalesce(call.kind, 'other') = $6 AND call.key IS NOT NULL) \
         AND ($7 IS NULL OR call.state = $7)"
    };
}

impl Candidate {
    fn from_row(mut row: Row) -> Result<Self, Failure> {
        Ok(Self {
            at: row.integer()?,
            key: row.integer()?,
            field: row.optional_integer()?.and_then(SearchField::of_bit),
            message: row.integer()?,
            part: row.optional_integer()?,
            unindexed: row.boolean()?,
            session: row.id(SessionId::new)?,
            title: row.optional_text()?,
            agent: row.optional_text()?,
            root: row.optional_text()?,
            message_id: row.id(MessageId::new)?,
            created_at: row.optional_integer()?,
            call: row.optional_id(CallId::new)?,
        })
    }

    async fn texts<S: Sql>(&self, sql: &S) -> Result<Vec<SearchedText>, Failure> {
        match self.part {
            Some(part) => search_value::of_part(sql, part).await,
            None => Ok(search_value::of_message(sql, self.message).await?.into_iter().collect()),
        }
    }

    fn hit(&self, text: &SearchedText, request: &SearchRequest) -> Option<SearchHit> {
        let found = request.query.find_in(&text.text)?;
        Some(SearchHit {
            session: self.session.clone(),
            title: self.title.clone(),
            agent: self.agent.clone(),
            root: self.root.clone(),
            message: self.message_id.clone(),
            call: self.call.clone(),
            field: text.field,
            at: self.created_at,
            snippet: snippet(&text.text, &found, SNIPPET_CHARACTERS),
        })
    }
}

/// Finds a page of hits.
pub(crate) async fn find<S: Sql>(sql: &S, request: &SearchRequest) -> Result<SearchPage, Failure> {
    let limit = request.limit.max(1);
    let mut page = SearchPage { hits: Vec::new(), next: None };
    let place = request.after.map(|SearchCursor(place)| place);
    let below = match place {
        None => Some((i64::MAX, i64::MAX)),
        Some(Place::Waiting { message, part }) => Some((message, part)),
        Some(Place::Newest { .. } | Place::Best(_)) => None,
    };
    if let Some(below) = below {
        page.next = find_waiting(sql, request, below, limit, &mut page.hits).await?;
        if page.next.is_some() {
            return Ok(page);
        }
    }
    let from_start = (i64::MAX, i64::MAX);
    let below = match (request.order, place) {
        (SearchOrder::Best, Some(Place::Best(passed))) => return best(sql, request, passed, limit, page).await,
        (SearchOrder::Best, None | Some(Place::Waiting { .. })) => return best(sql, request, 0, limit, page).await,
        (SearchOrder::Newest, None | Some(Place::Waiting { .. } | Place::Best(_))) => from_start,
        // In an order that cannot be best: the query has nothing to rank.
        (SearchOrder::Newest | SearchOrder::Best, Some(Place::Newest { at, key })) => (at, key),
    };
    page.next = newest(sql, request, below, limit, &mut page.hits).await?;
    Ok(page)
}

/// Looks through what waits for the index, newest first; tells where it stopped because the page is full.
async fn find_waiting<S: Sql>(
    sql: &S,
    request: &SearchRequest,
    below: (i64, i64),
    limit: usize,
    hits: &mut Vec<SearchHit>,
) -> Result<Option<SearchCursor>, Failure> {
    let messages = concat!(
        "SELECT message.key, message.key, nullif(message.key, message.key), message.key, \
         nullif(message.key, message.key), message.unindexed, session.id, session.title, session.agent, session.root, message.id, message.created_at, \
         call.id FROM message JOIN session ON session.key = message.session LEFT JOIN call ON call.key = nullif(message.key, message.key) \
         WHERE message.unindexed AND coalesce(message.created_at, session.created_at, 0) >= $1 AND coalesce(message.created_at, session.created_at, 0) < $2 AND ",
        filtered!()
    );
    let parts = concat!(
        "SELECT message.key, part.key, nullif(message.key, message.key), ",
        candidate_columns!(),
        " FROM part CROSS JOIN message JOIN session ON session.key = message.session \
         LEFT JOIN call ON call.key = part.key WHERE part.unindexed AND message.key = part.message \
         AND coalesce(message.created_at, session.created_at, 0) >= $1 AND coalesce(message.created_at, session.created_at, 0) < $2 AND ",
        filtered!()
    );
    let values = filter_values(&request.filter, 1000);
    let mut rows = sql.query(messages, &values).await?;
    rows.extend(sql.query(parts, &values).await?);
    let mut waiting = rows.into_iter().map(Candidate::from_row).collect::<Result<Vec<_>, _>>()?;
    // A message's own text stands behind its parts here.
    let place = |candidate: &Candidate| (candidate.message, candidate.part.unwrap_or_default());
    waiting.sort_by_key(|candidate| std::cmp::Reverse(place(candidate)));
    let bits = SearchField::bits(&request.filter.fields);
    let mut last = below;
    for candidate in waiting.iter().filter(|candidate| place(candidate) < below) {
        if hits.len() >= limit {
            let (message, part) = last;
            return Ok(Some(SearchCursor(Place::Waiting { message, part })));
        }
        last = place(candidate);
        let texts = candidate.texts(sql).await?;
        let texts = texts.iter().filter(|text| text.field.bit() & bits != 0);
        hits.extend(texts.filter_map(|text| candidate.hit(text, request)));
    }
    Ok(None)
}

/// The values `$1` to `$7`: from and to which time, in units of so many milliseconds as `scale` says, and the rest.
fn filter_values(filter: &SearchFilter, scale: i64) -> Vec<Value<'static>> {
    let seconds = |millis: Option<i64>, open: i64| millis.map_or(open, |millis| millis.div_euclid(1000));
    let (since, until) = (seconds(filter.since, 0), seconds(filter.until, i64::MAX / (scale << 1)));
    super::sql::owned_values![
        since.max(0).saturating_mul(scale),
        until.saturating_mul(scale),
        filter.session.as_ref().map(SessionId::as_str),
        filter.agent.as_deref(),
        filter.directory.as_deref().map(|directory| directory.trim_end_matches('/')),
        filter.kind.map(ToolKind::word),
        filter.state.map(CallState::word),
    ]
}

/// What the index is asked for: all phrases in one chunk, or the longest in a chunk of a text that has several.
fn expression(phrases: &[IndexPhrase], full_text: FullText) -> Option<String> {
    let write = |phrase: &IndexPhrase| match full_text {
        FullText::Fts5 => phrase.fts5_expression(),
        FullText::TsVector => format!("({})", phrase.tsquery_text()),
    };
    let (and, or, long) = match full_text {
        FullText::Fts5 => (" AND ", " OR ", format!("\"{OF_A_LONG_TEXT}\"")),
        FullText::TsVector => (" & ", " | ", format!("'{OF_A_LONG_TEXT}'")),
    };
    let longest = phrases.iter().max_by_key(|phrase| phrase.tokens().iter().map(String::len).sum::<usize>())?;
    let all = phrases.iter().map(write).collect::<Vec<_>>().join(and);
    Some(if phrases.len() == 1 { all } else { format!("({all}){or}({}{and}{long})", write(longest)) })
}

macro_rules! from_chunks {
    () => {
        " CROSS JOIN message JOIN session ON session.key = chunk.session LEFT JOIN part ON part.key = chunk.part \
         LEFT JOIN call ON call.key = chunk.part "
    };
}

const NEWEST_FTS5: &str = concat!(
    "SELECT chunk.key, chunk.key, chunk.field, ",
    candidate_columns!(),
    " FROM search_text CROSS JOIN search_chunk AS chunk",
    from_chunks!(),
    "WHERE search_text.rowid >= $1 AND search_text.rowid < $2 AND chunk.key = search_text.rowid \
     AND message.key = chunk.message AND ",
    filtered!(),
    " AND (chunk.field & $8) <> 0 AND search_text.rowid < $9 AND search_text MATCH $10 \
     ORDER BY search_text.rowid DESC LIMIT $11"
);

const ALL_FTS5: &str = concat!(
    "SELECT chunk.key, chunk.key, chunk.field, ",
    candidate_columns!(),
    " FROM search_chunk AS chunk",
    from_chunks!(),
    "WHERE chunk.key >= $1 AND chunk.key < $2 AND message.key = chunk.message AND ",
    filtered!(),
    " AND (chunk.field & $8) <> 0 AND chunk.key < $9 ORDER BY chunk.key DESC LIMIT $10"
);

const NEWEST_TSVECTOR: &str = concat!(
    "SELECT chunk.at, chunk.key, chunk.field, ",
    candidate_columns!(),
    " FROM search_chunk AS chunk",
    from_chunks!(),
    "WHERE chunk.at >= $1 AND chunk.at < $2 AND message.key = chunk.message AND ",
    filtered!(),
    " AND (chunk.field & $8) <> 0 AND (chunk.at, chunk.key) < ($9, $10) \
     AND chunk.tokens @@ CAST($11 AS tsquery) ORDER BY chunk.at DESC, chunk.key DESC LIMIT $12"
);

const ALL_TSVECTOR: &str = concat!(
    "SELECT chunk.at, chunk.key, chunk.field, ",
    candidate_columns!(),
    " FROM search_chunk AS chunk",
    from_chunks!(),
    "WHERE chunk.at >= $1 AND chunk.at < $2 AND message.key = chunk.message AND ",
    filtered!(),
    " AND (chunk.field & $8) <> 0 AND (chunk.at, chunk.key) < ($9, $10) \
     ORDER BY chunk.at DESC, chunk.key DESC LIMIT $11"
);

/// The filter is a column here: each row is one chunk of the ranking, whether it passes or not.
const BEST_FTS5: &str = concat!(
    "SELECT coalesce(chunk.key >= $1 AND chunk.key < $2 AND ",
    filtered!(),
    " AND (chunk.field & $8) <> 0, FALSE), chunk.key, chunk.key, chunk.field, ",
    candidate_columns!(),
    " FROM (SELECT rowid AS place, rank AS points FROM search_text WHERE search_text MATCH $9 \
     ORDER BY rank, rowid DESC LIMIT $10 OFFSET $11) AS found CROSS JOIN search_chunk AS chunk",
    from_chunks!(),
    "WHERE chunk.key = found.place AND message.key = chunk.message ORDER BY found.points, chunk.key DESC"
);

const BEST_TSVECTOR: &str = concat!(
    "SELECT coalesce(chunk.at >= $1 AND chunk.at < $2 AND ",
    filtered!(),
    " AND (chunk.field & $8) <> 0, FALSE), chunk.at, chunk.key, chunk.field, ",
    candidate_columns!(),
    " FROM (SELECT ranked.key AS place, ts_rank_cd(ranked.tokens, CAST($9 AS tsquery)) AS points \
     FROM search_chunk AS ranked WHERE ranked.tokens @@ CAST($9 AS tsquery) \
     ORDER BY points DESC, ranked.key DESC LIMIT $10 OFFSET $11) AS found CROSS JOIN search_chunk AS chunk",
    from_chunks!(),
    "WHERE chunk.key = found.place AND message.key = chunk.message ORDER BY found.points DESC, chunk.key DESC"
);

/// A candidate of the index becomes a hit once: at the newest of its text's chunks that the index proposes.
struct Hits<'h> {
    request: &'h SearchRequest,
    expression: Option<String>,
    /// What waits for the index was looked through for this page already.
    waiting_was_looked_through: bool,
    /// How many texts were read.
    examined: usize,
    found: &'h mut Vec<SearchHit>,
}

impl<'h> Hits<'h> {
    fn new<S: Sql>(sql: &S, request: &'h SearchRequest, hits: &'h mut Vec<SearchHit>) -> Self {
        let after = request.after.map(|SearchCursor(place)| place);
        let waiting_was_looked_through = matches!(after, None | Some(Place::Waiting { .. }));
        let expression = expression(request.query.phrases(), sql.full_text());
        Self { request, expression, waiting_was_looked_through, examined: 0, found: hits }
    }

    async fn take<S: Sql>(&mut self, sql: &S, candidate: &Candidate) -> Result<(), Failure> {
        let was_looked_through = candidate.unindexed && self.waiting_was_looked_through;
        if was_looked_through || self.has_newer_chunk(sql, candidate).await? {
            return Ok(());
        }
        self.examined += 1;
        let texts = candidate.texts(sql).await?;
        let text = texts.iter().find(|text| Some(text.field) == candidate.field);
        self.found.extend(text.and_then(|text| candidate.hit(text, self.request)));
        Ok(())
    }

    /// The page is full, or so much was read for it that the next one goes on.
    fn is_enough(&self, limit: usize) -> bool {
        self.found.len() >= limit || self.examined >= MOST_EXAMINED
    }

    async fn has_newer_chunk<S: Sql>(&self, sql: &S, candidate: &Candidate) -> Result<bool, Failure> {
        let field = candidate.field.map_or(0, SearchField::bit);
        let statement = "SELECT max(key) FROM search_chunk WHERE message = $1 AND part IS NOT DISTINCT FROM $2 \
             AND field = $3";
        let mut rows = sql.query(statement, values![candidate.message, candidate.part, field]).await?;
        let newest = rows.first_mut().map_or(Ok(None), Row::optional_integer)?.unwrap_or_default();
        let Some(expression) = self.expression.as_deref().filter(|_| newest > candidate.key) else {
            return Ok(newest > candidate.key);
        };
        let statement = match sql.full_text() {
            FullText::Fts5 => {
                "SELECT 1 FROM search_text CROSS JOIN search_chunk AS chunk WHERE search_text.rowid > $1 \
                 AND search_text.rowid <= $2 AND chunk.key = search_text.rowid AND chunk.message = $3 \
                 AND chunk.part IS NOT DISTINCT FROM $4 AND chunk.field = $5 AND search_text MATCH $6 LIMIT 1"
            }
            FullText::TsVector => {
                "SELECT 1 FROM search_chunk AS chunk WHERE chunk.key > $1 AND chunk.key <= $2 AND chunk.message = $3 \
                 AND chunk.part IS NOT DISTINCT FROM $4 AND chunk.field = $5 \
                 AND chunk.tokens @@ CAST($6 AS tsquery) LIMIT 1"
            }
        };
        let values = values![candidate.key, newest, candidate.message, candidate.part, field, expression];
        Ok(!sql.query(statement, values).await?.is_empty())
    }
}

fn scale(full_text: FullText) -> i64 {
    match full_text {
        FullText::Fts5 => 1 << COUNTER_BITS,
        FullText::TsVector => 1,
    }
}

/// Reads the index newest first, from below a chunk; tells where it stopped because the page is full.
async fn newest<S: Sql>(
    sql: &S,
    request: &SearchRequest,
    below: (i64, i64),
    limit: usize,
    hits: &mut Vec<SearchHit>,
) -> Result<Option<SearchCursor>, Failure> {
    let mut hits = Hits::new(sql, request, hits);
    let (mut below, mut batch) = (below, FIRST_BATCH);
    loop {
        let mut values = filter_values(&request.filter, scale(sql.full_text()));
        values.push(SearchField::bits(&request.filter.fields).into());
        if sql.full_text() == FullText::TsVector {
            values.push(below.0.into());
        }
        values.push(below.1.into());
        values.extend(hits.expression.clone().map(Value::from));
        values.push(batch.into());
        let statement = match (sql.full_text(), hits.expression.is_some()) {
            (FullText::Fts5, true) => NEWEST_FTS5,
            (FullText::Fts5, false) => ALL_FTS5,
            (FullText::TsVector, true) => NEWEST_TSVECTOR,
            (FullText::TsVector, false) => ALL_TSVECTOR,
        };
        let rows = sql.query(statement, &values).await?;
        let is_last = i64::try_from(rows.len()).unwrap_or(i64::MAX) < batch;
        for row in rows {
            if hits.is_enough(limit) {
                return Ok(Some(SearchCursor(Place::Newest { at: below.0, key: below.1 })));
            }
            let candidate = Candidate::from_row(row)?;
            hits.take(sql, &candidate).await?;
            below = (candidate.at, candidate.key);
        }
        if is_last {
            return Ok(None);
        }
        batch = (batch * 4).min(4096);
    }
}

/// Reads the index best first, behind so many chunks; without words that an index has, newest first.
async fn best<S: Sql>(
    sql: &S,
    request: &SearchRequest,
    passed: i64,
    limit: usize,
    mut page: SearchPage,
) -> Result<SearchPage, Failure> {
    let mut hits = Hits::new(sql, request, &mut page.hits);
    let Some(expression) = hits.expression.clone() else {
        page.next = newest(sql, request, (i64::MAX, i64::MAX), limit, &mut page.hits).await?;
        return Ok(page);
    };
    let (mut passed, mut batch) = (passed, FIRST_BATCH);
    let statement = match sql.full_text() {
        FullText::Fts5 => BEST_FTS5,
        FullText::TsVector => BEST_TSVECTOR,
    };
    loop {
        let mut values = filter_values(&request.filter, scale(sql.full_text()));
        values.extend([SearchField::bits(&request.filter.fields).into(), expression.clone().into()]);
        values.extend([batch.into(), passed.into()]);
        let rows = sql.query(statement, &values).await?;
        let is_last = i64::try_from(rows.len()).unwrap_or(i64::MAX) < batch;
        for mut row in rows {
            if hits.is_enough(limit) {
                page.next = Some(SearchCursor(Place::Best(passed)));
                return Ok(page);
            }
            passed += 1;
            let is_wanted = row.boolean()?;
            let candidate = Candidate::from_row(row)?;
            if is_wanted {
                hits.take(sql, &candidate).await?;
            }
        }
        if is_last {
            return Ok(page);
        }
        batch = (batch * 8).min(32 * 1024);
    }
}
