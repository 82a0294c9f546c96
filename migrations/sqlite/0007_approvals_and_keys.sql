-- Who asked, and how: what an inbox of everybody's requests must show. Older rows have none of it.
ALTER TABLE pending ADD COLUMN agent_id TEXT;
ALTER TABLE pending ADD COLUMN edge TEXT;
ALTER TABLE pending ADD COLUMN execution_id TEXT;
ALTER TABLE pending ADD COLUMN conversation TEXT;
-- The definition that the person was asked about, as a hash.
ALTER TABLE pending ADD COLUMN definition TEXT;
-- Why it was denied, in the person's words.
ALTER TABLE pending ADD COLUMN reason TEXT;

-- A person lets one caller use one tool, as it is defined now, without being asked again until then.
CREATE TABLE standing_approvals (
    -- That of the request which it answered.
    id TEXT PRIMARY KEY REFERENCES pending (id),
    user_id INTEGER NOT NULL REFERENCES users (id),
    key_id INTEGER REFERENCES keys (id),
    tool TEXT NOT NULL,
    profile TEXT NOT NULL,
    definition TEXT NOT NULL,
    agent_id TEXT,
    decided_by INTEGER NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    used INTEGER NOT NULL DEFAULT 0,
    last_used_at INTEGER,
    -- The last calls that it let through.
    uses TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE INDEX standing_approvals_by_call ON standing_approvals (user_id, tool, expires_at);
CREATE INDEX standing_approvals_by_expiry ON standing_approvals (expires_at);

ALTER TABLE keys ADD COLUMN note TEXT;
ALTER TABLE keys ADD COLUMN expires_at INTEGER;
ALTER TABLE keys ADD COLUMN last_used_at INTEGER;
