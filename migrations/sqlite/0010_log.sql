-- The execution logs of several servers on one PostgreSQL database. One process works on SQLite, and all of this stays
-- empty.
CREATE TABLE log_homes (
    home TEXT PRIMARY KEY,
    shard INTEGER NOT NULL
) STRICT;

CREATE TABLE log_files (
    home TEXT NOT NULL,
    day TEXT NOT NULL,
    part INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (day, home, part)
) STRICT;

CREATE TABLE log_shards (
    day TEXT NOT NULL,
    shard INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (day, shard)
) STRICT;

CREATE TABLE log_pieces (
    day TEXT NOT NULL,
    shard INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (day, shard, at)
) STRICT;
