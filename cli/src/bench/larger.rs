//! Workloads of whole data sets: encodings of many molecules and of large graphs, and features of many series.

use super::clock::{Times, first, timed};
use super::workloads::{Call, EPS, SEED, worst};
use fiedler::encode::{Encoding, SpectralEncoder};
use fiedler::features::generate::Series;
use fiedler::features::{Extractor, Representation};
use fiedler::graph::GraphBatch;
use fiedler::graph::generate::{molecules, preferential_attachment};
use fiedler::io::{LayerRows, Layers, Numbers};
use fiedler::ops::eigsh::EigshOptions;
use fiedler::policy::{Backend, Side};
use fiedler::{Context, Result};
use std::fmt;
use std::time::Duration;

/// The largest molecules of [`molecules`] have this many nodes.
const ATOMS: f64 = 37.0;
/// The length of a series.
const LENGTH: usize = 500;
/// By how much a workload is divided until it fits: 4, 16, ..., and this in the end.
const SMALLEST: usize = 256;

/// A workload of a data set, with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Larger {
    /// 8 pairs of each of this many graphs that resemble molecules.
    Molecules(usize),
    /// 16 pairs of one graph of preferential attachment with this many nodes and twice as many edges.
    Graph(usize),
    /// The 33 columns of the preset `core33` for this many series of 500 numbers.
    Features(usize),
}

/// The measurement of a data set.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredSet {
    /// The times of calls from host to host.
    pub times: Times,
    /// The largest error of a pair divided by the promised bound; `None` for features.
    pub error: Option<f64>,
    /// The seconds of the first call.
    pub first: f64,
}

impl Larger {
    /// The encodings that a report card wants.
    pub const ENCODINGS: [Self; 3] = [Self::Molecules(100_000), Self::Graph(100_000), Self::Graph(1_000_000)];
    /// The features that a report card wants.
    pub const FEATURES: Self = Self::Features(100_000);

    fn with_size(self, size: usize) -> Self {
        match self {
            Self::Molecules(_) => Self::Molecules(size),
            Self::Graph(_) => Self::Graph(size),
            Self::Features(_) => Self::Features(size),
        }
    }

    fn size(self) -> usize {
        let (Self::Molecules(size) | Self::Graph(size) | Self::Features(size)) = self;
        size
    }

    /// Returns the workload that is displayed as `name`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let numbers = name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
        let mut all = numbers.flat_map(|size| [Self::Molecules(size), Self::Graph(size), Self::Features(size)]);
        all.find(|one| one.to_string() == name)
    }

    /// Returns the workload, or else the largest of its quarters, their quarters and so on, of which a few calls are
    /// expected to take no more than `time`.
    ///
    /// # Errors
    /// Those of the calls by which this is predicted.
    pub fn fitting(self, ctx: &Context, side: Side, time: Duration) -> Result<Self> {
        let trial = self.with_size((self.size() / SMALLEST).max(1));
        let seconds = trial.with_call(ctx, side, &mut |call| {
            let opened = first(call)?;
            Ok(first(call)?.min(opened))
        })?;
        // The first call, a call whose result is checked, and two more, and as many again for luck.
        let fits = |size: usize| 8.0 * seconds * size as f64 / trial.size() as f64 <= time.as_secs_f64();
        let sizes = std::iter::successors(Some(1), |by| Some(4 * by)).take_while(|&by| by < SMALLEST);
        let found = sizes.map(|by| self.size() / by).find(|&size| fits(size));
        Ok(self.with_size(found.unwrap_or(trial.size())))
    }

    /// Measures calls on one side, for about a second or at least two calls, and checks the pairs of an encoding.
    ///
    /// # Errors
    /// Those of the calls, and [`fiedler::ErrorKind::Uncertified`] if a pair did not converge.
    pub fn measure(self, ctx: &Context, side: Side) -> Result<MeasuredSet> {
        let opened = self.with_call(ctx, side, &mut first)?;
        let error = self.error(&on(ctx, side))?;
        let mut times = None;
        self.with_call(ctx, side, &mut |call| {
            times = Some(timed(call, Duration::from_secs(1))?);
            Ok(0.0)
        })?;
        let times = times.unwrap_or(Times { median: f64::NAN, least: f64::NAN, most: f64::NAN, calls: 0 });
        Ok(MeasuredSet { times, error, first: opened })
    }

    fn with_call(self, ctx: &Context, side: Side, use_it: &mut dyn FnMut(&mut Call<'_>) -> Result<f64>) -> Result<f64> {
        let ctx = on(ctx, side);
        if let Self::Features(samples) = self {
            let (extractor, layers) = features(samples)?;
            let mut call: Call<'_> = Box::new(|| extractor.extract(&ctx, &layers).map(drop));
            return use_it(&mut call);
        }
        let (graphs, encoder) = self.graphs()?;
        let mut call: Call<'_> = Box::new(|| encoder.encode(&ctx, &graphs).map(drop));
        use_it(&mut call)
    }

    fn graphs(self) -> Result<(GraphBatch, SpectralEncoder)> {
        match self {
            Self::Molecules(graphs) => Ok((molecules(graphs, SEED)?, SpectralEncoder::new(8))),
            Self::Graph(nodes) | Self::Features(nodes) => {
                Ok((preferential_attachment(nodes.max(3), 2, SEED)?.into(), SpectralEncoder::new(16)))
            }
        }
    }

    fn error(self, ctx: &Context) -> Result<Option<f64>> {
        let bound = match self {
            Self::Molecules(_) => 10.0 * ATOMS * EPS,
            Self::Graph(_) => EigshOptions::default().tolerance_in::<f32>(),
            Self::Features(_) => return Ok(None),
        };
        let (graphs, encoder) = self.graphs()?;
        let found: Encoding = encoder.encode(ctx, &graphs)?;
        let certificates: Vec<_> = (0..found.graphs()).map(|i| found.certificate(i)).collect();
        worst(&certificates, bound).map(Some)
    }
}

fn on(ctx: &Context, side: Side) -> Context {
    ctx.with_backend(if side == Side::Cpu { Backend::Cpu } else { Backend::Gpu })
}

fn features(samples: usize) -> Result<(Extractor, Layers)> {
    let series = Series::new(samples, 4, LENGTH..=LENGTH, SEED)?;
    let mut numbers = vec![0.0; samples * LENGTH];
    numbers.chunks_exact_mut(LENGTH).enumerate().for_each(|(sample, out)| series.fill(sample, out));
    let rows = LayerRows { numbers: Numbers::F32(numbers), lengths: None };
    let layers = Layers::of_memory(vec![("x".to_owned(), vec![LENGTH], rows)])?;
    Ok((Extractor::new(Representation::parse_list("core33")?), layers))
}

impl fmt::Display for Larger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Molecules(graphs) => write!(f, "encode/f32/molecules={graphs}/k=8"),
            Self::Graph(nodes) => write!(f, "encode/f32/preferential={nodes}/k=16"),
            Self::Features(samples) => write!(f, "features/f32/core33/n={LENGTH}/samples={samples}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Larger;
    use fiedler::Context;
    use fiedler::policy::Side;
    use std::time::Duration;

    #[test]
    fn a_name_is_read_and_a_size_is_made_to_fit() {
        for one in Larger::ENCODINGS.into_iter().chain([Larger::FEATURES, Larger::Molecules(8), Larger::Graph(33)]) {
            assert_eq!(Larger::parse(&one.to_string()), Some(one));
        }
        assert_eq!(Larger::parse("encode/f32/nodes=8/graphs=10/k=8"), None);
        let ctx = Context::cpu();
        let fitting = |milliseconds| {
            let time = Duration::from_millis(milliseconds);
            Larger::Molecules(4096).fitting(&ctx, Side::Cpu, time).unwrap()
        };
        assert_eq!((fitting(0), fitting(3_600_000)), (Larger::Molecules(16), Larger::Molecules(4096)));
        for one in [Larger::Molecules(20), Larger::Graph(300), Larger::Features(4)] {
            let found = one.measure(&ctx, Side::Cpu).unwrap();
            let checked = found.error.is_some_and(|error| error <= 1.0);
            assert!(found.times.median > 0.0 && checked == !matches!(one, Larger::Features(_)), "{one}: {found:?}");
        }
    }
}
