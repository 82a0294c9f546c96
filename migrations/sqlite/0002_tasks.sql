-- Tasks. Deleted ones stay until they are purged, so that they can be restored.
-- due_date: a civil date, due_at: an instant; a due date stays what it was, so never both.
-- due_sort: one number to order both kinds by (a date counts as the end of that day, UTC).
-- search_text, title_sort: lower case, made by the program, so that both engines find and order alike.
-- tags: the list as it was given; task_tags holds the same for finding.
-- The checks compare one by one: for IN, SQLite would build a table of the words at every insert.
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id),
    title TEXT NOT NULL,
    description TEXT,
    priority TEXT NOT NULL CHECK (priority = 'low' OR priority = 'medium' OR priority = 'high'),
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

-- Every list is of one user; this gives the usual order without a sort. The further columns are what lists filter
-- and sort by, so that the rows themselves, which lie scattered among those of others, are only read to be shown.
CREATE INDEX tasks_by_user ON tasks (user_id, created_at, id, completed, priority, due_sort, deleted_at)
    WHERE deleted_at IS NULL;
CREATE INDEX tasks_deleted ON tasks (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE task_tags (
    user_id INTEGER NOT NULL,
    tag TEXT NOT NULL,
    task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, tag, task_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX task_tags_by_task ON task_tags (task_id);

-- Who changed what and when: one row per version, because every change makes one.
-- Goes with the task when it is purged: gone means gone.
CREATE TABLE task_audit (
    task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL
        CHECK (action = 'create' OR action = 'update' OR action = 'delete' OR action = 'restore'),
    at INTEGER NOT NULL,
    changes TEXT NOT NULL,
    PRIMARY KEY (task_id, version)
) STRICT, WITHOUT ROWID;
