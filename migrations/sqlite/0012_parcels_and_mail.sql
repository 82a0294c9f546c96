-- What several servers on one PostgreSQL database hand to one another. One process works on SQLite, and all of this stays
-- empty.
CREATE TABLE parcels (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    about TEXT NOT NULL,
    body BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT;

CREATE TABLE mail (
    id INTEGER PRIMARY KEY,
    replica TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE TABLE deferred (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    tool TEXT NOT NULL,
    status TEXT NOT NULL,
    message TEXT,
    requests TEXT NOT NULL,
    responses TEXT NOT NULL,
    outcome TEXT,
    replica TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
