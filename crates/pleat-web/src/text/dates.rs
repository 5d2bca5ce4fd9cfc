//! Times for people. Without script a page shows UTC; the page's script shows the reader's own time.

use pleat_transcript::session::Millis;
use std::time::{SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A moment in UTC.
struct Moment {
    year: i64,
    month: usize,
    day: i64,
    seconds: i64,
}

impl Moment {
    fn at(millis: Millis) -> Self {
        let seconds = millis.div_euclid(1000);
        // The civil calendar from a day count, in eras of 400 years that begin on a 1 March.
        let days = seconds.div_euclid(86_400) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = usize::try_from((shifted_month + 2) % 12).unwrap_or(0);
        let year = year_of_era + era * 400 + i64::from(month < 2);
        Self { year, month, day, seconds: seconds.rem_euclid(86_400) }
    }

    fn hour(&self) -> i64 {
        self.seconds / 3600
    }

    fn minute(&self) -> i64 {
        self.seconds / 60 % 60
    }
}

/// The time now, by the server's clock.
pub(crate) fn now() -> Millis {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since_1970.as_millis()).unwrap_or(Millis::MAX)
}

/// `2026-01-05T10:11:12Z`
pub(crate) fn iso(millis: Millis) -> String {
    let m = Moment::at(millis);
    let (month, second) = (m.month + 1, m.seconds % 60);
    format!("{:04}-{month:02}-{:02}T{:02}:{:02}:{second:02}Z", m.year, m.day, m.hour(), m.minute())
}

/// `5 Jan 2026, 10:11 UTC`
pub(crate) fn plain(millis: Millis) -> String {
    let m = Moment::at(millis);
    format!("{} {} {}, {:02}:{:02} UTC", m.day, MONTHS[m.month], m.year, m.hour(), m.minute())
}

/// `0.4 s`, `12 s`, `3 min 05 s`, `1 h 02 min`
pub(crate) fn duration(millis: i64) -> String {
    let millis = millis.max(0);
    let seconds = millis / 1000;
    match seconds {
        0..10 => format!("{}.{} s", seconds, millis % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(iso(-1000), "1969-12-31T23:59:59Z");
        assert_eq!(plain(1_767_607_872_000), "5 Jan 2026, 10:11 UTC");
        assert_eq!(iso(4_102_444_799_000), "2099-12-31T23:59:59Z");
    }

    #[test]
    fn durations() {
        let shown: Vec<_> = [-5, 440, 9999, 12_300, 185_000, 3_725_000].map(duration).into();
        assert_eq!(shown, ["0.0 s", "0.4 s", "9.9 s", "12 s", "3 min 05 s", "1 h 02 min"]);
    }
}
