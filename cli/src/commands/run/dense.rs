//! `fiedler run eigh`, `eigvalsh`, `svd` and `svdvals`: decompositions of dense matrices, each with its certificate.

use super::input::{Axes, Input, REALS};
use super::layout::{matrices, shape_of};
use super::{Precision, To, many, one_zero, seconds};
use crate::commands::encode::End;
use crate::commands::values::whole;
use crate::commands::{Failure, Outcome};
use clap::Args;
use fiedler::array::{Array, ArrayRead, HostArray, Real};
use fiedler::io::{Data, NamedArray, NpyData, Rows};
use fiedler::ops::eigen::{choose_eigh, choose_eigvalsh};
use fiedler::ops::svd::choose_svd;
use fiedler::ops::{self, Certificate, Status, Vectors};
use fiedler::policy::{Choice, Side};
use fiedler::{Context, Error, Shape};
use std::path::PathBuf;
use std::sync::Arc;

/// The options of every decomposition.
#[derive(Debug, Args)]
struct Common {
    /// `(n, n)` or `(batch, n, n)` in a .npy file: float32, float64, float16 as float32, integers and booleans as
    /// float64. Only the lower triangles are read. The output also has the `residual`, `orthogonality` and `status` of
    /// each matrix.
    input: PathBuf,
    #[command(flatten)]
    to: To,
    /// The precision to compute in [default: the precision of the input].
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
}

#[derive(Debug, Args)]
pub(super) struct Eigh {
    #[command(flatten)]
    common: Common,
    /// Compute only the K smallest pairs, or the K largest with --which largest; without -k, all pairs.
    #[arg(short, value_name = "K", value_parser = whole::<usize>)]
    k: Option<usize>,
    /// The end of the spectrum from which -k counts.
    #[arg(long, value_enum, value_name = "END", default_value = "smallest", requires = "k")]
    which: End,
}

#[derive(Debug, Args)]
pub(super) struct Eigvalsh {
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Svd {
    #[command(flatten)]
    common: Common,
    /// Compute all of U (m, m) and Vh (n, n), as NumPy's full_matrices does.
    #[arg(long)]
    full: bool,
}

#[derive(Debug, Args)]
pub(super) struct Svdvals {
    #[command(flatten)]
    common: Common,
}

impl Eigh {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(Operation::Eigh { subset: self.k.map(|k| (k, self.which)) })
    }
}

impl Eigvalsh {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(Operation::Eigvalsh)
    }
}

impl Svd {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(Operation::Svd(if self.full { Vectors::Full } else { Vectors::Thin }))
    }
}

impl Svdvals {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(Operation::Svdvals)
    }
}

impl Common {
    fn run(&self, operation: Operation) -> Result<Outcome, Failure> {
        self.to.check(&[&self.input], operation.arrays())?;
        let input = Input::read(&self.input, REALS, Axes::MATRICES, self.precision)?.widened();
        operation.check(&input)?;
        match &input.data {
            NpyData::F64(data) => self.solve(operation, &input, data, |out| Data::F64(out)),
            NpyData::F32(data) => self.solve(operation, &input, data, |out| Data::F32(out)),
            // Only f32 and f64 data reaches this match.
            _ => Ok(Outcome::Done),
        }
    }

    fn solve<T: Real>(
        &self,
        operation: Operation,
        input: &Input<'_>,
        data: &[T],
        wrap: impl for<'a> Fn(&'a [T]) -> Data<'a>,
    ) -> Result<Outcome, Failure> {
        let shape = &input.shape;
        let ctx =
            &self.to.context(self.precision, &[input], |ctx| Ok(operation.choose::<T>(ctx, shape_of(shape), false)))?;
        let a = matrices(shape, data)?;
        let (found, first) = seconds(|| operation.call(ctx, &a))?;

        // As in NumPy, a single matrix has no batch axis.
        let batch = (shape.len() == 3).then_some(shape[0]);
        let with_batch = |rest: &[usize]| batch.into_iter().chain(rest.iter().copied()).collect::<Vec<_>>();
        let array =
            |name, shape: &[usize], data| NamedArray { name, rows: Rows::Other, shape: with_batch(shape), data };
        let Found { arrays: computed, certificates } = &found;
        let mut row_major: Vec<(&'static str, Vec<usize>, Vec<T>)> =
            computed.iter().map(|(name, made)| (*name, numpy_shape(name, made.shape()), made.to_row_major())).collect();
        row_major.iter_mut().for_each(|(_, _, numbers)| one_zero(numbers));
        let mut arrays: Vec<NamedArray<'_>> =
            row_major.iter().map(|(name, shape, data)| array(name, shape, wrap(data))).collect();
        let residual: Vec<f64> = certificates.iter().map(|c| c.residual).collect();
        let orthogonality: Vec<f64> = certificates.iter().map(|c| c.orthogonality).collect();
        let status: Vec<u8> = certificates.iter().map(|c| c.status as u8).collect();
        arrays.push(array("residual", &[], Data::F64(&residual)));
        arrays.push(array("orthogonality", &[], Data::F64(&orthogonality)));
        arrays.push(array("status", &[], Data::U8(&status)));
        self.to.write(&arrays)?;
        let bad = certificates.iter().filter(|c| c.status != Status::Converged).count();
        let of = many(certificates.len(), "matrix", "matrices");
        let not_finite = certificates.iter().filter(|c| c.status == Status::NonFinite).count();
        let why = if not_finite > 0 { format!(" ({not_finite} with a NaN or an infinity)") } else { String::new() };
        let state = if bad == 0 { "all converged".to_owned() } else { format!("{bad} NOT converged{why}") };
        let worst = residual.iter().fold(0.0, |m: f64, &x| if x.is_nan() || x > m { x } else { m });
        let what = format_args!("{}: {}: {of}", operation.name(), input.described());
        let choice = computed.first().and_then(|(_, made)| made.choice());
        self.to.say((ctx, choice), what, format_args!("{state}, largest residual {worst:.1e}; done"), first)?;

        let on_device = operation.choose::<T>(ctx, a.shape(), true).side == Side::Gpu;
        let there = self.to.placed(ctx, &a, on_device)?;
        self.to.report(first, || operation.call(ctx, &a).map(drop), || operation.leave_there(ctx, &there))?;
        Ok(if bad > 0 { Outcome::Uncertified } else { Outcome::Done })
    }
}

/// Returns the shape of one result in NumPy, where eigenvalues and singular values form a vector. In the library they
/// form a matrix with one column.
fn numpy_shape(name: &str, shape: Shape) -> Vec<usize> {
    if matches!(name, "w" | "s") { vec![shape.rows] } else { vec![shape.rows, shape.cols] }
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Eigh { subset: Option<(usize, End)> },
    Eigvalsh,
    Svd(Vectors),
    Svdvals,
}

/// The results of an operation, by their names in the output file.
struct Found<T: Real> {
    arrays: Vec<(&'static str, HostArray<T>)>,
    certificates: Arc<Vec<Certificate>>,
}

impl<T: Real> Found<T> {
    /// Waits until the reads of the arrays have completed, and returns the results.
    fn of(reads: Vec<(&'static str, ArrayRead<T>)>, certificates: Arc<Vec<Certificate>>) -> Result<Self, Error> {
        let arrays = reads.into_iter().map(|(name, read)| Ok((name, read.wait()?))).collect::<Result<_, Error>>()?;
        Ok(Self { arrays, certificates })
    }
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Eigh { .. } => "eigh",
            Self::Eigvalsh => "eigvalsh",
            Self::Svd(_) => "svd",
            Self::Svdvals => "svdvals",
        }
    }

    /// Returns the names of the output's arrays. For eigenvalues or singular values without vectors, the list has only
    /// one name, so that a .npy file can hold the result. The last line of the output then reports the certificates.
    fn arrays(self) -> &'static [&'static str] {
        match self {
            Self::Eigh { .. } => &["w", "v", "residual", "orthogonality", "status"],
            Self::Eigvalsh => &["w"],
            Self::Svd(_) => &["u", "s", "vh", "residual", "orthogonality", "status"],
            Self::Svdvals => &["s"],
        }
    }

    /// Checks that the decomposition exists for matrices of the input's shape.
    fn check(self, input: &Input<'_>) -> Result<(), Failure> {
        let [.., rows, cols] = input.shape[..] else { return Ok(()) };
        match self {
            Self::Eigh { .. } | Self::Eigvalsh if rows != cols => {
                Err(input.wrong("square matrices, (n, n) or (batch, n, n)"))
            }
            Self::Eigh { subset: Some((k, _)) } if k > rows => {
                Err(Failure::Call(format!("-k: expected at most {rows} pairs of {}, found {k}", input.shown())))
            }
            _ => Ok(()),
        }
    }

    fn eigh<T: Real>(subset: Option<(usize, End)>, ctx: &Context, a: &Array<T>) -> Result<ops::Eigh<T>, Error> {
        match subset {
            Some((k, end)) => ops::eigh_subset(ctx, a, end.into(), k),
            None => ops::eigh(ctx, a),
        }
    }

    /// Runs the operation from host to host.
    fn call<T: Real>(self, ctx: &Context, a: &Array<T>) -> Result<Found<T>, Error> {
        match self {
            Self::Eigh { subset } => {
                let found = Self::eigh(subset, ctx, a)?;
                let reads = vec![("w", found.values.read(ctx)?), ("v", found.vectors.read(ctx)?)];
                Found::of(reads, found.certificates(ctx)?)
            }
            Self::Eigvalsh => {
                let found = ops::eigvalsh(ctx, a)?;
                Found::of(vec![("w", found.values.read(ctx)?)], found.certificates(ctx)?)
            }
            Self::Svd(vectors) => {
                let found = ops::svd(ctx, a, vectors)?;
                let reads = vec![("u", found.u.read(ctx)?), ("s", found.s.read(ctx)?), ("vh", found.vh.read(ctx)?)];
                Found::of(reads, found.certificates(ctx)?)
            }
            Self::Svdvals => {
                let found = ops::svdvals(ctx, a)?;
                Found::of(vec![("s", found.s.read(ctx)?)], found.certificates(ctx)?)
            }
        }
    }

    /// Runs the operation and leaves the results on the side where they were computed.
    fn leave_there<T: Real>(self, ctx: &Context, a: &Array<T>) -> Result<(), Error> {
        match self {
            Self::Eigh { subset } => Self::eigh(subset, ctx, a).map(drop)?,
            Self::Eigvalsh => ops::eigvalsh(ctx, a).map(drop)?,
            Self::Svd(vectors) => ops::svd(ctx, a, vectors).map(drop)?,
            Self::Svdvals => ops::svdvals(ctx, a).map(drop)?,
        }
        ctx.wait()
    }

    /// Returns where matrices of the given shape would be decomposed. `resident` says whether the matrices are already
    /// on the device.
    fn choose<T: Real>(self, ctx: &Context, shape: Shape, resident: bool) -> Choice {
        let orders = || vec![u32::try_from(shape.rows).unwrap_or(u32::MAX); shape.batch];
        match self {
            Self::Eigh { .. } => choose_eigh::<T>(ctx, &orders(), resident),
            Self::Eigvalsh => choose_eigvalsh::<T>(ctx, &orders(), resident),
            Self::Svd(vectors) => choose_svd::<T>(ctx, shape, vectors, resident),
            Self::Svdvals => choose_svd::<T>(ctx, shape, Vectors::Thin, resident),
        }
    }
}
