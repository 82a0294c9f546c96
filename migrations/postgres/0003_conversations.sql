-- Conversations of the chat. busy_by, busy_until: the process that answers in it now, and how long that counts.
CREATE TABLE conversations (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users (id),
    profile TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    busy_by TEXT COLLATE "C",
    busy_until BIGINT
);

CREATE INDEX conversations_by_user ON conversations (user_id, updated_at, id);

-- What was said. metadata: calls with their results, receipts, what is pending.
CREATE TABLE messages (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    role TEXT COLLATE "C" NOT NULL CHECK (role = 'user' OR role = 'assistant'),
    content TEXT COLLATE "C" NOT NULL,
    metadata TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);

CREATE INDEX messages_by_conversation ON messages (conversation_id, id);

-- Runs of the agent, as far as they came: written before every step that has an effect, so that none is repeated.
-- history_key: of the history that a client without conversations sends; request_key: of a request sent twice.
CREATE TABLE runs (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users (id),
    conversation_id TEXT COLLATE "C" REFERENCES conversations (id) ON DELETE CASCADE,
    history_key TEXT COLLATE "C",
    request_key TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status = 'running' OR status = 'waiting' OR status = 'done'),
    state TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX runs_by_conversation ON runs (conversation_id, status) WHERE conversation_id IS NOT NULL;
CREATE INDEX runs_by_history ON runs (user_id, history_key) WHERE history_key IS NOT NULL;
CREATE UNIQUE INDEX runs_by_request ON runs (user_id, request_key) WHERE request_key IS NOT NULL;
CREATE INDEX runs_by_age ON runs (updated_at);
