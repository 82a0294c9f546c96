-- The newest version of the schema that the oldest program knows which can work on this one; NULL: only those that know
-- this version.
ALTER TABLE schema_migrations ADD COLUMN oldest_reader INTEGER;

-- What a process can read. On SQLite there is one, and this stays empty.
ALTER TABLE replicas ADD COLUMN knows TEXT;
