//! What a user's reviews say: how well the schedule fits, how the session goes, what to do next. Every number in the
//! hints of the card tools comes from here, and each is worked out from reviews that took place.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use toolroom_contract::hints::{
    ActionCategory, Alignment, Dependency, DependencyKind, PreferenceAlignment, RelatedResource, RiskFactor,
    RiskKind, ValidityPeriod, Warning, WarningKind,
};
use toolroom_contract::ids::UserId;
use toolroom_contract::{HintsDraft, Priority, SuggestedAction};
use toolroom_store::cards::{self, Card, Deck, Recent, Review};
use toolroom_store::{StoreError, Unit};

use super::card::{memory, thousandths};

/// Reviews of a card, a day or more apart, before its difficulty is worth adjusting.
pub(super) const ENOUGH_REVIEWS: usize = 3;
/// How many well-predicted reviews a schedule is given before the first: so that one slip is not a verdict.
const CREDIT: f64 = 10.0;
/// Reviews in a day after which most people tire.
const LONG_DAY: f64 = 100.0;
/// This many times the usual duration is slow.
const SLOW: i64 = 2;

/// A summary of a user's reviews at the time of one of them.
pub(super) struct Evidence {
    /// Of the last 30 days.
    month: Recent,
    /// Of the last 7 days.
    week: Recent,
    /// Of the last 24 hours.
    day: Recent,
    /// The middle of the last durations, in milliseconds.
    usual_duration: Option<i64>,
}

impl Evidence {
    /// Reads it, before the review that is being noted.
    pub(super) fn read(unit: &mut Unit<'_>, user: UserId) -> Result<Self, StoreError> {
        let now = unit.now;
        let since = |hours| now.checked_sub(SignedDuration::from_hours(hours)).unwrap_or(Timestamp::MIN);
        let mut durations = cards::durations(unit, user, 20)?;
        durations.sort_unstable();
        Ok(Self {
            month: cards::recent(unit, user, since(30 * 24))?,
            week: cards::recent(unit, user, since(7 * 24))?,
            day: cards::recent(unit, user, since(24))?,
            usual_duration: durations.get(durations.len() / 2).copied(),
        })
    }

    /// How close the predictions of the last month were to what was remembered, 0 to 1.
    fn fit(&self) -> f64 {
        let tested = self.month.tested as f64;
        let miss = (self.month.predicted * tested - self.month.recalled as f64).abs();
        1.0 - miss / (tested + CREDIT)
    }

    /// The hints of a review of this card, whose reviews are these, this one last.
    pub(super) fn of_review(
        &self,
        card: &Card,
        deck: &Deck,
        reviews: &[Review],
        next: Option<&Card>,
    ) -> HintsDraft {
        let mut hints = HintsDraft::default().matched(self.fit());
        hints.validity = Some(ValidityPeriod::Short);
        hints.next.push(self.go_on(deck, next, reviews.last().map(|review| review.at)));
        let tested = tested(reviews).count();
        if tested >= ENOUGH_REVIEWS {
            hints.next.push(adjust(card));
        } else {
            hints.dependencies.push(Dependency {
                action: "adjust-difficulty".into(),
                depends_on: vec!["review-next-card".into()],
                kind: DependencyKind::Recommended,
                reason: Some(format!(
                    "{tested} of {ENOUGH_REVIEWS} reviews a day or more apart, which an adjustment should rest on."
                )),
            });
        }
        hints.related.push(self.deck(deck));
        if self.month.tested < CREDIT as i64 {
            hints
                .context_needed
                .push("more reviews, a day or more apart, to know the user's recent trend".into());
        }
        hints.assumptions.push("The card was answered before its back was seen.".into());
        hints.assumptions.push("The user forgets as FSRS-6 with its default weights predicts.".into());
        hints.risks.extend(self.fatigue());
        hints.alignment.push(self.habit());
        hints.warnings.extend(reviews.last().and_then(|review| self.slow(review)));
        hints.because(self.reasons())
    }

    fn go_on(&self, deck: &Deck, next: Option<&Card>, now: Option<Timestamp>) -> SuggestedAction {
        let due = deck.due.max(0);
        let priority = if due > 0 { Priority::High } else { Priority::Low };
        let mut action = SuggestedAction::new("review-next-card", priority)
            .with("deckId", deck.id.0)
            .described(format!("{due} more of the deck '{}' are due.", deck.name));
        action.category = Some(ActionCategory::Learning);
        action.estimated_time = self.usual_duration.map(|duration| duration as f64);
        action.reversible = Some(true);
        let chance = next.and_then(memory).zip(now).map(|(memory, now)| memory.retrievability(now));
        action.expected_outcome = Some(match chance {
            Some(chance) => format!("The next card is known with a chance of {:.0} %.", chance * 100.0),
            None => "The next card is a new one, or there is none.".into(),
        });
        // Whether there is something to review is known; what it brings depends on how well the schedule fits.
        action.confidence = Some(thousandths(if due > 0 { self.fit() } else { 1.0 - self.fit() }));
        action
    }

    fn deck(&self, deck: &Deck) -> RelatedResource {
        let quality = match self.fit() {
            fit if fit >= 0.9 => "high",
            fit if fit >= 0.75 => "medium",
            _ => "low",
        };
        let metadata: Map<String, Value> =
            [("quality".to_owned(), quality.into()), ("freshness".to_owned(), "current".into())]
                .into_iter()
                .collect();
        RelatedResource {
            kind: "deck".into(),
            id: deck.id.to_string(),
            label: deck.name.clone(),
            relevance: 1.0,
            metadata: Some(metadata),
        }
    }

    /// More reviews in a day than most people do well, weighed by how much worse today goes than the month.
    fn fatigue(&self) -> Option<RiskFactor> {
        let probability = (self.day.reviews as f64 / LONG_DAY).min(1.0);
        if probability < 0.1 {
            return None;
        }
        let drop = (share(&self.month) - share(&self.day)).clamp(0.0, 1.0);
        Some(RiskFactor {
            kind: RiskKind::UserExperience,
            severity: if probability > 0.8 { Priority::Medium } else { Priority::Low },
            description: format!("{} reviews in the last 24 hours: the user may be tired.", self.day.reviews),
            probability: thousandths(probability),
            impact: thousandths(drop.max(0.1)),
            mitigation: Some("Stop here, and go on tomorrow.".into()),
        })
    }

    /// How regularly the user learns.
    fn habit(&self) -> PreferenceAlignment {
        let days = self.week.days.clamp(0, 7);
        let score = days as f64 / 7.0;
        let alignment = match days {
            5.. => Alignment::Strong,
            3 | 4 => Alignment::Moderate,
            1 | 2 => Alignment::Weak,
            _ => Alignment::Neutral,
        };
        PreferenceAlignment {
            action: "review-next-card".into(),
            preference: "continuous_learning".into(),
            alignment,
            score: thousandths(score),
            explanation: Some(format!("Reviewed on {days} of the last 7 days.")),
        }
    }

    fn slow(&self, review: &Review) -> Option<Warning> {
        let (took, usual) = (review.duration_ms?, self.usual_duration?);
        (took > usual.saturating_mul(SLOW)).then(|| {
            let message = format!("This took {took} ms; usual are {usual} ms.");
            let mut warning = Warning::new(WarningKind::Performance, Priority::Low, message);
            warning.auto_fixable = Some(false);
            warning
        })
    }

    fn reasons(&self) -> String {
        if self.month.tested == 0 {
            return "No review a day or more after another yet: the schedule rests on the usual forgetting curve.".into();
        }
        format!(
            "Of {} reviews in the last 30 days that tested a prediction, {:.0} % were remembered and {:.0} % predicted.",
            self.month.tested,
            share(&self.month) * 100.0,
            self.month.predicted * 100.0,
        )
    }
}

/// What a card's place in memory says, where it has one.
pub(super) fn about_memory(hints: HintsDraft, card: &Card, now: Timestamp) -> HintsDraft {
    match memory(card) {
        None => hints.because("The card was never reviewed."),
        Some(memory) => hints.because(format!(
            "Known now with a chance of {:.0} %; {} reviews, forgotten {} times.",
            memory.retrievability(now) * 100.0,
            card.reviews,
            card.lapses,
        )),
    }
}

/// The reviews that tested a prediction, each with what was predicted and whether the card was remembered.
pub(super) fn tested(reviews: &[Review]) -> impl Iterator<Item = (f64, bool)> {
    reviews.iter().filter(|review| review.elapsed_days.is_some_and(|days| days >= 1)).filter_map(|review| {
        review.predicted.map(|predicted| (predicted, review.rating != cards::Rating::Again))
    })
}

fn adjust(card: &Card) -> SuggestedAction {
    let mut action = SuggestedAction::new("adjust-difficulty", Priority::Medium)
        .with("cardId", card.id.0)
        .described("Fit the difficulty of this card to how it was remembered.");
    action.category = Some(ActionCategory::Optimization);
    action.expected_outcome = Some("Intervals that fit this card better.".into());
    action.reversible = Some(true);
    action
}

fn share(recent: &Recent) -> f64 {
    if recent.tested == 0 { 0.0 } else { recent.recalled as f64 / recent.tested as f64 }
}
