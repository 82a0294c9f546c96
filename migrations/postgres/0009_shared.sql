-- What several servers on one database share. Times are the database's own, in microseconds.

-- Whether a process works as one of several: then all that are alive do.
ALTER TABLE replicas ADD COLUMN shared BOOLEAN NOT NULL DEFAULT false;

-- How far the things of an owner (0: of everybody) have come. A change moves a row in its own transaction; which of the
-- shards is all the same, so that changes do not wait for one another. Rows are never removed: their sum only grows.
CREATE TABLE generations (
    owner BIGINT NOT NULL,
    resource TEXT COLLATE "C" NOT NULL,
    shard INTEGER NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (owner, resource, shard)
);

-- Calls of scripts and other servers that may be changing something now: while there is one, no answer is kept.
CREATE TABLE open_changes (
    id TEXT COLLATE "C" NOT NULL,
    resource TEXT COLLATE "C" NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (resource, id)
);

-- Calls per tool and user in a sliding window, in milliseconds. Not worth a write-ahead log: a crash is a new window.
CREATE UNLOGGED TABLE counters (
    scope BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    start BIGINT NOT NULL,
    length BIGINT NOT NULL,
    now BIGINT NOT NULL,
    before BIGINT NOT NULL,
    PRIMARY KEY (scope, user_id)
);

-- What one process at a time may do. It is free when nobody has it (holder ''), when its holder is gone, and by its time
-- at the latest; wanted_by: who has waited longest, and asks again soon.
CREATE TABLE leases (
    name TEXT COLLATE "C" PRIMARY KEY,
    holder TEXT COLLATE "C" NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    until BIGINT NOT NULL,
    wanted_by TEXT COLLATE "C" NOT NULL DEFAULT '',
    wanted_until BIGINT NOT NULL DEFAULT 0
);

-- Titles that others have changed since the last look.
CREATE INDEX tasks_by_change ON tasks (user_id, updated_at) WHERE deleted_at IS NULL;
