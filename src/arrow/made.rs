//! The columns that an encoding adds to a table.

use super::listed::Fault;
use super::refused;
use crate::array::Real;
use crate::encode::Encoding;
use crate::error::Result;
use crate::ops::Status;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Int64Array, ListArray, PrimitiveArray, StringArray,
};
use arrow_buffer::{ArrowNativeType, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef};
use std::sync::Arc;

/// A precision in which a table has eigenvalues and eigenvectors.
pub(super) trait Precision: Real + ArrowNativeType {
    type Arrow: ArrowPrimitiveType<Native = Self>;
}

impl Precision for f32 {
    type Arrow = Float32Type;
}

impl Precision for f64 {
    type Arrow = Float64Type;
}

/// What decides the types of the columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) k: usize,
    pub(super) walk_steps: usize,
    /// Whether the numbers of a node are a list of fixed size.
    pub(super) fixed: bool,
    pub(super) wide: bool,
    /// Whether eigenvectors are complex.
    pub(super) complex: bool,
}

fn items(kind: DataType, nullable: bool) -> FieldRef {
    Arc::new(Field::new_list_field(kind, nullable))
}

impl Layout {
    /// Returns the type of the numbers of a node.
    fn per_node(self, kind: DataType, count: usize) -> DataType {
        match i32::try_from(count) {
            Ok(count) if self.fixed => DataType::FixedSizeList(items(kind, false), count),
            _ => DataType::List(items(kind, false)),
        }
    }

    /// Returns the columns that are added to a table.
    pub(super) fn fields(self) -> Vec<Field> {
        let real = if self.wide { DataType::Float64 } else { DataType::Float32 };
        let list = |kind: DataType, nullable: bool| DataType::List(items(kind, nullable));
        let mut fields = vec![
            Field::new("eigenvalues", list(real.clone(), true), true),
            Field::new("eigenvectors", list(self.per_node(real.clone(), self.k), false), true),
        ];
        if self.complex {
            // Arrow has no complex numbers.
            fields.push(Field::new("eigenvectors_imaginary", list(self.per_node(real, self.k), false), true));
        }
        if self.walk_steps > 0 {
            let walks = self.per_node(DataType::Float32, self.walk_steps);
            fields.push(Field::new("random_walk", list(walks, false), true));
        }
        fields.extend([
            Field::new("tie_group", list(DataType::Int32, true), true),
            Field::new("tie_cut", DataType::Boolean, true),
            Field::new("components", DataType::Int64, true),
            Field::new("residual", DataType::Float32, true),
            Field::new("orthogonality", DataType::Float32, true),
            Field::new("status", DataType::Utf8, false),
            Field::new("error", DataType::Utf8, true),
        ]);
        fields
    }

    /// Returns the columns for `count` graphs. `places` says where the graphs of the encoding are among them, and
    /// `faults` why the others have none.
    pub(super) fn columns<T: Precision>(
        self,
        count: usize,
        encoding: Encoding<T>,
        places: &[usize],
        faults: &[(usize, Fault)],
    ) -> Result<Vec<ArrayRef>> {
        let mut graphs = vec![None; count];
        places.iter().enumerate().for_each(|(graph, &place)| graphs[place] = Some(graph));
        let valid: NullBuffer = graphs.iter().map(Option::is_some).collect();
        let rows = Rows { layout: self, graphs: &graphs, valid: Some(valid).filter(|valid| valid.null_count() > 0) };
        let Encoding { eigenvalues, eigenvectors, node_offsets, tie_group, mask, random_walk, .. } = encoding;
        let complex = encoding.complex_eigenvectors;
        let nodes: Vec<i32> = narrowed(&node_offsets);
        let there = NullBuffer::from(mask.iter().map(|&there| there == 1).collect::<Vec<bool>>());
        let there = Some(there).filter(|there| there.null_count() > 0);
        let values = PrimitiveArray::<T::Arrow>::new(ScalarBuffer::from(eigenvalues), there.clone());
        let ties = PrimitiveArray::<Int32Type>::new(ScalarBuffer::from(narrowed(&tie_group)), there);
        let real = if self.wide { DataType::Float64 } else { DataType::Float32 };
        let reals = |reals: Vec<T>| Arc::new(PrimitiveArray::<T::Arrow>::new(ScalarBuffer::from(reals), None));
        let vectors = match self.complex {
            true => complex.iter().map(|x| x.re).collect(),
            false => eigenvectors,
        };
        let mut columns = vec![
            rows.of_graphs(self.k, DataType::clone(&real), Arc::new(values))?,
            rows.of_nodes(&nodes, self.k, real.clone(), reals(vectors))?,
        ];
        if self.complex {
            let imaginary = complex.iter().map(|x| x.im).collect();
            columns.push(rows.of_nodes(&nodes, self.k, real, reals(imaginary))?);
        }
        if self.walk_steps > 0 {
            let walks = Arc::new(Float32Array::new(ScalarBuffer::from(random_walk), None));
            columns.push(rows.of_nodes(&nodes, self.walk_steps, DataType::Float32, walks)?);
        }
        let numbers = |all: &[f32]| -> ArrayRef {
            Arc::new(graphs.iter().map(|graph| graph.map(|graph| all[graph])).collect::<Float32Array>())
        };
        let cut: BooleanArray = graphs.iter().map(|graph| graph.map(|graph| encoding.tie_cut[graph] == 1)).collect();
        let components: Int64Array = graphs.iter().map(|graph| graph.map(|graph| encoding.components[graph])).collect();
        let mut errors = vec![None; count];
        faults.iter().for_each(|(place, fault)| errors[*place] = Some(fault));
        let status = graphs.iter().zip(&errors).map(|(graph, fault)| match (graph, fault) {
            (Some(graph), _) => Status::from_code(encoding.status[*graph]).name(),
            (None, Some(fault)) => fault.status,
            (None, None) => super::listed::BAD_INPUT,
        });
        let status: StringArray = status.map(Some).collect();
        let errors: StringArray = errors.iter().map(|fault| fault.map(|fault| fault.what.as_str())).collect();
        columns.extend([
            rows.of_graphs(self.k, DataType::Int32, Arc::new(ties))?,
            Arc::new(cut),
            Arc::new(components),
            numbers(&encoding.residual),
            numbers(&encoding.orthogonality),
            Arc::new(status),
            Arc::new(errors),
        ]);
        Ok(columns)
    }
}

/// Converts numbers that fit 32 bits, because the limits of a batch keep them small.
fn narrowed(all: &[i64]) -> Vec<i32> {
    all.iter().map(|&number| i32::try_from(number).unwrap_or(i32::MAX)).collect()
}

/// Where the rows of the table find their graph.
struct Rows<'a> {
    layout: Layout,
    graphs: &'a [Option<usize>],
    valid: Option<NullBuffer>,
}

impl Rows<'_> {
    /// Returns the offsets of lists, of which a row without a graph has an empty one.
    fn offsets(&self, end: impl Fn(usize) -> i32) -> OffsetBuffer<i32> {
        let mut offsets = Vec::with_capacity(self.graphs.len() + 1);
        offsets.push(0);
        let mut last = 0;
        for graph in self.graphs {
            last = graph.map_or(last, &end);
            offsets.push(last);
        }
        OffsetBuffer::new(ScalarBuffer::from(offsets))
    }

    /// Returns a column with `width` numbers for each graph.
    fn of_graphs(&self, width: usize, kind: DataType, values: ArrayRef) -> Result<ArrayRef> {
        let offsets = self.offsets(|graph| product(graph + 1, width));
        self.lists(items(kind, true), offsets, values)
    }

    /// Returns a column with a list of `width` numbers for each node of a graph.
    fn of_nodes(&self, nodes: &[i32], width: usize, kind: DataType, values: ArrayRef) -> Result<ArrayRef> {
        let count = nodes.last().map_or(0, |&count| usize::try_from(count).unwrap_or(0));
        let per_node = self.layout.per_node(kind.clone(), width);
        let refuse = |error| refused(&error);
        let inner: ArrayRef = match &per_node {
            DataType::FixedSizeList(items, size) => Arc::new(
                FixedSizeListArray::try_new_with_length(Arc::clone(items), *size, values, None, count)
                    .map_err(refuse)?,
            ),
            _ => {
                let offsets = (0..=count).map(|node| product(node, width)).collect::<Vec<i32>>();
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                Arc::new(ListArray::try_new(items(kind, false), offsets, values, None).map_err(refuse)?)
            }
        };
        self.lists(items(per_node, false), self.offsets(|graph| nodes[graph + 1]), inner)
    }

    fn lists(&self, items: FieldRef, offsets: OffsetBuffer<i32>, values: ArrayRef) -> Result<ArrayRef> {
        let lists = ListArray::try_new(items, offsets, values, self.valid.clone()).map_err(|error| refused(&error))?;
        Ok(Arc::new(lists))
    }
}

/// Returns a product that fits 32 bits, because the limits of a batch keep it small.
fn product(count: usize, width: usize) -> i32 {
    i32::try_from(count * width).unwrap_or(i32::MAX)
}
