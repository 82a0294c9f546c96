-- The execution logs of several servers on one database, as each has shipped its own.

-- Each home has a shard of every day's log; homes past the largest number of shards share.
CREATE TABLE log_homes (
    home TEXT COLLATE "C" PRIMARY KEY,
    shard INTEGER NOT NULL
);

-- How far each file of a home was shipped; part: which of the day's files.
CREATE TABLE log_files (
    home TEXT COLLATE "C" NOT NULL,
    day TEXT COLLATE "C" NOT NULL,
    part INTEGER NOT NULL,
    length BIGINT NOT NULL,
    PRIMARY KEY (day, home, part)
);

-- How long each shard is.
CREATE TABLE log_shards (
    day TEXT COLLATE "C" NOT NULL,
    shard INTEGER NOT NULL,
    length BIGINT NOT NULL,
    PRIMARY KEY (day, shard)
);

-- The bytes of a shard from a place on: whole lines of JSON.
CREATE TABLE log_pieces (
    day TEXT COLLATE "C" NOT NULL,
    shard INTEGER NOT NULL,
    at BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (day, shard, at)
);
