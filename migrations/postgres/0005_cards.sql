-- Decks of cards for spaced repetition. retention: the chance of remembering that the schedule aims at.
CREATE TABLE decks (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users (id),
    name TEXT COLLATE "C" NOT NULL,
    name_key TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C",
    retention DOUBLE PRECISION NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (user_id, name_key)
);

-- stability, difficulty, phase, step, reviewed_at: the card's place in memory after its last review; NULL while new.
CREATE TABLE cards (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users (id),
    deck_id BIGINT NOT NULL REFERENCES decks (id),
    front TEXT COLLATE "C" NOT NULL,
    back TEXT COLLATE "C" NOT NULL,
    tags TEXT COLLATE "C" NOT NULL,
    search_text TEXT COLLATE "C" NOT NULL,
    phase TEXT COLLATE "C" NOT NULL
        CHECK (phase = 'new' OR phase = 'learning' OR phase = 'review' OR phase = 'relearning'),
    step BIGINT NOT NULL,
    stability DOUBLE PRECISION,
    difficulty DOUBLE PRECISION,
    reviewed_at BIGINT,
    due_at BIGINT NOT NULL,
    reviews BIGINT NOT NULL,
    lapses BIGINT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- What is due next, over all decks of a user and within one.
CREATE INDEX cards_by_due ON cards (user_id, due_at, id);
CREATE INDEX cards_by_deck ON cards (deck_id, due_at, id);

-- Every review, with what was predicted before it: the evidence for how well the schedule fits.
CREATE TABLE card_reviews (
    card_id BIGINT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    deck_id BIGINT NOT NULL,
    rating TEXT COLLATE "C" NOT NULL CHECK (rating = 'again' OR rating = 'hard' OR rating = 'good' OR rating = 'easy'),
    predicted DOUBLE PRECISION,
    elapsed_days BIGINT,
    duration_ms BIGINT,
    at BIGINT NOT NULL,
    PRIMARY KEY (card_id, number)
);

CREATE INDEX card_reviews_by_user ON card_reviews (user_id, at);
