//! Workloads by name, as every benchmark here and `dense_peers.py` write them: `eigh/f32/n=32/batch=10000`.

use fiedler::Context;
use fiedler::encode::SpectralEncoder;
use fiedler::ops::eigen::{choose_eigh, choose_eigvalsh};
use fiedler::ops::eigsh::choose_eigsh;
use fiedler::ops::fft::{choose_fft, choose_rfft};
use fiedler::ops::laplacian::choose_laplacian;
use fiedler::ops::matmul::Gemm;
use fiedler::ops::sparse::choose_spmm;
use fiedler::ops::stats::{choose_cov, choose_describe};
use fiedler::ops::svd::{Vectors, choose_svd};
use fiedler::policy::{Choice, Family, Side};
use fiedler::{Axis, Shape};
use fiedler::{Error, Result};
use std::fmt;

/// The most items that a search for the turning point looks at.
const MOST: usize = 1 << 22;
/// The most items of a workload: each is looked at.
const MOST_ITEMS: usize = 1 << 26;
/// Links of a node in the graphs of sparse workloads, where nothing is said.
const LINKS: usize = 10;

/// One operation of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The operation.
    pub family: Family,
    /// `n`, of covariances `cols`, of sparse products and encodings `nodes`, of `eigsh` the side of the `grid`, of `describe` the numbers of a series.
    pub size: usize,
    /// `batch`, of covariances `rows`, of sparse products `edges`, of encodings `graphs`.
    pub items: usize,
    /// Pairs of `eigsh` and of encodings, columns of a dense block; 0 elsewhere.
    pub k: usize,
}

/// The words of a family: its numbers' type, the size's, the items' and k's names, and what k is where nothing is said.
fn words(family: Family) -> (&'static str, &'static str, &'static str, usize) {
    match family {
        Family::Fft => ("c64", "n", "batch", 0),
        Family::Cov => ("f32", "cols", "rows", 0),
        Family::Spmm => ("f32", "nodes", "edges", 32),
        Family::Eigsh => ("f32", "grid", "", 16),
        Family::Encode => ("f32", "nodes", "graphs", 8),
        _ => ("f32", "n", "batch", 0),
    }
}

impl Case {
    /// A workload of `size` and `items`, with the usual k.
    #[must_use]
    pub fn new(family: Family, size: usize, items: usize) -> Self {
        Self { family, size, items, k: words(family).3 }
    }

    /// From a name, whose parts may also be words of their own: `eigh/f32/n=32/batch=100`, `eigh n=32 batch=100`.
    ///
    /// # Errors
    /// [`fiedler::ErrorKind::Domain`] saying what was expected.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |what: String| Error::domain("workload", what);
        let mut parts = text.split(['/', ' ']).filter(|part| !part.is_empty());
        let name = parts.next().unwrap_or_default();
        let family = Family::named(name).ok_or_else(|| {
            let all: Vec<&str> = Family::MEASURED.iter().map(|family| family.name()).collect();
            wrong(format!("expected one of {}, found `{name}`", all.join(", ")))
        })?;
        let (numbers, size_is, items_are, _) = words(family);
        let mut case = Self::new(family, 0, if family == Family::Spmm { 0 } else { 1 });
        for part in parts.filter(|part| *part != numbers) {
            let expected = || {
                let k = if case.k > 0 { ", k=" } else { "" };
                let items = if items_are.is_empty() { String::new() } else { format!(", {items_are}=") };
                wrong(format!("expected {name} {size_is}={items}{k} with whole numbers above 0, found `{part}`"))
            };
            let (key, value) = part.split_once('=').ok_or_else(expected)?;
            let value = value.replace('_', "").parse::<usize>().ok().filter(|&x| x > 0).ok_or_else(expected)?;
            match key {
                "k" if case.k > 0 => case.k = value,
                key if key == size_is => case.size = value,
                key if key == items_are => case.items = value,
                _ => return Err(expected()),
            }
        }
        if case.size == 0 {
            return Err(wrong(format!("expected {name} with {size_is}=, a whole number above 0")));
        }
        if case.items == 0 {
            case.items = case.size.saturating_mul(LINKS);
        }
        case.check()
    }

    /// The case, if its numbers can be counted.
    fn check(self) -> Result<Self> {
        let numbers = self.numbers();
        if numbers > (1_u64 << 40) as f64 {
            let what = format!("{self}: expected at most 2^40 numbers, found {numbers:.1e}");
            return Err(Error::domain("workload", what));
        }
        if self.items > MOST_ITEMS && self.family != Family::Spmm {
            let what = format!("{self}: expected at most 2^26 {}", self.items_are());
            return Err(Error::domain("workload", what));
        }
        if self.family == Family::Eigsh && self.k > self.size * self.size {
            let what = format!("{self}: expected at most {} pairs", self.size * self.size);
            return Err(Error::domain("workload", what));
        }
        Ok(self)
    }

    /// Numbers of the input.
    fn numbers(&self) -> f64 {
        let (size, items) = (self.size as f64, self.items as f64);
        match self.family {
            Family::Fft => 2.0 * size * items,
            Family::Rfft | Family::Describe | Family::Cov => size * items,
            Family::Spmm => 2.0 * items + size * self.k as f64,
            Family::Eigsh => 5.0 * size * size,
            Family::Encode => size * (self.k as f64 + 5.0) * items,
            Family::Matmul => 2.0 * size * size * items,
            _ => size * size * items,
        }
    }

    /// Bytes that have to be read and written once, and the textbook's operations: what shares of ceilings are of.
    #[must_use]
    pub fn least(&self) -> [f64; 2] {
        let (n, items) = (self.size as f64, self.items as f64);
        let cube = n * n * n * items;
        let square = n * n * items;
        match self.family {
            // 9 n^3, 4/3 n^3, 22 n^3: Golub and Van Loan's counts, with vectors and without, and of U, S and V.
            Family::Encode => [4.0 * n * items * (5.0 + self.k as f64), 9.0 * cube],
            Family::Eigh => [4.0 * (2.0 * square + n * items), 9.0 * cube],
            Family::Eigvalsh => [4.0 * (square + n * items), 4.0 / 3.0 * cube],
            Family::Svd => [4.0 * (3.0 * square + n * items), 22.0 * cube],
            Family::Fft => [16.0 * n * items, 5.0 * n * items * n.max(2.0).log2()],
            Family::Rfft => [8.0 * n * items, 2.5 * n * items * n.max(2.0).log2()],
            Family::Matmul => [12.0 * square, 2.0 * cube],
            Family::Cov => [4.0 * n * items, n * n * items],
            Family::Laplacian => [4.0 * square, square],
            Family::Spmm => [8.0 * items + 8.0 * n * self.k as f64, 4.0 * items * self.k as f64],
            Family::Eigsh => [20.0 * n * n, 100.0 * 10.0 * n * n * self.k as f64],
            Family::Describe | Family::Other => [4.0 * n * items, 12.0 * n * items],
        }
    }

    /// The shape of its array, of those that have one: matrices, or series as columns.
    pub(super) fn shape(&self) -> Shape {
        match self.family {
            Family::Cov => Shape::new(self.items, self.size, 1),
            Family::Fft | Family::Rfft | Family::Describe => Shape::new(self.size, self.items, 1),
            Family::Spmm => Shape::new(self.k, self.size, 1),
            _ => Shape::new(self.size, self.size, self.items),
        }
    }

    /// Entries of a graph's adjacency: each node linked to the next ones around a ring.
    pub(super) fn entries(&self) -> usize {
        match self.family {
            Family::Spmm => 2 * self.items,
            Family::Eigsh => 4 * self.size * (self.size - 1),
            Family::Encode => 4 * self.size,
            _ => 2 * self.size,
        }
    }

    /// Where it would run, and why; `resident`: its data lies on the device.
    #[must_use]
    pub fn choose(&self, ctx: &Context, resident: bool) -> Choice {
        let shape = self.shape();
        let order = u32::try_from(self.size).unwrap_or(u32::MAX);
        match self.family {
            Family::Eigh => choose_eigh::<f32>(ctx, &vec![order; self.items], resident),
            Family::Eigvalsh => choose_eigvalsh::<f32>(ctx, &vec![order; self.items], resident),
            Family::Svd => choose_svd::<f32>(ctx, shape, Vectors::Thin, resident),
            Family::Fft => choose_fft::<f32>(ctx, shape, Axis::Rows, resident),
            Family::Rfft => choose_rfft::<f32>(ctx, shape, Axis::Rows, resident),
            Family::Cov => choose_cov::<f32>(ctx, shape, resident),
            Family::Laplacian => choose_laplacian::<f32>(ctx, order, self.entries(), self.items),
            Family::Spmm => choose_spmm::<f32>(ctx, (self.size, self.entries()), self.k, resident),
            Family::Eigsh => choose_eigsh::<f32>(ctx, (self.size * self.size, self.entries()), self.k),
            Family::Matmul => Gemm::<f32>::new()
                .choose(ctx, shape, shape, resident)
                .unwrap_or_else(|_| ctx.explain(&fiedler::policy::Workload::default(), false)),
            Family::Encode => SpectralEncoder::new(self.k).choose_alike(ctx, (self.size, self.entries()), self.items),
            Family::Describe | Family::Other => choose_describe::<f32>(ctx, shape, resident),
        }
    }

    /// The fewest items above, or the most below, at which the other side is chosen: the nearest power of two times as many.
    #[must_use]
    pub fn turns_at(&self, ctx: &Context, resident: bool) -> Option<(usize, Side)> {
        if self.family == Family::Eigsh {
            return None;
        }
        let side = self.choose(ctx, resident).side;
        let more = (1..).map(|k| self.items.saturating_mul(1 << k)).take_while(|&items| items <= MOST);
        let fewer = (1..).map(|k| self.items >> k).take_while(|&items| items > 0);
        let turns = |items: &usize| Self { items: *items, ..*self }.choose(ctx, resident).side != side;
        let other = if side == Side::Cpu { Side::Gpu } else { Side::Cpu };
        let (mut more, mut fewer) = (more, fewer);
        more.find(turns).or_else(|| fewer.find(turns)).map(|items| (items, other))
    }

    /// What its items are called; empty where there is but one.
    #[must_use]
    pub fn items_are(&self) -> &'static str {
        words(self.family).2
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, size, items, k } = *self;
        let (numbers, size_is, items_are, _) = words(family);
        write!(f, "{family}/{numbers}/")?;
        match family {
            Family::Cov => write!(f, "{items_are}={items}/{size_is}={size}"),
            Family::Eigsh => write!(f, "{size_is}={size}/k={k}"),
            Family::Spmm | Family::Encode => write!(f, "{size_is}={size}/{items_are}={items}/k={k}"),
            _ => write!(f, "{size_is}={size}/{items_are}={items}"),
        }
    }
}
