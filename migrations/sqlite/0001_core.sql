-- Times are microseconds since the epoch (UTC). JSON is text: the program reads it, the database does not.
-- STRICT: a value of another type is an error, as on PostgreSQL.

-- AUTOINCREMENT: an id that a client has seen is never given to somebody else.
CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    time_zone TEXT,
    created_at INTEGER NOT NULL
) STRICT;

-- Only the SHA-256 of a key is kept: the keys have 256 random bits, so a slow hash would buy nothing.
-- Revoked keys stay, as the proof that keys were ever in use.
CREATE TABLE keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id),
    hash BLOB NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    grants TEXT NOT NULL,
    profiles TEXT,
    person INTEGER NOT NULL CHECK (person IN (0, 1)),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

-- What waits for a person. Bound to one caller, one tool and the hash of the exact arguments.
CREATE TABLE pending (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('approval', 'question', 'confirmation')),
    user_id INTEGER NOT NULL REFERENCES users (id),
    tool TEXT NOT NULL,
    profile TEXT NOT NULL,
    arguments_hash TEXT NOT NULL,
    arguments TEXT NOT NULL,
    prompt TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'approved', 'denied', 'answered', 'used', 'expired')),
    answer TEXT,
    decided_by INTEGER REFERENCES users (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    decided_at INTEGER,
    used_at INTEGER
) STRICT;

-- A repeated held call finds its matter; one user's matters, newest first.
CREATE INDEX pending_by_call ON pending (user_id, tool, arguments_hash, created_at);
CREATE INDEX pending_by_user ON pending (user_id, created_at);
-- The sweep of what was never decided or never used, and the list of all that is open.
CREATE INDEX pending_by_deadline ON pending (state, expires_at);

-- The first answer to a call with an idempotency key. 'started' without 'done' after a crash: outcome unknown.
CREATE TABLE idempotency (
    user_id INTEGER NOT NULL REFERENCES users (id),
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'done')),
    answer TEXT,
    run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Facts about the installation itself.
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
