//! The result of a structural encoder.

use super::StructuralEncoder;
use super::resistances::ELECTROSTATIC;
use crate::array::Real;
use crate::graph::GraphBatch;
use crate::ops::{Certificate, Status};

/// The structural encodings of a batch of graphs. Arrays are row-major, and empty unless the encoder was set to compute
/// them. `T` is f32 or f64.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StructuralEncoding<T = f32> {
    /// The index of each graph's first node, followed by the total number of nodes; `(graphs + 1)` values.
    pub node_offsets: Vec<i64>,
    /// The number of connected components of each graph.
    pub components: Vec<i64>,
    /// The code of the [`Status`] of each graph, with the residual and the departure from orthogonality of its
    /// eigenpairs: the largest ones, if two Laplacians were decomposed. The status is also
    /// [`Unresolved`](Status::Unresolved) if T does not hold a number.
    pub status: Vec<u8>,
    /// The largest `max_j |L v_j - l_j v_j|_2 / |L|_1` of each graph.
    pub residual: Vec<f32>,
    /// The largest `max |V'V - I|` of each graph.
    pub orthogonality: Vec<f32>,
    /// The times of the heat kernels.
    pub heat_times: Vec<f64>,
    /// The diagonals of the heat kernels `exp(-t L)`, with shape `(nodes, heat_times)`: the heat kernel signatures of
    /// Sun, Ovsjanikov and Guibas 2009. For the combinatorial Laplacian and without the null space, they are HKdiagSE
    /// of GraphGPS.
    pub heat_kernel: Vec<T>,
    /// The number of energies of the wave kernels.
    pub wave_energies: usize,
    /// The wave kernel signatures of Aubry, Schlickewei and Cremers 2011, with shape `(nodes, wave_energies)`. The
    /// energies are spaced evenly in the logarithm of the eigenvalues of each graph. They are 0 in a graph without
    /// edges.
    pub wave_kernel: Vec<T>,
    /// The restart probabilities of PageRank.
    pub restarts: Vec<f64>,
    /// The diagonals of the personalized PageRank matrices `a (I - (1 - a) D^-1 W)^-1` for each restart probability a,
    /// with shape `(nodes, restarts)`: the probability that a walk that ends with probability a after each step ends
    /// where it began. It is 1 on isolated nodes.
    pub pagerank: Vec<T>,
    /// The electrostatic encoding, with shape `(nodes, 10)`: ElstaticSE of GraphGPS. With `E(i, j) = L+(i, j) - L+(j,
    /// j)`, where L+ is the pseudoinverse of the combinatorial Laplacian, the columns of node j are the minimum, the
    /// maximum, the mean and the standard deviation of E over i, the minimum over the second index, the maximum over
    /// the first once more, the mean and the standard deviation over the second index, and the sums of `(D^-1 W)(i, j)
    /// E(i, j)` over the first and over the second index.
    pub electrostatic: Vec<T>,
    /// The nodes of each entry of the adjacency matrices, with shape `(2, entries)`: the rows, and then the columns.
    /// Both are numbers of nodes in the batch. An undirected edge has two entries.
    pub edge_index: Vec<i64>,
    /// The effective resistance between the nodes of each entry, `(entries)` values.
    pub resistance: Vec<T>,
    /// The expected number of steps of a random walk from one node of the entry to the other and back, `(entries)`
    /// values: the resistance times the sum of the degrees in the component.
    pub commute_time: Vec<T>,
    /// The index of each graph's first pair in `resistance_matrix`, followed by their number; `(graphs + 1)` values.
    pub pair_offsets: Vec<i64>,
    /// The effective resistances between all nodes of each graph, with shape `(n, n)` for a graph with n nodes. They
    /// are infinite between components.
    pub resistance_matrix: Vec<T>,
    /// The second smallest eigenvalue of the combinatorial Laplacian of each graph, its algebraic connectivity.
    pub spectral_gap: Vec<T>,
    /// The Kirchhoff index of each graph: the sum of the effective resistances over all pairs of connected nodes.
    pub kirchhoff_index: Vec<T>,
    /// The natural logarithm of the number of spanning trees of each graph, or of spanning forests if it has several
    /// components. With weights, each counts with the product of its weights.
    pub log_spanning_trees: Vec<T>,
    encoder: StructuralEncoder,
}

/// The part of an encoding that belongs to one graph.
pub(super) struct Own<T> {
    components: usize,
    certificate: Certificate,
    pub(super) heat_kernel: Vec<T>,
    pub(super) wave_kernel: Vec<T>,
    pub(super) pagerank: Vec<T>,
    pub(super) electrostatic: Vec<T>,
    pub(super) resistance: Vec<T>,
    pub(super) commute_time: Vec<T>,
    pub(super) resistance_matrix: Vec<T>,
    /// The spectral gap, the Kirchhoff index and the logarithm of the number of spanning trees.
    pub(super) invariants: Vec<T>,
}

impl<T: Real> Own<T> {
    pub(super) fn new(components: usize) -> Self {
        Self {
            components,
            certificate: Certificate::default(),
            heat_kernel: Vec::new(),
            wave_kernel: Vec::new(),
            pagerank: Vec::new(),
            electrostatic: Vec::new(),
            resistance: Vec::new(),
            commute_time: Vec::new(),
            resistance_matrix: Vec::new(),
            invariants: Vec::new(),
        }
    }

    /// Adds the certificate of a decomposition.
    pub(super) fn certify(&mut self, found: Certificate) {
        let own = &mut self.certificate;
        own.residual = own.residual.max(found.residual);
        own.orthogonality = own.orthogonality.max(found.orthogonality);
        if found.status != Status::Converged {
            own.status = found.status;
        }
    }

    /// Rounds numbers to T. The graph is unresolved if T has only an infinity for one of them.
    pub(super) fn rounded(&mut self, all: Vec<f64>) -> Vec<T> {
        let overflows = |(&exact, kept): (&f64, &T)| exact.is_finite() && !kept.to_f64().is_finite();
        let kept: Vec<T> = all.iter().map(|&x| T::from_f64(x)).collect();
        if self.certificate.status == Status::Converged && all.iter().zip(&kept).any(overflows) {
            self.certificate.status = Status::Unresolved;
        }
        kept
    }
}

impl<T: Real> StructuralEncoding<T> {
    /// Returns an encoding of no graph yet, with what it has for all graphs together.
    pub(super) fn new(encoder: &StructuralEncoder, graphs: &GraphBatch) -> Self {
        let number = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
        let mut edge_index = Vec::new();
        if encoder.resistances {
            let firsts = || graphs.iter().zip(graphs.node_offsets()).map(|(graph, &first)| (graph, number(first)));
            let rows = |(graph, first): (crate::graph::GraphRef<'_>, i64)| {
                (0..graph.nodes()).flat_map(move |row| vec![first + number(row); graph.neighbors(row).len()]).collect()
            };
            edge_index = firsts().flat_map(|own| -> Vec<i64> { rows(own) }).collect();
            let columns =
                firsts().flat_map(|(graph, first)| graph.columns().iter().map(move |&j| first + i64::from(j)));
            edge_index.extend(columns);
        }
        let pair_offsets = if encoder.all_pairs { vec![0] } else { Vec::new() };
        Self {
            node_offsets: graphs.node_offsets().iter().map(|&offset| number(offset)).collect(),
            components: Vec::new(),
            status: Vec::new(),
            residual: Vec::new(),
            orthogonality: Vec::new(),
            heat_times: encoder.heat_times.clone(),
            heat_kernel: Vec::new(),
            wave_energies: encoder.wave_energies,
            wave_kernel: Vec::new(),
            restarts: encoder.restarts.clone(),
            pagerank: Vec::new(),
            electrostatic: Vec::new(),
            edge_index,
            resistance: Vec::new(),
            commute_time: Vec::new(),
            pair_offsets,
            resistance_matrix: Vec::new(),
            spectral_gap: Vec::new(),
            kirchhoff_index: Vec::new(),
            log_spanning_trees: Vec::new(),
            encoder: encoder.clone(),
        }
    }

    /// Appends the part of the next graph.
    pub(super) fn append(&mut self, own: Own<T>) {
        self.components.push(i64::try_from(own.components).unwrap_or(i64::MAX));
        self.status.push(own.certificate.status as u8);
        self.residual.push(f32::from_f64(own.certificate.residual));
        self.orthogonality.push(f32::from_f64(own.certificate.orthogonality));
        self.heat_kernel.extend(own.heat_kernel);
        self.wave_kernel.extend(own.wave_kernel);
        self.pagerank.extend(own.pagerank);
        self.electrostatic.extend(own.electrostatic);
        self.resistance.extend(own.resistance);
        self.commute_time.extend(own.commute_time);
        self.resistance_matrix.extend(own.resistance_matrix);
        if self.encoder.all_pairs {
            self.pair_offsets.push(i64::try_from(self.resistance_matrix.len()).unwrap_or(i64::MAX));
        }
        if let [gap, index, trees] = own.invariants[..] {
            self.spectral_gap.push(gap);
            self.kirchhoff_index.push(index);
            self.log_spanning_trees.push(trees);
        }
    }

    /// Returns the number of graphs.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.status.len()
    }

    /// The number of columns of [`StructuralEncoding::electrostatic`].
    pub const ELECTROSTATIC: usize = ELECTROSTATIC;

    /// Returns the encoder that computed this encoding.
    pub(crate) const fn encoder(&self) -> &StructuralEncoder {
        &self.encoder
    }

    /// Returns the number of graphs whose status is not `Converged`.
    #[must_use]
    pub fn uncertified(&self) -> usize {
        self.status.iter().filter(|&&status| status != Status::Converged as u8).count()
    }
}
