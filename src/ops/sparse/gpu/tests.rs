//! Compares products on every adapter with sums in f64.

use super::{Most, Resident, Slab, lanes_of, product as on_device};
use crate::device::Gpu;
use crate::device::trial::on_each_adapter;
use crate::graph::{Conventions, Graph, GraphBatch};
use crate::ops::Normalization;
use crate::ops::random::uniforms;
use crate::ops::sparse::Operator;
use crate::ops::sparse::kernels::MOST_LANES;

/// Distinct values in [-1, 1).
fn noise(count: usize, seed: u64) -> Vec<f32> {
    (0..u32::try_from(count).unwrap()).map(|i| uniforms(i, 0, seed)[0] as f32).collect()
}

/// Returns four graphs: a star with 3000 leaves, a weighted random graph with isolated nodes, a single node, and a
/// graph with rows of 256 and of 257 entries. Only rows of more than 256 entries are summed in segments.
fn graphs() -> GraphBatch {
    let conventions = Conventions::default();
    let star: Vec<(u32, u32)> = (1..=3000).map(|leaf| (0, leaf)).collect();
    let random: Vec<(u32, u32, f32)> = (0..1500)
        .map(|i| {
            let place = |j: usize| ((uniforms(i, 1, 3)[j] + 1.0) * 150.0) as u32;
            (place(0), place(1), (uniforms(i, 2, 3)[0] + 1.5) as f32)
        })
        .collect();
    // A complete graph of 258 nodes has rows of 257 entries; without one of the edges, two rows have 256.
    let dense: Vec<(u32, u32)> = (0..258).flat_map(|i| (0..i).map(move |j| (j, i))).filter(|e| *e != (0, 1)).collect();
    GraphBatch::from_graphs(&[
        Graph::from_edges(3001, &star, &conventions).unwrap(),
        Graph::from_weighted_edges(320, &random, &conventions).unwrap(),
        Graph::from_edges(1, &[], &conventions).unwrap(),
        Graph::from_edges(258, &dense, &conventions).unwrap(),
    ])
    .unwrap()
}

/// Computes `A x` and `|A| |x|` for one column x, in f64, from the operator's stored values.
fn product(operator: &Operator<'_, f32>, x: &[f64]) -> Vec<(f64, f64)> {
    let mut out = Vec::new();
    for problem in 0..operator.problems() {
        let span = operator.span(problem);
        for row in span.clone() {
            let scale = |i: usize| operator.scale.as_ref().map_or(1.0, |scale| f64::from(scale[i]));
            let own = f64::from(operator.diagonal[row]) * x[row];
            let (mut sum, mut size) = (own, own.abs());
            for entry in operator.entries_of(row) {
                let column = span.start + operator.columns[entry] as usize;
                let weight = operator.weights.as_ref().map_or(1.0, |weights| f64::from(weights[entry]));
                let term = operator.coupling * scale(row) * weight * scale(column) * x[column];
                (sum, size) = (sum + term, size + term.abs());
            }
            out.push((sum, size));
        }
    }
    out
}

fn check(gpu: &Gpu, operator: &Operator<'_, f32>, width: usize) {
    let rows = operator.rows();
    let x = noise(rows * width, 11);
    let resident = Resident::upload(gpu, operator, Most::of(gpu), 8).unwrap();
    let block = gpu.record().upload(&x).unwrap();
    let y = on_device(gpu, &resident, (rows, width), &block).unwrap();
    let y = gpu.read(&y).unwrap().wait().unwrap();
    for column in 0..width {
        let of = |data: &[f32]| data.iter().skip(column).step_by(width).map(|&x| f64::from(x)).collect::<Vec<_>>();
        for (row, (found, (truth, size))) in of(&y).into_iter().zip(product(operator, &of(&x))).enumerate() {
            // Each term has four roundings. The longest chain of additions, for 3000 entries, adds 64 groups of four
            // and then 12 segments. The roundings are independent, so the error is about 2^-24 times the square root of
            // their number; a factor of 4 covers the largest error of 100,000 values.
            let tolerance = 4.0 * f64::sqrt(4.0 + 64.0 + 12.0) * 2.0_f64.powi(-24) * size;
            assert!((found - truth).abs() <= tolerance, "row {row}, column {column} of {width}: {found}, not {truth}");
        }
    }
}

#[test]
fn products_are_those_of_f64() {
    on_each_adapter(module_path!(), "products_are_those_of_f64", |gpu| {
        let weighted = graphs();
        let plain = weighted.select(&[0, 2, 3]);
        for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
            for graphs in [&weighted, &plain] {
                let operator = Operator::laplacians(graphs, normalization).unwrap();
                for width in [1, 4, 7, 32, 40] {
                    check(gpu, &operator, width);
                }
            }
        }
        let matrix = Operator::from_csr(vec![0, 2, 3, 3], vec![0, 1, 0], vec![2.0, -0.5, -0.5]).unwrap();
        check(gpu, &matrix, 5);
        let nothing = Operator::from_csr(vec![0], vec![], vec![]).unwrap();
        check(gpu, &nothing, 3);
    });
}

/// The bits of a product are the same for every slab width and every buffer size.
#[test]
fn products_do_not_depend_upon_the_cut() {
    on_each_adapter(module_path!(), "products_do_not_depend_upon_the_cut", |gpu| {
        let graphs = graphs();
        let operator = Operator::laplacians(&graphs, Normalization::Symmetric).unwrap();
        let rows = operator.rows();
        let x = noise(rows * 32, 5);
        let run = |lanes: u32, most: Most| {
            let resident = Resident::upload(gpu, &operator, most, lanes).unwrap();
            let mut out = vec![0.0; x.len()];
            for slab in 0..8 / lanes as usize {
                let width = 4 * lanes as usize;
                let part: Vec<[f32; 4]> = x
                    .chunks(32)
                    .flat_map(|row| row[slab * width..(slab + 1) * width].as_chunks::<4>().0.to_vec())
                    .collect();
                let mut rec = gpu.record();
                let from = Slab { lanes, data: rec.upload(&part).unwrap() };
                let mut to = Slab::new(&mut rec, rows, lanes).unwrap();
                resident.apply(&mut rec, &from, &mut to).unwrap();
                let read = rec.read(&to.data).unwrap();
                drop(rec);
                for (to, from) in out.chunks_mut(32).zip(read.wait().unwrap().chunks(lanes as usize)) {
                    to[slab * width..(slab + 1) * width].copy_from_slice(from.as_flattened());
                }
            }
            out.iter().map(|x: &f32| x.to_bits()).collect::<Vec<_>>()
        };
        let whole = run(8, Most::of(gpu));
        for lanes in [1, 2, 4, 8] {
            for most in [Most { entries: 256, rows: 100 }, Most { entries: 5000, rows: 1 << 20 }] {
                assert!(run(lanes, most) == whole, "{lanes} lanes, {most:?}");
            }
        }
    });
}

#[test]
fn columns_are_spread_evenly_over_slabs() {
    for width in 0..200 {
        for most in 1..=MOST_LANES {
            let lanes = lanes_of(width, most);
            assert_eq!(lanes.iter().sum::<u32>() as usize, width.div_ceil(4));
            assert!(lanes.iter().all(|&l| (1..=most).contains(&l)) && lanes.is_sorted_by(|a, b| a >= b));
            // The kernels for Gram matrices exist only for pairs of slabs whose `lanes` differ by at most 1.
            assert!(lanes.first().zip(lanes.last()).is_none_or(|(a, b)| a - b <= 1), "{lanes:?}");
        }
    }
}

/// lavapipe silently cuts off the loops of an invocation after 65,535 iterations. A row or a segment takes at most 256
/// / 4 + 3 iterations. The segment sums of a long row are divided among eight groups of invocations. The loops of these
/// groups fit even if the row has 10^8 entries.
#[test]
fn the_loops_of_every_kernel_fit_lavapipe() {
    let segment = super::super::chunks::SEGMENT;
    let hub = 100_000_000_usize.div_ceil(segment).div_ceil(8);
    assert!([segment / 4 + 3, hub].into_iter().all(|loops| loops <= 65_535));
}
