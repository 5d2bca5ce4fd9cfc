-- Prompts that wait, what a person chose of a session, and processes that outlive their server.

ALTER TABLE session ADD COLUMN chosen      TEXT; -- JSON
ALTER TABLE session ADD COLUMN directories TEXT; -- JSON

-- Prompts, in the order of their keys. Those that wait no more are kept by their name: the same again is the same one.
CREATE TABLE prompt (
    key              INTEGER PRIMARY KEY,
    session          INTEGER NOT NULL REFERENCES session (key),
    id               TEXT    NOT NULL,
    client_key       TEXT,
    held             TEXT,
    created_at       INTEGER,
    ended            INTEGER NOT NULL DEFAULT 0,      -- 0 waits, 1 was sent, 2 was removed
    text             TEXT    NOT NULL,                -- empty where it waits no more
    attachments      TEXT,                            -- JSON
    attachments_blob BLOB    REFERENCES blob (hash),  -- the attachments, where `attachments` has no data of large ones
    UNIQUE (session, id),
    UNIQUE (session, client_key)
) STRICT;
CREATE INDEX prompt_waiting ON prompt (session, key) WHERE ended = 0;
CREATE INDEX prompt_attachments_blob ON prompt (attachments_blob) WHERE attachments_blob IS NOT NULL;

-- The process of a server, by what tells it apart for good; NULL where the system does not tell.
ALTER TABLE server ADD COLUMN machine       TEXT;
ALTER TABLE server ADD COLUMN pid           INTEGER;
ALTER TABLE server ADD COLUMN process_start INTEGER;

-- Processes that servers started. They are here until someone saw that they ended, also where their server is gone.
CREATE TABLE agent_process (
    machine       TEXT    NOT NULL,
    pid           INTEGER NOT NULL,
    process_start INTEGER NOT NULL,
    server        TEXT    NOT NULL,
    PRIMARY KEY (machine, pid, process_start)
) STRICT, WITHOUT ROWID;
