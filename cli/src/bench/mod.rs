//! Parses the names of workloads, measures their times on this machine, and compares these times with the policy's
//! predictions.

mod case;
mod clock;
mod drawn;
mod larger;
mod measure;
pub mod page;
mod tune;
mod workloads;

pub use case::{Case, turning_point};
pub use clock::Times;
pub use drawn::drawn;
pub use larger::{Larger, MeasuredSet};
pub use measure::{Extent, Measured, check, choice_seconds, differ, grid, kernels, measure, on_device};
pub use tune::{Progress, TuneOptions, tune};
pub use workloads::training;

/// Returns today's date in UTC, such as `2026-11-22`.
#[must_use]
pub fn today() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date_of(seconds / 86_400)
}

/// Returns the date `days` days after 1970-01-01, by Howard Hinnant's algorithm civil_from_days, in which years begin
/// in March.
fn date_of(days: u64) -> String {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + u64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    use super::date_of;

    #[test]
    fn dates() {
        for (days, date) in [(0, "1970-01-01"), (11_016, "2000-02-29"), (11_017, "2000-03-01"), (20_779, "2026-11-22")]
        {
            assert_eq!(date_of(days), date);
        }
    }
}
