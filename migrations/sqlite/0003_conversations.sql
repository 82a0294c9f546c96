-- Conversations of the chat. busy_by, busy_until: the process that answers in it now, and how long that counts.
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id),
    profile TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    busy_by TEXT,
    busy_until INTEGER
) STRICT;

CREATE INDEX conversations_by_user ON conversations (user_id, updated_at, id);

-- What was said. metadata: calls with their results, receipts, what is pending.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role = 'user' OR role = 'assistant'),
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    run_id TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX messages_by_conversation ON messages (conversation_id, id);

-- Runs of the agent, as far as they came: written before every step that has an effect, so that none is repeated.
-- history_key: of the history that a client without conversations sends; request_key: of a request sent twice.
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id),
    conversation_id TEXT REFERENCES conversations (id) ON DELETE CASCADE,
    history_key TEXT,
    request_key TEXT,
    status TEXT NOT NULL CHECK (status = 'running' OR status = 'waiting' OR status = 'done'),
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_by_conversation ON runs (conversation_id, status) WHERE conversation_id IS NOT NULL;
CREATE INDEX runs_by_history ON runs (user_id, history_key) WHERE history_key IS NOT NULL;
CREATE UNIQUE INDEX runs_by_request ON runs (user_id, request_key) WHERE request_key IS NOT NULL;
CREATE INDEX runs_by_age ON runs (updated_at);
