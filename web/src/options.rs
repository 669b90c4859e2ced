//! The options of calls, as plain JavaScript objects. An option that is not known is refused.

use crate::errors::{refused, thrown};
use fiedler::encode::SpectralEncoder;
use fiedler::graph::{Conventions, Symmetrization};
use fiedler::ops::{Normalization, Which};
use fiedler::{Backend, Error};
use js_sys::{Array, Map, Number, Object};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};

/// The options of `open`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct OpenOptions {
    pub(crate) backend: Option<String>,
    pub(crate) software: bool,
    pub(crate) memory_budget: Option<f64>,
}

/// The options of `Graphs.read` and `Graphs.fromEdges`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ReadOptions {
    pub(crate) symmetrize: Option<String>,
}

/// The options of `encode`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct EncodeOptions {
    pub(crate) k: Option<u32>,
    pub(crate) laplacian: Option<String>,
    pub(crate) which: Option<String>,
    pub(crate) drop_trivial: bool,
    pub(crate) walk_steps: u32,
    pub(crate) backend: Option<String>,
}

/// The options of `eigh` and `svd`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LinearOptions {
    pub(crate) backend: Option<String>,
}

/// The options of `fft`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FftOptions {
    pub(crate) backend: Option<String>,
    pub(crate) inverse: bool,
}

/// Options with the names that JavaScript knows.
pub(crate) trait Options: DeserializeOwned + Default {
    const NAMES: &'static [&'static str];
}

impl Options for OpenOptions {
    const NAMES: &'static [&'static str] = &["backend", "software", "memoryBudget"];
}

impl Options for ReadOptions {
    const NAMES: &'static [&'static str] = &["symmetrize"];
}

impl Options for EncodeOptions {
    const NAMES: &'static [&'static str] = &["k", "laplacian", "which", "dropTrivial", "walkSteps", "backend"];
}

impl Options for LinearOptions {
    const NAMES: &'static [&'static str] = &["backend"];
}

impl Options for FftOptions {
    const NAMES: &'static [&'static str] = &["backend", "inverse"];
}

/// Reads options; `undefined` and `null` are the defaults.
pub(crate) fn read<T: Options>(options: JsValue) -> Result<T, JsValue> {
    if options.is_undefined() || options.is_null() {
        return Ok(T::default());
    }
    let object =
        options.dyn_ref::<Object>().filter(|object| !Array::is_array(object) && !object.is_instance_of::<Map>());
    let Some(object) = object else { return Err(refused("options: expected an object")) };
    // serde only asks for the names that it knows.
    let names: Vec<String> = Object::keys(object).iter().filter_map(|name| name.as_string()).collect();
    if let Some(name) = names.iter().find(|name| !T::NAMES.contains(&name.as_str())) {
        return Err(refused(&format!("options: expected {}, found {name:?}", T::NAMES.join(", "))));
    }
    serde_wasm_bindgen::from_value(options).map_err(|error| refused(&format!("options: {error}")))
}

/// Converts a number from JavaScript to a count. Parameters are `f64`, because wasm-bindgen silently truncates
/// fractions, and wraps large numbers, for integer types.
pub(crate) fn whole(what: &str, number: f64) -> Result<usize, JsValue> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared with what it was")]
    let count = number as u32;
    if f64::from(count) == number {
        return Ok(count as usize);
    }
    let found = Number::from(number).to_string_with_radix(10).map_or_else(|_| number.to_string(), String::from);
    Err(refused(&format!("{what}: expected a whole number from 0 to {}, found {found}", u32::MAX)))
}

/// Returns the backend that a word names.
pub(crate) fn backend(word: Option<&str>) -> Result<Backend, JsValue> {
    word.unwrap_or("auto").parse().map_err(|error: String| thrown(Error::domain("backend", error)))
}

impl ReadOptions {
    /// Returns how a graph is read. A file may list an undirected edge once or twice.
    pub(crate) fn conventions(&self) -> Result<Conventions, JsValue> {
        let symmetrization = match self.symmetrize.as_deref().unwrap_or("max") {
            "max" => Symmetrization::Max,
            "sum" => Symmetrization::Sum,
            "mean" => Symmetrization::Mean,
            "error" => Symmetrization::Error,
            found => return Err(unknown("symmetrize", "max, sum, mean or error", found)),
        };
        Ok(Conventions { symmetrization, ..Conventions::default() })
    }
}

impl EncodeOptions {
    /// Returns the Laplacian of the encoding.
    pub(crate) fn normalization(&self) -> Result<Normalization, JsValue> {
        Ok(match self.laplacian.as_deref().unwrap_or("symmetric") {
            "symmetric" => Normalization::Symmetric,
            "combinatorial" => Normalization::Combinatorial,
            "random-walk" => Normalization::RandomWalk,
            found => return Err(unknown("laplacian", "symmetric, random-walk or combinatorial", found)),
        })
    }

    /// Returns the encoder; `first_graph` is the number by which its errors call the first graph.
    pub(crate) fn encoder(&self, first_graph: usize) -> Result<SpectralEncoder, JsValue> {
        let which = match self.which.as_deref().unwrap_or("smallest") {
            "smallest" => Which::Smallest,
            "largest" => Which::Largest,
            found => return Err(unknown("which", "smallest or largest", found)),
        };
        let encoder = SpectralEncoder::new(self.k.unwrap_or(8) as usize).laplacian(self.normalization()?).which(which);
        let encoder = encoder.drop_trivial(self.drop_trivial).walk_steps(self.walk_steps as usize);
        Ok(encoder.first_graph(first_graph))
    }
}

fn unknown(option: &'static str, expected: &str, found: &str) -> JsValue {
    thrown(Error::domain(option, format!("expected {expected}, found {found:?}")))
}
