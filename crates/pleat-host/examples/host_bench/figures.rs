//! Printing figures, and the arithmetic of them.

use std::fmt::Display;
use std::time::Duration;

/// Prints a figure as `cargo xtask` reads it.
pub(crate) fn print(name: &str, value: impl Display, unit: &str) {
    println!("{name} {value:.3} {unit}");
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// The value that a share of all (in percent) is not above; zero where there is none.
pub(crate) fn percentile<T: Ord + Copy + Default>(values: &mut [T], percent: usize) -> T {
    values.sort_unstable();
    let place = (values.len() * percent).div_ceil(100).saturating_sub(1);
    values.get(place).copied().unwrap_or_default()
}
