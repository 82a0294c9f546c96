-- The registry of servers that share this database: their tools, scripts, profiles, servers and approved definitions.

-- The newest version. Its one row is locked by whoever makes the next.
CREATE TABLE registry (
    version BIGINT NOT NULL
);
INSERT INTO registry (version) VALUES (0);

-- Every version, without a gap: when it was made (the database's time, in microseconds), by which run, and what it was.
CREATE TABLE registry_changes (
    version BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    change TEXT NOT NULL
);

-- What is in the newest version, each with the version that it came with. kind: 'file' (name: its path in a home) or
-- 'approved' (name: a server). body: NULL once it was removed, so that others hear of that.
CREATE TABLE registry_documents (
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    body BYTEA,
    executable BOOLEAN NOT NULL DEFAULT false,
    PRIMARY KEY (kind, name)
);
CREATE INDEX registry_documents_by_version ON registry_documents (version);

-- The version that a process serves. A change is answered when all that are alive serve it.
ALTER TABLE replicas ADD COLUMN registry_version BIGINT NOT NULL DEFAULT 0;
