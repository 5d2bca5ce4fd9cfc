//! How long to wait between two lines.

use std::time::Duration;

/// The longest recorded pause that is kept: a demonstration must not look dead.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// The recorded pace, quicker or slower.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// What a recorded second is multiplied by.
    stretch: f64,
}

impl Pace {
    /// `speed` times the recorded pace; nothing is waited for where that makes no sense.
    pub(super) fn new(speed: f64) -> Self {
        let stretch = if speed.is_finite() && speed > 0.0 { speed.recip() } else { 0.0 };
        Self { stretch: if stretch.is_finite() { stretch } else { 0.0 } }
    }

    /// The pause between what was recorded at two times, in milliseconds.
    pub(super) fn pause(self, from_ms: i64, to_ms: i64) -> Duration {
        let recorded = Duration::from_millis(u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or(0));
        Duration::try_from_secs_f64(recorded.min(LONGEST_PAUSE).as_secs_f64() * self.stretch).unwrap_or(LONGEST_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(speed: f64, recorded_ms: i64, expect_ms: u64) {
        assert_eq!(
            Pace::new(speed).pause(1000, 1000 + recorded_ms),
            Duration::from_millis(expect_ms),
            "{speed} {recorded_ms}"
        );
    }

    #[test]
    fn pauses_are_scaled_and_bounded() {
        check(1.0, 200, 200);
        check(4.0, 200, 50);
        check(0.5, 200, 400);
        check(1.0, 60_000, 3000);
        check(2.0, 60_000, 1500);
        check(1.0, -5, 0);
        for never in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            check(never, 200, 0);
        }
    }
}
