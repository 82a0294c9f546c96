-- What several servers on one PostgreSQL database share. One process works on SQLite, and all of this stays empty.
ALTER TABLE replicas ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;

CREATE TABLE generations (
    owner INTEGER NOT NULL,
    resource TEXT NOT NULL,
    shard INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (owner, resource, shard)
) STRICT;

CREATE TABLE open_changes (
    id TEXT NOT NULL,
    resource TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (resource, id)
) STRICT;

CREATE TABLE counters (
    scope INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    now INTEGER NOT NULL,
    before INTEGER NOT NULL,
    PRIMARY KEY (scope, user_id)
) STRICT;

CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    token TEXT NOT NULL,
    until INTEGER NOT NULL,
    wanted_by TEXT NOT NULL DEFAULT '',
    wanted_until INTEGER NOT NULL DEFAULT 0
) STRICT;
