//! Gradients where eigenvalues or singular values are tied, against formulas that use only the projectors of the tie
//! groups: which losses have one, and what it is.

use common::gradients::{Matrix, eigh_gradient, pairs, svd_gradient, triplets};
use common::graphs::{Simple, all_graphs};
use common::random::SplitMix64;
use common::rectangles::with_values;
use common::solve::Checked;
use common::{Test, on_cpu, on_each, suite};
use fiedler::Context;
use fiedler::array::Real;
use fiedler::graph::molecules;
use fiedler::ops::{Degeneracy, Normalization, laplacian};
use std::collections::BTreeMap;
use std::sync::Arc;

pub fn tests() -> Vec<Test> {
    suite(
        "gradient_ties",
        vec![
            on_each("projectors", projectors::<f32>),
            on_cpu("projectors in f64", projectors::<f64>),
            on_each("losses of the eigenvalues alone", values_alone),
            on_each("singular values, also 0", tied_triplets::<f32>),
            on_cpu("singular values, also 0, in f64", tied_triplets::<f64>),
            on_each("every graph of up to 7 nodes", every_small_graph),
            on_cpu("ten thousand random graphs", random_graphs),
        ],
    )
}

/// Graphs whose adjacency or Laplacian has tied eigenvalues.
fn tied() -> Vec<(String, Matrix)> {
    let of = |name: &str, n: usize, joined: &dyn Fn(usize, usize) -> bool| {
        let element = |e: usize| f64::from(u8::from(e % n != e / n && joined(e % n, e / n)));
        (name.to_owned(), Matrix::new(n, n, element))
    };
    let squares = [1, 3, 4, 9, 10, 12]; // modulo 13
    let mut all = vec![
        of("complete", 7, &|_, _| true),
        of("cycle", 12, &|i, j| (i + 1) % 12 == j || (j + 1) % 12 == i),
        of("hypercube", 16, &|i, j| (i ^ j).is_power_of_two()),
        of("Paley", 13, &|i, j| squares.contains(&((i + 13 - j) % 13))),
        of("without edges", 5, &|_, _| false),
        of("complete bipartite", 9, &|i, j| (i < 4) != (j < 4)),
    ];
    all.push(("identity".to_owned(), Matrix::new(6, 6, |e| f64::from(u8::from(e % 6 == e / 6)))));
    all
}

/// Returns the ranges of eigenvalues that are equal up to rounding, in a precision that tells all others apart.
fn ties<T: Real>(values: &Matrix) -> Vec<std::ops::Range<usize>> {
    let near = if T::ON_DEVICE { 1e-4 } else { 1e-9 };
    let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
    for (i, value) in values.data.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if (value - values.data[group.start]).abs() < near => group.end = i + 1,
            _ => groups.push(i..i + 1),
        }
    }
    groups
}

/// Turns the columns of each group by a random orthogonal matrix.
fn turned(vectors: &Matrix, groups: &[std::ops::Range<usize>], random: &mut SplitMix64) -> Matrix {
    let n = vectors.rows;
    let mut turned = vectors.clone();
    for group in groups {
        let size = group.len();
        let basis = Matrix { rows: n, data: vectors.data[group.start * n..group.end * n].to_vec() };
        let q = Matrix { rows: size, data: with_values(size, size, &vec![1.0; size], random) };
        turned.data[group.start * n..group.end * n].copy_from_slice(&basis.times(&q).data);
    }
    turned
}

/// A loss of the projector P of a group, `tr(C P)`, has the gradient `sum_h (P C P_h + P_h C P) / (l - l_h)` over the
/// other groups h, which does not mention a basis. A loss of one vector of the group has none.
fn projectors<T: Real>(ctx: &Context) -> Checked {
    let (mut random, cpu) = (SplitMix64::new(4), Context::cpu());
    for (name, a) in tied() {
        let n = a.rows;
        let (exact, basis) = pairs::<f64>(&cpu, std::slice::from_ref(&a))?;
        let groups = ties::<f64>(&exact[0]);
        let c = Matrix::random(n, n, &mut random).symmetric();
        let span = |group: &std::ops::Range<usize>| {
            let own = Matrix { rows: n, data: basis[0].data[group.start * n..group.end * n].to_vec() };
            own.times(&own.transposed())
        };
        for group in &groups {
            let (value, p) = (exact[0].data[group.start], span(group));
            let mut wanted = Matrix::new(n, n, |_| 0.0);
            for other in groups.iter().filter(|other| *other != group) {
                let part = p.times(&c).times(&span(other)).symmetric();
                wanted = wanted.plus(&part, 2.0 / (value - exact[0].data[other.start]));
            }
            let (values, vectors) = pairs::<T>(ctx, std::slice::from_ref(&a))?;
            for vectors in [vectors[0].clone(), turned(&vectors[0], &groups, &mut random)] {
                let all = c.times(&vectors).scaled(2.0);
                let bar = Matrix::new(n, n, |e| if group.contains(&(e / n)) { all.data[e] } else { 0.0 });
                let given = [None, Some(std::slice::from_ref(&bar))];
                let vectors = std::slice::from_ref(&vectors);
                let (found, said) = eigh_gradient::<T>(ctx, (&values, vectors), given, Degeneracy::Exact)?;
                assert!(said[0].defined, "{name}, {group:?}: {:?}", said[0]);
                let off = found[0].plus(&wanted, -1.0).largest();
                // The error of eigenvectors is their residual, 10 n eps times the norm, divided by the gap, which
                // is at least an eighth of the norm here.
                let allowed = 80.0 * n as f64 * T::EPSILON * (1.0 + wanted.largest());
                assert!(off <= allowed, "{name}, {group:?}: off by {off:.1e}, {allowed:.1e} allowed");
                if group.len() > 1 {
                    let first = Matrix::new(n, n, |e| if e / n == group.start { all.data[e] } else { 0.0 });
                    let given = [None, Some(std::slice::from_ref(&first))];
                    let (_, said) = eigh_gradient::<T>(ctx, (&values, vectors), given, Degeneracy::Exact)?;
                    assert!(!said[0].defined && said[0].undefined > 1e-3, "{name}, one of {group:?}: {:?}", said[0]);
                }
            }
        }
    }
    Ok(())
}

/// The gradient of `tr f(A)` is `f'(A)`, for the heat kernel and for the spectral entropy. The largest eigenvalue alone
/// has a gradient only if it is simple.
fn values_alone(ctx: &Context) -> Checked {
    for (name, a) in tied() {
        let n = a.rows;
        let (values, vectors) = pairs::<f32>(ctx, std::slice::from_ref(&a))?;
        let (values, vectors) = (&values[..], &vectors[..]);
        let heat = Matrix::new(n, 1, |i| -0.3 * (-0.3 * values[0].data[i]).exp());
        let given = [Some(std::slice::from_ref(&heat)), None];
        let (found, said) = eigh_gradient::<f32>(ctx, (values, vectors), given, Degeneracy::Exact)?;
        assert!(said[0].defined, "{name}: {:?}", said[0]);
        // The series of the exponential; norms are below 7, so that 40 terms are enough.
        let (mut power, mut wanted) = (Matrix::new(n, n, |e| f64::from(u8::from(e % n == e / n))), a.scaled(0.0));
        for k in 1..40 {
            wanted = wanted.plus(&power, -0.3);
            power = power.times(&a).scaled(-0.3 / f64::from(k));
        }
        let off = found[0].plus(&wanted, -1.0).largest();
        assert!(off <= 80.0 * n as f64 * f64::from(f32::EPSILON) * wanted.largest(), "{name}: off by {off:.1e}");

        let groups = ties::<f32>(&values[0]);
        let largest = Matrix::new(n, 1, |i| f64::from(u8::from(i + 1 == n)));
        let given = [Some(std::slice::from_ref(&largest)), None];
        let (_, said) = eigh_gradient::<f32>(ctx, (values, vectors), given, Degeneracy::Exact)?;
        let simple = groups.last().is_some_and(|group| group.len() == 1);
        assert_eq!(said[0].defined, simple, "{name}: {:?}", said[0]);
        assert_eq!(said[0].undefined, if simple { 0.0 } else { 1.0 }, "{name}");
    }
    Ok(())
}

/// Of a matrix with the singular values 3, 3, 1 and 0: the sum of the first two has the gradient of their vectors; the
/// sum of the first three too; the first alone, and the sum of all, have none.
fn tied_triplets<T: Real>(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(5);
    for (m, n) in [(4, 4), (9, 4), (4, 11), (30, 4), (4, 70)] {
        let a = Matrix { rows: m, data: with_values(m, n, &[3.0, 3.0, 1.0, 0.0], &mut random) };
        let found = triplets::<T>(ctx, std::slice::from_ref(&a))?;
        for (count, defined) in [(1, false), (2, true), (3, true), (4, false)] {
            let c = Matrix::new(4, 1, |i| f64::from(u8::from(i < count)));
            let (gradient, said) = svd_gradient::<T>(ctx, &found, [None, Some(std::slice::from_ref(&c)), None])?;
            assert_eq!(said[0].defined, defined, "{m} x {n}, the first {count}: {:?}", said[0]);
            assert_eq!(said[0].undefined, if defined { 0.0 } else { 1.0 }, "{m} x {n}, the first {count}");
            let kept = Matrix::new(m, 4, |e| if e / m < count.min(3) { found[0][0].data[e] } else { 0.0 });
            let off = gradient[0].plus(&kept.times(&found[2][0]), -1.0).largest();
            assert!(off <= 16.0 * T::EPSILON, "{m} x {n}, the first {count}: off by {off:.1e}");
        }
        // The projectors on the space of the two left vectors, and on that of the zero vector.
        let c = Matrix::random(m, m, &mut random).symmetric();
        let all = c.times(&found[0][0]).scaled(2.0);
        for (kept, defined) in [(0..2, true), (0..3, true), (0..1, false), (3..4, m == 4)] {
            let bar = Matrix::new(m, 4, |e| if kept.contains(&(e / m)) { all.data[e] } else { 0.0 });
            let (gradient, said) = svd_gradient::<T>(ctx, &found, [Some(std::slice::from_ref(&bar)), None, None])?;
            assert_eq!(said[0].defined, defined, "{m} x {n}, vectors {kept:?}: {:?}", said[0]);
            assert!(gradient[0].data.iter().all(|x| x.is_finite()), "{m} x {n}, vectors {kept:?}");
        }
    }
    Ok(())
}

/// Returns the Laplacians of all graphs of n nodes, one of each isomorphism class.
fn small_laplacians(n: usize) -> Vec<Matrix> {
    let laplacian = |graph: Simple| {
        let mut a = Matrix::new(n, n, |_| 0.0);
        for (i, j) in graph.edges.into_iter().map(|(i, j)| (i as usize, j as usize)) {
            a.data[i * n + j] -= 1.0;
            a.data[j * n + i] -= 1.0;
            a.data[i * n + i] += 1.0;
            a.data[j * n + j] += 1.0;
        }
        a
    };
    all_graphs(n).into_iter().map(laplacian).collect()
}

/// Checks matrices of one order: a loss of projectors and of symmetric functions of eigenvalues has a gradient, and of
/// tied eigenvalues, neither the loss of one vector nor that of one value has. Returns how many matrices have ties.
fn flags<T: Real>(ctx: &Context, all: &[Matrix], random: &mut SplitMix64) -> fiedler::Result<usize> {
    let n = all[0].rows;
    let (values, vectors) = pairs::<T>(ctx, all)?;
    let groups: Vec<_> = values.iter().map(ties::<T>).collect();
    let c: Vec<_> = all.iter().map(|_| Matrix::random(n, n, random).symmetric()).collect();
    let weights: Vec<Vec<f64>> = groups.iter().map(|own| own.iter().map(|_| random.signed()).collect()).collect();
    let of_group = |graph: usize, i: usize| groups[graph].iter().position(|group| group.contains(&i)).unwrap_or(0);
    let heat: Vec<_> = values.iter().map(|w| Matrix::new(n, 1, |i| -(-w.data[i]).exp())).collect();
    let bars: Vec<_> = (0..all.len())
        .map(|graph| {
            let turned = c[graph].times(&vectors[graph]);
            Matrix::new(n, n, |e| 2.0 * weights[graph][of_group(graph, e / n)] * turned.data[e])
        })
        .collect();
    let given = [Some(&heat[..]), Some(&bars[..])];
    let (found, said) = eigh_gradient::<T>(ctx, (&values, &vectors), given, Degeneracy::Exact)?;
    for (graph, said) in said.iter().enumerate() {
        assert!(said.defined && found[graph].data.iter().all(|x| x.is_finite()), "{:?}: {said:?}", all[graph]);
    }
    // The first group of several eigenvalues: its first value, and its first vector.
    let first: Vec<Option<usize>> =
        groups.iter().map(|own| own.iter().find(|group| group.len() > 1).map(|group| group.start)).collect();
    let one_value: Vec<_> = first.iter().map(|at| Matrix::new(n, 1, |i| f64::from(u8::from(Some(i) == *at)))).collect();
    let one_vector: Vec<_> = (0..all.len())
        .map(|graph| {
            let turned = c[graph].times(&vectors[graph]);
            Matrix::new(n, n, |e| if Some(e / n) == first[graph] { 2.0 * turned.data[e] } else { 0.0 })
        })
        .collect();
    for given in [[Some(&one_value[..]), None], [None, Some(&one_vector[..])]] {
        let (_, said) = eigh_gradient::<T>(ctx, (&values, &vectors), given, Degeneracy::Exact)?;
        for (graph, said) in said.iter().enumerate() {
            assert_eq!(said.defined, first[graph].is_none(), "{:?}: {said:?}", all[graph]);
        }
    }
    Ok(first.iter().flatten().count())
}

fn every_small_graph(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(6);
    let mut graphs = 0;
    for (n, count) in [(1, 1), (2, 2), (3, 4), (4, 11), (5, 34), (6, 156), (7, 1044)] {
        let all = small_laplacians(n);
        assert_eq!(all.len(), count, "OEIS A000088");
        graphs += all.len();
        flags::<f32>(ctx, &all, &mut random)?;
        flags::<f64>(&Context::cpu(), &all, &mut random)?;
    }
    assert_eq!(graphs, 1252);
    Ok(())
}

fn random_graphs(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(7);
    let graphs = molecules(10_000, 8)?;
    let host = laplacian::<f64>(ctx, &graphs, Normalization::Combinatorial)?;
    let (layout, data) = (Arc::clone(host.layout()), host.to_host(ctx)?);
    let mut by_order: BTreeMap<usize, Vec<Matrix>> = BTreeMap::new();
    for (graph, &order) in layout.orders().iter().enumerate() {
        let own = Matrix { rows: order as usize, data: data[layout.elements(graph)].to_vec() };
        by_order.entry(own.rows).or_default().push(own);
    }
    let mut tied = 0;
    for all in by_order.values() {
        tied += flags::<f64>(ctx, all, &mut random)?;
    }
    assert!(tied > 500, "only {tied} graphs have ties");
    Ok(())
}
