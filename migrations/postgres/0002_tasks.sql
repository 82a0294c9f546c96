-- Tasks. Deleted ones stay until they are purged, so that they can be restored.
-- due_date: a civil date, due_at: an instant; a due date stays what it was, so never both.
-- due_sort: one number to order both kinds by (a date counts as the end of that day, UTC).
-- search_text, title_sort: lower case, made by the program, so that both engines find and order alike.
-- tags: the list as it was given; task_tags holds the same for finding.
CREATE TABLE tasks (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users (id),
    title TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C",
    priority TEXT COLLATE "C" NOT NULL CHECK (priority IN ('low', 'medium', 'high')),
    due_date TEXT COLLATE "C",
    due_at BIGINT,
    due_sort BIGINT,
    completed BOOLEAN NOT NULL,
    completed_at BIGINT,
    tags TEXT COLLATE "C" NOT NULL,
    title_sort TEXT COLLATE "C" NOT NULL,
    search_text TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    CHECK (due_date IS NULL OR due_at IS NULL)
);

-- Every list is of one user; this gives the usual order without a sort. The further columns are what lists filter
-- and sort by, so that the rows themselves, which lie scattered among those of others, are only read to be shown.
CREATE INDEX tasks_by_user ON tasks (user_id, created_at, id)
    INCLUDE (completed, priority, due_sort, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX tasks_deleted ON tasks (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE task_tags (
    user_id BIGINT NOT NULL,
    tag TEXT COLLATE "C" NOT NULL,
    task_id BIGINT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, tag, task_id)
);

CREATE INDEX task_tags_by_task ON task_tags (task_id);

-- Who changed what and when: one row per version, because every change makes one.
-- Goes with the task when it is purged: gone means gone.
CREATE TABLE task_audit (
    task_id BIGINT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL CHECK (action IN ('create', 'update', 'delete', 'restore')),
    at BIGINT NOT NULL,
    changes TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (task_id, version)
);
