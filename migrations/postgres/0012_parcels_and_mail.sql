-- What several servers on one database hand to one another. Times are the database's own, in microseconds.

-- Things that are kept for a while and read at every server. kind 'session': what was said of an older MCP session, and
-- that it has ended; 'result': a result that was too long to be shown; 'question': a number that was used.
-- about: what lists show of it.
CREATE TABLE parcels (
    kind TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    about TEXT COLLATE "C" NOT NULL,
    body BYTEA NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (kind, id)
);

CREATE INDEX parcels_by_owner ON parcels (owner, kind, expires_at);
CREATE INDEX parcels_by_end ON parcels (expires_at);

-- Messages for the server that holds a stream, or runs a request; read and removed by it. Lost when PostgreSQL crashes,
-- as the requests are that they belong to.
CREATE UNLOGGED TABLE mail (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    replica TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
);

CREATE INDEX mail_by_replica ON mail (replica, id);

-- Calls that outlive their request. replica: who makes it; while that one is alive, or the call is over, the row is true.
-- requests: what its client is asked and has not answered; responses: what it answered since it was asked last.
CREATE TABLE deferred (
    id TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C",
    requests TEXT COLLATE "C" NOT NULL,
    responses TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C",
    replica TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX deferred_by_end ON deferred (expires_at);
