-- The release before works on while this one replaces it, server by server.

-- The newest version of the schema that the oldest program knows which can work on this one; NULL: only those that know
-- this version.
ALTER TABLE schema_migrations ADD COLUMN oldest_reader BIGINT;

-- The fields of tools and profiles that a process can read, as a JSON list; NULL: it does not say.
ALTER TABLE replicas ADD COLUMN knows TEXT COLLATE "C";
