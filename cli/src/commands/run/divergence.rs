//! `fiedler run divergence`: computes how far histograms are from each other.

use super::input::{Axes, Input, REALS, numpy};
use super::{Precision, To, seconds};
use crate::commands::values::{base, counted, not_negative};
use crate::commands::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, Real};
use fiedler::io::{Data, NamedArray, NpyData, Rows};
use fiedler::ops::divergence::{
    Divergence as Kind, DivergenceOptions, choose_divergence, divergence, divergence_matrix, divergence_of_samples,
};
use fiedler::policy::Side;
use fiedler::{Context, Error, Shape};
use std::fmt::{Display, Formatter};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Divergence {
    /// `(bins,)`, `(count, bins)` or `(batch, count, bins)` in a .npy file, one histogram per row: float32, float64,
    /// float16 as float32, integers and booleans as float64.
    p: PathBuf,
    /// Either an array with the shape of P, so that row i of P is compared with row i of Q, or one histogram per batch
    /// entry, so that all rows of P in this batch entry are compared with it. Without Q, all pairs of rows of P are
    /// compared, and entry (i, j) of the result is D(row i, row j).
    q: Option<PathBuf>,
    /// The divergence D(p, q). For every kind, 0 log 0 is 0.
    #[arg(long, value_enum, value_name = "KIND", default_value = "kl")]
    kind: KindName,
    /// The base of the logarithms in kl, js and js-distance: 2 for bits [default: e].
    #[arg(long, value_name = "BASE", value_parser = base)]
    base: Option<f64>,
    /// Divide every histogram by its sum first. Without this option, each sum must be 1 to within 1e-3.
    #[arg(long)]
    normalize: bool,
    /// Add S to every bin of every (normalized) histogram and normalize it again. If S is above 0, no divergence is
    /// infinite.
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = not_negative)]
    smoothing: f64,
    /// P and Q hold samples, one set per row, and the sets of P and of Q may differ in size. The samples in row i of P
    /// and in row i of Q are first counted in BINS equal bins, which range from the least to the greatest sample of
    /// both rows. The counts are normalized.
    #[arg(long, value_name = "BINS", requires = "q", conflicts_with = "normalize", value_parser = counted)]
    samples: Option<usize>,
    /// The precision to compute in [default: the precision of the input].
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
    #[command(flatten)]
    to: To,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KindName {
    /// Kullback-Leibler: sum p log(p / q) - p + q, where the last two terms cancel if both sums are 1; infinite if q =
    /// 0 < p in a bin.
    Kl,
    /// Jensen-Shannon: (KL(p, m) + KL(q, m)) / 2, m = (p + q) / 2; at most log 2.
    Js,
    /// The square root of js, SciPy's jensenshannon.
    JsDistance,
    /// Total variation: sum |p - q| / 2; at most 1.
    Tv,
    /// Pearson's chi-square: sum (p - q)^2 / q; infinite if q = 0 < p in a bin.
    ChiSquare,
    /// Symmetric chi-square: sum (p - q)^2 / (p + q) / 2 over the bins where p + q > 0; at most 1.
    SymmetricChiSquare,
    /// Hellinger's distance: the square root of sum (sqrt p - sqrt q)^2 / 2; at most 1.
    Hellinger,
}

impl KindName {
    fn has_logarithm(self) -> bool {
        matches!(self, Self::Kl | Self::Js | Self::JsDistance)
    }
}

impl Display for KindName {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
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
        self.to.check(&files, &["d"])?;
        if let (Some(base), false) = (self.base, self.kind.has_logarithm()) {
            let what = format!("--base {base}: expected --kind kl, js or js-distance, found --kind {}", self.kind);
            return Err(Failure::Call(what));
        }
        let read = |file| Ok::<_, Failure>(Input::read(file, REALS, Axes::HISTOGRAMS, self.precision)?.widened());
        let p = read(&self.p)?;
        let q = self.q.as_deref().map(read).transpose()?;
        self.check(&p, q.as_ref())?;
        let inputs: Vec<&Input<'_>> = std::iter::once(&p).chain(&q).collect();
        if inputs.iter().any(|input| input.is_wide()) {
            self.solve::<f64>(&inputs, |d| Data::F64(d))
        } else {
            self.solve::<f32>(&inputs, |d| Data::F32(d))
        }
    }

    /// Checks that no histogram and no set of samples is empty, and that the shapes of P and Q match.
    fn check(&self, p: &Input<'_>, q: Option<&Input<'_>>) -> Result<(), Failure> {
        let what = if self.samples.is_some() { "sample" } else { "bin" };
        for input in std::iter::once(p).chain(q) {
            if input.shape.last() == Some(&0) && input.shape.iter().rev().skip(1).all(|&length| length > 0) {
                return Err(input.wrong(format_args!("at least one {what} in each histogram")));
            }
        }
        let Some(q) = q else { return Ok(()) };
        let (one, other) = (shape_of(&p.shape), shape_of(&q.shape));
        let partners = other.cols == one.cols || other.cols == 1 && self.samples.is_none();
        if other.batch == one.batch && partners && (other.rows == one.rows || self.samples.is_some()) {
            return Ok(());
        }
        let (given, shown) = (&p.shape[..], p.shown());
        Err(match (given, self.samples) {
            ([.., count, _], Some(_)) => {
                q.wrong(format_args!("{count} sets of samples, with the axes before them as in {shown}"))
            }
            (_, Some(_)) => q.wrong(format_args!("one set of samples, as in {shown}")),
            ([_, bins], None) => q.wrong(format_args!("{} as in {shown}, or (1, {bins}) or ({bins},)", numpy(given))),
            ([batch, _, bins], None) => {
                q.wrong(format_args!("{} as in {shown}, or ({batch}, 1, {bins})", numpy(given)))
            }
            _ => q.wrong(format_args!("{} as in {shown}", numpy(given))),
        })
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
        inputs: &[&Input<'_>],
        wrap: impl for<'a> Fn(&'a [T]) -> Data<'a>,
    ) -> Result<Outcome, Failure> {
        let axes = inputs[0].shape.len();
        let shapes: Vec<Shape> = inputs.iter().map(|input| shape_of(&input.shape)).collect();
        // Without Q, each histogram is compared with all histograms of the same batch entry.
        let terms = shapes[0].len() * if shapes.len() == 1 { shapes[0].cols } else { 1 };
        let ctx = &self
            .to
            .context(self.precision, inputs, |ctx| Ok(choose_divergence::<T>(ctx, terms, &shapes, &[false; 2])))?;
        let described: Vec<String> = inputs.iter().map(|input| input.described()).collect();
        let (p, q) = (histograms::<T>(inputs[0])?, inputs.get(1).copied().map(histograms::<T>).transpose()?);
        let (found, first) = seconds(|| self.call(ctx, &p, q.as_ref())?.to_host(ctx))?;
        // As in NumPy, the result for a single histogram has no axis for the count, and the result for an input without
        // a batch axis has no batch axis.
        let Shape { cols, batch, .. } = p.shape();
        let own = if q.is_some() { vec![cols] } else { vec![cols, cols] };
        let shape: Vec<usize> = match axes {
            1 => vec![],
            2 => own,
            _ => std::iter::once(batch).chain(own).collect(),
        };
        self.to.write(&[NamedArray { name: "d", rows: Rows::Other, shape, data: wrap(&found.to_row_major()) }])?;
        self.to.say(
            (ctx, found.choice()),
            format_args!("divergence: {} of {}", self.kind, described.join(", ")),
            "done",
            first,
        )?;
        let side = choose_divergence::<T>(ctx, terms, &shapes, &[true; 2]).side;
        let there = |a: &Array<T>| self.to.placed(ctx, a, side == Side::Gpu);
        let (on_p, on_q) = (there(&p)?, q.as_ref().map(there).transpose()?);
        self.to.report(
            first,
            || self.call(ctx, &p, q.as_ref())?.to_host(ctx).map(drop),
            || {
                self.call(ctx, &on_p, on_q.as_ref())?;
                ctx.wait()
            },
        )?;
        Ok(Outcome::Done)
    }
}

/// Returns the library's shape for an array with these NumPy axes. NumPy's rows are the library's columns, so no data
/// is rearranged.
fn shape_of(axes: &[usize]) -> Shape {
    match *axes {
        [batch, count, bins] => Shape::new(bins, count, batch),
        [count, bins] => Shape::new(bins, count, 1),
        _ => Shape::new(axes.iter().product(), 1, 1),
    }
}

fn histograms<T: Real>(input: &Input<'_>) -> Result<Array<T>, Error> {
    let data = match &input.data {
        NpyData::F32(data) => data.iter().map(|&x| T::from_f64(x.into())).collect(),
        NpyData::F64(data) => data.iter().map(|&x| T::from_f64(x)).collect(),
        // Only f32 and f64 data reaches this match.
        _ => Vec::new(),
    };
    Array::from_vec(shape_of(&input.shape), data)
}
