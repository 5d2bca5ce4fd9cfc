-- What windows, search, large values and several servers need. What is derived from messages (the outline and the
-- full-text index) is made anew for the sessions that were there before: `session.derived` tells which version of it a
-- session has.

ALTER TABLE session ADD COLUMN derived   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN unindexed INTEGER NOT NULL DEFAULT 0; -- how much waits for the full-text index, about
ALTER TABLE session ADD COLUMN owner     TEXT;                       -- the server that may work on it
CREATE INDEX session_underived ON session (derived, key);
CREATE INDEX session_owner ON session (owner) WHERE owner IS NOT NULL;

-- The outline: which top-level message shows a message, and what that makes (docs/spec/fold.md, sections 1 to 4).
ALTER TABLE message ADD COLUMN ordinal    INTEGER;                    -- among top-level messages, from 0; NULL inside a call
ALTER TABLE message ADD COLUMN shown_by   INTEGER;                    -- the key of that message, where it is another one
ALTER TABLE message ADD COLUMN makes      INTEGER NOT NULL DEFAULT 0; -- 0 nothing, 1 a round, 2 a reply, 3 another row
ALTER TABLE message ADD COLUMN starts_run INTEGER NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN unindexed  INTEGER NOT NULL DEFAULT 0;
CREATE INDEX message_by_ordinal ON message (session, ordinal) WHERE ordinal IS NOT NULL;
CREATE INDEX message_by_makes ON message (session, makes, ordinal) WHERE ordinal IS NOT NULL;
CREATE INDEX message_starts_run ON message (session, ordinal) WHERE starts_run;
CREATE INDEX message_inside ON message (shown_by) WHERE shown_by IS NOT NULL;
CREATE INDEX message_result ON message (session, call) WHERE role = 'tool';
CREATE INDEX message_notice ON message (session, code) WHERE role = 'notice';
CREATE INDEX message_unindexed ON message (session, key) WHERE unindexed;

ALTER TABLE part ADD COLUMN blob      BLOB REFERENCES blob (hash); -- the data of an image, audio or resource that is large
ALTER TABLE part ADD COLUMN unindexed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX part_blob ON part (blob) WHERE blob IS NOT NULL;
CREATE INDEX part_unindexed ON part (message) WHERE unindexed;

-- `shown_by` is the key of the message that shows the call, where that is not the call's own.
ALTER TABLE call ADD COLUMN shown_by    INTEGER;
ALTER TABLE call ADD COLUMN input_blob  BLOB REFERENCES blob (hash); -- the request, where `input` is a preview of it
ALTER TABLE call ADD COLUMN output_blob BLOB REFERENCES blob (hash); -- the result, where `output` is a preview of it
CREATE INDEX call_input_blob ON call (input_blob) WHERE input_blob IS NOT NULL;
CREATE INDEX call_output_blob ON call (output_blob) WHERE output_blob IS NOT NULL;
CREATE INDEX call_inside ON call (shown_by) WHERE shown_by IS NOT NULL;
CREATE INDEX permission_session ON permission (session);
CREATE INDEX call_parent ON call (session, parent) WHERE parent IS NOT NULL;
CREATE INDEX message_parent ON message (session, parent) WHERE parent IS NOT NULL;

-- What was appended to a text, or to the terminal block of a call's output, in pieces of bounded size, so that an
-- append rewrites at most the last piece, however long the whole is.
CREATE TABLE piece (
    key  INTEGER PRIMARY KEY,
    part INTEGER NOT NULL REFERENCES part (key),
    seq  INTEGER NOT NULL, -- from 0, without gaps
    text TEXT    NOT NULL,
    UNIQUE (part, seq)
) STRICT;
INSERT INTO piece (part, seq, text) SELECT call, seq, text FROM terminal_output ORDER BY key;
DROP TABLE terminal_output;

-- Which messages are snapshots of one plan (docs/spec/fold.md, section 3); '' stands for no turn and for no stream.
CREATE TABLE plan_identity (
    session        INTEGER NOT NULL REFERENCES session (key),
    turn           TEXT    NOT NULL,
    stream         TEXT    NOT NULL,
    first_message  INTEGER NOT NULL REFERENCES message (key),
    newest_message INTEGER NOT NULL REFERENCES message (key),
    PRIMARY KEY (session, turn, stream)
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_identity_first ON plan_identity (first_message);
CREATE INDEX plan_identity_newest ON plan_identity (newest_message);

-- Large values by their content's SHA-256, kept once.
CREATE TABLE blob (
    hash    BLOB    PRIMARY KEY,
    bytes   INTEGER NOT NULL, -- of the value
    uses    INTEGER NOT NULL, -- how many columns refer to it
    content BLOB    NOT NULL  -- zstd
) STRICT;

-- Pieces of what can be searched for; `search_text` has the tokens of each under the same key.
CREATE TABLE search_chunk (
    key     INTEGER PRIMARY KEY, -- seconds since 1970 and a counter: newest first is the key's order
    session INTEGER NOT NULL, -- that of the message
    message INTEGER NOT NULL REFERENCES message (key),
    part    INTEGER,          -- one of the message's; NULL: the message's own text
    field   INTEGER NOT NULL,
    kind    TEXT                           -- of a call
) STRICT;
CREATE INDEX search_chunk_text ON search_chunk (message, part);
CREATE VIRTUAL TABLE search_text USING fts5 (tokens, content = '', contentless_delete = 1, tokenize = 'ascii');

-- Servers that share this database, each known by its last sign of life, in the database's time.
CREATE TABLE server (
    id         TEXT    PRIMARY KEY,
    started_at INTEGER NOT NULL,
    beat_at    INTEGER NOT NULL
) STRICT;

-- Commands for whoever owns a session: taken once.
CREATE TABLE command (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    session    INTEGER NOT NULL REFERENCES session (key),
    id         TEXT    NOT NULL, -- chosen by the sender: the same again is the same command
    body       TEXT    NOT NULL, -- JSON
    created_at INTEGER NOT NULL,
    taken_by   TEXT,
    outcome    TEXT,             -- JSON
    UNIQUE (session, id)
) STRICT;
CREATE INDEX command_waiting ON command (session, key) WHERE taken_by IS NULL;

-- Files that sessions were read from, as they were then.
CREATE TABLE import_source (
    path        TEXT    PRIMARY KEY,
    session     INTEGER NOT NULL REFERENCES session (key),
    bytes       INTEGER NOT NULL,
    modified_at INTEGER NOT NULL,
    hash        BLOB    NOT NULL,
    imported_at INTEGER NOT NULL
) STRICT;
CREATE INDEX import_source_session ON import_source (session);

CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL -- JSON
) STRICT;

-- Who may come in; of a token only its hash is known.
CREATE TABLE token (
    id         TEXT    PRIMARY KEY,
    name       TEXT    NOT NULL,
    role       TEXT    NOT NULL CHECK (role IN ('owner', 'writer', 'reader')),
    hash       BLOB    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
