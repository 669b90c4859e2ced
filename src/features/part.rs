//! The parts of a representation, each of which makes columns.

use super::graphs::Graphs;
use crate::error::Result;
use crate::ops::series::{Histograms, Measure, SampleShape, unknown};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The kind of the parts of graphs.
pub(super) const GRAPH: &str = "graph";
/// The range of a histogram whose edges are fitted.
const FITTED: &str = "fitted";

/// What makes columns of a representation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Columns of numbers.
    Numbers(Measure),
    /// A histogram whose range is that of [`Edges`](super::Edges), another one for each layer.
    Fitted(Histograms),
    /// Columns of graphs.
    Graph(Graphs),
}

impl Part {
    /// Reads a part from the parameters of a known kind, or returns what is wrong.
    pub(super) fn read(mut table: Map<String, Value>) -> Result<Self, String> {
        let kind = |table: &Map<String, Value>, name| table.get("kind").and_then(Value::as_str) == Some(name);
        if kind(&table, GRAPH) {
            table.remove("kind");
            return serde_json::from_value(Value::Object(table)).map(Self::Graph).map_err(|error| error.to_string());
        }
        let word = table.get("range").and_then(Value::as_str).filter(|_| kind(&table, "histogram"));
        let fitted = match word {
            Some(word) if word != FITTED => return Err(format!("the range {}", unknown(word, [FITTED].into_iter()))),
            word => word.is_some(),
        };
        if fitted {
            table.remove("range");
        }
        match serde_json::from_value(Value::Object(table)).map_err(|error| error.to_string())? {
            Measure::Histogram(histogram) if fitted => Ok(Self::Fitted(histogram)),
            measure => Ok(Self::Numbers(measure)),
        }
    }

    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Self::Numbers(measure) => measure.check(),
            Self::Fitted(histogram) => Measure::Histogram(histogram.clone()).check(),
            Self::Graph(graphs) => graphs.check(),
        }
    }

    /// Returns the names of the columns for samples of a shape, which graphs do not have.
    #[must_use]
    pub fn names(&self, shape: SampleShape) -> Vec<String> {
        match self {
            Self::Numbers(measure) => measure.names(shape),
            Self::Fitted(histogram) => Measure::Histogram(histogram.clone()).names(shape),
            Self::Graph(graphs) => graphs.names(),
        }
    }

    /// Returns the definition, which would be read again as this part.
    pub(super) fn definition(&self) -> Value {
        let value = |measure: &Measure| serde_json::to_value(measure).unwrap_or_default();
        match self {
            Self::Numbers(measure) => value(measure),
            Self::Fitted(histogram) => {
                let mut value = value(&Measure::Histogram(histogram.clone()));
                value["range"] = FITTED.into();
                value
            }
            Self::Graph(graphs) => {
                let mut value = serde_json::to_value(graphs).unwrap_or_default();
                value["kind"] = GRAPH.into();
                value
            }
        }
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.definition().serialize(to)
    }
}
