-- Deferred calls that are made by whoever takes them, and may so outlive the server that got them.

-- Calls of which tools a process takes, each name between line ends; '' for those that only serve.
ALTER TABLE replicas ADD COLUMN takes TEXT COLLATE "C" NOT NULL DEFAULT '';

-- request: what is needed to make the call, where a worker does (JSON; NULL: the server that got it does); replica is ''
-- while nobody has taken it. repeatable: whether it may be made again if its worker is gone. attempts: how often it was taken.
ALTER TABLE deferred ADD COLUMN request TEXT COLLATE "C";
ALTER TABLE deferred ADD COLUMN repeatable BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE deferred ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;

CREATE INDEX deferred_queue ON deferred (created_at)
    WHERE request IS NOT NULL AND status IN ('working', 'input_required');
CREATE INDEX deferred_by_owner ON deferred (owner);
