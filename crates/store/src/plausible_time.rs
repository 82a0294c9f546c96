//! The time by which old rows are removed for good. A clock can be wrong: what it says counts only as far as earlier
//! rounds of the upkeep bear it out. After a gap, such as a step of the clock or a long rest, rows count from the last
//! round before it, until the clock has gone on for a day.

use jiff::{SignedDuration, Timestamp};

use crate::{StoreError, Unit, settings};

const KEY: &str = "upkeep_clock";
/// How far the clock may be ahead of the last round.
const GAP: SignedDuration = SignedDuration::from_hours(48);
/// How long the clock must have gone on after a gap.
const PROOF: SignedDuration = SignedDuration::from_hours(24);

/// Notes a round of the upkeep, and says up to what time rows may count as old.
pub fn note_round(unit: &mut Unit<'_>, now: Timestamp) -> Result<Timestamp, StoreError> {
    let rounds = rounds_until(unit, now)?;
    settings::set(unit, KEY, &rounds.to_text())?;
    let counted = rounds.counted();
    if counted < now {
        tracing::warn!(%now, %counted, "the clock is days ahead of the last upkeep; old rows stay until it has gone on for a day");
    }
    Ok(counted)
}

/// Up to what time rows count as old in this unit, as a round of the upkeep would say.
pub fn now(unit: &mut Unit<'_>) -> Result<Timestamp, StoreError> {
    Ok(rounds_until(unit, unit.now)?.counted())
}

fn rounds_until(unit: &mut Unit<'_>, now: Timestamp) -> Result<Rounds, StoreError> {
    let before = settings::get(unit, KEY)?.and_then(|text| Rounds::parse(&text));
    Ok(Rounds::after(before, now))
}

/// What is known of the rounds before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rounds {
    /// The last round before the last gap.
    trusted: Timestamp,
    /// The first round after it.
    since: Timestamp,
    last: Timestamp,
}

impl Rounds {
    fn after(before: Option<Self>, now: Timestamp) -> Self {
        let Some(before) = before else { return Self { trusted: now, since: now, last: now } };
        if now.duration_since(before.last) <= GAP {
            let next = Self { last: now, ..before };
            return if next.is_proven() { Self { trusted: now, since: now, last: now } } else { next };
        }
        let trusted = if before.is_proven() { before.last } else { before.trusted };
        Self { trusted, since: now, last: now }
    }

    fn is_proven(&self) -> bool {
        self.last.duration_since(self.since) >= PROOF || self.since.duration_since(self.trusted) <= GAP
    }

    fn counted(&self) -> Timestamp {
        if self.is_proven() { self.last } else { self.last.min(self.trusted) }
    }

    fn to_text(self) -> String {
        format!("{} {} {}", self.trusted, self.since, self.last)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut times = text.split(' ').map(str::parse);
        let mut next = || times.next()?.ok();
        Some(Self { trusted: next()?, since: next()?, last: next()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_steps_counts_only_once_it_has_gone_on_for_a_day() {
        let start: Timestamp = "2026-11-01T00:00:00Z".parse().unwrap();
        let at = |hours: i64| start + SignedDuration::from_hours(hours);
        let mut rounds = None;
        let mut round = |hours| {
            let next = Rounds::after(rounds, at(hours));
            assert_eq!(Rounds::parse(&next.to_text()), Some(next));
            rounds = Some(next);
            next.counted()
        };
        assert_eq!(round(0), at(0));
        assert_eq!(round(1), at(1));
        assert_eq!(round(40), at(40), "a rest of two days is plausible");
        let step = 40 * 24;
        assert_eq!(round(40 + step), at(40), "a step of 40 days is not");
        assert_eq!(round(41 + step), at(40));
        assert_eq!(round(2 * step), at(40), "nor is a second one, before the first is proven");
        assert_eq!(round(2 * step + 25), at(2 * step + 25), "a day later it is");
        assert_eq!(round(2 * step), at(2 * step), "back again, less is old");
    }
}
