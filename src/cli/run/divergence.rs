//! `fiedler run divergence`: how far histograms are from each other.

use super::layout::in_rows;
use super::{Precision, To, seconds};
use crate::cli::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, Real};
use fiedler::io::{Data, NamedArray, Npy, NpyData, Rows, read_npy};
use fiedler::ops::divergence::{
    Divergence as Kind, DivergenceOptions, choose_divergence, divergence, divergence_matrix, divergence_of_samples,
};
use fiedler::policy::Side;
use fiedler::{Context, Error, Shape};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Divergence {
    /// `(bins,)`, `(count, bins)` or `(batch, count, bins)` in a .npy file, a histogram a row.
    p: PathBuf,
    /// The same, or one histogram for all of an entry: row i with row i. Without it all pairs of P's rows.
    q: Option<PathBuf>,
    /// Which divergence.
    #[arg(long, value_enum, value_name = "KIND", default_value = "kl")]
    kind: KindName,
    /// The base of logarithms: 2 for bits [default: e].
    #[arg(long, value_name = "BASE")]
    base: Option<f64>,
    /// Divide every histogram by its sum first.
    #[arg(long)]
    normalize: bool,
    /// Added to every bin of every histogram, which is normalised again.
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    smoothing: f64,
    /// P and Q hold samples, a set a row: count them in BINS equal bins of the range of both first.
    #[arg(long, value_name = "BINS", requires = "q")]
    samples: Option<usize>,
    /// In which precision; without it, that of the input.
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
    #[command(flatten)]
    to: To,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KindName {
    /// Kullback and Leibler's.
    Kl,
    /// Jensen and Shannon's.
    Js,
    /// Its root, SciPy's jensenshannon.
    JsDistance,
    /// Total variation.
    Tv,
    /// Pearson's chi-square.
    ChiSquare,
    /// Symmetric chi-square.
    SymmetricChiSquare,
    /// Hellinger's distance.
    Hellinger,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Kl => Self::KullbackLeibler,
            KindName::Js => Self::JensenShannon,
            KindName::JsDistance => Self::JensenShannonDistance,
            KindName::Tv => Self::TotalVariation,
            KindName::ChiSquare => Self::ChiSquare,
            KindName::SymmetricChiSquare => Self::SymmetricChiSquare,
            KindName::Hellinger => Self::Hellinger,
        }
    }
}

impl Divergence {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        let files: Vec<_> = std::iter::once(&self.p).chain(&self.q).map(PathBuf::as_path).collect();
        self.to.check(&files)?;
        let read = |file: &std::path::Path| -> Result<Npy, Failure> {
            let npy = read_npy(file)?;
            match npy.data {
                NpyData::F32(_) | NpyData::F64(_) => Ok(npy),
                other => {
                    let file = file.display();
                    Err(Failure::Call(format!("{file}: expected float32 or float64, found {}", other.name())))
                }
            }
        };
        let (p, q) = (read(&self.p)?, self.q.as_deref().map(read).transpose()?);
        let double = |npy: &Npy| matches!(npy.data, NpyData::F64(_));
        let wide = match self.precision {
            Some(Precision::F32) => false,
            Some(Precision::Refined) => true,
            None => double(&p) || q.as_ref().is_some_and(double),
        };
        if wide {
            self.solve::<f64>(&p, q.as_ref(), |d| Data::F64(d))
        } else {
            self.solve::<f32>(&p, q.as_ref(), |d| Data::F32(d))
        }
    }

    fn call<T: Real>(&self, ctx: &Context, p: &Array<T>, q: Option<&Array<T>>) -> Result<Array<T>, Error> {
        let options = DivergenceOptions {
            base: self.base.unwrap_or(std::f64::consts::E),
            normalize: self.normalize,
            smoothing: self.smoothing,
        };
        match (q, self.samples) {
            (None, _) => divergence_matrix(ctx, self.kind.into(), p, &options),
            (Some(q), None) => divergence(ctx, self.kind.into(), p, q, &options),
            (Some(q), Some(bins)) => divergence_of_samples(ctx, self.kind.into(), p, q, bins, &options),
        }
    }

    fn solve<T: Real>(
        &self,
        p: &Npy,
        q: Option<&Npy>,
        wrap: impl for<'a> Fn(&'a [T]) -> Data<'a>,
    ) -> Result<Outcome, Failure> {
        let ctx = self.to.context()?;
        let axes = p.shape.len();
        let (p, q) = (histograms::<T>(p)?, q.map(histograms::<T>).transpose()?);
        let (found, first) = seconds(|| self.call(&ctx, &p, q.as_ref())?.to_host(&ctx))?;
        // A single histogram has no axis for its count, a single batch none for the batch: numpy's way.
        let Shape { cols, batch, .. } = p.shape();
        let own = if q.is_some() { vec![cols] } else { vec![cols, cols] };
        let shape: Vec<usize> = match axes {
            1 => vec![],
            2 => own,
            _ => std::iter::once(batch).chain(own).collect(),
        };
        self.to.write(&[NamedArray { name: "d", rows: Rows::Other, shape, data: wrap(&in_rows(&found)) }])?;
        let shapes = [p.shape(), q.as_ref().map_or(p.shape(), Array::shape)];
        let side = choose_divergence::<T>(&ctx, p.shape().len(), &shapes, &[true, true]).side;
        let there = |a: &Array<T>| self.to.placed(&ctx, a, side == Side::Gpu);
        let (on_p, on_q) = (there(&p)?, q.as_ref().map(there).transpose()?);
        self.to.report(
            first,
            || self.call(&ctx, &p, q.as_ref())?.to_host(&ctx).map(drop),
            || {
                self.call(&ctx, &on_p, on_q.as_ref())?;
                ctx.wait()
            },
        )?;
        Ok(Outcome::Done)
    }
}

/// Rows of numpy's, which are columns of the library's: nothing moves.
fn histograms<T: Real>(npy: &Npy) -> Result<Array<T>, Failure> {
    let shape = match npy.shape[..] {
        [bins] => Shape::new(bins, 1, 1),
        [count, bins] => Shape::new(bins, count, 1),
        [batch, count, bins] => Shape::new(bins, count, batch),
        _ => return Err(Failure::Call(format!("expected one to three axes, found {}", npy.shape.len()))),
    };
    let data = match &npy.data {
        NpyData::F32(data) => data.iter().map(|&x| T::from_f64(x.into())).collect(),
        NpyData::F64(data) => data.iter().map(|&x| T::from_f64(x)).collect(),
        _ => Vec::new(),
    };
    Ok(Array::from_vec(shape, data)?)
}
