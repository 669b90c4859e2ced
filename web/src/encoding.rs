//! The result of an encoding. Its arrays are copies, which JavaScript may keep or transfer.

use crate::errors::thrown;
use crate::session::Choice;
use fiedler::encode::{self, Report};
use fiedler::graph::GraphBatch;
use fiedler::io::{NodeIds, encoding_arrays, to_bytes};
use fiedler::ops::Normalization;
use fiedler::ops::laplacian::Laplacian;
use wasm_bindgen::prelude::*;

/// The encodings of a batch of graphs, with their certificates and where they were computed.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Encoding {
    encoding: encode::Encoding,
    report: Report,
    ids: Option<NodeIds>,
    norms: Vec<f64>,
}

impl Encoding {
    pub(crate) fn new(
        (encoding, report): (encode::Encoding, Report),
        graphs: &GraphBatch,
        ids: Option<&NodeIds>,
        normalization: Normalization,
    ) -> Self {
        let norms = graphs.iter().map(|graph| Laplacian::new(graph, normalization).norm_1()).collect();
        Self { encoding, report, ids: ids.cloned(), norms }
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, JsValue> {
        to_bytes(name, &encoding_arrays(&self.encoding, self.ids.as_ref())).map_err(thrown)
    }
}

/// Returns counts, which are below 2^32 in a memory of 4 GiB.
fn counts(counts: &[i64]) -> Vec<u32> {
    counts.iter().map(|&count| u32::try_from(count).unwrap_or(u32::MAX)).collect()
}

#[wasm_bindgen]
impl Encoding {
    /// The number of pairs of each graph.
    #[wasm_bindgen(getter)]
    pub fn k(&self) -> usize {
        self.encoding.k
    }

    /// The number of graphs.
    #[wasm_bindgen(getter)]
    pub fn graphs(&self) -> usize {
        self.encoding.graphs()
    }

    /// The number of nodes of all graphs.
    #[wasm_bindgen(getter)]
    pub fn nodes(&self) -> usize {
        self.encoding.node_offsets.last().and_then(|&nodes| usize::try_from(nodes).ok()).unwrap_or(0)
    }

    /// The eigenvalues, `(graphs, k)`.
    #[wasm_bindgen(getter)]
    pub fn eigenvalues(&self) -> Vec<f32> {
        self.encoding.eigenvalues.clone()
    }

    /// The eigenvectors, `(nodes, k)` in row-major order.
    #[wasm_bindgen(getter)]
    pub fn eigenvectors(&self) -> Vec<f32> {
        self.encoding.eigenvectors.clone()
    }

    /// The return probabilities of the random walk, `(nodes, steps)` in row-major order.
    #[wasm_bindgen(getter, js_name = randomWalk)]
    pub fn random_walk(&self) -> Vec<f32> {
        self.encoding.random_walk.clone()
    }

    /// The first node of each graph, and the number of nodes.
    #[wasm_bindgen(getter, js_name = nodeOffsets)]
    pub fn node_offsets(&self) -> Vec<u32> {
        counts(&self.encoding.node_offsets)
    }

    /// The residual of each graph's pairs, relative to `norm`.
    #[wasm_bindgen(getter)]
    pub fn residual(&self) -> Vec<f32> {
        self.encoding.residual.clone()
    }

    /// The departure from orthogonality of each graph's pairs.
    #[wasm_bindgen(getter)]
    pub fn orthogonality(&self) -> Vec<f32> {
        self.encoding.orthogonality.clone()
    }

    /// The status of each graph: `Converged`, `NotConverged`, `NonFinite` or `Unresolved`.
    #[wasm_bindgen(getter)]
    pub fn status(&self) -> Vec<String> {
        (0..self.encoding.graphs()).map(|graph| format!("{:?}", self.encoding.certificate(graph).status)).collect()
    }

    /// The number of connected components of each graph.
    #[wasm_bindgen(getter)]
    pub fn components(&self) -> Vec<u32> {
        counts(&self.encoding.components)
    }

    /// The tie group of each pair, `(graphs, k)`; -1 where there is no pair.
    #[wasm_bindgen(getter, js_name = tieGroup)]
    pub fn tie_group(&self) -> Vec<i32> {
        self.encoding.tie_group.iter().map(|&group| i32::try_from(group).unwrap_or(i32::MAX)).collect()
    }

    /// Whether the encoding of each graph ends within a tie group.
    #[wasm_bindgen(getter, js_name = tieCut)]
    pub fn tie_cut(&self) -> Vec<u8> {
        self.encoding.tie_cut.clone()
    }

    /// Whether each pair exists, `(graphs, k)`.
    #[wasm_bindgen(getter)]
    pub fn mask(&self) -> Vec<u8> {
        self.encoding.mask.clone()
    }

    /// The 1-norm of each graph's Laplacian.
    #[wasm_bindgen(getter)]
    pub fn norm(&self) -> Vec<f64> {
        self.norms.clone()
    }

    /// Where the work ran, and why.
    #[wasm_bindgen(getter, unchecked_return_type = "Choice")]
    pub fn choice(&self) -> JsValue {
        Choice::of(&self.report.choice).into_js()
    }

    /// The number of graphs that were solved on the CPU.
    #[wasm_bindgen(getter, js_name = onCpu)]
    pub fn on_cpu(&self) -> usize {
        self.report.on_cpu
    }

    /// The number of graphs that were solved on the GPU.
    #[wasm_bindgen(getter, js_name = onGpu)]
    pub fn on_gpu(&self) -> usize {
        self.report.on_gpu
    }

    /// The number of graphs that the CPU solved again in f64.
    #[wasm_bindgen(getter, js_name = solvedAgain)]
    pub fn solved_again(&self) -> usize {
        self.report.solved_again
    }

    /// The file that `fiedler encode` writes as .npz.
    pub fn npz(&self) -> Result<Vec<u8>, JsValue> {
        self.bytes("encoding.npz")
    }

    /// The table that `fiedler encode` writes as .csv.
    pub fn csv(&self) -> Result<Vec<u8>, JsValue> {
        self.bytes("encoding.csv")
    }
}
