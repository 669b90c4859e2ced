//! The settings of an encoding.

use crate::ops::eigen::Which;
use crate::ops::laplacian::Normalization;

/// The settings of a [`SpectralEncoder`](super::SpectralEncoder). The encoder's methods document them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) k: usize,
    pub(super) normalization: Normalization,
    /// The charge of the magnetic Laplacian; `None` for real eigenvectors.
    pub(super) charge: Option<f64>,
    pub(super) which: Which,
    pub(super) drop_trivial: bool,
    pub(super) walk_steps: usize,
    pub(super) method: Method,
    /// Whether the side of a graph is chosen for the graph alone.
    pub(super) by_graph: bool,
    /// The number by which error messages refer to the first graph.
    pub(super) first_graph: usize,
}

/// The method by which the pairs of a graph are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// For each graph, the method that is expected to be faster for its number of nodes and the number of pairs k.
    #[default]
    Auto,
    /// The dense eigendecomposition.
    Exact,
    /// The iteration on the sparse Laplacian, [`crate::ops::eigsh()`], which computes k pairs with residuals of at most
    /// 2e-6. The encoding contains the actual residual of each graph.
    Fast,
}

#[cfg(feature = "arrow")]
impl Settings {
    /// Returns the settings as a JSON object. The patterns name every field, so that the compiler reports a new one.
    pub(super) fn described(&self, conventions: crate::graph::Conventions, in_f64: bool) -> String {
        let Self { k, normalization, charge, which, drop_trivial, walk_steps, method, by_graph: _, first_graph: _ } =
            *self;
        let crate::graph::Conventions {
            degree,
            symmetrization,
            self_loops,
            duplicates,
            isolated,
            zero_degree_scale,
            signed,
            flows,
        } = conventions;
        let word = |name: &dyn std::fmt::Debug| format!("{name:?}").to_lowercase();
        serde_json::json!({
            "k": k, "laplacian": word(&normalization), "charge": charge, "which": word(&which), "drop_trivial": drop_trivial,
            "walk_steps": walk_steps, "method": word(&method), "precision": if in_f64 { "f64" } else { "f32" },
            "degree": word(&degree), "symmetrization": word(&symmetrization), "self_loops": word(&self_loops),
            "duplicates": word(&duplicates), "isolated": word(&isolated), "zero_degree_scale": word(&zero_degree_scale),
            "signed": signed, "flows": flows,
        })
        .to_string()
    }
}
