//! `fiedler run random`: random numbers of a named stream, the same on every machine.

use super::{To, seconds};
use crate::cli::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, Real, Scalar};
use fiedler::io::{Data, NamedArray, Rows};
use fiedler::ops::random::{Stream, bernoulli, normal, uniform, words};
use fiedler::{Context, Error, Shape};

#[derive(Debug, Args)]
pub(super) struct Random {
    /// The lengths along the axes, the last one fastest: 1000,64.
    #[arg(long, value_name = "N,..", value_delimiter = ',', required = true)]
    shape: Vec<usize>,
    /// What the numbers follow; `words` are integers of 32 bits.
    #[arg(long, value_enum, value_name = "LAW", default_value = "uniform")]
    distribution: Distribution,
    /// The stream's seed.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// The stream's name.
    #[arg(long, value_name = "NAME", default_value = "")]
    stream: String,
    /// Words of the stream to pass over: a number takes one, in f64 two.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// uniform: numbers from LOW on.
    #[arg(long, value_name = "LOW", default_value_t = 0.0, allow_negative_numbers = true)]
    low: f64,
    /// uniform: numbers below HIGH.
    #[arg(long, value_name = "HIGH", default_value_t = 1.0, allow_negative_numbers = true)]
    high: f64,
    /// normal: the mean.
    #[arg(long, value_name = "MEAN", default_value_t = 0.0, allow_negative_numbers = true)]
    mean: f64,
    /// normal: the standard deviation.
    #[arg(long, value_name = "DEVIATION", default_value_t = 1.0)]
    std: f64,
    /// bernoulli: the probability of 1.
    #[arg(short, value_name = "P", default_value_t = 0.5)]
    p: f64,
    /// In f64, on the CPU.
    #[arg(long)]
    wide: bool,
    #[command(flatten)]
    to: To,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Distribution {
    Words,
    Uniform,
    Normal,
    Bernoulli,
}

impl Random {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        self.to.check(&[])?;
        let Some(len) = self.shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length)) else {
            return Err(Failure::Call(format!("--shape: expected numbers that memory holds, found {:?}", self.shape)));
        };
        let (ctx, flat) = (self.to.context()?, Shape::new(len, 1, 1));
        match (self.distribution, self.wide) {
            (Distribution::Words, true) => Err(Failure::Call("--wide: words have 32 bits".to_owned())),
            (Distribution::Words, false) => {
                let wrap = |made: &[u32]| made.iter().map(|&word| i64::from(word)).collect::<Vec<_>>();
                self.write(&ctx, |stream| words(&ctx, stream, flat), |made, write| write(Data::I64(&wrap(made))))
            }
            (_, true) => self.write(&ctx, |s| self.made::<f64>(&ctx, s, flat), |made, write| write(Data::F64(made))),
            (_, false) => self.write(&ctx, |s| self.made::<f32>(&ctx, s, flat), |made, write| write(Data::F32(made))),
        }
    }

    fn made<T: Real>(&self, ctx: &Context, stream: &mut Stream, shape: Shape) -> Result<Array<T>, Error> {
        match self.distribution {
            Distribution::Words | Distribution::Uniform => uniform(ctx, stream, shape, self.low..self.high),
            Distribution::Normal => normal(ctx, stream, shape, self.mean, self.std),
            Distribution::Bernoulli => bernoulli(ctx, stream, shape, self.p),
        }
    }

    fn write<T: Scalar>(
        &self,
        ctx: &Context,
        make: impl Fn(&mut Stream) -> Result<Array<T>, Error>,
        wrap: impl Fn(&[T], &mut dyn FnMut(Data<'_>) -> Result<(), Error>) -> Result<(), Error>,
    ) -> Result<Outcome, Failure> {
        let mut stream = Stream::new(self.seed, &self.stream);
        stream.skip(self.skip.into());
        let (made, first) = seconds(|| make(&mut stream.clone())?.to_host(ctx))?;
        wrap(made.as_slice(), &mut |data| {
            self.to.write(&[NamedArray { name: "x", rows: Rows::Other, shape: self.shape.clone(), data }])
        })?;
        self.to.report(
            first,
            || make(&mut stream.clone())?.to_host(ctx).map(drop),
            || {
                make(&mut stream.clone())?;
                ctx.wait()
            },
        )?;
        Ok(Outcome::Done)
    }
}
