//! Features of tables: columns of numbers for graphs, and for lists of numbers.

use super::columns::Columns;
use super::encoder::rows_at;
use super::listed::{BAD_INPUT, Limits};
use super::rows::Rows;
use super::values::{Lists, Numbers as Values, item};
use super::{refused, wrong};
use crate::context::Context;
use crate::error::Result;
use crate::features::{Extracted, Extractor, GraphExtractor, Representation};
use crate::graph::Conventions;
use crate::io::{LayerRows, Layers, Numbers};
use crate::ops::series::Status;
use crate::policy::Backend;
use arrow_array::{Array, ArrayRef, Float32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Metadata, Schema};
use std::sync::Arc;

/// Computes representations of the rows of a table, on the CPU, so that a row has the same bytes in whatever batch it
/// is.
///
/// Representations of graphs take a table as [`Encoder`](super::Encoder) does. Others take every column of lists of
/// numbers as a layer of the column's name: lists of fixed size are vectors, others are series of any length. The
/// result has the columns of the table, a float column for each column of the representations, and `status` and
/// `error`. A row without numbers has null in these columns, and `error` says why.
#[derive(Clone, Debug)]
pub struct FeatureEncoder {
    representations: Vec<Representation>,
    layers: Vec<String>,
    conventions: Conventions,
    columns: Columns,
}

/// The columns that were computed for the rows of a table.
struct Made {
    kept: Vec<(Field, ArrayRef)>,
    extracted: Extracted,
    /// The row of each sample among those of the result.
    places: Vec<usize>,
    rows: usize,
    faults: Vec<(usize, String)>,
}

impl FeatureEncoder {
    /// Makes an encoder of representations, whose columns are in this order.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if only some of the representations are of graphs.
    pub fn new(representations: Vec<Representation>) -> Result<Self> {
        let of_graphs = representations.iter().filter(|one| one.is_of_graphs()).count();
        if of_graphs != 0 && of_graphs != representations.len() {
            return Err(wrong("expected representations that are all of graphs or none, found some"));
        }
        let (conventions, columns) = (Conventions::default(), Columns::default());
        Ok(Self { representations, layers: Vec::new(), conventions, columns })
    }

    /// Selects the columns that are layers, as [`Extractor::layers`] does.
    #[must_use]
    pub fn layers(mut self, patterns: &[String]) -> Self {
        patterns.clone_into(&mut self.layers);
        self
    }

    /// Sets the conventions under which edges become graphs.
    #[must_use]
    pub fn conventions(mut self, conventions: Conventions) -> Self {
        self.conventions = conventions;
        self
    }

    /// Sets the names of the columns that describe graphs.
    #[must_use]
    pub fn columns(mut self, columns: Columns) -> Self {
        self.columns = columns;
        self
    }

    /// Says how the columns of a table of graphs were read, as [`Columns::notice`] does.
    #[must_use]
    pub fn notice(&self, schema: &Schema) -> Option<String> {
        let of_graphs = self.representations.first().is_some_and(Representation::is_of_graphs);
        of_graphs.then(|| self.columns.notice(schema)).flatten()
    }

    /// Computes the columns of every row of a batch.
    ///
    /// # Errors
    /// Those of [`Extractor::extract`] or [`GraphExtractor::extract`], and [`Domain`](crate::ErrorKind::Domain) if the
    /// batch has no columns that the representations take, or has one with the name of a column of the result.
    pub fn features_batch(&self, ctx: &Context, batch: &RecordBatch) -> Result<RecordBatch> {
        let ctx = &ctx.with_backend(Backend::Cpu);
        let made = match self.representations.first().is_some_and(Representation::is_of_graphs) {
            true => self.of_graphs(ctx, batch)?,
            false => self.of_layers(ctx, batch)?,
        };
        made.into_batch(batch.schema().metadata().clone())
    }

    fn of_graphs(&self, ctx: &Context, batch: &RecordBatch) -> Result<Made> {
        let (rows, found) = Rows::of(batch, &self.columns)?;
        let all = Limits { per_node: 1, bytes: u64::MAX, alone: ctx.memory_budget(), solving: 0 };
        let mut listed = rows.take(0, all, self.conventions.signed);
        if listed.count < rows.len() {
            return Err(super::rows::too_many("nodes"));
        }
        let (graphs, places) = listed.graphs(ctx.cancel(), &self.conventions)?;
        let extracted = GraphExtractor::new(self.representations.clone())?.extract(ctx, &graphs, |_| ())?;
        let long = found.is_long();
        let indices: Vec<usize> = match long {
            true => found.graph.into_iter().collect(),
            false => (0..batch.num_columns()).collect(),
        };
        let mut kept = Vec::new();
        for index in indices {
            let field = batch.schema().field(index).clone();
            kept.push((field, rows_at(batch.column(index), rows.begins(), long)?));
        }
        let faults = listed.faults.into_iter().map(|(place, fault)| (place, fault.what)).collect();
        Ok(Made { kept, extracted, places, rows: rows.len(), faults })
    }

    fn of_layers(&self, ctx: &Context, batch: &RecordBatch) -> Result<Made> {
        let schema = batch.schema();
        let is_layer = |field: &Field| item(field.data_type()).is_some_and(DataType::is_numeric);
        let columns: Vec<usize> = (0..batch.num_columns()).filter(|&at| is_layer(schema.field(at))).collect();
        if columns.is_empty() {
            let found: Vec<String> =
                schema.fields().iter().map(|f| format!("{} ({})", f.name(), f.data_type())).collect();
            return Err(wrong(format!("expected a column of lists of numbers, found {}", found.join(", "))));
        }
        let mut faults = Vec::new();
        let layers =
            columns.iter().map(|&at| layer(schema.field(at), batch.column(at), &mut faults)).collect::<Result<_>>()?;
        let extractor = Extractor::new(self.representations.clone()).layers(&self.layers);
        let extracted = extractor.extract(ctx, &Layers::of_memory(layers)?)?;
        let kept = schema.fields().iter().zip(batch.columns());
        let kept = kept.map(|(field, column)| (Field::clone(field), Arc::clone(column))).collect();
        let rows = batch.num_rows();
        faults.sort_unstable();
        faults.dedup_by_key(|fault| fault.0);
        Ok(Made { kept, extracted, places: (0..rows).collect(), rows, faults })
    }
}

/// Returns a column of lists as a layer. The number of a row without numbers is NaN.
fn layer(
    field: &Field,
    column: &ArrayRef,
    faults: &mut Vec<(usize, String)>,
) -> Result<(String, Vec<usize>, LayerRows)> {
    let lists = Lists::of(column)?;
    let values = Values::of(lists.values)?;
    let fixed = match field.data_type() {
        DataType::FixedSizeList(_, size) => Some(usize::try_from(*size).unwrap_or(0)),
        _ => None,
    };
    let wide = !matches!(
        item(field.data_type()),
        Some(
            DataType::Float32
                | DataType::Float16
                | DataType::Int8
                | DataType::Int16
                | DataType::UInt8
                | DataType::UInt16
        )
    );
    let (mut numbers, mut lengths) = (Vec::new(), Vec::new());
    for row in 0..column.len() {
        let before = numbers.len();
        match lists.of_row(row) {
            Some(own) => numbers.extend(own.map(|at| values.real(at).unwrap_or(f64::NAN))),
            None => {
                faults.push((row, format!("expected numbers in {}, found null", field.name())));
                numbers.extend(std::iter::repeat_n(f64::NAN, fixed.unwrap_or(1)));
            }
        }
        lengths.push(numbers.len() - before);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the numbers come from types of at most 32 bits")]
    let numbers = match wide {
        true => Numbers::F64(numbers),
        false => Numbers::F32(numbers.into_iter().map(|number| number as f32).collect()),
    };
    let lengths = fixed.is_none().then_some(lengths);
    Ok((field.name().clone(), fixed.into_iter().collect(), LayerRows { numbers, lengths }))
}

impl Made {
    fn into_batch(self, metadata: Metadata) -> Result<RecordBatch> {
        let Self { kept, extracted, places, rows, faults } = self;
        let mut samples = vec![None; rows];
        places.iter().enumerate().for_each(|(sample, &place)| samples[place] = Some(sample));
        let mut errors = vec![None; rows];
        for (place, what) in faults {
            samples[place] = None;
            errors[place] = Some(what);
        }
        let (mut fields, mut columns): (Vec<Field>, Vec<ArrayRef>) = kept.into_iter().unzip();
        let names = extracted.names().iter().map(String::as_str).chain(["status", "error"]);
        if let Some(twice) = names.clone().find(|name| fields.iter().any(|field| field.name() == name)) {
            return Err(wrong(format!("expected no column `{twice}`, whose name is that of a column of the result")));
        }
        for (at, name) in extracted.names().iter().enumerate() {
            let values = samples.iter().map(|sample| sample.map(|sample| extracted.row(sample)[at]));
            fields.push(Field::new(name, DataType::Float32, true));
            columns.push(Arc::new(values.collect::<Float32Array>()));
        }
        let status =
            samples.iter().map(|sample| Some(sample.map_or(BAD_INPUT, |sample| word(extracted.status()[sample]))));
        fields.extend([Field::new("status", DataType::Utf8, false), Field::new("error", DataType::Utf8, true)]);
        columns.push(Arc::new(status.collect::<StringArray>()));
        columns.push(Arc::new(errors.into_iter().collect::<StringArray>()));
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        RecordBatch::try_new(schema, columns).map_err(|error| refused(&error))
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Undefined => "undefined",
        Status::Overflow => "overflow",
        Status::NotFinite => "not finite",
    }
}
