//! The limits of the working memory.

/// The byte budget of a device, and of what is read before a context exists. It is a quarter of the memory of the
/// smallest discrete GPU in common use. The memory of WebAssembly ends at 4 GiB, of which a page seldom gets all.
pub(crate) const DEFAULT_BUDGET: u64 = if cfg!(target_arch = "wasm32") { 512 << 20 } else { 2 << 30 };

/// The byte budgets of the host and of the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) host: u64,
    pub(super) device: u64,
}

impl Budget {
    /// Returns the budgets if the caller has asked for `bytes` of each.
    pub(super) fn of(bytes: Option<u64>) -> Self {
        match bytes {
            Some(bytes) => Self { host: bytes, device: bytes },
            None => Self { host: host_default(), device: DEFAULT_BUDGET },
        }
    }
}

/// Returns half of the memory that this process may use: that of the machine, or of its control group if that is less.
#[cfg(not(target_arch = "wasm32"))]
fn host_default() -> u64 {
    use std::sync::OnceLock;
    use sysinfo::{MemoryRefreshKind, RefreshKind, System};
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let memory = MemoryRefreshKind::nothing().with_ram();
        let system = System::new_with_specifics(RefreshKind::nothing().with_memory(memory));
        let all = system.total_memory();
        // `cgroup_limits` panics if the total memory is unknown, which is 0.
        half_of(all, if all > 0 { system.cgroup_limits().map(|limits| limits.total_memory) } else { None })
    })
}

/// Returns half of the smaller of two sizes, of which those that are 0 are unknown.
#[cfg(not(target_arch = "wasm32"))]
fn half_of(all: u64, group: Option<u64>) -> u64 {
    let known = [Some(all), group].into_iter().flatten().filter(|&bytes| bytes > 0);
    known.min().map_or(DEFAULT_BUDGET, |bytes| bytes / 2)
}

#[cfg(target_arch = "wasm32")]
fn host_default() -> u64 {
    DEFAULT_BUDGET
}

#[cfg(test)]
mod tests {
    use super::{Budget, DEFAULT_BUDGET, half_of};

    #[test]
    fn a_budget_that_was_asked_for_is_that_of_both_sides() {
        let Budget { host, device } = Budget::of(Some(5));
        assert_eq!((host, device), (5, 5));
    }

    /// Without /proc, as in some sandboxes, nothing is known.
    #[test]
    fn what_is_unknown_does_not_count() {
        assert_eq!(half_of(0, None), DEFAULT_BUDGET);
        assert_eq!([half_of(64 << 30, None), half_of(64 << 30, Some(0))], [32 << 30; 2]);
        assert_eq!(half_of(64 << 30, Some(8 << 30)), 4 << 30);
    }

    /// The kernel's own number, from which a control group can only take away.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_default_is_at_most_half_of_the_memory() {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap();
        let kib = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap();
        let all = 1024 * kib.trim().trim_end_matches(" kB").parse::<u64>().unwrap();
        let Budget { host, device } = Budget::of(None);
        assert!((64 << 20..=all / 2).contains(&host), "{host} of {all}");
        assert_eq!(device, DEFAULT_BUDGET);
    }
}
