//! `fiedler run eigsh` and `fiedler run spmm`: operations on a sparse matrix from a file.

use super::input::{Axes, Input, REALS};
use super::{Precision, To, many, one_zero, seconds};
use crate::commands::encode::End;
use crate::commands::reading::{Reading, notify};
use crate::commands::values::{positive, whole};
use crate::commands::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, Real};
use fiedler::graph::{Conventions, SelfLoops};
use fiedler::io::{Data, NamedArray, NpyData, Rows, SparseRows};
use fiedler::ops::eigsh::choose_eigsh;
use fiedler::ops::sparse::{OnDevice, Operator, SparseMatrix, choose_spmm};
use fiedler::ops::{self, EigshMethod, EigshOptions, Normalization, Status, Which, eigsh, spmm};
use fiedler::policy::{Choice, Side};
use fiedler::{Context, Shape};
use std::iter;
use std::path::{Path, PathBuf};

/// The options that select the matrix and its file.
#[derive(Debug, Args)]
struct Matrix {
    /// A graph, in any format that `fiedler encode` reads. A data set has to consist of one graph.
    input: PathBuf,
    /// The matrix of the graph. With `none`, the matrix in the MatrixMarket file is used as it is stored, in f64.
    #[arg(long, value_enum, value_name = "MATRIX", default_value = "symmetric")]
    laplacian: MatrixName,
    /// With f32, compute in f32, as the GPU's kernels do, even if the matrix is stored in f64. With refined, compute in
    /// f64, on the CPU.
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Args)]
pub(super) struct Eigsh {
    #[command(flatten)]
    matrix: Matrix,
    #[command(flatten)]
    to: To,
    /// The number of eigenpairs.
    #[arg(short, value_name = "K", value_parser = whole::<usize>)]
    k: usize,
    /// The end of the spectrum to compute.
    #[arg(long, value_enum, value_name = "END", default_value = "smallest")]
    which: End,
    /// The method.
    #[arg(long, value_enum, value_name = "METHOD", default_value = "auto")]
    method: MethodName,
    /// Compute the K pairs with the eigenvalues nearest to S, anywhere in the spectrum, by a sparse factorization of
    /// A - S I. Replaces --which.
    #[arg(long, value_name = "S", conflicts_with = "which")]
    sigma: Option<f64>,
    /// The largest residual of a converged pair, relative to the 1-norm [default: 2e-6 in f32, 1e-10 in f64].
    #[arg(long, value_name = "T", value_parser = positive)]
    tolerance: Option<f64>,
    /// The seed of the random start vectors.
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = whole::<u64>)]
    seed: u64,
}

#[derive(Debug, Args)]
pub(super) struct Spmm {
    #[command(flatten)]
    matrix: Matrix,
    #[command(flatten)]
    to: To,
    /// The block, `(n, columns)` in a .npy file: float32, float64, float16 as float32, integers and booleans as
    /// float64.
    #[arg(long, value_name = "FILE", conflicts_with = "k", required_unless_present = "k")]
    block: Option<PathBuf>,
    /// Use a block of K columns of small whole numbers instead of --block.
    #[arg(short, value_name = "K", value_parser = whole::<usize>)]
    k: Option<usize>,
}

/// The matrix of a graph to use. `none` stands for the matrix as it is stored in a MatrixMarket file.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum MatrixName {
    None,
    Combinatorial,
    Symmetric,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum MethodName {
    Auto,
    Chebyshev,
    Lanczos,
    ShiftInvert,
    Subspace,
    Power,
    Dense,
}

impl From<MethodName> for EigshMethod {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Auto => Self::Auto,
            MethodName::Chebyshev => Self::Chebyshev,
            MethodName::Lanczos => Self::Lanczos,
            MethodName::ShiftInvert => Self::ShiftInvert,
            MethodName::Subspace => Self::Subspace,
            MethodName::Power => Self::Power,
            MethodName::Dense => Self::Dense,
        }
    }
}

/// An operation on a sparse matrix, computed in the precision of the matrix.
trait Operation {
    fn to(&self) -> &To;
    /// Returns where the operation would run. `size` contains the number of rows and the number of entries of the
    /// matrix.
    fn choose<T: Real>(&self, ctx: &Context, size: (usize, usize)) -> Choice;
    /// Checks, before a device is opened, that the operation applies to the matrix.
    fn check<T: Real>(&self, a: &Operator<'_, T>) -> Result<(), Failure>;
    fn on<T: Real>(&self, ctx: &Context, a: &Operator<'_, T>) -> Result<Outcome, Failure>;
}

impl Matrix {
    /// Reads the matrix and runs the operation in the requested precision. By default the precision is f64 for a matrix
    /// stored in a file. For a graph's matrix it is f32, unless the block is in f64 (`wide`).
    fn run(&self, wide: bool, operation: &impl Operation) -> Result<Outcome, Failure> {
        let wide = wide || self.laplacian == MatrixName::None;
        if wide && self.precision.is_none() {
            // f64 is narrowed only if the call asks for it.
            operation.to().check_wide(self.input.display())?;
        }
        let in_f64 = match self.precision {
            None => wide,
            Some(precision) => precision == Precision::Refined,
        };
        let normalization = match self.laplacian {
            MatrixName::None => {
                self.check_weights()?;
                let largest = if in_f64 { f64::MAX } else { f32::MAX.into() };
                let matrix = fiedler::io::read_symmetric_matrix(&self.input, largest)?;
                return if in_f64 {
                    by_entries::<f64>(matrix, operation)
                } else {
                    by_entries::<f32>(matrix, operation)
                };
            }
            MatrixName::Combinatorial => Normalization::Combinatorial,
            MatrixName::Symmetric => Normalization::Symmetric,
        };
        let conventions = Conventions { self_loops: SelfLoops::Drop, ..Conventions::default() };
        let data = self.reading.read(&self.input, &conventions)?;
        if !operation.to().printing.quiet {
            notify(&data);
        }
        if data.graphs.len() != 1 {
            let what = format!("{}: expected one graph, found {}", self.input.display(), data.graphs.len());
            return Err(Failure::Call(what));
        }
        let graph = data.graphs.graph(0);
        if in_f64 {
            done(&Operator::<f64>::laplacian(graph, normalization)?, operation)
        } else {
            done(&Operator::<f32>::laplacian(graph, normalization)?, operation)
        }
    }
}

impl Matrix {
    /// Refuses `--edge-weight-column` for a matrix stored in a file, because only graphs have edge weights.
    fn check_weights(&self) -> Result<(), Failure> {
        if self.reading.edge_weight_column.is_none() {
            return Ok(());
        }
        let what = "--edge-weight-column: expected a TUDataset, found --laplacian none, the matrix in a file";
        Err(Failure::Call(what.to_owned()))
    }
}

fn by_entries<T: Real>(matrix: SparseRows, operation: &impl Operation) -> Result<Outcome, Failure> {
    let SparseRows { row_offsets, columns, values, .. } = matrix;
    let values = values.into_iter().map(T::from_f64).collect();
    done(&Operator::<T>::from_csr(row_offsets, columns, values)?, operation)
}

/// Checks the operation, opens the context, and runs the operation in it.
fn done<T: Real>(a: &Operator<'_, T>, operation: &impl Operation) -> Result<Outcome, Failure> {
    operation.check(a)?;
    let choose = |ctx: &Context| Ok(operation.choose::<T>(ctx, (a.rows(), a.entries())));
    let ctx = operation.to().context_for(!T::ON_DEVICE, choose)?;
    operation.on(&ctx, a)
}

impl Eigsh {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.to.check(&[&self.matrix.input], &["w", "v", "residual", "status", "null_space"])?;
        if let (MethodName::ShiftInvert, End::Largest) = (self.method, self.which) {
            let what = "--method shift-invert: expected --which smallest, found --which largest";
            return Err(Failure::Call(what.to_owned()));
        }
        if let Some(sigma) = self.sigma {
            if !sigma.is_finite() {
                return Err(Failure::Call(format!("--sigma: expected a finite number, found {sigma}")));
            }
            if !matches!(self.method, MethodName::Auto | MethodName::ShiftInvert) {
                let what = "--sigma: expected --method auto or shift-invert, found another method";
                return Err(Failure::Call(what.to_owned()));
            }
        }
        self.matrix.run(false, &self)
    }

    /// Returns a suggestion of what to try if some pairs did not converge.
    fn advice(&self, n: usize, status: Status) -> &'static str {
        let in_f32 = self.matrix.laplacian != MatrixName::None && self.matrix.precision != Some(Precision::Refined);
        let method = self.method;
        let smallest = matches!(self.which, End::Smallest) && self.sigma.is_none();
        match status {
            Status::Converged => "",
            _ if in_f32 || self.matrix.precision == Some(Precision::F32) => {
                "; try --precision refined, which computes in f64"
            }
            _ if !matches!(method, MethodName::Auto | MethodName::ShiftInvert) && smallest => {
                "; try --method auto, which tries the next method if one fails"
            }
            Status::Unresolved if self.matrix.laplacian != MatrixName::None && smallest => {
                "; `fiedler encode` separates such pairs by means of the graph's edges"
            }
            _ if n <= 4096 && !matches!(method, MethodName::Dense) => "; try --method dense",
            _ if self.sigma.is_none() => "; try --sigma with a number near the wanted values, or a larger --tolerance",
            _ => "; try a larger --tolerance",
        }
    }
}

impl Operation for Eigsh {
    fn to(&self) -> &To {
        &self.to
    }

    fn choose<T: Real>(&self, ctx: &Context, size: (usize, usize)) -> Choice {
        choose_eigsh::<T>(ctx, size, self.k)
    }

    fn check<T: Real>(&self, a: &Operator<'_, T>) -> Result<(), Failure> {
        let (k, n, file) = (self.k, a.rows(), self.matrix.input.display());
        if k <= n {
            return Ok(());
        }
        Err(Failure::Call(format!("-k: expected at most {n}, the order of the matrix in {file}, found {k}")))
    }

    fn on<T: Real>(&self, ctx: &Context, a: &Operator<'_, T>) -> Result<Outcome, Failure> {
        let k = self.k;
        let mut options = EigshOptions::default().method(self.method.into()).seed(self.seed);
        (options.tolerance, options.sigma) = (self.tolerance, self.sigma);
        let which: Which = self.which.into();
        let call = || eigsh(ctx, a, k, which, &options);
        let (found, first) = seconds(call)?;
        let ops::Eigsh { values, vectors, residuals, statuses, .. } = &found;
        let mut values: Vec<f64> = values.iter().map(|x| x.to_f64()).collect();
        let mut rows: Vec<f64> =
            vectors.row_iter().flat_map(|row| row.iter().map(|x| x.to_f64()).collect::<Vec<_>>()).collect();
        one_zero(&mut values);
        one_zero(&mut rows);
        let narrow = |data: &[f64]| data.iter().map(|&x| f32::from_f64(x)).collect::<Vec<f32>>();
        let (w32, v32) = (narrow(&values), narrow(&rows));
        let (w, v) = match T::ON_DEVICE {
            true => (Data::F32(&w32), Data::F32(&v32)),
            false => (Data::F64(&values), Data::F64(&rows)),
        };
        let status: Vec<u8> = statuses.iter().map(|&s| s as u8).collect();
        let null_space = [i64::try_from(found.null_space).unwrap_or(i64::MAX)];
        let array = |name, shape: &[usize], data| NamedArray { name, rows: Rows::Other, shape: shape.to_vec(), data };
        self.to.write(&[
            array("w", &[k], w),
            array("v", &[vectors.nrows(), k], v),
            array("residual", &[k], Data::F64(residuals)),
            array("status", &[k], Data::U8(&status)),
            array("null_space", &[], Data::I64(&null_space)),
        ])?;
        let (pairs, method) = (many(k, "eigenpair", "eigenpairs"), found.method);
        let (products, restarts) =
            (many(found.products, "product", "products"), many(found.restarts, "restart", "restarts"));
        let what = format_args!(
            "eigsh: {}: {pairs} by {method} ({products} with the matrix, {restarts})",
            described(&self.matrix, a)
        );
        let (certificate, null) = (&found.certificate, found.null_space);
        let status = match statuses.iter().filter(|status| **status != Status::Converged).count() {
            0 => certificate.status.name().to_owned(),
            open => format!("{open} of {k} NOT converged ({})", certificate.status.name()),
        };
        let residual = certificate.residual;
        let advice = self.advice(a.rows(), certificate.status);
        let state =
            format_args!("{status}, largest residual {residual:.1e}; null space of dimension {null}{advice}; done");
        self.to.say((ctx, Some(&found.choice)), what, state, first)?;
        // Both timed calls are the same, because the pairs always end up on the host.
        self.to.report(first, || call().map(drop), || call().map(drop))?;
        Ok(if found.certificate.status == Status::Converged { Outcome::Done } else { Outcome::Uncertified })
    }
}

/// Describes the file and the size of its matrix.
fn described<T: Real>(matrix: &Matrix, a: &Operator<'_, T>) -> String {
    let (rows, entries) = (many(a.rows(), "row", "rows"), many(a.entries(), "entry", "entries"));
    format!("{}: {rows}, {entries}", matrix.input.display())
}

impl Spmm {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let inputs: Vec<&Path> = iter::once(&self.matrix.input).chain(&self.block).map(PathBuf::as_path).collect();
        self.to.check(&inputs, &["y"])?;
        let block = self.block.as_deref().map(|path| Input::read(path, REALS, Axes::COLUMNS, None)).transpose()?;
        let wide = block.as_ref().is_some_and(Input::is_wide);
        let multiplied = Multiplied { call: &self, block: block.map(Input::widened) };
        match self.matrix.laplacian {
            MatrixName::None => multiplied.of_any_shape(),
            _ => self.matrix.run(wide, &multiplied),
        }
    }
}

/// The product of the call's matrix and the block.
struct Multiplied<'a> {
    call: &'a Spmm,
    block: Option<Input<'a>>,
}

impl Operation for Multiplied<'_> {
    fn to(&self) -> &To {
        &self.call.to
    }

    fn choose<T: Real>(&self, ctx: &Context, size: (usize, usize)) -> Choice {
        choose_spmm::<T>(ctx, size, self.width(), false)
    }

    fn check<T: Real>(&self, a: &Operator<'_, T>) -> Result<(), Failure> {
        let (Some(block), n) = (&self.block, a.rows()) else { return Ok(()) };
        if block.shape[0] == n {
            return Ok(());
        }
        Err(block.wrong(format_args!("({n}, columns), to match the matrix in {}", self.call.matrix.input.display())))
    }

    fn on<T: Real>(&self, ctx: &Context, a: &Operator<'_, T>) -> Result<Outcome, Failure> {
        let Spmm { to, matrix, .. } = self.call;
        let x = self.block::<T>(ctx, a.rows())?;
        let width = x.shape().rows;
        let (y, first) = seconds(|| spmm(ctx, a, &x)?.to_host(ctx))?;
        let wide: Vec<f64> = if T::ON_DEVICE { Vec::new() } else { y.as_slice().iter().map(|x| x.to_f64()).collect() };
        let narrow = T::for_device(y.as_slice());
        let data = if T::ON_DEVICE { Data::F32(&narrow) } else { Data::F64(&wide) };
        let shape = vec![a.rows(), width];
        to.write(&[NamedArray { name: "y", rows: Rows::Other, shape, data }])?;
        let (matrix, columns) = (described(matrix, a), many(width, "column", "columns"));
        to.say((ctx, y.choice()), format_args!("spmm: {matrix}, times {columns}"), "done", first)?;
        let from_host = || spmm(ctx, a, &x)?.to_host(ctx).map(drop);
        let on_device = ctx.explain(&Default::default(), false).side == Side::Gpu || spmm(ctx, a, &x)?.is_resident();
        match a.in_f32().filter(|_| on_device && to.time > 0) {
            None => to.report(first, from_host, from_host)?,
            Some(narrow) => {
                let resident = OnDevice::new(ctx, &narrow)?;
                let block = Array::from_vec(x.shape(), T::for_device(x.to_host(ctx)?.as_slice()).into_owned())?;
                let block = block.to_device(ctx)?;
                to.report(first, from_host, || {
                    resident.spmm(ctx, &block)?;
                    ctx.wait()
                })?;
            }
        }
        Ok(Outcome::Done)
    }
}

impl Multiplied<'_> {
    /// Multiplies a matrix stored in a MatrixMarket file by the block. The matrix may be nonsymmetric and rectangular.
    fn of_any_shape(&self) -> Result<Outcome, Failure> {
        let Matrix { input, precision, .. } = &self.call.matrix;
        self.call.matrix.check_weights()?;
        if precision.is_none() {
            // f64 is narrowed only if the call asks for it.
            self.to().check_wide(input.display())?;
        }
        let matrix = fiedler::io::read_matrix(input)?;
        if *precision == Some(Precision::F32) { self.any::<f32>(matrix) } else { self.any::<f64>(matrix) }
    }

    fn any<T: Real>(&self, matrix: SparseRows) -> Result<Outcome, Failure> {
        let (to, input) = (self.to(), &self.call.matrix.input);
        let SparseRows { width, row_offsets, columns, values } = matrix;
        let a = SparseMatrix::from_csr(width, row_offsets, columns, values.into_iter().map(T::from_f64).collect())?;
        let wanted =
            || format!("({width}, columns), to match the {width} columns of the matrix in {}", input.display());
        match &self.block {
            Some(block) if block.shape[0] != width => return Err(block.wrong(wanted())),
            _ => {}
        }
        let ctx = to.context_for(!T::ON_DEVICE, |ctx| {
            Ok(choose_spmm::<T>(ctx, (a.rows(), a.entries()), self.width(), false))
        })?;
        let x = self.block::<T>(&ctx, width)?;
        let (y, first) = seconds(|| a.times(&ctx, &x)?.to_host(&ctx))?;
        let wide: Vec<f64> = y.as_slice().iter().map(|x| x.to_f64()).collect();
        let narrow = T::for_device(y.as_slice());
        let data = if T::ON_DEVICE { Data::F32(&narrow) } else { Data::F64(&wide) };
        to.write(&[NamedArray { name: "y", rows: Rows::Other, shape: vec![a.rows(), self.width()], data }])?;
        let (rows, cols) = (many(a.rows(), "row", "rows"), many(width, "column", "columns"));
        let entries = many(a.entries(), "entry", "entries");
        let times = many(self.width(), "column", "columns");
        let what = format_args!("spmm: {}: {rows}, {cols}, {entries}, times {times}", input.display());
        to.say((&ctx, y.choice()), what, "done", first)?;
        let again = || a.times(&ctx, &x)?.to_host(&ctx).map(drop);
        to.report(first, again, again)?;
        Ok(Outcome::Done)
    }

    /// Returns the number of columns of the block.
    fn width(&self) -> usize {
        self.block.as_ref().map_or(self.call.k.unwrap_or(0), |block| block.shape[1])
    }

    /// Returns the block that `--block` names, or `-k` columns of small whole numbers. The shape is `(n, columns)` in
    /// NumPy's order, which is `(columns, n)` in the library's order.
    fn block<T: Real>(&self, ctx: &Context, n: usize) -> Result<Array<T>, Failure> {
        let Some(block) = &self.block else {
            let k = self.call.k.unwrap_or(0);
            let needed = (k as u64).saturating_mul(n as u64).saturating_mul(8);
            let allowed = ctx.memory_budget();
            if needed > allowed {
                let what =
                    format!("-k: {k} columns take {needed} bytes, {allowed} allowed; raise FIEDLER_MEMORY_BUDGET");
                return Err(Failure::Said(what));
            }
            let cycle = |i: usize| T::from_f64(f64::from(u8::try_from(i % 11).unwrap_or(0)) - 5.0);
            return Ok(Array::from_vec(Shape::new(k, n, 1), (0..k * n).map(cycle).collect())?);
        };
        let data = match &block.data {
            NpyData::F32(data) => data.iter().map(|&x| T::from_f64(x.into())).collect(),
            NpyData::F64(data) => data.iter().map(|&x| T::from_f64(x)).collect(),
            // Only f32 and f64 blocks reach this match.
            _ => Vec::new(),
        };
        Ok(Array::from_vec(Shape::new(self.width(), n, 1), data)?)
    }
}
