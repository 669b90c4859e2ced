//! Graphs in compressed sparse row form, singly or in batches, and the conventions for building them from edges.

mod assemble;
mod balance;
mod batch;
mod components;
mod conventions;
mod csr;
mod edges;
pub mod generate;
mod isolated;
mod largest;
mod level;
mod merged;
mod refusal;
pub mod spectra;
mod view;
mod weights;

pub use batch::{Graph, GraphBatch};
pub use components::Components;
pub use conventions::{
    Conventions, DegreeDirection, Duplicates, IsolatedDiagonal, Preset, SelfLoops, Symmetrization, ZeroDegreeScale,
};
pub use edges::EdgeList;
pub use generate::molecules;
pub use isolated::Isolated;
pub use largest::LargestComponents;
pub use merged::Merged;
pub(crate) use refusal::{Reason, Refusal, RefusedEdge};
pub use view::GraphRef;
pub use weights::{Weights, WeightsRef};
