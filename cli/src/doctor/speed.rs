//! Measures the speed of copies, multiply-adds and small calls, and compares it with the speed that a device of the
//! same class should reach.

use fiedler::Context;
use fiedler::Result;
use fiedler::ops::roofline::{Ceilings, ceilings};
use fiedler::policy::Backend;

/// The speed that every device of a class reaches when nothing is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// The class: `cpu`, or a value of [`fiedler::Adapter::class`].
    pub class: &'static str,
    /// The rate of a copy in bytes/s, counting bytes read and bytes written.
    pub copy: f64,
    /// The rate of f32 multiply-adds in flop/s.
    pub fma: f64,
    /// The duration of the smallest call in seconds.
    pub call: f64,
    /// The source of these values.
    pub source: &'static str,
}

/// The speeds of the slowest devices of each class, as of 2026-11-22. They are low so that a small device is not
/// reported as slow.
const CLASSES: [Expected; 5] = [
    Expected {
        class: "discrete",
        copy: 2e11,
        fma: 4e12,
        call: 5e-4,
        source: "half of a T4's vendor figures (320 GB/s, 8.1 Tflop/s); an H200 copies 4.3 TB/s. Calls: arXiv \
                 2604.02344 reports up to 71 us per dispatch, and a call that waits takes a few times that",
    },
    Expected {
        class: "integrated",
        copy: 3e10,
        fma: 3e11,
        call: 1e-3,
        source: "two channels of DDR4-2400 (38 GB/s), 24 execution units at 1 GHz (0.38 Tflop/s); an M2 computes 3.6 Tflop/s",
    },
    Expected {
        class: "virtual",
        copy: 3e10,
        fma: 3e11,
        call: 2e-3,
        source: "like an integrated GPU, through a hypervisor",
    },
    Expected {
        class: "software",
        copy: 1.5e9,
        fma: 3e9,
        call: 1e-2,
        source: "measured on two cores: lavapipe 3.8 GB/s and 47 Gflop/s, SwiftShader 1.8 GB/s and 3.4 Gflop/s",
    },
    Expected {
        class: "cpu",
        copy: 6e9,
        fma: 1e10,
        call: 5e-3,
        source: "one channel of DDR4-2400, half of it for each direction; one 2 GHz core with 128-bit vectors",
    },
];

/// The measured speed of one device, and the speed that its class should reach.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Speed {
    /// The adapter's name, or `cpu`.
    pub on: String,
    /// The measured rates.
    pub found: Ceilings,
    /// The rates that the device's class should reach; `None` if the class has no known rates.
    pub expected: Option<Expected>,
}

impl Speed {
    /// Returns a sentence for each measurement that is more than 3 times worse than the value for the class.
    #[must_use]
    pub fn far_below(&self) -> Vec<String> {
        let Some(expected) = self.expected else { return Vec::new() };
        let Ceilings { copy, fma, call } = self.found;
        let words = |what: &str, found: String, wanted: String| {
            format!(
                "{}: {what} is far too slow for its class ({}): expected {wanted}, found {found}",
                self.on, expected.class
            )
        };
        let mut lines = Vec::new();
        for (what, found, wanted, unit) in
            [("copying", copy, expected.copy, "GB/s"), ("multiply-add", fma, expected.fma, "Gflop/s")]
        {
            // This comparison is false for NaN, so NaN counts as too slow.
            let enough = 3.0 * found >= wanted;
            if !enough {
                let show = |x: f64| format!("{:.2} {unit}", 1e-9 * x);
                lines.push(words(what, show(found), show(wanted) + " or more"));
            }
        }
        let soon = call <= 3.0 * expected.call;
        if !soon {
            let show = |x: f64| format!("{:.2} ms", 1e3 * x);
            lines.push(words("the smallest call", show(call), show(expected.call) + " or less"));
        }
        lines
    }
}

/// Measures the speed of the adapter of `ctx`, if `ctx` has one, and of the CPU. Each measurement takes about a second.
///
/// # Errors
/// Returns an error if the device fails.
pub fn speed(ctx: &Context) -> Result<Vec<Speed>> {
    let mut all = Vec::new();
    let measured = |on: &str, class: &str, backend: Backend, bytes: u64| -> Result<Speed> {
        let budget = if backend == Backend::Gpu { ctx.pool().budget } else { ctx.memory_budget() };
        let bytes = bytes.min(budget / 4).max(16) / 16 * 16;
        let found = ceilings(&ctx.with_backend(backend), bytes, 3)?;
        let expected = CLASSES.into_iter().find(|expected| expected.class == class);
        Ok(Speed { on: on.to_owned(), found, expected })
    };
    if let Some(adapter) = ctx.adapter() {
        let bytes = if adapter.software { 16 << 20 } else { 256 << 20 };
        all.push(measured(&adapter.name, adapter.class, Backend::Gpu, bytes.min(adapter.limits.storage_binding))?);
    }
    // 64 MiB exceed the caches of most machines.
    all.push(measured("cpu", "cpu", Backend::Cpu, 64 << 20)?);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, Ceilings, Speed};

    #[test]
    fn far_below_is_under_a_third() {
        for expected in CLASSES {
            let with = |copy: f64, fma: f64, call: f64| {
                let found =
                    Ceilings { copy: copy * expected.copy, fma: fma * expected.fma, call: call * expected.call };
                Speed { on: "it".to_owned(), found, expected: Some(expected) }.far_below()
            };
            assert!(with(1.0, 1.0, 1.0).is_empty() && with(0.34, 0.34, 2.9).is_empty());
            assert_eq!((with(0.3, 1.0, 1.0).len(), with(1.0, 0.3, 1.0).len(), with(1.0, 1.0, 3.1).len()), (1, 1, 1));
            assert!(with(f64::NAN, 0.1, 9.0).len() == 3 && with(1.0, 0.1, 1.0)[0].contains(expected.class));
        }
    }
}
