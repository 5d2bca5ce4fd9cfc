-- Sessions with all that was said and done in them. `key`s are internal and never leave the database; `id`s are the
-- domain's, unique in their session. A column that holds JSON says so; NULL there means that there is nothing.
-- `extra` holds, as a JSON object, the keys of an imported document that are not ours.

CREATE TABLE session (
    key            INTEGER PRIMARY KEY,
    id             TEXT    NOT NULL UNIQUE,
    revision       INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    created_at     INTEGER,
    title          TEXT,
    agent          TEXT,
    root           TEXT,
    live_turn      TEXT,
    last_words     TEXT,
    context_used   INTEGER,
    context_size   INTEGER,
    extra          TEXT, -- JSON
    document_extra TEXT  -- JSON: the foreign keys beside `session` and `messages`
) STRICT;

CREATE INDEX session_by_activity ON session (updated_at DESC, key DESC);
CREATE INDEX session_live ON session (key) WHERE live_turn IS NOT NULL;

-- What the agent called a session; the newest has the highest key.
CREATE TABLE agent_session (
    key     INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES session (key),
    id      TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    UNIQUE (session, id)
) STRICT;

CREATE TABLE turn (
    key         INTEGER PRIMARY KEY,
    session     INTEGER NOT NULL REFERENCES session (key),
    id          TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    state       TEXT    NOT NULL,
    stop_reason TEXT,
    started_at  INTEGER,
    ended_at    INTEGER,
    usage       TEXT, -- JSON
    extra       TEXT, -- JSON
    UNIQUE (session, id),
    UNIQUE (session, seq)
) STRICT;

CREATE INDEX turn_open ON turn (session) WHERE state IN ('queued', 'running');

-- `turn`, `parent` and `call` are ids that need not exist: imported histories name what they do not hold.
CREATE TABLE message (
    key        INTEGER PRIMARY KEY,
    session    INTEGER NOT NULL REFERENCES session (key),
    id         TEXT    NOT NULL,
    seq        INTEGER NOT NULL, -- from 0, without gaps
    role       TEXT    NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'plan', 'notice')),
    turn       TEXT,
    created_at INTEGER,
    parent     TEXT,             -- of an assistant message
    state      TEXT,             -- of an assistant message
    error      TEXT,             -- of an assistant message
    rating     INTEGER,          -- of an assistant message
    lead       INTEGER NOT NULL, -- of a user message
    origin     TEXT,             -- of a user message
    call       TEXT,             -- what a tool message answers; the stream of a plan
    level      TEXT,             -- of a notice
    code       TEXT,             -- of a notice
    text       TEXT,             -- of all but assistant messages; NULL in a plan of entries
    entries    TEXT,             -- JSON, of a plan
    extra      TEXT,             -- JSON
    UNIQUE (session, id),
    UNIQUE (session, seq)
) STRICT;

-- The parts of an assistant message and the attachments of a user message.
CREATE TABLE part (
    key        INTEGER PRIMARY KEY,
    message    INTEGER NOT NULL REFERENCES message (key),
    place      INTEGER NOT NULL, -- from 0, without gaps
    type       TEXT    NOT NULL CHECK (type IN ('thinking', 'text', 'call', 'image', 'audio', 'resource')),
    message_id TEXT,
    mime       TEXT,
    uri        TEXT,
    name       TEXT,
    extra      TEXT,             -- JSON
    text       TEXT,             -- of thinking and text; the data of an image, audio or resource
    UNIQUE (message, place)
) STRICT;

-- What a part of type `call` holds. The heavy columns come last, so that reading the others does not load them.
CREATE TABLE call (
    key            INTEGER PRIMARY KEY REFERENCES part (key),
    session        INTEGER NOT NULL REFERENCES session (key),
    id             TEXT    NOT NULL,
    agent_id       TEXT,
    state          TEXT    NOT NULL,
    name           TEXT,
    server         TEXT,
    kind           TEXT,
    title          TEXT,
    parent         TEXT,
    started_at     INTEGER,
    ended_at       INTEGER,
    waited_ms      INTEGER,
    feedback       TEXT,
    lines_added    INTEGER,
    lines_removed  INTEGER,
    announced      INTEGER NOT NULL,
    closed_by_host INTEGER NOT NULL,
    locations      TEXT,             -- JSON
    extra          TEXT,             -- JSON
    terminal       INTEGER NOT NULL, -- `output` has a terminal block, to which text can be appended
    input          TEXT,             -- JSON
    output         TEXT,             -- JSON
    UNIQUE (session, id)
) STRICT;

-- What was appended to the terminal block of a call's output, in pieces of bounded size, so that an append rewrites at
-- most the last piece, however long the output is.
CREATE TABLE terminal_output (
    key  INTEGER PRIMARY KEY,
    call INTEGER NOT NULL REFERENCES call (key),
    seq  INTEGER NOT NULL,
    text TEXT    NOT NULL,
    UNIQUE (call, seq)
) STRICT;

-- Questions to a person. The document shows the newest one of a call.
CREATE TABLE permission (
    key     INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session (key),
    call    INTEGER NOT NULL REFERENCES call (key),
    request TEXT, -- ours; imported ones may have none
    state   TEXT,
    chosen  TEXT,
    by      TEXT,
    at      INTEGER,
    options TEXT, -- JSON
    extra   TEXT  -- JSON
) STRICT;

CREATE INDEX permission_of_call ON permission (call);
CREATE INDEX permission_open ON permission (session) WHERE state = 'open';
