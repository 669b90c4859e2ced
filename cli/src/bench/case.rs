//! Workloads and their names, which all benchmarks of this project and `dense_peers.py` write in the same way:
//! `eigh/f32/n=32/batch=10000`.

use super::workloads::{SEED, of};
use fiedler::policy::{Choice, Family, Side};
use fiedler::{Context, Error, Result, Shape};
use std::convert::Infallible;
use std::fmt;

/// The maximum number of items that [`Case::turns_at`] tries.
const MOST: usize = 1 << 22;

/// An operation with the sizes of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The operation.
    pub family: Family,
    /// The size, which most families call `n`. For covariances it is `cols`, for sparse products and encodings `nodes`,
    /// for `eigsh` the number of nodes along a side of the `grid`, for `describe` the length of a series, and for
    /// trainings the number of parameters, which names the `net`.
    pub size: usize,
    /// The number of items, which most families call `batch`. For covariances it is `rows`, for sparse products
    /// `edges`, and for encodings `graphs`.
    pub items: usize,
    /// The number of eigenpairs for `eigsh` and encodings, or the number of columns of the dense block for sparse
    /// products; 0 for other families.
    pub k: usize,
    /// The seed of the random input, which is no part of the name.
    pub seed: u64,
}

impl Case {
    /// Returns a workload with this size and number of items, and with the family's default k.
    #[must_use]
    pub fn new(family: Family, size: usize, items: usize) -> Self {
        Self { family, size, items, k: of(family).words().k, seed: SEED }
    }

    /// Parses a name, whose parts may also be separated by spaces: `eigh/f32/n=32/batch=100`, `eigh n=32 batch=100`.
    ///
    /// # Errors
    /// Returns [`fiedler::ErrorKind::Domain`], which says what was expected.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |what: String| Error::domain("workload", what);
        let mut parts = text.split(['/', ' ']).filter(|part| !part.is_empty());
        let name = parts.next().unwrap_or_default();
        let family = Family::named(name).ok_or_else(|| {
            let all: Vec<&str> = Family::MEASURED.iter().map(|family| family.name()).collect();
            wrong(format!("expected one of {}, found `{name}`", all.join(", ")))
        })?;
        let words = of(family).words();
        let (size_is, items_are, names) = (words.size, words.items, of(family).names());
        let mut case = Self::new(family, 0, 0);
        for part in parts.filter(|part| *part != words.numbers) {
            let expected = || {
                let k = if case.k > 0 { ", k=" } else { "" };
                if !names.is_empty() {
                    let all: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
                    return wrong(format!(
                        "expected {name} {size_is}= one of {}, and {items_are}=, found `{part}`",
                        all.join(", ")
                    ));
                }
                let items = if items_are.is_empty() { String::new() } else { format!(", {items_are}=") };
                wrong(format!("expected {name} {size_is}={items}{k} with whole numbers above 0, found `{part}`"))
            };
            let (key, value) = part.split_once('=').ok_or_else(expected)?;
            if key == size_is && !names.is_empty() {
                case.size = names.iter().find(|(name, _)| *name == value).ok_or_else(expected)?.1;
                continue;
            }
            let value = value.replace('_', "").parse::<usize>().ok().filter(|&x| x > 0).ok_or_else(expected)?;
            match key {
                "k" if case.k > 0 => case.k = value,
                key if key == size_is => case.size = value,
                key if key == items_are => case.items = value,
                _ => return Err(expected()),
            }
        }
        if case.size == 0 {
            let what = if names.is_empty() { "a whole number above 0" } else { "the name of a network" };
            return Err(wrong(format!("expected {name} with {size_is}=, {what}")));
        }
        if case.items == 0 {
            case.items = of(family).usual_items(case.size);
        }
        case.check()
    }

    /// Returns the case if it is within the limits of its family, and an error otherwise.
    fn check(self) -> Result<Self> {
        let numbers = self.numbers();
        if numbers > (1_u64 << 40) as f64 {
            let what = format!("{self}: expected at most 2^40 numbers, found {numbers:.1e}");
            return Err(Error::domain("workload", what));
        }
        let own = of(self.family);
        if self.items > own.most_items() {
            let what =
                format!("{self}: expected at most {} {}, found {}", own.most_items(), self.items_are(), self.items);
            return Err(Error::domain("workload", what));
        }
        if self.k > own.most_k(self.size) {
            let what = format!("{self}: expected at most {} pairs, found {}", own.most_k(self.size), self.k);
            return Err(Error::domain("workload", what));
        }
        Ok(self)
    }

    /// Returns the number of values in the input.
    fn numbers(&self) -> f64 {
        of(self.family).numbers(self)
    }

    /// Returns the minimum number of bytes that must be read and written, and the textbook operation count.
    /// Shares of roofline ceilings are computed from these two values.
    #[must_use]
    pub fn least(&self) -> [f64; 2] {
        of(self.family).least(self)
    }

    /// Returns the shape of the workload's array, if the workload has one. The array holds matrices, or series as
    /// columns.
    pub(super) fn shape(&self) -> Shape {
        of(self.family).shape(self)
    }

    /// Returns the size as the order of a matrix.
    pub(super) fn order(&self) -> u32 {
        u32::try_from(self.size).unwrap_or(u32::MAX)
    }

    /// Returns the orders of all matrices of the workload.
    pub(super) fn orders(&self) -> Vec<u32> {
        vec![self.order(); self.items]
    }

    /// Returns where the workload would run, and why. `resident` says whether its data is already on the device.
    #[must_use]
    pub fn choose(&self, ctx: &Context, resident: bool) -> Choice {
        of(self.family).choose(self, ctx, resident)
    }

    /// Returns a number of items for which the choice is not the side chosen for this workload, with the side that is
    /// chosen then ([`turning_point`]). Returns `None` if no number changes it, or if a workload of the family has only
    /// one item.
    #[must_use]
    pub fn turns_at(&self, ctx: &Context, resident: bool) -> Option<(usize, Side)> {
        if self.items_are().is_empty() {
            return None;
        }
        let side = |items| Ok::<_, Infallible>(Self { items, ..*self }.choose(ctx, resident).side);
        let Ok(found) = turning_point(self.items, MOST, side);
        found
    }

    /// Returns what the items are called; empty if a workload of the family has only one item.
    #[must_use]
    pub fn items_are(&self) -> &'static str {
        of(self.family).words().items
    }
}

/// Searches for a number of items with another side than `items` has. Multiplies `items` by increasing powers of two,
/// up to `most`, then divides it by increasing powers of two, and returns the first number that changes the side, with
/// that side. Returns `None` if no number does.
///
/// # Errors
/// Those of `side`.
pub fn turning_point<E>(
    items: usize,
    most: usize,
    mut side: impl FnMut(usize) -> Result<Side, E>,
) -> Result<Option<(usize, Side)>, E> {
    let own = side(items)?;
    let more = (1..).map(|k| items.saturating_mul(1 << k)).take_while(|&items| items <= most);
    let fewer = (1..).map(|k| items >> k).take_while(|&items| items > 0);
    for items in more.chain(fewer) {
        let other = side(items)?;
        if other != own {
            return Ok(Some((items, other)));
        }
    }
    Ok(None)
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, size, items, k, .. } = *self;
        let words = of(family).words();
        write!(f, "{family}/{}", words.numbers)?;
        let mut parts = [(words.size, size), (words.items, items), ("k", k)];
        if words.items_first {
            parts.swap(0, 1);
        }
        let named = |name: &str, value: usize| {
            of(family).names().iter().find(|(_, size)| name == words.size && *size == value).map(|(name, _)| *name)
        };
        let parts = parts.iter().filter(|(name, value)| !name.is_empty() && (*name != "k" || *value > 0));
        parts.into_iter().try_for_each(|&(name, value)| match named(name, value) {
            Some(size) => write!(f, "/{name}={size}"),
            None => write!(f, "/{name}={value}"),
        })
    }
}
