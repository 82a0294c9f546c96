-- Who asked, and how: what an inbox of everybody's requests must show. Older rows have none of it.
ALTER TABLE pending ADD COLUMN agent_id TEXT COLLATE "C";
ALTER TABLE pending ADD COLUMN edge TEXT COLLATE "C";
ALTER TABLE pending ADD COLUMN execution_id TEXT COLLATE "C";
ALTER TABLE pending ADD COLUMN conversation TEXT COLLATE "C";
-- The definition that the person was asked about, as a hash.
ALTER TABLE pending ADD COLUMN definition TEXT COLLATE "C";
-- Why it was denied, in the person's words.
ALTER TABLE pending ADD COLUMN reason TEXT COLLATE "C";

-- A person lets one caller use one tool, as it is defined now, without being asked again until then.
CREATE TABLE standing_approvals (
    -- That of the request which it answered.
    id TEXT COLLATE "C" PRIMARY KEY REFERENCES pending (id),
    user_id BIGINT NOT NULL REFERENCES users (id),
    key_id BIGINT REFERENCES keys (id),
    tool TEXT COLLATE "C" NOT NULL,
    profile TEXT COLLATE "C" NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C",
    decided_by BIGINT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    used BIGINT NOT NULL DEFAULT 0,
    last_used_at BIGINT,
    -- The last calls that it let through.
    uses TEXT COLLATE "C" NOT NULL DEFAULT '[]'
);

CREATE INDEX standing_approvals_by_call ON standing_approvals (user_id, tool, expires_at);
CREATE INDEX standing_approvals_by_expiry ON standing_approvals (expires_at);

ALTER TABLE keys ADD COLUMN note TEXT COLLATE "C";
ALTER TABLE keys ADD COLUMN expires_at BIGINT;
ALTER TABLE keys ADD COLUMN last_used_at BIGINT;
