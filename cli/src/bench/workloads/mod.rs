//! What the workloads of a family are, a file for each: their words, sizes, costs and calls, and what is right.

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
mod truth;

use super::case::Case;
use fiedler::forms::KernelForm;
use fiedler::policy::{Choice, Family};
use fiedler::{Context, Error, Result, Shape};

/// Something that can be called again and again.
pub(super) type Call<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

/// The calls of one workload.
pub(super) struct Calls<'a> {
    /// With its data where it is computed; waits until it is done. None where the library has no such call.
    pub(super) resident: Option<Call<'a>>,
    /// From host to host.
    pub(super) transfers: Call<'a>,
    /// The largest error as a share of what is promised: above 1 the result is wrong.
    pub(super) check: Box<dyn FnMut() -> Result<f64> + 'a>,
}

/// What is done with a workload's calls.
pub(super) type Use<'a> = &'a mut dyn FnMut(Calls<'_>) -> Result<()>;

/// How a family's workloads are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// The type of the numbers.
    pub(super) numbers: &'static str,
    /// What the size is called.
    pub(super) size: &'static str,
    /// What the items are called; empty where there is but one.
    pub(super) items: &'static str,
    /// What k is where nothing is said; 0 where there is none.
    pub(super) k: usize,
    /// Whether the items are written before the size.
    pub(super) items_first: bool,
}

impl Words {
    /// Those of batches of matrices.
    const BATCH: Self = Self { numbers: "f32", size: "n", items: "batch", k: 0, items_first: false };
}

/// The workloads of a family. What is said here holds for batches of square matrices.
pub(super) trait Workloads: Sync {
    /// How they are written.
    fn words(&self) -> Words {
        Words::BATCH
    }

    /// Items where nothing is said.
    fn usual_items(&self, _size: usize) -> usize {
        1
    }

    /// The most items of a workload: each is looked at.
    fn most_items(&self) -> usize {
        1 << 26
    }

    /// The most k of a workload of that size.
    fn most_k(&self, _size: usize) -> usize {
        usize::MAX
    }

    /// The shape of its array, of those that have one.
    fn shape(&self, case: &Case) -> Shape {
        Shape::new(case.size, case.size, case.items)
    }

    /// Numbers of the input.
    fn numbers(&self, case: &Case) -> f64 {
        case.size as f64 * case.size as f64 * case.items as f64
    }

    /// Bytes that have to be read and written once, and the textbook's operations.
    fn least(&self, case: &Case) -> [f64; 2];

    /// Where it would run, and why.
    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice;

    /// Makes a workload's input and hands its calls on `ctx` to `use_them`.
    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()>;

    /// The sizes that `tune` measures, small ones first: with what comes before, each is a few times the work of the one before.
    fn tuned(&self) -> &'static [usize];

    /// The fewest items that `tune` measures; none where one item keeps all threads busy, so that there is nothing to do side by side.
    fn fewest(&self) -> Option<usize> {
        Some(1)
    }

    /// The sizes and items that `bench` measures; 0 items are the usual ones.
    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[], &[])
    }

    /// The forms of its kernels that `tune` tries, and the sizes at which it does.
    fn forms(&self) -> (&'static [KernelForm], &'static [usize]) {
        (&[], &[])
    }
}

/// The workloads of a family: a line for each. What has no curve of its own goes at the rate of moments.
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
    }
}

/// What `use_them` makes of a workload's calls on `ctx`.
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
