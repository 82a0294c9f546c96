-- Times are microseconds since the epoch (UTC). JSON is text: the program reads it, the database does not.
-- Texts sort and compare by their bytes (collation "C"), as on SQLite.

-- GENERATED ALWAYS: ids come from the database alone, and are never given twice.
CREATE TABLE users (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key TEXT COLLATE "C" NOT NULL UNIQUE,
    time_zone TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);

-- Only the SHA-256 of a key is kept: the keys have 256 random bits, so a slow hash would buy nothing.
-- Revoked keys stay, as the proof that keys were ever in use.
CREATE TABLE keys (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users (id),
    hash BYTEA NOT NULL UNIQUE,
    prefix TEXT COLLATE "C" NOT NULL,
    grants TEXT COLLATE "C" NOT NULL,
    profiles TEXT COLLATE "C",
    person BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- What waits for a person. Bound to one caller, one tool and the hash of the exact arguments.
CREATE TABLE pending (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('approval', 'question', 'confirmation')),
    user_id BIGINT NOT NULL REFERENCES users (id),
    tool TEXT COLLATE "C" NOT NULL,
    profile TEXT COLLATE "C" NOT NULL,
    arguments_hash TEXT COLLATE "C" NOT NULL,
    arguments TEXT COLLATE "C" NOT NULL,
    prompt TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL
        CHECK (state IN ('open', 'approved', 'denied', 'answered', 'used', 'expired')),
    answer TEXT COLLATE "C",
    decided_by BIGINT REFERENCES users (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    decided_at BIGINT,
    used_at BIGINT
);

-- A repeated held call finds its matter; one user's matters, newest first.
CREATE INDEX pending_by_call ON pending (user_id, tool, arguments_hash, created_at);
CREATE INDEX pending_by_user ON pending (user_id, created_at);
-- The sweep of what was never decided or never used, and the list of all that is open.
CREATE INDEX pending_by_deadline ON pending (state, expires_at);

-- The first answer to a call with an idempotency key. 'started' without 'done' after a crash: outcome unknown.
CREATE TABLE idempotency (
    user_id BIGINT NOT NULL REFERENCES users (id),
    key TEXT COLLATE "C" NOT NULL,
    body_hash TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('started', 'done')),
    answer TEXT COLLATE "C",
    run_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, key)
);

CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Facts about the installation itself.
CREATE TABLE settings (
    key TEXT COLLATE "C" PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);
