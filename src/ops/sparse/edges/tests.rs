//! Compares the device's rows with the host's graph, which is built independently.

use super::{Listed, bits, csr, laplacian};
use crate::device::Gpu;
use crate::device::trial::on_each_adapter;
use crate::error::{Error, ErrorKind};
use crate::graph::{Conventions, EdgeList, GraphBatch};
use crate::ops::Normalization;
use crate::ops::random::uniforms;
use crate::ops::sparse::Operator;
use crate::ops::sparse::gpu::Slab;

/// The edges of a batch of graphs: (source, target, weight).
#[derive(Clone)]
struct Case {
    node_offsets: Vec<usize>,
    edges: Vec<(u32, u32, f32)>,
    weighted: bool,
}

impl Case {
    fn host(&self) -> GraphBatch {
        let mut list = EdgeList::batch(self.node_offsets.clone()).unwrap();
        for &(source, target, weight) in &self.edges {
            if self.weighted { list.push_weighted(source, target, weight) } else { list.push(source, target) }
        }
        GraphBatch::from_edge_list(list, &Conventions::default()).unwrap()
    }

    /// Calls `then` with the edges in the form that the device's functions take.
    fn listed<T>(&self, then: impl FnOnce(Listed<'_>) -> T) -> T {
        let sources: Vec<u32> = self.edges.iter().map(|e| e.0).collect();
        let targets: Vec<u32> = self.edges.iter().map(|e| e.1).collect();
        let weights: Vec<f32> = self.edges.iter().map(|e| e.2).collect();
        let weights = self.weighted.then_some(&weights[..]);
        then(Listed { node_offsets: &self.node_offsets, sources: &sources, targets: &targets, weights })
    }
}

/// Returns test cases: random edges with self-loops, duplicates in both directions and five different weights, one of
/// which is 0; nodes without edges; a node with 5000 neighbors; graphs without edges; arrays of more than one block;
/// more nodes than 16 bits can number.
fn cases() -> Vec<Case> {
    let random = |first: u32, nodes: u32, edges: u32, seed: u64| {
        (0..edges).map(move |i| {
            let [a, b, w, _] = uniforms(i, 0, seed).map(|u| (u + 1.0) / 2.0);
            let place = |u: f64| first + (u * u * f64::from(nodes)) as u32;
            (place(a), place(b), [0.0, 0.25, 0.5, 1.0, 3.0][(w * 5.0) as usize])
        })
    };
    let star = (1..=5000).map(|leaf| (leaf, 0, 1.0 + leaf as f32));
    let none = Case { node_offsets: vec![0], edges: vec![], weighted: false };
    let mut cases = vec![none.clone(), Case { node_offsets: vec![0, 7], ..none }];
    for weighted in [false, true] {
        let case = |node_offsets: &[usize], edges| Case { node_offsets: node_offsets.to_vec(), edges, weighted };
        cases.push(case(&[0, 2], vec![(1, 0, 2.0), (0, 1, 0.5), (1, 1, 4.0)]));
        cases.push(case(&[0, 50], random(0, 40, 900, 1).collect()));
        cases.push(case(&[0, 5001], star.clone().collect()));
        cases.push(case(&[0, 100_000], random(0, 100_000, 30_000, 2).collect()));
        let batch = random(10, 20, 300, 3).chain(random(0, 10, 40, 4)).chain(random(31, 100, 3000, 5));
        cases.push(case(&[0, 10, 30, 31, 131, 131], batch.collect()));
    }
    cases
}

#[test]
fn rows_are_those_of_the_host() {
    on_each_adapter(module_path!(), "rows_are_those_of_the_host", |gpu| {
        for case in cases() {
            let host = case.host();
            let made = case.listed(|listed| csr(gpu, listed)).unwrap();
            assert_eq!(made.row_offsets, host.row_offsets());
            let entries = host.entries();
            let mut columns = gpu.read(&made.columns).unwrap().wait().unwrap();
            columns.truncate(entries);
            // On the host, columns are numbered from 0 within each graph.
            for (graph, nodes) in host.iter().zip(host.node_offsets().windows(2)) {
                let places = graph.row_offsets()[0]..graph.row_offsets()[graph.nodes()];
                columns[places].iter_mut().for_each(|column| *column -= nodes[0] as u32);
            }
            assert!(columns == host.columns(), "{} edges", case.edges.len());
            let ones = vec![1.0; entries];
            let mut weights = match &made.weights {
                Some(weights) => gpu.read(weights).unwrap().wait().unwrap(),
                None => ones.clone(),
            };
            weights.truncate(entries);
            assert!(
                weights[..] == host.weights().map_or(ones.into(), |weights| weights.in_f32())[..],
                "{} edges",
                case.edges.len()
            );
        }
    });
}

/// Computes A X for an X of one column.
fn product(gpu: &Gpu, resident: &crate::ops::sparse::gpu::Resident, x: &[f32]) -> Vec<f32> {
    let mut rec = gpu.record();
    let data: Vec<[f32; 4]> = x.iter().map(|&x| [x, 0.0, 0.0, 0.0]).collect();
    let x = Slab { lanes: 1, data: rec.upload(&data).unwrap() };
    let mut y = Slab::new(&mut rec, data.len(), 1).unwrap();
    resident.apply(&mut rec, &x, &mut y).unwrap();
    let read = rec.read(&y.data).unwrap();
    drop(rec);
    read.wait().unwrap().into_iter().map(|y| y[0]).collect()
}

#[test]
fn laplacians_from_edges_are_those_of_the_host() {
    on_each_adapter(module_path!(), "laplacians_from_edges_are_those_of_the_host", |gpu| {
        for case in cases() {
            let host = case.host();
            let isolated = host.conventions().isolated;
            for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
                let truth = Operator::<f64>::laplacians(&host, normalization).unwrap();
                let made = case.listed(|listed| laplacian(gpu, listed, normalization, isolated, 1)).unwrap();
                let x: Vec<f32> = (0..truth.rows() as u32).map(|i| uniforms(i, 0, 9)[0] as f32).collect();
                let y = product(gpu, &made, &x);
                for problem in 0..truth.problems() {
                    let span = truth.span(problem);
                    for row in span.clone() {
                        let scale = |i: usize| truth.scale.as_ref().map_or(1.0, |scale| scale[i]);
                        let own = truth.diagonal[row] * f64::from(x[row]);
                        let (mut sum, mut size) = (own, own.abs());
                        for entry in truth.entries_of(row) {
                            let column = span.start + truth.columns[entry] as usize;
                            let weight = truth.weights.as_ref().map_or(1.0, |weights| weights[entry]);
                            let term = -scale(row) * weight * scale(column) * f64::from(x[column]);
                            (sum, size) = (sum + term, size + term.abs());
                        }
                        // The tolerance adds the error of a product (see sparse/gpu/tests.rs) and the error of the
                        // degrees, which are computed on the device here. In units of 2^-24, the error of the degrees
                        // is taken as 4 plus the square root of 84, because a degree is summed in 84 steps.
                        let allowed = 4.0 * (f64::sqrt(84.0) + 4.0 + f64::sqrt(84.0)) * 2.0_f64.powi(-24) * size;
                        assert!((f64::from(y[row]) - sum).abs() <= allowed, "row {row}: {}, not {sum}", y[row]);
                    }
                }
            }
        }
    });
}

#[test]
fn a_list_that_is_none_is_refused() {
    on_each_adapter(module_path!(), "a_list_that_is_none_is_refused", |gpu| {
        let domain = |error: Error| assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
        let case = |edges| Case { node_offsets: vec![0, 3, 5], edges, weighted: true };
        for edge in [(0, 5, 1.0), (2, 3, 1.0), (0, 1, -1.0), (0, 1, f32::NAN)] {
            domain(case(vec![(0, 1, 1.0), edge]).listed(|listed| csr(gpu, listed)).unwrap_err());
        }
        let error = case(vec![(0, 1, 1.0)]).listed(|listed| csr(gpu, Listed { targets: &[], ..listed })).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
    });
}

#[test]
fn digits_cover_every_number() {
    assert_eq!([0, 1, 15, 16, 255, 256, u32::MAX].map(bits), [0, 1, 4, 5, 8, 9, 32]);
}

/// lavapipe silently ends the loops of an invocation after 65,535 iterations in total. In a kernel that strides over
/// 2^32 elements with 65,535 workgroups of 64 invocations, each invocation makes about 1024 iterations. In bounds.wgsl
/// each row takes up to 33 iterations, but there are at most a quarter as many rows as elements.
#[test]
fn the_loops_of_every_kernel_fit_lavapipe() {
    let digits = 2 * 16 + 64 + 16;
    let strided = (1_usize << 32).div_ceil(65_535 * 64);
    assert!([digits, strided, strided / 4 * 33].into_iter().all(|loops| loops <= 65_535));
}
