-- Decks of cards for spaced repetition. retention: the chance of remembering that the schedule aims at.
CREATE TABLE decks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    description TEXT,
    retention REAL NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (user_id, name_key)
) STRICT;

-- stability, difficulty, phase, step, reviewed_at: the card's place in memory after its last review; NULL while new.
CREATE TABLE cards (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id),
    deck_id INTEGER NOT NULL REFERENCES decks (id),
    front TEXT NOT NULL,
    back TEXT NOT NULL,
    tags TEXT NOT NULL,
    search_text TEXT NOT NULL,
    phase TEXT NOT NULL
        CHECK (phase = 'new' OR phase = 'learning' OR phase = 'review' OR phase = 'relearning'),
    step INTEGER NOT NULL,
    stability REAL,
    difficulty REAL,
    reviewed_at INTEGER,
    due_at INTEGER NOT NULL,
    reviews INTEGER NOT NULL,
    lapses INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- What is due next, over all decks of a user and within one.
CREATE INDEX cards_by_due ON cards (user_id, due_at, id);
CREATE INDEX cards_by_deck ON cards (deck_id, due_at, id);

-- Every review, with what was predicted before it: the evidence for how well the schedule fits.
CREATE TABLE card_reviews (
    card_id INTEGER NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    deck_id INTEGER NOT NULL,
    rating TEXT NOT NULL CHECK (rating = 'again' OR rating = 'hard' OR rating = 'good' OR rating = 'easy'),
    predicted REAL,
    elapsed_days INTEGER,
    duration_ms INTEGER,
    at INTEGER NOT NULL,
    PRIMARY KEY (card_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX card_reviews_by_user ON card_reviews (user_id, at);
