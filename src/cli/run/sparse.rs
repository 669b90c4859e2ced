//! `fiedler run eigsh` and `fiedler run spmm`: operations on the sparse matrix of a file.

use super::{Operation, Precision, Run};
use crate::cli::{Failure, Outcome, print};
use clap::ValueEnum;
use fiedler::array::{Array, Real};
use fiedler::graph::{Conventions, SelfLoops};
use fiedler::io::{Data, NamedArray, Npy, NpyData, Rows, SparseRows, read_npy};
use fiedler::ops::sparse::{OnDevice, Operator};
use fiedler::ops::{Eigsh, EigshMethod, EigshOptions, Normalization, Status, eigsh, spmm};
use fiedler::policy::Side;
use fiedler::{Backend, Context, Error, Shape};
use std::time::Instant;

/// Which matrix of a graph; `none` is the matrix of a MatrixMarket file itself.
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

impl Run {
    /// Reads the matrix and runs the operation in the precision that was asked for: f64 for numbers that are, f32 for graphs.
    pub(super) fn run_sparse(&self) -> Result<Outcome, Failure> {
        let ctx = self.place.context()?;
        let normalization = match self.laplacian {
            MatrixName::None => {
                let matrix = fiedler::io::read_matrix(&self.input)?;
                return match self.precision {
                    Some(Precision::F32) => self.by_matrix::<f32>(&ctx, matrix),
                    _ => self.by_matrix::<f64>(&ctx.with_backend(self.in_f64(&ctx)), matrix),
                };
            }
            MatrixName::Combinatorial => Normalization::Combinatorial,
            MatrixName::Symmetric => Normalization::Symmetric,
        };
        let conventions = Conventions { self_loops: SelfLoops::Drop, ..Conventions::default() };
        let data = fiedler::io::read(&self.input, &conventions)?;
        if data.graphs.len() != 1 {
            let what = format!("{}: expected one graph, found {}", self.input.display(), data.graphs.len());
            return Err(Failure::Call(what));
        }
        let graph = data.graphs.graph(0);
        match self.precision {
            // f64 is never narrowed unasked.
            None if self.has_f64_block()? => {
                let ctx = ctx.with_backend(self.in_f64(&ctx));
                self.by_operation(&ctx, &Operator::<f64>::laplacian(graph, normalization)?)
            }
            Some(Precision::Refined) => {
                let ctx = ctx.with_backend(Backend::Cpu);
                self.by_operation(&ctx, &Operator::<f64>::laplacian(graph, normalization)?)
            }
            _ => self.by_operation(&ctx, &Operator::<f32>::laplacian(graph, normalization)?),
        }
    }

    /// Whether the block of a product is of f64.
    fn has_f64_block(&self) -> Result<bool, Error> {
        let Some(path) = self.block.as_ref().filter(|_| self.operation == Operation::Spmm) else { return Ok(false) };
        Ok(matches!(read_npy(path)?.data, NpyData::F64(_)))
    }

    /// Where f64 is computed: a device that was insisted upon says itself that it cannot.
    fn in_f64(&self, ctx: &Context) -> Backend {
        let asked = ctx.explain(&Default::default(), false).side == Side::Gpu;
        if asked && self.precision.is_none() { Backend::Gpu } else { Backend::Cpu }
    }

    fn by_matrix<T: Real>(&self, ctx: &Context, matrix: SparseRows) -> Result<Outcome, Failure> {
        let SparseRows { row_offsets, columns, values } = matrix;
        let values = values.into_iter().map(T::from_f64).collect();
        self.by_operation(ctx, &Operator::from_csr(row_offsets, columns, values)?)
    }

    fn by_operation<T: Real>(&self, ctx: &Context, a: &Operator<'_, T>) -> Result<Outcome, Failure> {
        if self.operation == Operation::Spmm { self.spmm(ctx, a) } else { self.eigsh(ctx, a) }
    }

    fn eigsh<T: Real>(&self, ctx: &Context, a: &Operator<'_, T>) -> Result<Outcome, Failure> {
        let Some(k) = self.k else {
            return Err(Failure::Call("eigsh: expected -k, how many pairs".to_owned()));
        };
        let mut options = EigshOptions::default().method(self.method.into()).seed(self.seed);
        options.tolerance = self.tolerance;
        let call = || eigsh(ctx, a, k, self.which.into(), &options);
        let started = Instant::now();
        let found = call()?;
        let first = started.elapsed().as_secs_f64();
        let Eigsh { values, vectors, residuals, statuses, .. } = &found;
        let values: Vec<f64> = values.iter().map(|x| x.to_f64()).collect();
        let rows: Vec<f64> =
            vectors.row_iter().flat_map(|row| row.iter().map(|x| x.to_f64()).collect::<Vec<_>>()).collect();
        let narrow = |data: &[f64]| data.iter().map(|&x| f32::from_f64(x)).collect::<Vec<f32>>();
        let (w32, v32) = (narrow(&values), narrow(&rows));
        let (w, v) = match T::ON_DEVICE {
            true => (Data::F32(&w32), Data::F32(&v32)),
            false => (Data::F64(&values), Data::F64(&rows)),
        };
        let status: Vec<u8> = statuses.iter().map(|&s| s as u8).collect();
        let null_space = [i64::try_from(found.null_space).unwrap_or(i64::MAX)];
        let array = |name, shape: &[usize], data| NamedArray { name, rows: Rows::Other, shape: shape.to_vec(), data };
        fiedler::io::write(
            &self.output,
            &[
                array("w", &[k], w),
                array("v", &[vectors.nrows(), k], v),
                array("residual", &[k], Data::F64(residuals)),
                array("status", &[k], Data::U8(&status)),
                array("null_space", &[], Data::I64(&null_space)),
            ],
        )?;
        print(format_args!(
            "{}: n = {}, {} entries, k = {k}, by {} ({} products, {} looks); null space {}, residual <= {:.1e}, {}; {first:.3} s",
            self.input.display(),
            a.rows(),
            a.entries(),
            found.method,
            found.products,
            found.looks,
            found.null_space,
            found.certificate.residual,
            found.certificate.status.name(),
        ));
        if self.time > 0 {
            let again = self.median(|| call().map(drop))?;
            // The pairs are on the host in either case.
            print(
                serde_json::json!({"first_ms": first * 1e3, "transfers_ms": again * 1e3, "resident_ms": again * 1e3}),
            );
        }
        Ok(if found.certificate.status == Status::Converged { Outcome::Done } else { Outcome::Uncertified })
    }

    fn spmm<T: Real>(&self, ctx: &Context, a: &Operator<'_, T>) -> Result<Outcome, Failure> {
        let x = self.block::<T>(a.rows())?;
        let width = x.shape().rows;
        let started = Instant::now();
        let y = spmm(ctx, a, &x)?.to_host(ctx)?;
        let first = started.elapsed().as_secs_f64();
        let wide: Vec<f64> = if T::ON_DEVICE { Vec::new() } else { y.as_slice().iter().map(|x| x.to_f64()).collect() };
        let data = if T::ON_DEVICE { Data::F32(T::for_device(y.as_slice())) } else { Data::F64(&wide) };
        let shape = vec![a.rows(), width];
        fiedler::io::write(&self.output, &[NamedArray { name: "y", rows: Rows::Other, shape, data }])?;
        print(format_args!("{}: n = {}, {} entries, {width} columns", self.input.display(), a.rows(), a.entries()));
        if self.time > 0 {
            let transfers = self.median(|| spmm(ctx, a, &x)?.to_host(ctx).map(drop))?;
            let resident = self.resident_spmm(ctx, a, &x, transfers)?;
            print(
                serde_json::json!({"first_ms": first * 1e3, "transfers_ms": transfers * 1e3, "resident_ms": resident * 1e3}),
            );
        }
        Ok(Outcome::Done)
    }

    /// Seconds of a product whose operands lie on the device, where it runs there.
    fn resident_spmm<T: Real>(
        &self,
        ctx: &Context,
        a: &Operator<'_, T>,
        x: &Array<T>,
        on_host: f64,
    ) -> Result<f64, Error> {
        let on_device = ctx.explain(&Default::default(), false).side == Side::Gpu || spmm(ctx, a, x)?.is_resident();
        let Some(narrow) = a.in_f32().filter(|_| on_device) else { return Ok(on_host) };
        let (resident, block) = (OnDevice::new(ctx, &narrow)?, x.to_host(ctx)?);
        let block = Array::from_vec(x.shape(), T::for_device(block.as_slice()).to_vec())?.to_device(ctx)?;
        self.median(|| {
            resident.spmm(ctx, &block)?;
            ctx.wait()
        })
    }

    /// The block of `--block`, `(n, columns)` in numpy's order, which is `(columns, n)` in ours; or `-k` columns of small whole numbers.
    fn block<T: Real>(&self, n: usize) -> Result<Array<T>, Failure> {
        if self.block.is_some() && self.k.is_some() {
            return Err(Failure::Call("spmm: expected --block or -k, found both".to_owned()));
        }
        let Some(path) = &self.block else {
            let Some(k) = self.k else {
                return Err(Failure::Call("spmm: expected --block, a file, or -k, how many columns".to_owned()));
            };
            let (needed, allowed) =
                ((k as u64).saturating_mul(n as u64).saturating_mul(8), self.place.context()?.memory_budget());
            if needed > allowed {
                let what = format!("spmm: {needed} bytes for {k} columns, {allowed} allowed by FIEDLER_MEMORY_BUDGET");
                return Err(Failure::Call(what));
            }
            let cycle = |i: usize| T::from_f64(f64::from(u8::try_from(i % 11).unwrap_or(0)) - 5.0);
            return Ok(Array::from_vec(Shape::new(k, n, 1), (0..k * n).map(cycle).collect())?);
        };
        let Npy { shape, data } = read_npy(path)?;
        let [rows, columns] = shape[..] else {
            let what = format!("{}: expected (n, columns), found {} axes", path.display(), shape.len());
            return Err(Failure::Call(what));
        };
        let data = match data {
            NpyData::F32(data) => data.into_iter().map(|x| T::from_f64(x.into())).collect(),
            NpyData::F64(data) => data.into_iter().map(T::from_f64).collect(),
        };
        Ok(Array::from_vec(Shape::new(columns, rows, 1), data)?)
    }
}
