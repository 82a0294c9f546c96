-- Calls per tool and user, by their times, so that no window holds more than its limit. No release has the table that was
-- here before. lasts, counts: of every piece of the window in which there were calls, oldest first, the time of the last of
-- them in milliseconds, and how many they are. Not worth a write-ahead log: a crash is a new window.
DROP TABLE counters;

CREATE UNLOGGED TABLE counters (
    scope BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    lasts BIGINT[] NOT NULL,
    counts BIGINT[] NOT NULL,
    PRIMARY KEY (scope, user_id)
);
