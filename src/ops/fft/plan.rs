//! Plans how a device computes the transforms of one length. A plan follows by arithmetic from the length, from whether
//! the numbers are real, and from the number of points that a workgroup holds. So devices with the same number of
//! points have the same plans.

use crate::error::{ErrorKind, Result};
use std::fmt;

/// The length of the longest transform that one workgroup computes. This transform takes 32 KiB of workgroup memory.
pub(super) const LONGEST_PASS: usize = 4096;

/// The radices of the kernels in the order of the stages. Each radix is followed by the cost of its stage per point,
/// counted in arithmetic operations and in exchanges of points through workgroup memory.
const RADICES: [(usize, u64); 9] = [(13, 28), (11, 24), (7, 17), (5, 13), (3, 10), (2, 8), (4, 10), (8, 12), (16, 14)];

/// A length without prime factors above 13, and the radices of its stages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stages {
    length: usize,
    radices: Vec<usize>,
}

/// The algorithm of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// In-place Cooley-Tukey within one workgroup; the input is read once and the output written once.
    OnePass(Stages),
    /// The line of n elements is treated as a rectangle. Its columns are transformed and multiplied by n-th roots of
    /// unity, then its rows are transformed (Bailey's four steps without a transpose). All data is read and written
    /// twice.
    TwoPasses(Stages, Stages),
    /// Bluestein's chirp within one workgroup: a convolution whose length is at least `2 n - 1` for a transform of
    /// length n.
    Chirp(Stages),
    /// Bluestein's chirp with a convolution that does not fit one workgroup. The convolution consists of two
    /// transforms, and each of them takes two passes.
    LongChirp(Stages, Stages),
}

/// The plan by which a device computes the Fourier transforms of one length. Plans can be compared, stored and printed.
/// Plans assume that a workgroup has 32 KiB of memory, which is true of most devices; on other devices, long transforms
/// take more passes.
///
/// ```
/// use fiedler::ops::fft::FftPlan;
///
/// let plan = FftPlan::new(1009)?;
/// assert_eq!(plan, FftPlan::new(1009)?);
/// assert_eq!((plan.dispatches(), plan.padded()), (1, Some(2048)));
/// println!("{plan}"); // 1009 by a chirp of 2048 = 8 16 16: 1 dispatch, 41.9 KiB of tables
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FftPlan {
    length: usize,
    /// The length of the complex transform: half of `length` if pairs of reals are treated as complex values.
    complex: usize,
    real: bool,
    method: Method,
}

impl Stages {
    /// Returns the stages of a length, if it has no prime factor above 13.
    fn of(length: usize) -> Option<Self> {
        if length <= 1 {
            return (length == 1).then(|| Self { length, radices: vec![1] });
        }
        let (mut rest, mut radices) = (length, Vec::new());
        for (radix, _) in RADICES.into_iter().filter(|(radix, _)| radix % 2 == 1) {
            while rest % radix == 0 {
                radices.push(radix);
                rest /= radix;
            }
        }
        if !rest.is_power_of_two() {
            return None;
        }
        // Use as few stages as possible, of similar radix: 8 and 8, not 4 and 16.
        let mut twos = rest.trailing_zeros();
        for left in (1..=twos.div_ceil(4)).rev() {
            let here = twos / left;
            radices.push(1 << here);
            twos -= here;
        }
        Some(Self { length, radices })
    }

    /// Returns the length, which is the product of the radices.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the radices in the order of the stages.
    #[must_use]
    pub fn radices(&self) -> &[usize] {
        &self.radices
    }

    /// Returns the cost of all stages, by the weights of [`RADICES`].
    pub(super) fn cost(&self) -> u64 {
        let each = |radix: &usize| RADICES.iter().find(|(known, _)| known == radix).map_or(0, |(_, cost)| *cost);
        self.length as u64 * self.radices.iter().map(each).sum::<u64>()
    }
}

impl FftPlan {
    /// Plans complex transforms of this length, forward and inverse.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] for lengths that the kernels do not support. They support every length up to 2^23, and
    /// every length up to 2^24 that is a product of two lengths of at most 4096 without prime factors above 13. If a
    /// workgroup has only 16 KiB of memory, both limits are a quarter as large.
    pub fn new(length: usize) -> Result<Self> {
        Self::within(LONGEST_PASS, length, false)
    }

    /// Plans transforms of `length` real numbers, and their inverses.
    ///
    /// # Errors
    /// The same as [`FftPlan::new`], but for half the length if `length` is even.
    pub fn real(length: usize) -> Result<Self> {
        Self::within(LONGEST_PASS, length, true)
    }

    /// Plans for workgroups that hold `longest` complex values.
    pub(super) fn within(longest: usize, length: usize, real: bool) -> Result<Self> {
        let complex = if real && length.is_multiple_of(2) { length / 2 } else { length };
        let found = Stages::of(complex)
            .filter(|_| complex <= longest)
            .map(Method::OnePass)
            .or_else(|| two_passes(complex, longest).map(|(first, second)| Method::TwoPasses(first, second)))
            .or_else(|| chirp(complex, longest).map(Method::Chirp))
            .or_else(|| long_chirp(complex, longest).map(|(first, second)| Method::LongChirp(first, second)));
        let too_long = || {
            // A length with a large prime factor needs a convolution.
            let allowed = longest * longest;
            let needed = if complex > allowed { complex } else { 2 * complex - 1 };
            let what =
                format!("points of one Fourier transform on a device, or of its convolution, for a length of {length}");
            ErrorKind::Limit { what, needed: needed as u64, allowed: allowed as u64 }
        };
        Ok(Self { length, complex, real, method: found.ok_or_else(too_long)? })
    }

    /// Returns the number of elements along the axis, in the time domain.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the number of points of the complex transform. For an even number of reals, this is half the length,
    /// because pairs of reals are treated as complex values.
    #[must_use]
    pub fn points(&self) -> usize {
        self.complex
    }

    /// Returns whether the plan is for real numbers.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.real
    }

    /// Returns whether pairs of reals are treated as complex values.
    #[must_use]
    pub fn in_pairs(&self) -> bool {
        self.complex != self.length
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the length of the convolution, if the plan uses Bluestein's chirp.
    #[must_use]
    pub fn padded(&self) -> Option<usize> {
        match &self.method {
            Method::Chirp(stages) => Some(stages.length),
            Method::LongChirp(first, second) => Some(first.length * second.length),
            _ => None,
        }
    }

    /// Returns the number of dispatches that transform a batch. A very large batch takes more, because its passes are
    /// split over several dispatches.
    #[must_use]
    pub fn dispatches(&self) -> usize {
        // If one workgroup does not hold the whole spectrum of the pairs, unfolding it takes another dispatch. Folding
        // takes none, because it happens when elements are loaded.
        let unfolds = usize::from(self.in_pairs() && !self.unfolds_inside());
        unfolds
            + match self.method {
                Method::OnePass(_) | Method::Chirp(_) => 1,
                Method::TwoPasses(..) => 2,
                Method::LongChirp(..) => 4,
            }
    }

    /// Returns whether the pass that transforms pairs of reals also unfolds their spectrum.
    pub(super) fn unfolds_inside(&self) -> bool {
        matches!(self.method, Method::OnePass(_) | Method::Chirp(_))
    }

    /// Returns the number of bytes of device memory that one transform takes while it runs, in addition to its input
    /// and output.
    #[must_use]
    pub fn working_bytes(&self) -> usize {
        let unfolding = if self.in_pairs() && !self.unfolds_inside() { 8 * self.complex } else { 0 };
        unfolding
            + match &self.method {
                Method::OnePass(_) | Method::Chirp(_) => 0,
                Method::TwoPasses(..) => 8 * self.complex,
                Method::LongChirp(first, second) => 16 * first.length * second.length,
            }
    }

    /// Returns the floating-point operations of one transform on a device.
    pub(super) fn flops(&self) -> f64 {
        let of = |stages: &Stages| stages.cost() as f64;
        match &self.method {
            Method::OnePass(stages) => of(stages),
            Method::Chirp(stages) => 2.0 * of(stages),
            Method::TwoPasses(a, b) => a.length as f64 * of(b) + b.length as f64 * of(a),
            Method::LongChirp(a, b) => 2.0 * (a.length as f64 * of(b) + b.length as f64 * of(a)),
        }
    }
}

/// Returns the two factors of the length that differ least, the smaller one first. Similar factors let a workgroup hold
/// several adjacent transforms of either factor.
fn two_passes(length: usize, longest: usize) -> Option<(Stages, Stages)> {
    if length > longest * longest {
        return None;
    }
    Stages::of(length)?;
    let root = length.isqrt();
    let least = length.div_ceil(longest);
    let first = (least..=root).rev().find(|&first| length.is_multiple_of(first))?;
    Some((Stages::of(first)?, Stages::of(length / first)?))
}

/// Returns the cheapest convolution that fits one workgroup. Its length is at most the next power of two, which is less
/// than twice the minimum length.
fn chirp(length: usize, longest: usize) -> Option<Stages> {
    let least = 2 * length - 1;
    let most = least.next_power_of_two();
    (most <= longest).then(|| (least..=most).filter_map(Stages::of).min_by_key(Stages::cost)).flatten()
}

/// Returns the cheapest convolution in two passes.
fn long_chirp(length: usize, longest: usize) -> Option<(Stages, Stages)> {
    let least = 2 * length - 1;
    let factors: Vec<Stages> = (16..=longest).filter_map(Stages::of).collect();
    let pair = |first: &Stages| {
        let at = factors.partition_point(|second| first.length * second.length < least);
        let second = factors.get(at).filter(|second| second.length >= first.length)?;
        // If the second factor is longer than a quarter of the longest pass (1024 of 4096), a workgroup holds fewer
        // than four adjacent transforms and reads less than a memory sector at a time.
        let strided = if second.length > longest / 4 { 2 } else { 1 };
        let cost = first.length as u64 * second.cost() + second.length as u64 * first.cost();
        Some((strided * cost, first.clone(), second.clone()))
    };
    factors.iter().filter_map(pair).min_by_key(|(cost, ..)| *cost).map(|(_, first, second)| (first, second))
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.length)?;
        if let [_, _, ..] = *self.radices {
            f.write_str(" =")?;
            self.radices.iter().try_for_each(|radix| write!(f, " {radix}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for FftPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.real, self.in_pairs()) {
            (true, true) => write!(f, "{} reals as {} pairs ", self.length, self.complex)?,
            (true, false) => write!(f, "{} reals as complex numbers ", self.length)?,
            _ => write!(f, "{} ", self.length)?,
        }
        match &self.method {
            Method::OnePass(stages) => write!(f, "in one pass, {stages}")?,
            Method::TwoPasses(first, second) => write!(f, "in two passes, {first} and {second}")?,
            Method::Chirp(stages) => write!(f, "by a chirp of {stages}")?,
            Method::LongChirp(first, second) => {
                write!(f, "by a chirp of {} in two passes, {first} and {second}", first.length * second.length)?;
            }
        }
        let (dispatches, tables) = (self.dispatches(), self.table_bytes() as f64 / 1024.0);
        write!(f, ": {dispatches} dispatch{}, {tables:.1} KiB of tables", if dispatches == 1 { "" } else { "es" })?;
        match self.working_bytes() {
            0 => Ok(()),
            bytes => write!(f, ", {:.1} KiB while a transform is under way", bytes as f64 / 1024.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FftPlan, LONGEST_PASS, Method, RADICES, Stages};

    fn check(stages: &Stages) {
        assert_eq!(stages.radices().iter().product::<usize>(), stages.length());
        assert!(stages.radices().iter().all(|radix| [1, 2, 3, 4, 5, 7, 8, 11, 13, 16].contains(radix)), "{stages}");
        // A kernel takes the radices as eight hexadecimal digits, so there may be at most eight.
        assert!(stages.length() <= LONGEST_PASS && stages.radices().len() <= 8, "{stages}");
        let place = |radix: &usize| RADICES.iter().position(|(known, _)| known == radix);
        assert!(stages.radices().is_sorted_by_key(place), "{stages}");
    }

    fn check_plan(plan: &FftPlan, longest: usize) {
        let n = plan.points();
        match plan.method() {
            Method::OnePass(stages) => {
                check(stages);
                assert_eq!(stages.length(), n);
            }
            Method::TwoPasses(first, second) => {
                check(first);
                check(second);
                assert_eq!(first.length() * second.length(), n);
                assert!(n > longest && first.length() <= second.length());
            }
            Method::Chirp(stages) => {
                check(stages);
                assert!(stages.length() >= 2 * n - 1);
                // butterflies.wgsl has no such stage of a convolution.
                assert!(!stages.radices().iter().any(|radix| [2, 13].contains(radix)), "{stages}");
            }
            Method::LongChirp(first, second) => {
                check(first);
                check(second);
                assert!(n > longest / 2 && first.length() * second.length() >= 2 * n - 1);
            }
        }
        assert!(!plan.to_string().is_empty() && plan.table_bytes() > 0 && plan.dispatches() > 0);
    }

    #[test]
    fn every_length_has_a_plan() {
        for n in (1..=4099).chain((12..=22).map(|k| 1 << k)).chain((11..=20).map(|k| 3 << k)) {
            for (longest, real) in [(LONGEST_PASS, false), (LONGEST_PASS, true), (LONGEST_PASS / 2, false)] {
                let plan = FftPlan::within(longest, n, real).unwrap_or_else(|e| panic!("{n}: {e}"));
                check_plan(&plan, longest);
                assert_eq!(plan.length(), n);
            }
        }
        // Lengths around the limits of every method, and the largest primes.
        for n in [1 << 24, 3 << 22, 8191, 65_537, 999_983, 1 << 22, (1 << 22) - 3, 8_388_593] {
            check_plan(&FftPlan::new(n).unwrap_or_else(|e| panic!("{n}: {e}")), LONGEST_PASS);
        }
        assert!(FftPlan::new((1 << 24) + 1).is_err() && FftPlan::new(16_777_213).is_err());
    }

    #[test]
    fn plans_say_what_they_are() {
        let text = |n| FftPlan::new(n).map(|plan| plan.to_string()).unwrap_or_default();
        assert_eq!(text(1024), "1024 in one pass, 1024 = 8 8 16: 1 dispatch, 9.0 KiB of tables");
        assert!(text(1 << 20).starts_with("1048576 in two passes, 1024 = 8 8 16 and 1024 = 8 8 16: 2 dispatches"));
        assert!(text(1009).starts_with("1009 by a chirp of 2"), "{}", text(1009));
        let real = FftPlan::real(1000).map(|plan| (plan.points(), plan.in_pairs(), plan.dispatches()));
        assert_eq!(real.ok(), Some((500, true, 1)));
        assert_eq!(FftPlan::new(60).ok(), FftPlan::new(60).ok());
        assert_ne!(FftPlan::new(60).ok(), FftPlan::real(60).ok());
    }
}
