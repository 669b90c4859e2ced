//! The workload `features` of `fiedler explain`: representations of samples of one shape.

use crate::commands::Failure;
use fiedler::features::{Part, Representation};
use fiedler::ops::series::{Measure, Program, SampleShape};
use fiedler::policy::Choice;
use fiedler::{Context, Error};
use std::fmt;

/// Representations of a number of samples.
pub(in crate::commands) struct Computed {
    program: Program,
    shape: SampleShape,
    representations: String,
    pub(in crate::commands) samples: usize,
}

impl Computed {
    /// Returns the workload that words describe, such as `features n=500 samples=10000 representations=core33`, or
    /// `None` if they describe another one.
    pub(in crate::commands) fn parse(words: &str) -> Result<Option<Self>, Failure> {
        let wrong = |what: String| Failure::Call(format!("workload: {what}"));
        let Some(rest) = words.strip_prefix("features").filter(|rest| rest.is_empty() || rest.starts_with(' ')) else {
            return Ok(None);
        };
        // The representations come last, because they may have spaces of their own.
        let (sizes, representations) = match rest.split_once("representations=") {
            Some((sizes, list)) => (sizes, list.trim()),
            None => (rest, "core33"),
        };
        let (mut n, mut rows, mut columns, mut samples) = (None, None, None, 1000);
        for word in sizes.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let number = value.parse().ok().filter(|&number: &usize| number > 0);
            let Some(number) = number else {
                return Err(wrong(format!("expected {name}= and a whole number above 0, found `{word}`")));
            };
            match name {
                "n" => n = Some(number),
                "rows" => rows = Some(number),
                "columns" => columns = Some(number),
                "samples" => samples = number,
                _ => {
                    let known = "n=, rows=, columns=, samples=, and last representations=";
                    return Err(wrong(format!("features: expected {known}, found `{name}`")));
                }
            }
        }
        let shape = match (n, rows, columns) {
            (Some(n), None, None) => SampleShape::Vector(n),
            (None, Some(rows), Some(columns)) => SampleShape::Matrix { rows, columns },
            _ => return Err(wrong("features: expected n=, or rows= and columns=".to_owned())),
        };
        let parsed = Representation::parse_list(representations).map_err(|error| wrong(error.to_string()))?;
        let measures = parsed.iter().flat_map(Representation::parts).map(|part| match part {
            Part::Numbers(measure) => Ok(measure.clone()),
            // Where the edges are does not matter for the cost.
            Part::Fitted(histogram) => Ok(Measure::Histogram(histogram.clone())),
            _ => Err(wrong("features: representations of graphs are always computed on the CPU".to_owned())),
        });
        let measures = measures.collect::<Result<_, Failure>>()?;
        let program = Program::new(measures, shape).map_err(|error| wrong(error.to_string()))?;
        Ok(Some(Self { program, shape, representations: representations.to_owned(), samples }))
    }

    pub(in crate::commands) fn choose(&self, ctx: &Context, samples: usize) -> Result<Choice, Error> {
        Ok(self.program.choose::<f32>(ctx, samples))
    }
}

impl fmt::Display for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape {
            SampleShape::Vector(n) => write!(f, "features n={n}")?,
            SampleShape::Matrix { rows, columns } => write!(f, "features rows={rows} columns={columns}")?,
        }
        write!(f, " samples={} representations={}", self.samples, self.representations)
    }
}
