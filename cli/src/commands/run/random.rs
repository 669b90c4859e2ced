//! `fiedler run random`: writes random numbers of a named stream, which are the same on every machine.

use super::input::numpy;
use super::{To, seconds};
use crate::commands::values::{finite, not_negative, share, whole};
use crate::commands::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, Real, Scalar};
use fiedler::io::{Data, NamedArray, Rows};
use fiedler::ops::random::{Stream, bernoulli, choose_random, normal, uniform, words};
use fiedler::{Context, Error, Shape};
use std::fmt::{Display, Formatter};

#[derive(Debug, Args)]
pub(super) struct Random {
    /// The lengths of the axes, such as 1000,64. The last axis varies fastest.
    #[arg(long, value_name = "N,..", value_delimiter = ',', required = true, value_parser = whole::<usize>, allow_hyphen_values = true)]
    shape: Vec<usize>,
    /// The distribution; `words` are integers of 32 bits.
    #[arg(long, value_enum, value_name = "LAW", default_value = "uniform")]
    distribution: Distribution,
    /// The stream's seed.
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// The stream's name.
    #[arg(long, value_name = "NAME", default_value = "")]
    stream: String,
    /// The number of words to skip at the start of the stream. A value takes one word, or two words in f64.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>)]
    skip: u64,
    /// uniform: the lower bound, included [default: 0].
    #[arg(long, value_name = "LOW", value_parser = finite)]
    low: Option<f64>,
    /// uniform: the upper bound, excluded [default: 1].
    #[arg(long, value_name = "HIGH", value_parser = finite)]
    high: Option<f64>,
    /// normal: the mean [default: 0].
    #[arg(long, value_name = "MEAN", value_parser = finite)]
    mean: Option<f64>,
    /// normal: the standard deviation [default: 1].
    #[arg(long, value_name = "DEVIATION", value_parser = not_negative)]
    std: Option<f64>,
    /// bernoulli: the probability of 1 [default: 0.5].
    #[arg(short, value_name = "P", value_parser = share)]
    p: Option<f64>,
    /// Compute in f64, on the CPU.
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

impl Display for Distribution {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}

impl Random {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        self.to.check(&[], &["x"])?;
        let Some(len) = self.shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length)) else {
            return Err(Failure::Call(format!(
                "--shape: expected a number of elements that memory can hold, found {:?}",
                self.shape
            )));
        };
        if self.wide {
            self.check::<f64>()?
        } else {
            self.check::<f32>()?
        }
        if (self.distribution, self.wide) == (Distribution::Words, true) {
            let what = "--wide: expected --distribution uniform, normal or bernoulli, found words, which have 32 bits";
            return Err(Failure::Call(what.to_owned()));
        }
        if self.wide && self.to.place.insists() {
            let what = "--wide is computed on the CPU alone: expected --backend cpu or auto, found gpu";
            return Err(Failure::Call(what.to_owned()));
        }
        let flat = Shape::new(len, 1, 1);
        let ctx = self.to.context_for(self.wide, |ctx| Ok(choose_random::<f32>(ctx, flat)))?;
        match (self.distribution, self.wide) {
            (Distribution::Words, _) => {
                let wrap = |made: &[u32]| made.iter().map(|&word| i64::from(word)).collect::<Vec<_>>();
                self.write(&ctx, |stream| words(&ctx, stream, flat), |made, write| write(Data::I64(&wrap(made))))
            }
            (_, true) => self.write(&ctx, |s| self.made::<f64>(&ctx, s, flat), |made, write| write(Data::F64(made))),
            (_, false) => self.write(&ctx, |s| self.made::<f32>(&ctx, s, flat), |made, write| write(Data::F32(made))),
        }
    }

    /// Checks that the options belong to the distribution, and that their values are valid for it in the precision `T`.
    fn check<T: Real>(&self) -> Result<(), Failure> {
        use Distribution as D;
        for (option, given, owner) in [
            ("--low", self.low.is_some(), D::Uniform),
            ("--high", self.high.is_some(), D::Uniform),
            ("--mean", self.mean.is_some(), D::Normal),
            ("--std", self.std.is_some(), D::Normal),
            ("-p", self.p.is_some(), D::Bernoulli),
        ] {
            if given && owner != self.distribution {
                let what =
                    format!("{option}: expected --distribution {owner}, found --distribution {}", self.distribution);
                return Err(Failure::Call(what));
            }
        }
        let name = if T::ON_DEVICE { "float32" } else { "float64" };
        let (low, high) = self.range();
        let [a, b] = [low, high].map(|x| T::from_f64(x).to_f64());
        if !(a < b && T::from_f64(b - a).to_f64().is_finite()) {
            let what = format!(
                "--low, --high: expected LOW below HIGH, with both and HIGH - LOW within {name}, found {low} and {high}"
            );
            return Err(Failure::Call(what));
        }
        for (option, value) in [("--mean", self.mean), ("--std", self.std)] {
            if let Some(value) = value.filter(|&x| !T::from_f64(x).to_f64().is_finite()) {
                return Err(Failure::Call(format!("{option}: expected a number within {name}, found {value}")));
            }
        }
        Ok(())
    }

    fn range(&self) -> (f64, f64) {
        (self.low.unwrap_or(0.0), self.high.unwrap_or(1.0))
    }

    fn made<T: Real>(&self, ctx: &Context, stream: &mut Stream, shape: Shape) -> Result<Array<T>, Error> {
        match self.distribution {
            Distribution::Words | Distribution::Uniform => {
                let (low, high) = self.range();
                uniform(ctx, stream, shape, low..high)
            }
            Distribution::Normal => normal(ctx, stream, shape, self.mean.unwrap_or(0.0), self.std.unwrap_or(1.0)),
            Distribution::Bernoulli => bernoulli(ctx, stream, shape, self.p.unwrap_or(0.5)),
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
        let kind = match (self.distribution, self.wide) {
            (Distribution::Words, _) => "int64",
            (_, true) => "float64",
            (_, false) => "float32",
        };
        let what = format_args!("random: {} {} {kind}", self.distribution, numpy(&self.shape));
        self.to.say((ctx, made.choice()), what, "done", first)?;
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
