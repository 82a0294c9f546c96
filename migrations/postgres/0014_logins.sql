-- Logins at other MCP servers, one for all servers that share this database. sealed: tokens, readable with the seal key
-- alone, which is not in the database. updated_at: the database's time, in microseconds.
CREATE TABLE logins (
    server TEXT COLLATE "C" PRIMARY KEY,
    sealed TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL
);
