//! Calls added up, with their times as a histogram.

use std::collections::BTreeMap;

/// Calls, added up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    pub calls: u64,
    /// Failed, or timed out.
    pub errors: u64,
    /// Waiting for a person, or for the client.
    pub held: u64,
    pub cached: u64,
    /// The time of all together, in milliseconds.
    pub ms: f64,
    /// The size of all answers as JSON.
    pub bytes: u64,
    /// How many took how long, in steps of a quarter of an octave.
    pub(super) times: BTreeMap<u8, u64>,
}

/// How many steps of the histogram double the time.
const PER_OCTAVE: f64 = 4.0;

impl Sum {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.held += other.held;
        self.cached += other.cached;
        self.ms += other.ms;
        self.bytes += other.bytes;
        for (step, calls) in &other.times {
            *self.times.entry(*step).or_default() += calls;
        }
    }

    /// A call took so long.
    pub(super) fn note_time(&mut self, ms: f64) {
        self.ms += ms;
        // Microseconds: what took less is as good as nothing. The cast saturates.
        let step = ((ms * 1000.0).max(1.0).log2() * PER_OCTAVE).floor() as u8;
        *self.times.entry(step).or_default() += 1;
    }

    /// The time that this share of the calls did not exceed, in milliseconds, right to a tenth of itself.
    pub fn quantile(&self, share: f64) -> f64 {
        let calls: u64 = self.times.values().sum();
        let mut left = (calls as f64 * share).ceil().max(1.0) as u64;
        for (step, calls) in &self.times {
            if *calls >= left {
                // The middle of the step.
                return ((f64::from(*step) + 0.5) / PER_OCTAVE).exp2() / 1000.0;
            }
            left -= calls;
        }
        0.0
    }

    /// The answers in tokens: a fourth of their length, which is an estimate.
    pub fn tokens(&self) -> u64 {
        self.bytes.div_ceil(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_a_tenth() {
        let mut sum = Sum::default();
        for ms in 1..=1000 {
            sum.note_time(f64::from(ms));
        }
        for (share, expected) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = sum.quantile(share);
            assert!((found / expected - 1.0).abs() < 0.1, "{share}: {found} is not {expected}");
        }
        assert_eq!(Sum::default().quantile(0.5), 0.0);
        let (mut twice, once) = (sum.clone(), sum.quantile(0.5));
        twice.add(&sum);
        assert_eq!((twice.calls, twice.quantile(0.5)), (0, once), "calls are counted by who adds them");
        let mut odd = Sum::default();
        [0.0, -1.0, f64::NAN, f64::MAX].into_iter().for_each(|ms| odd.note_time(ms));
        assert!(odd.quantile(0.5) < 0.01);
    }
}
