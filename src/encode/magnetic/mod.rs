//! Encodings by magnetic Laplacians, whose eigenvectors are complex. All steps run in f64 on the CPU.
//!
//! A graph without flows has a real Laplacian, and is encoded as one. Others are solved after a change of gauge
//! (`ops::sparse::magnetic`), in which the null space of consistent components is known and real. Tie groups,
//! canonical vectors and the certificate follow the rules of `encode::pairs`. Eigenvalues have an error of a few eps of
//! the bound of the spectrum; small ones are not accurate relative to themselves, as those of real Laplacians are.

mod canonical;
mod solve;

use super::pairs::{Pairs, Selection, largest, leaves_range, stored};
use super::settings::Settings;
use super::sparse::solved_normalization;
use super::walks::return_probabilities;
use crate::array::{Ragged, Real};
use crate::context::Context;
use crate::error::Result;
use crate::graph::{GraphBatch, GraphRef};
use crate::ops::eigen::{Certificate, eigh_ragged};
use crate::ops::eigsh::{Wanted, solve_each};
use crate::ops::laplacian::MagneticLaplacian;
use crate::ops::sparse::Gauged;
use crate::ops::ties::{TIE, fine_tie, tie_groups};
use crate::ops::{EigshOptions, ITERATED, Normalization, Status};
use crate::parallel;
use crate::policy::Backend;
use crate::shape::{Layout, to_u32};
use canonical::canonical_basis;
use num_complex::Complex;

type C = Complex<f64>;

/// The pairs that a solver found, without the known null space, in the gauge of the solver.
struct Found {
    /// Adjacent eigenvalues of the spectrum, in ascending order.
    values: Vec<f64>,
    /// The orthonormal eigenvectors as the columns of a column-major matrix.
    vectors: Vec<C>,
    /// The index of the first of these pairs in the spectrum without the null space.
    first: usize,
    /// Whether the solver separated the eigenvalues as far as f64 allows.
    apart: bool,
    status: Status,
    iterated: bool,
}

/// Returns the charge by which a graph is encoded as a complex one.
pub(super) fn charge_of(settings: &Settings, graph: GraphRef<'_>) -> Option<f64> {
    settings.charge.filter(|&charge| charge > 0.0 && graph.all_flows().is_some())
}

/// Computes the encodings of graphs with flows.
pub(super) fn encode<T: Real>(
    settings: &Settings,
    ctx: &Context,
    graphs: &GraphBatch,
    sparse: bool,
) -> Result<Vec<Pairs<T>>> {
    let ctx = &ctx.with_backend(Backend::Cpu);
    let solved = solved_normalization(settings.normalization);
    let charge = settings.charge.unwrap_or(0.0);
    let one = |i: usize| -> Result<Gauged<'_>> {
        ctx.cancel().check()?;
        Gauged::new(MagneticLaplacian::new(graphs.graph(i), solved, charge)?)
    };
    let gauged: Vec<Gauged<'_>> =
        ctx.on_host(|| parallel::map(0..graphs.len(), |_, i| one(i)).into_iter().collect())?;
    let found = ctx.stopwatch().time("solve", || match sparse {
        true => gauged.iter().map(|gauged| iterated(settings, ctx, gauged)).collect(),
        false => decomposed(ctx, graphs, &gauged),
    })?;
    let finish = |(gauged, found): (&Gauged<'_>, Found), i: usize| pairs::<T>(settings, graphs.graph(i), gauged, found);
    let all = || Ok(parallel::map(gauged.iter().zip(found), |i, one| finish(one, i)));
    ctx.stopwatch().time("finish", || ctx.on_host(all))?.into_iter().collect()
}

fn decomposed(ctx: &Context, graphs: &GraphBatch, gauged: &[Gauged<'_>]) -> Result<Vec<Found>> {
    let layout = Layout::new(graphs.iter().map(|graph| to_u32(graph.nodes())));
    let mut elements = vec![C::default(); layout.len()];
    for (i, gauged) in gauged.iter().enumerate() {
        gauged.fill(&mut elements[layout.elements(i)]);
    }
    let found = eigh_ragged(ctx, &Ragged::from_vec(layout, elements)?)?.to_host(ctx)?;
    let one = |(i, gauged): (usize, &Gauged<'_>)| {
        let (values, vectors) = (&found.values[found.layout.rows(i)], &found.vectors[found.layout.elements(i)]);
        solve::of_dense(gauged, values, vectors, found.certificates[i].status)
    };
    ctx.on_host(|| Ok(parallel::map(gauged.iter().enumerate(), |_, each| one(each))))
}

fn iterated(settings: &Settings, ctx: &Context, gauged: &Gauged<'_>) -> Result<Found> {
    let operator = gauged.doubled()?;
    let count = 2 * Selection::new(settings, gauged.null.len(), gauged.order()).others.len();
    let wanted = Wanted { count, most: count, which: settings.which, separate: true };
    // Complex vectors are combinations of several real ones, so these are accurate whatever the precision is.
    let options = EigshOptions::default().tolerance(ITERATED.residual::<f64>());
    let solved = solve_each(ctx, &operator, &[wanted], &options, &[])?.0;
    Ok(solve::of_doubled(gauged, settings.which, &solved[0]))
}

/// Computes the encoding of one graph, as `encode::pairs` does for real Laplacians.
fn pairs<T: Real>(settings: &Settings, graph: GraphRef<'_>, gauged: &Gauged<'_>, found: Found) -> Result<Pairs<T>> {
    let (n, null) = (gauged.order(), gauged.null.len());
    let Selection { known, others } = Selection::new(settings, null, n);
    let Found { mut values, mut vectors, first, apart, status, iterated } = found;
    let selected = others.start.max(first) - first..others.end.min(first + values.len()) - first;
    // The Laplacian is positive semidefinite.
    values.iter_mut().for_each(|value| *value = value.max(0.0));
    let phases = gauged.phases();
    let turn = |column: &mut [C]| column.iter_mut().zip(&phases).for_each(|(x, phase)| *x *= phase);
    vectors.chunks_exact_mut(n.max(1)).for_each(turn);
    let tolerance = if iterated || T::EPSILON > 1e-10 { TIE } else { fine_tie(n.max(16)) };
    let groups = tie_groups(&values, tolerance, Some(gauged.bounds.upper));
    let mut basis: Vec<C> = gauged.null.canonical(known).into_iter().map(C::from).collect();
    for column in basis.chunks_exact_mut(n.max(1)) {
        turn(column);
        canonical_basis(column, n, 1);
    }
    let mut start = 0;
    for members in groups.chunk_by(|a, b| a == b) {
        let group = start..start + members.len();
        start = group.end;
        let taken = group.start.max(selected.start)..group.end.min(selected.end);
        if !taken.is_empty() {
            canonical_basis(&mut vectors[group.start * n..group.end * n], n, taken.end - group.start);
            basis.extend_from_slice(&vectors[taken.start * n..taken.end * n]);
        }
    }
    let inner = match settings.which {
        super::Which::Smallest => selected.end,
        super::Which::Largest => selected.start,
    };
    let cut_within = inner > 0 && inner < groups.len() && groups[inner] == groups[inner - 1] && !selected.is_empty();
    let before = groups.get(selected.start).map_or(0, |&group| i64::from(group)) - i64::from(known > 0);
    let own = groups[selected.clone()].iter().map(|&group| i64::from(group) - before);
    let tie_group = std::iter::repeat_n(0, known).chain(own).collect();
    let exact: Vec<f64> = std::iter::repeat_n(0.0, known).chain(values[selected].iter().copied()).collect();
    let values: Vec<T> = exact.iter().map(|&value| stored::<T>(value)).collect();
    let unresolved = !apart || exact.iter().zip(&values).any(|(&exact, &value)| leaves_range(exact, value));
    let orthogonality = orthogonality::<T>(&basis, n, values.len());
    let laplacian = MagneticLaplacian::new(graph, settings.normalization, settings.charge.unwrap_or(0.0))?;
    if settings.normalization == Normalization::RandomWalk {
        let scale = laplacian.real().similarity_scale();
        for column in basis.chunks_exact_mut(n.max(1)) {
            column.iter_mut().zip(&scale).for_each(|(x, s)| *x *= *s);
            canonical_basis(column, n, 1);
        }
    }
    let [vectors, imaginary]: [Vec<T>; 2] =
        [basis.iter().map(|x| stored::<T>(x.re)).collect(), basis.iter().map(|x| stored::<T>(x.im)).collect()];
    let residual = residual(&laplacian, &values, &vectors, &imaginary);
    let certificate = Certificate { status, sweeps: 0, residual, orthogonality };
    let certificate = match iterated {
        true => certificate.judged_as(ITERATED.residual::<T>(), ITERATED.orthogonality::<T>()),
        false => certificate.judged(n, T::EPSILON),
    };
    let status = match certificate.status {
        Status::Converged if unresolved => Status::Unresolved,
        other => other,
    };
    Ok(Pairs {
        values,
        vectors,
        imaginary,
        tie_group,
        tie_cut: cut_within || (known > 0 && known < null),
        certificate: Certificate { status, ..certificate },
        components: gauged.components(),
        random_walk: return_probabilities(graph, settings.walk_steps),
    })
}

/// Computes `max |V*V - I|`, where the columns of V are the columns of `basis`, rounded to T as the encoding stores
/// them.
fn orthogonality<T: Real>(basis: &[C], n: usize, columns: usize) -> f64 {
    let rounded = |x: &C| C::new(T::from_f64(x.re).to_f64(), T::from_f64(x.im).to_f64());
    let column = |j: usize| basis[j * n..(j + 1) * n].iter().map(rounded);
    largest(n, columns, |j| {
        let away = (0..=j).map(|i| {
            let product: C = column(i).zip(column(j)).map(|(x, y)| x.conj() * y).sum();
            (product - f64::from(u8::from(i == j))).norm()
        });
        away.fold(0.0, |worst: f64, away| if away.is_nan() || away > worst { away } else { worst })
    })
}

/// Computes `max_j |L v_j - l_j v_j|_2 / |L|_1` for the eigenpairs of the encoding.
fn residual<T: Real>(laplacian: &MagneticLaplacian<'_>, values: &[T], re: &[T], im: &[T]) -> f64 {
    let (n, norm) = (laplacian.order(), laplacian.norm_1());
    largest(n, values.len(), |j| {
        let value = values[j].to_f64();
        let v: Vec<C> = (j * n..(j + 1) * n).map(|at| C::new(re[at].to_f64(), im[at].to_f64())).collect();
        let square: f64 = (0..n)
            .map(|row| {
                let product: C = laplacian.row(row).map(|(column, x)| x * v[column]).sum();
                (v[row] * (laplacian.diagonal(row) - value) + product).norm_sqr()
            })
            .sum();
        square.sqrt() / if norm == 0.0 { 1.0 } else { norm }
    })
}
