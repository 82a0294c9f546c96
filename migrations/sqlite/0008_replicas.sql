-- The processes that work on this database now. On SQLite the home's lock says that, and this stays empty.
CREATE TABLE replicas (
    id TEXT PRIMARY KEY,
    home TEXT NOT NULL,
    version TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT;
