//! Compares every operation of a [`GpuSpace`], on every adapter, with the same operation in f64.

use super::{Cuts, GpuSpace, SCRATCH};
use crate::context::Context;
use crate::device::Gpu;
use crate::device::trial::on_each_adapter;
use crate::error::ErrorKind;
use crate::graph::spectra::Family;
use crate::graph::{Conventions, Graph, GraphBatch};
use crate::ops::Normalization;
use crate::ops::eigen::Which;
use crate::ops::eigsh::chebyshev::{Limits, Target, iterate};
use crate::ops::eigsh::space::{Filter, FilterPlan, Rotation, Space, Step};
use crate::ops::random::uniforms;
use crate::ops::sparse::gpu::Most;
use crate::ops::sparse::{NONE, Operator};
use nalgebra::{DMatrix, DVector};

/// The unit roundoff of f32.
const UNIT: f64 = 1.0 / (1 << 24) as f64;
/// The number of columns in a block. If a slab may have at most three vectors of four elements per row, one slab has
/// three vectors per row, and another has two. The last vector then has one column of padding.
const WIDTH: usize = 19;

fn path(nodes: u32) -> Graph {
    let edges: Vec<(u32, u32)> = (1..nodes).map(|i| (i - 1, i)).collect();
    Graph::from_edges(nodes as usize, &edges, &Conventions::default()).unwrap()
}

fn complete(nodes: u32) -> Graph {
    let edges: Vec<(u32, u32)> = (0..nodes).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
    Graph::from_edges(nodes as usize, &edges, &Conventions::default()).unwrap()
}

/// Returns a path, a star with 3000 leaves, a weighted graph with isolated nodes and small components, a single
/// node, and a complete graph with as many nodes as the block has columns.
fn graphs() -> GraphBatch {
    let conventions = Conventions::default();
    let star: Vec<(u32, u32)> = (1..=3000).map(|leaf| (0, leaf)).collect();
    let mut random: Vec<(u32, u32, f32)> = (0..900)
        .map(|i| {
            let place = |j: usize| ((uniforms(i, 1, 3)[j] + 1.0) * 150.0) as u32;
            (place(0), place(1), (uniforms(i, 2, 3)[0] + 1.5) as f32)
        })
        .collect();
    random.extend([(310, 311, 0.5), (312, 313, 2.0), (313, 314, 0.25)]);
    GraphBatch::from_graphs(&[
        path(700),
        Graph::from_edges(3001, &star, &conventions).unwrap(),
        Graph::from_weighted_edges(320, &random, &conventions).unwrap(),
        path(1),
        complete(WIDTH as u32),
    ])
    .unwrap()
}

/// The rows of A in f64, computed from the arrays of the operator, and the known null vectors.
struct Truth {
    rows: Vec<Vec<(usize, f64)>>,
    null: Vec<DVector<f64>>,
}

impl Truth {
    fn of(operator: &Operator<'_, f32>, problem: usize) -> Self {
        let span = operator.span(problem);
        let scale = |i: usize| operator.scale.as_ref().map_or(1.0, |scale| f64::from(scale[i]));
        let rows = span.clone().map(|row| {
            let own = (row - span.start, f64::from(operator.diagonal[row]));
            let others = operator.entries_of(row).map(|entry| {
                let column = operator.columns[entry] as usize;
                let weight = operator.weights.as_ref().map_or(1.0, |weights| f64::from(weights[entry]));
                (column, operator.coupling * scale(row) * weight * scale(span.start + column))
            });
            std::iter::once(own).chain(others).collect()
        });
        let mut labels: Vec<u32> = operator.null.labels[span.clone()].to_vec();
        labels.sort_unstable();
        labels.dedup();
        let vector = |label: u32| {
            let entry = |i: usize| {
                let row = span.start + i;
                if operator.null.labels[row] == label { f64::from(operator.null.values[row]) } else { 0.0 }
            };
            DVector::from_fn(span.len(), |i, _| entry(i))
        };
        let null = labels.into_iter().filter(|&label| label != NONE).map(vector).collect();
        Self { rows: rows.collect(), null }
    }

    fn times(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        let entry = |i: usize, j: usize| self.rows[i].iter().map(|&(k, a)| a * x[(k, j)]).sum();
        DMatrix::from_fn(x.nrows(), x.ncols(), entry)
    }

    fn deflate(&self, x: &mut DMatrix<f64>) {
        for v in &self.null {
            let along = v.transpose() * &*x;
            *x -= v * along;
        }
    }

    /// Returns the largest absolute row sum.
    fn norm(&self) -> f64 {
        self.rows.iter().map(|row| row.iter().map(|(_, a)| a.abs()).sum()).fold(0.0, f64::max)
    }

    /// Applies the filter, and bounds the error that it has in f32 for a column of norm 1. Each step rounds its
    /// operands by up to one unit. If m steps follow and no value grows beyond 1, they amplify these errors by at
    /// most the factor m + 1 (Chebyshev polynomials of the second kind). The rounding errors of different steps are
    /// independent, so their squares are added.
    fn filter(&self, x: &DMatrix<f64>, steps: &[Step]) -> (DMatrix<f64>, f64) {
        let (mut x, mut before) = (x.clone(), DMatrix::zeros(x.nrows(), x.ncols()));
        let mut bound = 0.0;
        for (i, &Step { product, own, before: factor }) in steps.iter().enumerate() {
            let next = self.times(&x) * product + &x * own + &before * factor;
            let operands = product.abs() * self.norm() + own.abs() + factor.abs();
            bound += ((steps.len() - i) as f64 * UNIT * operands).powi(2);
            (x, before) = (next, x);
        }
        self.deflate(&mut x);
        (x, bound.sqrt())
    }
}

fn read(space: &mut GpuSpace<'_>, problem: usize) -> DMatrix<f64> {
    let width = space.width;
    let data = space.read(problem, 0..width).unwrap();
    DMatrix::from_vec(data.len() / width, width, data)
}

fn spaces<'g>(gpu: &'g Gpu, operator: &Operator<'_, f32>) -> [GpuSpace<'g>; 2] {
    let finer = Cuts { lanes: 3, most: Most { entries: 600, rows: 900 }, scratch: 1 };
    [GpuSpace::new(gpu, operator, WIDTH).unwrap(), GpuSpace::cut(gpu, operator, WIDTH, finer).unwrap()]
}

/// Runs `check` on two spaces that divide the same block differently. Their bits must agree.
fn on_spaces(gpu: &Gpu, check: impl Fn(&mut GpuSpace<'_>, &[Truth])) {
    let graphs = graphs();
    for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
        let operator = Operator::laplacians(&graphs, normalization).unwrap();
        let truths: Vec<Truth> = (0..operator.problems()).map(|problem| Truth::of(&operator, problem)).collect();
        let [mut whole, mut finer] = spaces(gpu, &operator);
        assert!(whole.lanes.len() == 1 && finer.lanes == [3, 2]);
        for space in [&mut whole, &mut finer] {
            space.randomize(7).unwrap();
            check(space, &truths);
        }
        for problem in 0..operator.problems() {
            let [one, other] = [&mut whole, &mut finer].map(|space| read(space, problem));
            assert!(one == other, "problem {problem}: the cut shows");
        }
    }
}

fn columns_norm(x: &DMatrix<f64>) -> f64 {
    x.column_iter().map(|column| column.norm()).fold(0.0, f64::max)
}

#[test]
fn random_blocks_are_orthogonal_to_the_null_space() {
    on_each_adapter(module_path!(), "random_blocks_are_orthogonal_to_the_null_space", |gpu| {
        on_spaces(gpu, |space, truths| {
            for (problem, truth) in truths.iter().enumerate() {
                let x = read(space, problem);
                let mut plain =
                    DMatrix::from_fn(x.nrows(), WIDTH, |i, j| uniforms(i as u32, j as u32 / 4, 7)[j % 4] as f32 as f64);
                let size = columns_norm(&plain);
                truth.deflate(&mut plain);
                // The rounding errors come from a sum of n products, where n is the number of rows and the null
                // vector has entries of about n^-1/2, and from rounding each value once. Together they are at most
                // 16 units of the column's norm.
                assert!(columns_norm(&(&x - plain)) <= 16.0 * UNIT * size, "problem {problem}");
                for v in &truth.null {
                    assert!((v.transpose() * &x).amax() <= 16.0 * UNIT * size, "problem {problem}");
                }
            }
        });
    });
}

#[test]
fn filters_are_polynomials() {
    on_each_adapter(module_path!(), "filters_are_polynomials", |gpu| {
        on_spaces(gpu, |space, truths| {
            let columns = 5..WIDTH;
            // There are odd and even numbers of steps, because each step exchanges the two blocks. The second
            // problem has no plan and keeps its block. The other problems keep the columns before `columns`.
            for degree in [1, 2, 13] {
                space.randomize(degree as u64).unwrap();
                let steps = |(problem, truth): (usize, &Truth)| {
                    let filter = Filter { damped: (0.3 * truth.norm(), truth.norm()), wanted: 0.0 };
                    (problem != 1 && truth.norm() > 0.0).then(|| filter.steps(degree))
                };
                let steps: Vec<_> = truths.iter().enumerate().map(steps).collect();
                let plan =
                    |steps: &Vec<Step>| FilterPlan { from: columns.start, steps: steps.clone(), deflate_every: 5 };
                let plans: Vec<_> = steps.iter().map(|own| own.as_ref().map(plan)).collect();
                let before: Vec<_> = (0..truths.len()).map(|problem| read(space, problem)).collect();
                space.filter(&plans).unwrap();
                for (problem, (truth, before)) in truths.iter().zip(before).enumerate() {
                    let after = read(space, problem);
                    let kept = if steps[problem].is_some() { columns.start } else { WIDTH };
                    assert!(after.columns(0, kept) == before.columns(0, kept), "problem {problem} keeps {kept}");
                    let Some(steps) = &steps[problem] else { continue };
                    let (want, bound) = truth.filter(&before.columns_range(columns.clone()).into_owned(), steps);
                    let error = columns_norm(&(after.columns_range(columns.clone()) - want));
                    let allowed = (bound + 4.0 * UNIT) * columns_norm(&before);
                    eprintln!("  problem {problem}, degree {degree}: {error:.1e} of {allowed:.1e}");
                    assert!(error <= allowed, "problem {problem}, degree {degree}: {error:e}, not {allowed:e}");
                }
            }
        });
    });
}

/// The filter damps the wanted vectors of a complete graph by 1e-15 relative to its null vector, so rounding
/// errors along the null vector would dominate if they were not projected out.
#[test]
fn the_null_space_does_not_come_back() {
    on_each_adapter(module_path!(), "the_null_space_does_not_come_back", |gpu| {
        let graph = complete(300);
        let operator = Operator::laplacian(graph.view(), Normalization::Symmetric).unwrap();
        let truth = Truth::of(&operator, 0);
        let mut space = GpuSpace::new(gpu, &operator, 4).unwrap();
        space.randomize(1).unwrap();
        let before = read(&mut space, 0);
        let steps = Filter { damped: (1.2, 2.0), wanted: 1.0 }.steps(20);
        space.filter(&[Some(FilterPlan { from: 0, steps: steps.clone(), deflate_every: 4 })]).unwrap();
        let after = read(&mut space, 0);
        // Outside of the null space, A is 300/299 times the identity, so the filter multiplies the block by a
        // number.
        let (want, bound) = truth.filter(&before, &steps);
        assert!(
            columns_norm(&(&after - &want)) <= (bound + 1e-3) * columns_norm(&want),
            "{}",
            columns_norm(&(after - want))
        );
    });
}

#[test]
fn grams_are_those_of_f64() {
    on_each_adapter(module_path!(), "grams_are_those_of_f64", |gpu| {
        on_spaces(gpu, |space, truths| {
            let grams = space.grams().unwrap();
            for (problem, (truth, own)) in truths.iter().zip(grams).enumerate() {
                let x = read(space, problem);
                let ax = truth.times(&x);
                let sizes: Vec<f64> = x.column_iter().map(|column| column.norm()).collect();
                let worst = |found: &DMatrix<f64>, want: DMatrix<f64>, size: f64| {
                    let error =
                        |i: usize, j: usize| (found[(i, j)] - want[(i, j)]).abs() / (sizes[i] * sizes[j] * size);
                    let all = (0..WIDTH).flat_map(|i| (0..WIDTH).map(move |j| (i, j)));
                    all.filter(|&(i, j)| sizes[i] * sizes[j] > 0.0).map(|(i, j)| error(i, j)).fold(0.0, f64::max)
                };
                assert!(own.xx == own.xx.transpose() && own.xax == own.xax.transpose());
                let of_xx = worst(&own.xx, x.transpose() * &x, 1.0);
                let of_xax = worst(&own.xax, x.transpose() * ax, truth.norm().max(f64::MIN_POSITIVE));
                eprintln!("  problem {problem}: X'X {of_xx:.1e}, X'AX {of_xax:.1e}");
                // The product with A adds rounding errors of 8 units of the norm of A, as in a filter.
                let epsilon = GpuSpace::GRAM_EPSILON;
                assert!(of_xx <= epsilon && of_xax <= epsilon + 8.0 * UNIT, "{problem}: {of_xx:e}, {of_xax:e}");
            }
        });
    });
}

/// The sums have several levels. All terms have the same sign and size, so that their rounding errors do not
/// cancel, which is the worst case.
#[test]
fn long_sums_keep_their_digits() {
    on_each_adapter(module_path!(), "long_sums_keep_their_digits", |gpu| {
        let graph = path(300_001);
        let operator = Operator::laplacian(graph.view(), Normalization::Combinatorial).unwrap();
        let mut space = GpuSpace::new(gpu, &operator, 4).unwrap();
        space.randomize(3).unwrap();
        let value = 0.1_f32 / 3.0;
        space.x[0].data = gpu.record().upload(&vec![[value, -value, 1e-3, 1.0]; 300_001]).unwrap();
        assert!(space.levels.len() > 1);
        let xx = &space.grams().unwrap()[0].xx;
        let numbers = [value, -value, 1e-3, 1.0].map(f64::from);
        for i in 0..4 {
            for j in 0..4 {
                let want = 300_001.0 * numbers[i] * numbers[j];
                let error = (xx[(i, j)] / want - 1.0).abs();
                eprintln!("  {i}, {j}: {error:.1e}");
                assert!(error <= GpuSpace::GRAM_EPSILON, "{i}, {j}: {error:e}");
            }
        }
    });
}

#[test]
fn rotations_turn_blocks_and_measure_residuals() {
    on_each_adapter(module_path!(), "rotations_turn_blocks_and_measure_residuals", |gpu| {
        on_spaces(gpu, |space, truths| {
            let rotations: Vec<Option<Rotation>> = (0..truths.len() as u32)
                .map(|problem| {
                    let entry = |i: usize, j: usize| uniforms(i as u32, 100 + problem, j as u64)[0] / 4.0;
                    let values = (0..WIDTH).map(|j| 0.1 * j as f64).collect();
                    (problem != 2).then(|| Rotation { q: DMatrix::from_fn(WIDTH, WIDTH, entry), values })
                })
                .collect();
            let before: Vec<_> = (0..truths.len()).map(|problem| read(space, problem)).collect();
            space.grams().unwrap();
            let norms = space.rotate(&rotations).unwrap();
            for (problem, (truth, before)) in truths.iter().zip(before).enumerate() {
                let after = read(space, problem);
                let Some(Rotation { q, values }) = &rotations[problem] else {
                    assert!(after == before && norms[problem].is_empty());
                    continue;
                };
                let want = &before * q;
                // Each element is a sum of as many terms as there are columns. Its rounding error, in units of the
                // size of the terms, is about the square root of the number of columns.
                let unit = 2.0 * (WIDTH as f64).sqrt() * UNIT * columns_norm(&before) * q.norm();
                assert!(columns_norm(&(&after - &want)) <= unit, "problem {problem}");
                let away =
                    truth.times(&before) * q - &want * DMatrix::from_diagonal(&DVector::from_vec(values.clone()));
                for (j, (found, column)) in norms[problem].iter().zip(away.column_iter()).enumerate() {
                    // The allowed error covers the rounding errors of A, of both products and of the sum of
                    // squares.
                    let allowed = 8.0 * unit * (truth.norm() + values[j]) + 1e-6 * column.norm();
                    assert!(
                        (found - column.norm()).abs() <= allowed,
                        "problem {problem}, column {j}: {found}, {}",
                        column.norm()
                    );
                }
            }
        });
    });
}

/// Runs an iteration on a batch and compares the values, many of which are equal, with closed forms.
#[test]
fn an_iteration_finds_the_pairs() {
    on_each_adapter(module_path!(), "an_iteration_finds_the_pairs", |gpu| {
        let families = [
            Family::Grid { rows: 12, columns: 17 },
            Family::Star { nodes: 700 },
            Family::Hypercube { dimension: 8 },
            Family::Complete { nodes: 300 },
        ];
        let graphs: Vec<Graph> = families.iter().map(|family| family.graph().unwrap()).collect();
        let graphs = GraphBatch::from_graphs(&graphs).unwrap();
        let operator = Operator::laplacians(&graphs, Normalization::Combinatorial).unwrap();
        for which in [Which::Smallest, Which::Largest] {
            let target = |problem: usize| {
                let bounds = operator.bounds(problem);
                Target { wanted: 8, bounds, tolerance: 2e-6 * bounds.norm, resolution: 0.0, separate: false }
            };
            let targets: Vec<Target> = (0..families.len()).map(target).collect();
            let mut space = GpuSpace::new(gpu, &operator, 20).unwrap();
            space.randomize(1).unwrap();
            let limits = Limits { which, most_products: 5000 };
            let found = iterate(&Context::cpu(), &mut space, &targets, limits, &|_, _| true).unwrap();
            for (problem, (found, family)) in found.iter().zip(families).enumerate() {
                let spectrum = family.combinatorial();
                let want = match which {
                    Which::Smallest => spectrum.smallest(9).split_off(1),
                    Which::Largest => spectrum.largest(8).into_iter().rev().collect(),
                };
                eprintln!(
                    "  {family:?}: {} products, {} restarts, {} converged",
                    found.products, found.restarts, found.converged
                );
                assert!(found.converged >= 8, "{family:?} {which:?}: {found:?}");
                for (value, want) in found.values.iter().zip(want) {
                    // The distance of a Ritz value from the eigenvalue is at most its residual plus the rounding
                    // error of its Rayleigh quotient.
                    let allowed = targets[problem].tolerance + GpuSpace::GRAM_EPSILON * targets[problem].bounds.norm;
                    assert!((value - want).abs() <= allowed, "{family:?} {which:?}: {value}, not {want}");
                }
            }
        }
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    on_each_adapter(module_path!(), "what_does_not_fit_is_refused", |gpu| {
        let graph = path(100_000);
        let operator = Operator::laplacian(graph.view(), Normalization::Symmetric).unwrap();
        assert!(GpuSpace::new(gpu, &operator, 32).is_ok());
        let error = GpuSpace::new(gpu, &operator, 2000).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { needed, allowed, .. } if needed > allowed), "{error}");
        let mut space = GpuSpace::new(gpu, &operator, 8).unwrap();
        space.randomize(1).unwrap();
        let refused = |error: crate::Error| assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
        // These calls are errors: a rotation before the Gram matrices are computed, a rotation of the wrong width,
        // and a list of plans of the wrong length.
        let turn = |width: usize| Some(Rotation { q: DMatrix::identity(width, width), values: vec![0.0; width] });
        refused(space.rotate(&[turn(8)]).unwrap_err());
        space.grams().unwrap();
        refused(space.rotate(&[turn(7)]).unwrap_err());
        refused(space.filter(&[None, None]).unwrap_err());
    });
}

/// lavapipe silently ends the loops of an invocation after 65,535 iterations in total. The comments at the top of
/// the kernels state the numbers of iterations that are checked here.
#[test]
fn the_loops_of_every_kernel_fit_lavapipe() {
    let chunk = super::CHUNK;
    let gram = chunk + chunk / 16;
    let deflate = chunk * 8 / 64;
    // The largest binding of an adapter has 2^27 vectors of four elements, which 65,535 workgroups of 64
    // invocations process.
    let panel = (1_usize << 27).div_ceil(65_535 * 64);
    let reduce = 17 * panel;
    assert!([gram, deflate, panel, reduce].into_iter().all(|loops| loops <= 65_535));
    assert_eq!((chunk, SCRATCH), (512, 8 << 20));
}
