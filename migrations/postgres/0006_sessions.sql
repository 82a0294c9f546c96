-- Sessions of the console: a cookie and a proof, of which only the SHA-256 is kept; one without the other is nothing.
-- owner: from a link that the home's owner asked for; key_id: the person's key that it stands for, where it is one.
CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users (id),
    key_id BIGINT REFERENCES keys (id),
    owner BOOLEAN NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    proof_hash BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    agent TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL
);

CREATE INDEX sessions_by_user ON sessions (user_id, created_at) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_key ON sessions (key_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_end ON sessions (expires_at);
