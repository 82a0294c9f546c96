//! FSRS-6: when a card is due again, from how well it was remembered. Pure arithmetic, no clock, no chance.
//!
//! Memory is two numbers. Stability is the number of days after which the card is still known with a chance of 90 %;
//! difficulty, from 1 to 10, slows its growth. A card is learned in short steps first, then reviewed after whole days.

use jiff::{SignedDuration, Timestamp};

/// The published default weights of FSRS-6.
const W: [f64; 21] = [
    0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796, 1.4835, 0.0614,
    0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542,
];
const DECAY: f64 = -W[20];
const LEAST_STABILITY: f64 = 0.001;
pub const EASIEST: f64 = 1.0;
pub const HARDEST: f64 = 10.0;
/// Days; a hundred years.
const LONGEST_INTERVAL: f64 = 36_500.0;
const LEARNING_STEPS: &[SignedDuration] = &[SignedDuration::from_mins(1), SignedDuration::from_mins(10)];
const RELEARNING_STEPS: &[SignedDuration] = &[SignedDuration::from_mins(10)];

/// How well a card was remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rating {
    Again = 1,
    Hard = 2,
    Good = 3,
    Easy = 4,
}

impl Rating {
    fn number(self) -> f64 {
        f64::from(self as u8)
    }
}

/// The phase of a card between new and known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// In its first short steps; the number says in which.
    Learning(u8),
    /// Known; asked again after days.
    Review,
    /// Forgotten, and in short steps again.
    Relearning(u8),
}

/// What is known about a card's place in memory after its last review.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    pub stability: f64,
    pub difficulty: f64,
    pub phase: Phase,
    pub reviewed_at: Timestamp,
}

/// What a review leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    pub memory: Memory,
    pub due: Timestamp,
}

impl Memory {
    /// The chance that the card is known at that time. It falls by whole days.
    pub fn retrievability(&self, now: Timestamp) -> f64 {
        let days = self.days_until(now) as f64;
        (1.0 + factor() * days / self.stability).powf(DECAY)
    }

    /// Whole days since the last review, never below zero.
    pub fn days_until(&self, now: Timestamp) -> i64 {
        now.duration_since(self.reviewed_at).as_hours().div_euclid(24).max(0)
    }
}

/// The next state of a card and the time at which it is due, for a wanted chance of remembering.
pub fn review(memory: Option<&Memory>, rating: Rating, now: Timestamp, retention: f64) -> Outcome {
    let (stability, difficulty) = match memory {
        None => (first_stability(rating), first_difficulty(rating).clamp(EASIEST, HARDEST)),
        Some(memory) => (next_stability(memory, rating, now), next_difficulty(memory.difficulty, rating)),
    };
    let before = memory.map_or(Phase::Learning(0), |memory| memory.phase);
    let (phase, wait) = schedule(before, rating, stability, retention);
    let memory = Memory { stability, difficulty, phase, reviewed_at: now };
    Outcome { memory, due: now.checked_add(wait).unwrap_or(Timestamp::MAX) }
}

fn schedule(before: Phase, rating: Rating, stability: f64, retention: f64) -> (Phase, SignedDuration) {
    let known = || (Phase::Review, SignedDuration::from_hours(24 * interval(stability, retention)));
    let (step, steps, stay): (u8, _, fn(u8) -> Phase) = match before {
        Phase::Review if rating == Rating::Again => return (Phase::Relearning(0), RELEARNING_STEPS[0]),
        Phase::Review => return known(),
        Phase::Learning(step) => (step, LEARNING_STEPS, Phase::Learning),
        Phase::Relearning(step) => (step, RELEARNING_STEPS, Phase::Relearning),
    };
    let at = usize::from(step);
    match (rating, steps.get(at)) {
        (Rating::Again, _) => (stay(0), steps[0]),
        (Rating::Easy, _) | (_, None) => known(),
        (Rating::Good, _) => match steps.get(at + 1) {
            Some(wait) => (stay(step + 1), *wait),
            None => known(),
        },
        (Rating::Hard, Some(wait)) if at > 0 => (before, *wait),
        // Halfway between this step and the one that would follow.
        (Rating::Hard, Some(wait)) => (before, (*wait + steps.get(1).copied().unwrap_or(*wait * 2)) / 2),
    }
}

/// Whole days, at least one.
fn interval(stability: f64, retention: f64) -> i64 {
    let days = stability / factor() * (retention.powf(1.0 / DECAY) - 1.0);
    days.round_ties_even().clamp(1.0, LONGEST_INTERVAL) as i64
}

/// Makes the curve pass through 90 % when as many days have gone by as the stability says.
fn factor() -> f64 {
    0.9_f64.powf(1.0 / DECAY) - 1.0
}

fn first_stability(rating: Rating) -> f64 {
    W[rating as usize - 1].max(LEAST_STABILITY)
}

fn first_difficulty(rating: Rating) -> f64 {
    W[4] - (W[5] * (rating.number() - 1.0)).exp() + 1.0
}

fn next_difficulty(difficulty: f64, rating: Rating) -> f64 {
    let change = -(W[6] * (rating.number() - 3.0));
    let damped = difficulty + (10.0 - difficulty) * change / 9.0;
    let next = W[7] * first_difficulty(Rating::Easy) + (1.0 - W[7]) * damped;
    next.clamp(EASIEST, HARDEST)
}

fn next_stability(memory: &Memory, rating: Rating, now: Timestamp) -> f64 {
    let next = if memory.days_until(now) < 1 {
        same_day(memory.stability, rating)
    } else if rating == Rating::Again {
        forgotten(memory, memory.retrievability(now))
    } else {
        recalled(memory, memory.retrievability(now), rating)
    };
    next.max(LEAST_STABILITY)
}

fn same_day(stability: f64, rating: Rating) -> f64 {
    let growth = (W[17] * (rating.number() - 3.0 + W[18])).exp() * stability.powf(-W[19]);
    stability * if rating == Rating::Again { growth } else { growth.max(1.0) }
}

fn forgotten(memory: &Memory, retrievability: f64) -> f64 {
    let long = W[11]
        * memory.difficulty.powf(-W[12])
        * ((memory.stability + 1.0).powf(W[13]) - 1.0)
        * ((1.0 - retrievability) * W[14]).exp();
    long.min(memory.stability / (W[17] * W[18]).exp())
}

fn recalled(memory: &Memory, retrievability: f64, rating: Rating) -> f64 {
    let weight = match rating {
        Rating::Hard => W[15],
        Rating::Easy => W[16],
        Rating::Again | Rating::Good => 1.0,
    };
    let growth = W[8].exp()
        * (11.0 - memory.difficulty)
        * memory.stability.powf(-W[9])
        * (((1.0 - retrievability) * W[10]).exp() - 1.0)
        * weight;
    memory.stability * (1.0 + growth)
}
