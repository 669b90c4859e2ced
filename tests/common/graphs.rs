//! Graphs whose Laplacian spectra are known in closed form (Brouwer & Haemers, Spectra of Graphs, 1.4; Chung,
//! Spectral Graph Theory, 1.2 for the normalized ones), small random graphs, and their Laplacians in f64.

use std::f64::consts::PI;

use super::random::SplitMix64;

/// A simple graph: `n` nodes, and each edge once.
#[derive(Clone, Debug)]
pub struct Simple {
    pub name: String,
    pub n: usize,
    pub edges: Vec<(u32, u32)>,
}

/// A graph and its ascending spectra. The random-walk Laplacian has the eigenvalues of the symmetric one.
#[derive(Clone, Debug)]
pub struct ClosedForm {
    pub graph: Simple,
    pub combinatorial: Vec<f64>,
    /// `None` if there is no closed form, or if a node is isolated, because conventions differ on isolated nodes.
    pub symmetric: Option<Vec<f64>>,
}

/// The kind of a Laplacian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// D - W
    Combinatorial,
    /// I - D^-1/2 W D^-1/2
    Symmetric,
    /// I - D^-1 W
    RandomWalk,
}

impl ClosedForm {
    fn new(
        name: String,
        n: usize,
        edges: impl IntoIterator<Item = (usize, usize)>,
        mut combinatorial: Vec<f64>,
        symmetric: Option<Vec<f64>>,
    ) -> Self {
        let edges = edges.into_iter().map(|(a, b)| (a as u32, b as u32)).collect();
        combinatorial.sort_by(f64::total_cmp);
        let symmetric = symmetric.map(|mut values| {
            values.sort_by(f64::total_cmp);
            values
        });
        Self { graph: Simple { name, n, edges }, combinatorial, symmetric }
    }
}

/// Returns the path P_n. Eigenvalues: 2 - 2 cos(pi k / n); normalized: 1 - cos(pi k / (n - 1)).
pub fn path(n: usize) -> ClosedForm {
    let symmetric = (n > 1).then(|| (0..n).map(|k| 1.0 - (PI * k as f64 / (n - 1) as f64).cos()).collect());
    ClosedForm::new(format!("path {n}"), n, (1..n).map(|i| (i - 1, i)), path_values(n), symmetric)
}

fn path_values(n: usize) -> Vec<f64> {
    (0..n).map(|k| 2.0 - 2.0 * (PI * k as f64 / n as f64).cos()).collect()
}

/// Returns the cycle C_n, n >= 3. Eigenvalues: 2 - 2 cos(2 pi k / n).
pub fn cycle(n: usize) -> ClosedForm {
    assert!(n >= 3, "a cycle has 3 nodes or more");
    let values: Vec<f64> = (0..n).map(|k| 2.0 - 2.0 * (2.0 * PI * k as f64 / n as f64).cos()).collect();
    let symmetric = regular(&values, 2.0);
    ClosedForm::new(format!("cycle {n}"), n, (0..n).map(|i| (i, (i + 1) % n)), values, symmetric)
}

/// Returns the star K_1,n-1, n >= 2, with center 0. Eigenvalues: 0, 1 (n - 2 times), n; normalized: 0, 1 (n - 2
/// times), 2.
pub fn star(n: usize) -> ClosedForm {
    assert!(n >= 2, "a star has 2 nodes or more");
    let with_last = |last| [0.0].into_iter().chain(vec![1.0; n - 2]).chain([last]).collect::<Vec<f64>>();
    ClosedForm::new(format!("star {n}"), n, (1..n).map(|i| (0, i)), with_last(n as f64), Some(with_last(2.0)))
}

/// Returns the complete graph K_n. Eigenvalues: 0 and n (n - 1 times).
pub fn complete(n: usize) -> ClosedForm {
    let values: Vec<f64> = (0..n).map(|k| if k == 0 { 0.0 } else { n as f64 }).collect();
    let symmetric = if n > 1 { regular(&values, (n - 1) as f64) } else { None };
    ClosedForm::new(format!("complete {n}"), n, (0..n).flat_map(|a| (0..a).map(move |b| (b, a))), values, symmetric)
}

/// Returns the grid P_a x P_b. Its eigenvalues are the sums of an eigenvalue of P_a and one of P_b.
pub fn grid(a: usize, b: usize) -> ClosedForm {
    let along = (0..a).flat_map(move |i| (1..b).map(move |j| (i * b + j - 1, i * b + j)));
    let across = (1..a).flat_map(move |i| (0..b).map(move |j| ((i - 1) * b + j, i * b + j)));
    let values = path_values(a).iter().flat_map(|x| path_values(b).into_iter().map(move |y| x + y)).collect();
    ClosedForm::new(format!("grid {a} x {b}"), a * b, along.chain(across), values, None)
}

/// Returns the hypercube Q_d. Its eigenvalues are 2 times the number of set bits of each integer in 0..2^d.
pub fn hypercube(d: u32) -> ClosedForm {
    let n = 1_usize << d;
    let values: Vec<f64> = (0..n).map(|k| 2.0 * f64::from(k.count_ones())).collect();
    let edges = (0..n).flat_map(|a| (0..d).map(move |bit| (a, a ^ (1 << bit)))).filter(|(a, b)| a < b);
    let symmetric = if d > 0 { regular(&values, f64::from(d)) } else { None };
    ClosedForm::new(format!("hypercube {d}"), n, edges, values, symmetric)
}

/// Returns the Petersen graph, which is 3-regular. Eigenvalues: 0, 2 (5 times), 5 (4 times).
pub fn petersen() -> ClosedForm {
    let edges = (0..5).flat_map(|i| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)]);
    let values = [vec![0.0], vec![2.0; 5], vec![5.0; 4]].concat();
    let symmetric = regular(&values, 3.0);
    ClosedForm::new("Petersen".into(), 10, edges, values, symmetric)
}

/// Returns the normalized spectrum of a regular graph, given its combinatorial spectrum.
fn regular(combinatorial: &[f64], degree: f64) -> Option<Vec<f64>> {
    Some(combinatorial.iter().map(|x| x / degree).collect())
}

/// Returns one graph of each kind for every size of at most `most` nodes: 1, 2, 3, other small sizes, sizes around
/// powers of two, a prime.
pub fn closed_forms(most: usize) -> Vec<ClosedForm> {
    let sizes = || [1, 2, 3, 4, 5, 8, 13, 16, 17, 31, 32, 33, 63, 64, 100, 127].into_iter().filter(move |&n| n <= most);
    let mut all: Vec<ClosedForm> = sizes().flat_map(|n| [path(n), complete(n)]).collect();
    all.extend(sizes().filter(|&n| n >= 2).map(star));
    all.extend(sizes().filter(|&n| n >= 3).map(cycle));
    all.extend([(2, 3), (3, 3), (4, 5), (1, 7), (7, 9), (10, 10)].map(|(a, b)| grid(a, b)));
    all.extend((0..7).map(hypercube));
    all.push(petersen());
    all.retain(|form| form.graph.n <= most);
    all
}

/// Returns a random graph of 5 to 44 nodes, from nearly empty to nearly complete. In half of these graphs, some
/// nodes are left without an edge. (nalgebra's f32 `symmetric_eigen` gives NaN for 1 in 200 of such graphs.)
pub fn random(random: &mut SplitMix64) -> Simple {
    let n = 5 + random.below(40);
    let density = [0.02, 0.05, 0.1, 0.2, 0.5, 0.9][random.below(6)];
    let connected = if random.below(2) == 0 { n } else { 1 + random.below(n) };
    let mut edges = Vec::new();
    for a in 0..connected {
        edges.extend((0..a).filter(|_| random.unit() < density).map(|b| (b as u32, a as u32)));
    }
    Simple { name: format!("random graph, {n} nodes, {} edges", edges.len()), n, edges }
}

/// Returns the smallest graph for which nalgebra's f32 `symmetric_eigen` gives NaN: 7 nodes, four of them isolated.
pub fn seven_nodes() -> Simple {
    Simple { name: "7 nodes, edges 6-0 and 6-5".into(), n: 7, edges: vec![(6, 0), (6, 5)] }
}

/// Returns the column-major Laplacian in f64. `isolated` is the diagonal entry of an isolated node in a normalized
/// Laplacian.
pub fn laplacian(graph: &Simple, kind: Kind, isolated: f64) -> Vec<f64> {
    let n = graph.n;
    let mut degree = vec![0.0_f64; n];
    for &(a, b) in &graph.edges {
        degree[a as usize] += 1.0;
        degree[b as usize] += 1.0;
    }
    let mut l = vec![0.0; n * n];
    for (i, &d) in degree.iter().enumerate() {
        l[i + n * i] = match kind {
            Kind::Combinatorial => d,
            _ if d == 0.0 => isolated,
            _ => 1.0,
        };
    }
    for &(a, b) in &graph.edges {
        for (i, j) in [(a as usize, b as usize), (b as usize, a as usize)] {
            l[i + n * j] -= match kind {
                Kind::Combinatorial => 1.0,
                Kind::Symmetric => 1.0 / (degree[i] * degree[j]).sqrt(),
                Kind::RandomWalk => 1.0 / degree[i],
            };
        }
    }
    l
}

/// Returns all graphs of n nodes, at most 7, one of each isomorphism class: the first one, if their edges are numbered
/// by the later node and then by the other, and are the bits of a number.
pub fn all_graphs(n: usize) -> Vec<Simple> {
    let edges: Vec<(usize, usize)> = (0..n).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
    let mut orders = vec![vec![]];
    for node in 0..n {
        let placed = |order: &Vec<usize>, at: usize| [&order[..at], &[node], &order[at..]].concat();
        orders = orders.iter().flat_map(|order| (0..=node).map(|at| placed(order, at)).collect::<Vec<_>>()).collect();
    }
    let number = |i: usize, j: usize| i.min(j) + i.max(j) * (i.max(j).max(1) - 1) / 2;
    let mut seen = vec![false; 1 << edges.len()];
    let mut all = Vec::new();
    for graph in 0..seen.len() {
        if seen[graph] {
            continue;
        }
        let own: Vec<_> =
            edges.iter().enumerate().filter(|(e, _)| graph >> e & 1 == 1).map(|(_, edge)| *edge).collect();
        for order in &orders {
            seen[own.iter().map(|&(i, j)| 1 << number(order[i], order[j])).sum::<usize>()] = true;
        }
        let edges = own.into_iter().map(|(i, j)| (i as u32, j as u32)).collect();
        all.push(Simple { name: format!("graph {graph} of {n} nodes"), n, edges });
    }
    all
}
