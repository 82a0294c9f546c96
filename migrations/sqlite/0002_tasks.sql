-- Tasks. Deleted ones stay until they are purged, so that they can be restored.
-- due_date: a civil date, due_at: an instant; a due date stays what it was, so never both.
-- due_sort: one number to order both kinds by (a date counts as the end of that day, UTC).
-- search_text, title_sort: lower case, made by the program, so that both engines find and order alike.
-- tags: the list as it was given; task_tags holds the same for finding.
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id),
    title TEXT NOT NULL,
    description TEXT,
    priority TEXT NOT NULL CHECK (priority IN ('low', 'medium', 'high')),
    due_date TEXT,
    due_at INTEGER,
    due_sort INTEGER,
    completed INTEGER NOT NULL CHECK (completed IN (0, 1)),
    completed_at INTEGER,
    tags TEXT NOT NULL,
    title_sort TEXT NOT NULL,
    search_text TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    CHECK (due_date IS NULL OR due_at IS NULL)
) STRICT;

-- Every list is of one user; this gives the usual order without a sort, and few rows for any other.
CREATE INDEX tasks_by_user ON tasks (user_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX tasks_deleted ON tasks (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE task_tags (
    user_id INTEGER NOT NULL,
    tag TEXT NOT NULL,
    task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, tag, task_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX task_tags_by_task ON task_tags (task_id);

-- Who changed what and when. Goes with the task when it is purged: gone means gone.
CREATE TABLE task_audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    user_id INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('create', 'update', 'delete', 'restore')),
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    changes TEXT NOT NULL
) STRICT;

CREATE INDEX task_audit_by_task ON task_audit (task_id, id);
