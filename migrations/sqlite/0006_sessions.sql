-- Sessions of the console: a cookie and a proof, of which only the SHA-256 is kept; one without the other is nothing.
-- owner: from a link that the home's owner asked for; key_id: the person's key that it stands for, where it is one.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id),
    key_id INTEGER REFERENCES keys (id),
    owner INTEGER NOT NULL CHECK (owner IN (0, 1)),
    hash BLOB NOT NULL UNIQUE,
    proof_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    agent TEXT NOT NULL,
    address TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_by_user ON sessions (user_id, created_at) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_key ON sessions (key_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_end ON sessions (expires_at);
