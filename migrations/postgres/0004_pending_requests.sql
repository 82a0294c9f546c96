-- The key that asked. A request that waits for a person ends with the key, and no other key can use its answer.
ALTER TABLE pending ADD COLUMN key_id BIGINT REFERENCES keys (id);

-- What a revoked key leaves behind; what was open at a time; everything, newest first.
CREATE INDEX pending_by_key ON pending (key_id, state);
CREATE INDEX pending_by_expiry ON pending (expires_at);
CREATE INDEX pending_by_age ON pending (created_at, id);
