-- Deferred calls that are made by whoever takes them, where several servers share a PostgreSQL database. One process works
-- on SQLite, and all of this stays empty.
ALTER TABLE replicas ADD COLUMN takes TEXT NOT NULL DEFAULT '';
ALTER TABLE deferred ADD COLUMN request TEXT;
ALTER TABLE deferred ADD COLUMN repeatable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deferred ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
