-- Calls by their times, where several servers share a PostgreSQL database; here it stays empty.
DROP TABLE counters;

CREATE TABLE counters (
    scope INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    lasts TEXT NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (scope, user_id)
) STRICT;
