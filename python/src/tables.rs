//! Tables of Arrow: streams of record batches in and out, through Arrow's PyCapsule interface.

use crate::context::{Door, worth_a_device};
use crate::encode::Options;
use crate::errors::{in_words, raised};
use crate::graphs::{How, conventions};
use crate::wait::waited;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use fiedler::arrow::{Columns, Encoder, FeatureEncoder, Role, Runs};
use fiedler::features::Representation;
use fiedler::graph::{Isolated, Merged};
use fiedler::policy::Choice;
use fiedler::{Context, Error, ErrorKind, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashMap;
use std::ffi::CStr;

/// The name that Arrow gives to capsules with a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// A table in memory, which other libraries read without a copy. Created by `fiedler.arrow`.
#[pyclass(frozen, module = "fiedler.arrow", name = "Table")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    notices: Vec<String>,
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("fiedler.arrow.Table of {} rows: {}", self.__len__(), self.column_names().join(", "))
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// What another program might read differently in the table that this one was made of.
    #[getter]
    fn notices(&self) -> Vec<String> {
        self.notices.iter().map(|notice| in_words(&format!("table: {notice}"))).collect()
    }

    /// Passes the table to another library. Arrow's interface allows ignoring the requested schema.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let stream =
            FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, SchemaRef::clone(&self.schema))));
        PyCapsule::new_with_value(py, stream, STREAM)
    }
}

/// Takes the stream out of a capsule.
fn stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<RecordBatchStreamReader> {
    let pointer = capsule.pointer_checked(Some(STREAM))?;
    #[expect(unsafe_code, reason = "Arrow's interface is a pointer to a structure of C")]
    // SAFETY: a capsule of this name has a valid ArrowArrayStream; from_raw takes it out and leaves a released one.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
    RecordBatchStreamReader::try_new(stream).map_err(|error| PyTypeError::new_err(error.to_string()))
}

/// Converts an error that the producer of a stream reported.
fn unreadable(error: &ArrowError) -> Error {
    Error::domain("table", error.to_string())
}

/// Returns the names of columns by the names of their roles.
fn named(columns: &HashMap<String, String>) -> Result<Columns> {
    columns.iter().try_fold(Columns::default(), |all, (role, name)| match Role::named(role) {
        Some(role) => Ok(all.named(role, name)),
        None => {
            let roles = Role::ALL.map(|role| role.names()[0]).join(", ");
            Err(Error::domain("columns", format!("expected {roles}, found {role:?}")))
        }
    })
}

/// The options of tables, as `fiedler/arrow.py` passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TableOptions {
    how: How,
    columns: HashMap<String, String>,
    fixed: bool,
    edges: bool,
}

/// Encodes the graphs of a stream of batches. A batch of the result has the graphs of a batch, or of a part of it.
#[pyfunction]
pub(crate) fn encode_table(
    context: &Bound<'_, Door>,
    table: &Bound<'_, PyCapsule>,
    options: Options,
    of_tables: TableOptions,
) -> PyResult<Table> {
    let (py, door) = (context.py(), context.get());
    let made = || -> Result<Encoder> {
        let conventions = conventions(&of_tables.how)?;
        Ok(Encoder::new(options.encoder(door, 0)?.0)
            .conventions(conventions)
            .columns(named(&of_tables.columns)?)
            .fixed_size(of_tables.fixed)
            .in_f64(options.wide)
            .with_edges(of_tables.edges))
    };
    let encoder = made().map_err(|error| raised(py, &error))?;
    let reader = stream(table)?;
    through(
        py,
        door,
        reader,
        encoder.column_names(),
        |ctx, schema| encoder.schema(ctx, schema),
        |ctx, batch, give| {
            encoder.encode_parts(ctx, batch, |part| {
                give.push(part);
                Ok(())
            })
        },
        &of_tables.how,
    )
}

/// Computes representations of the rows of a stream of batches.
#[pyfunction]
pub(crate) fn features_table(
    context: &Bound<'_, Door>,
    table: &Bound<'_, PyCapsule>,
    representations: &str,
    layers: Vec<String>,
    of_tables: TableOptions,
) -> PyResult<Table> {
    let (py, door) = (context.py(), context.get());
    let made = || -> Result<FeatureEncoder> {
        let conventions = conventions(&of_tables.how)?;
        let encoder = FeatureEncoder::new(Representation::parse_list(representations)?)?.layers(&layers);
        Ok(encoder.conventions(conventions).columns(named(&of_tables.columns)?))
    };
    let encoder = made().map_err(|error| raised(py, &error))?;
    let reader = stream(table)?;
    let notice = encoder.notice(&reader.schema());
    // The columns are computed on the CPU. What a stream has is not known before it is read.
    let choose = |_: &Context| Ok(Choice { cpu_seconds: 0.1, ..Context::cpu().explain(&Default::default(), false) });
    // The extraction waits for the threads of the context, and must not run on one of them.
    crate::wait::beside(py, door, choose, None, |ctx, _| {
        let mut batches = Vec::new();
        for batch in reader {
            batches.push(encoder.features_batch(ctx, &batch.map_err(|error| unreadable(&error))?)?);
        }
        let Some(first) = batches.first() else {
            return Err(Error::domain("table", "expected a batch at least, found none"));
        };
        Ok(Table { schema: first.schema(), batches, notices: notice.into_iter().collect() })
    })
}

/// Takes batches of whole graphs through `encode`. `how` says what is not doubtful.
fn through(
    py: Python<'_>,
    door: &Door,
    reader: RecordBatchStreamReader,
    columns: &Columns,
    schema: impl Fn(&Context, &arrow_schema::Schema) -> Result<SchemaRef> + Send,
    encode: impl Fn(&Context, &RecordBatch, &mut Vec<RecordBatch>) -> Result<(Isolated, Merged)> + Send,
    how: &How,
) -> PyResult<Table> {
    // The side of a graph must not depend on how many graphs there are, so a device is always looked for.
    let choose = |_: &Context| Ok(worth_a_device());
    let (mut runs, notice) = (Runs::new(columns.clone()), columns.notice(&reader.schema()));
    waited(py, door, choose, None, move |ctx, _| {
        let schema = schema(ctx, &reader.schema())?;
        let mut batches = Vec::new();
        let (mut isolated, mut merged) = (Isolated::default(), Merged::default());
        let mut encode = |batch: &RecordBatch| -> Result<()> {
            let (nodes, edges) = encode(ctx, batch, &mut batches)?;
            (isolated, merged) = (isolated.and(nodes), merged.and(edges));
            Ok(())
        };
        for batch in reader {
            if ctx.cancel().is_cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            if let Some(batch) = runs.push(batch.map_err(|error| unreadable(&error))?)? {
                encode(&batch)?;
            }
        }
        if let Some(batch) = runs.finish()? {
            encode(&batch)?;
        }
        let doubts = how.doubts(isolated, merged).map(|doubt| format!("{doubt}."));
        let notices = notice.into_iter().chain(doubts).collect();
        Ok(Table { schema, batches, notices })
    })
}

/// Reads the graphs of a stream of batches.
pub(crate) fn graphs(
    capsule: &Bound<'_, PyCapsule>,
    columns: &HashMap<String, String>,
    conventions: &fiedler::graph::Conventions,
) -> PyResult<fiedler::io::DataSet> {
    let py = capsule.py();
    let reader = stream(capsule)?;
    let schema = reader.schema();
    let batches = reader.map(|batch| batch.map_err(|error| unreadable(&error)));
    let read = || fiedler::arrow::read("table".as_ref(), &schema, batches, &named(columns)?, conventions);
    py.detach(read).map_err(|error| raised(py, &error))
}
