CREATE TABLE document (
    id       INTEGER PRIMARY KEY,
    -- Begins the ids of its passages.
    key      TEXT NOT NULL UNIQUE,
    name     TEXT NOT NULL UNIQUE,
    size     INTEGER NOT NULL,
    mtime    INTEGER NOT NULL,
    -- Whether it was changed so shortly before it was read that its time may not tell a later change.
    recent   INTEGER NOT NULL,
    hash     BLOB NOT NULL,
    title    TEXT NOT NULL,
    date     TEXT,
    -- Other names of what it is about, and its path as words.
    names    TEXT NOT NULL,
    passages INTEGER NOT NULL,
    -- Why it was left out, wholly (no passages) or in part; JSON.
    skipped  TEXT
);

CREATE TABLE passage (
    id       INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES document (id),
    -- From 1, in the order of the document.
    ordinal  INTEGER NOT NULL,
    -- Of the record that it belongs to; null: the document's.
    title    TEXT,
    date     TEXT,
    section  TEXT NOT NULL,
    text     TEXT NOT NULL,
    start    INTEGER NOT NULL,
    "end"    INTEGER NOT NULL,
    line     INTEGER NOT NULL,
    page     INTEGER,
    -- [[at, len, start, end, line], ...]; null: the text stands verbatim at start..end.
    pieces   TEXT,
    UNIQUE (document, ordinal)
);

-- The words only: texts are in `passage`, under the same row number.
CREATE VIRTUAL TABLE words USING fts5 (
    title, section, names, text,
    content = '', contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
