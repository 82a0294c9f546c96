-- The processes that work on this database now. A lease that has lapsed, by the database's clock, is a process that is
-- gone. home: where it runs, so that the next one there need not wait for the lease of the last.
CREATE TABLE replicas (
    id TEXT COLLATE "C" PRIMARY KEY,
    home TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
);
