-- Logins at other MCP servers, where several servers share a PostgreSQL database. One process works on SQLite, and keeps
-- them in files: this stays empty.
CREATE TABLE logins (
    server TEXT PRIMARY KEY,
    sealed TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
