//! `fiedler.features`.

use crate::arrays::{Borrowed, returned};
use crate::context::Door;
use crate::errors::{in_words, raised};
use crate::wait::{alone, beside};
use fiedler::features::{Extractor, Representation};
use fiedler::io::{LabelColumn, LayerRows, Layers, Numbers, Roles, TableTargets};
use fiedler::ops::series::Status;
use fiedler::{Context, Result};
use numpy::{PyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A data set: samples that consist of layers. Created by `fiedler.features`.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub(crate) struct Samples(Layers);

#[pymethods]
impl Samples {
    /// Opens files, whose labels are in the given column or array, and of which others are left out or taken.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        label: Option<String>,
        ignore: Vec<String>,
        take: Vec<String>,
    ) -> PyResult<Self> {
        alone(py, move |_| {
            let label = label.as_deref().map_or(LabelColumn::Auto, LabelColumn::Named);
            let mut layers = Layers::open_with(&paths, Roles { label, ignore: &ignore, take: &take })?;
            layers.search();
            Ok(layers)
        })
        .map(Self)
    }

    /// Copies arrays, whose first axis is that of the samples. An array with lengths has the numbers of one sample
    /// after the other.
    #[staticmethod]
    fn of_arrays(py: Python<'_>, layers: Vec<(String, Bound<'_, PyAny>, Option<Vec<usize>>)>) -> PyResult<Self> {
        let layers = layers.into_iter().map(|(name, array, lengths)| {
            let (shape, numbers) = match (array.cast::<PyArrayDyn<f32>>(), array.cast::<PyArrayDyn<f64>>()) {
                (Ok(narrow), _) => (narrow.shape(), Numbers::F32(Borrowed::of(narrow)?.as_ref().to_vec())),
                (_, Ok(wide)) => (wide.shape(), Numbers::F64(Borrowed::of(wide)?.as_ref().to_vec())),
                _ => return Err(PyTypeError::new_err("expected float32 or float64")),
            };
            Ok((name, shape.get(1..).unwrap_or_default().to_vec(), LayerRows { numbers, lengths }))
        });
        let layers = layers.collect::<PyResult<Vec<_>>>()?;
        Layers::of_memory(layers).map(Self).map_err(|error| raised(py, &error))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The names of the layers.
    #[getter]
    fn layers(&self) -> Vec<String> {
        self.0.layers().iter().map(|layer| layer.name.clone()).collect()
    }

    /// The label of each sample, or its values.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.0.targets() {
            TableTargets::Labels(labels, classes) => {
                let words: Vec<&str> = labels.iter().map(|&label| classes[label as usize].as_str()).collect();
                Ok(Some(words.into_pyobject(py)?.into_any()))
            }
            TableTargets::Values(values, each) => returned(py, values.clone(), [self.0.len(), *each]).map(Some),
            TableTargets::None => Ok(None),
        }
    }

    /// What was found out about the columns or arrays: where the labels are and what was left out; and what is
    /// suspicious.
    #[getter]
    fn notes(&self) -> (Vec<String>, Vec<String>) {
        let findings = self.0.findings();
        let labels = findings.target.iter().map(|origin| format!("labels from {origin}"));
        (labels.chain(findings.notes().iter().map(|note| in_words(note))).collect(), findings.warnings(advice))
    }

    /// What identifies the samples, or None.
    #[getter]
    fn ids(&self) -> Option<Vec<String>> {
        self.0.ids().map(<[String]>::to_vec)
    }
}

/// Says how inputs are left out.
pub(crate) fn advice(names: &str) -> String {
    let listed: Vec<String> = names.split(',').map(|name| format!("'{name}'")).collect();
    format!("ignore=[{}] leaves it out", listed.join(", "))
}

/// Computes representations of every sample: names, values `(samples, columns)`, statuses, and how many of them were
/// computed and found in the cache.
#[pyfunction]
pub(crate) fn extract<'py>(
    context: &Bound<'py, Door>,
    samples: &Bound<'py, Samples>,
    representations: &str,
    layers: Vec<String>,
    cache: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (py, door, data) = (context.py(), context.get(), &samples.get().0);
    let made = || -> Result<Extractor> {
        let mut extractor = Extractor::new(Representation::parse_list(representations)?).layers(&layers);
        if let Some(cache) = if cache { door.columns()? } else { None } {
            extractor = extractor.cache(cache);
        }
        Ok(extractor)
    };
    let extractor = made().map_err(|error| raised(py, &error))?;
    let choose = |ctx: &Context| extractor.choose(ctx, data);
    let (names, values, status, units) = beside(py, door, choose, progress, |ctx, tell| {
        let names = extractor.names(ctx, data)?;
        let (mut values, mut status) = (Vec::new(), Vec::<Status>::new());
        let report = extractor.stream(ctx, data, |some, of, progress| {
            values.extend_from_slice(some);
            status.extend_from_slice(of);
            tell.progress(progress.samples, progress.total);
            Ok(())
        })?;
        Ok((names, values, status, report.units))
    })?;
    let found = PyDict::new(py);
    let (samples, columns) = (status.len(), names.len());
    found.set_item("values", returned(py, values, [samples, columns])?)?;
    found.set_item("status", returned(py, status.iter().map(|&status| status as u8).collect(), [samples])?)?;
    found.set_item("names", names)?;
    found.set_item("stored", units[0])?;
    found.set_item("computed", units[1])?;
    Ok(found)
}
