-- The registry of servers that share a PostgreSQL database. On SQLite it is in the files of the home, and this stays empty.
CREATE TABLE registry (
    version INTEGER NOT NULL
) STRICT;
INSERT INTO registry (version) VALUES (0);

CREATE TABLE registry_changes (
    version INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    run TEXT NOT NULL,
    change TEXT NOT NULL
) STRICT;

CREATE TABLE registry_documents (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    body BLOB,
    executable INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, name)
) STRICT;

ALTER TABLE replicas ADD COLUMN registry_version INTEGER NOT NULL DEFAULT 0;
