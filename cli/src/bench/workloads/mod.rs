//! The workloads, with one file per family: their names, sizes, costs and calls, and the check of their results.

mod cov;
mod describe;
mod eigh;
mod eigsh;
mod eigvalsh;
mod encode;
mod fft;
mod input;
mod laplacian;
mod matmul;
mod rfft;
mod spmm;
mod svd;
mod train;
mod truth;

pub(super) use input::SEED;
pub use train::training;
pub(super) use truth::{EPS, worst};

use super::case::Case;
use fiedler::forms::KernelForm;
use fiedler::policy::{Choice, Family};
use fiedler::{Context, Error, Result, Shape};

/// A function that can be called repeatedly.
pub(super) type Call<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

/// The calls of one workload.
pub(super) struct Calls<'a> {
    /// Computes with the data already on the side that computes, and waits until the computation is done. `None` if the
    /// library has no such call.
    pub(super) resident: Option<Call<'a>>,
    /// Computes from host to host.
    pub(super) transfers: Call<'a>,
    /// Returns the largest error divided by the promised bound. A value above 1 means that the result is wrong.
    pub(super) check: Box<dyn FnMut() -> Result<f64> + 'a>,
}

/// A function that uses a workload's calls.
pub(super) type Use<'a> = &'a mut dyn FnMut(Calls<'_>) -> Result<()>;

/// How the workloads of a family are named: by type, size, and number of items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// The type of the values.
    pub(super) numbers: &'static str,
    /// The name of the size.
    pub(super) size: &'static str,
    /// The name of the number of items; empty if the workloads have only one item.
    pub(super) items: &'static str,
    /// The default of k; 0 if the family has none.
    pub(super) k: usize,
    /// Whether the number of items is written before the size.
    pub(super) items_first: bool,
}

impl Words {
    /// The parts for batches of matrices.
    const BATCH: Self = Self { numbers: "f32", size: "n", items: "batch", k: 0, items_first: false };
}

/// The workloads of a family. The defaults are for batches of square matrices.
pub(super) trait Workloads: Sync {
    /// Returns the parts of the workloads' names.
    fn words(&self) -> Words {
        Words::BATCH
    }

    /// Returns the names of the sizes, if workloads are named by them and not by a number.
    fn names(&self) -> &'static [(&'static str, usize)] {
        &[]
    }

    /// Returns the default number of items.
    fn usual_items(&self, _size: usize) -> usize {
        1
    }

    /// Returns the maximum number of items in a workload. The number is limited because the cost model visits each
    /// item.
    fn most_items(&self) -> usize {
        1 << 26
    }

    /// Returns the maximum k for a workload of the given size.
    fn most_k(&self, _size: usize) -> usize {
        usize::MAX
    }

    /// Returns the shape of the workload's array, if it has one.
    fn shape(&self, case: &Case) -> Shape {
        Shape::new(case.size, case.size, case.items)
    }

    /// Returns the number of values in the input.
    fn numbers(&self, case: &Case) -> f64 {
        case.size as f64 * case.size as f64 * case.items as f64
    }

    /// Returns the minimum number of bytes that must be read and written, and the textbook operation count.
    fn least(&self, case: &Case) -> [f64; 2];

    /// Returns where the workload would run, and why.
    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice;

    /// Makes a workload's input and passes its calls on `ctx` to `use_them`.
    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()>;

    /// Returns the sizes that `tune` measures, in ascending order. A workload of each size has a few times the work of
    /// a workload of the previous size.
    fn tuned(&self) -> &'static [usize];

    /// Returns the minimum number of items that `tune` measures. `None` if one item already keeps all threads busy, so
    /// that several items would not run in parallel.
    fn fewest(&self) -> Option<usize> {
        Some(1)
    }

    /// Returns the sizes and numbers of items that `bench` measures; 0 stands for the default number of items.
    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[], &[])
    }

    /// Returns the kernel forms that `tune` tries, and the sizes at which it tries them.
    fn forms(&self) -> (&'static [KernelForm], &'static [usize]) {
        (&[], &[])
    }

    /// Returns the number of items with which forms are tried. `None` if as many are tried as make a large input.
    fn tried(&self, _size: usize) -> Option<usize> {
        None
    }

    /// Returns the smallest and the largest size for which a trial at the given size decides, in the policy's measure.
    fn range(&self, size: usize) -> [f64; 2] {
        [size as f64; 2]
    }
}

/// Returns the workloads of a family. Operations without a separate curve use the workloads of moments.
pub(super) fn of(family: Family) -> &'static dyn Workloads {
    match family {
        Family::Eigh => &eigh::Eigh,
        Family::Eigvalsh => &eigvalsh::Eigvalsh,
        Family::Svd => &svd::Svd,
        Family::Fft => &fft::Fft,
        Family::Rfft => &rfft::Rfft,
        Family::Matmul => &matmul::Matmul,
        Family::Cov => &cov::Cov,
        Family::Laplacian => &laplacian::Laplacians,
        Family::Spmm => &spmm::Spmm,
        Family::Eigsh => &eigsh::FewPairs,
        Family::Describe | Family::Other => &describe::Describe,
        Family::Encode => &encode::Encode,
        Family::Train => &train::Train,
    }
}

/// Returns the result of `use_them` for a workload's calls on `ctx`.
pub(super) fn with_calls<R>(case: &Case, ctx: &Context, use_them: impl FnOnce(Calls<'_>) -> Result<R>) -> Result<R> {
    let mut use_them = Some(use_them);
    let mut made = Err(Error::domain("workload", format!("{case} has no calls")));
    of(case.family).calls(case, ctx, &mut |calls| {
        if let Some(use_them) = use_them.take() {
            made = use_them(calls);
        }
        Ok(())
    })?;
    made
}
