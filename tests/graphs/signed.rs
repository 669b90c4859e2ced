//! Signed Laplacians: dense truth by formula, closed forms, laws that hold exactly, and what is refused.

use common::batches::all_bits;
use common::random::SplitMix64;
use common::solve::{Checked, alike};
use common::{Test, on_cpu, on_each, sample, suite};
use fiedler::Context;
use fiedler::array::Real;
use fiedler::encode::{Encoding, Method, SpectralEncoder, Which};
use fiedler::graph::generate::cycle;
use fiedler::graph::{Conventions, Graph, GraphBatch, IsolatedDiagonal, SelfLoops, Symmetrization};
use fiedler::ops::laplacian::{Laplacian, Normalization, laplacian};
use nalgebra::DMatrix;

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];
const EPS: f64 = f32::EPSILON as f64;
const SIGNED: fn() -> Conventions = || Conventions { signed: true, ..Conventions::default() };

pub fn tests() -> Vec<Test> {
    suite(
        "signed",
        vec![
            on_each("pairs of random graphs against dense truth", truth),
            on_each("balanced graphs have the unsigned spectrum", balanced),
            on_each("weights that are not negative give the unsigned bits", unsigned_bits),
            on_each("dense Laplacians", dense),
            on_each("the product of the eigenvalues of a graph with one cycle", one_cycle),
            on_each("a negative self-loop of little weight", weak_loop),
            on_cpu("a long cycle with a negative edge", long_cycle),
            on_each("bit-equal under small budgets and in parts", cuts),
            on_cpu("duplicates, directions and what is refused", lists),
        ],
    )
}

type Edges = Vec<(u32, u32, f64)>;

/// Returns a directed graph without duplicates, of several components, with isolated nodes and weights of both signs.
fn random_edges(n: usize, random: &mut SplitMix64) -> Edges {
    let mut edges = Edges::new();
    for a in 0..n {
        for b in 0..n {
            // Two parts, and a node of each graph that is isolated.
            let apart = a % 2 != b % 2 || a + 1 == n || b + 1 == n;
            if a != b && !apart && random.below(n) < 3 {
                edges.push((a as u32, b as u32, random.sign() * (0.2 + random.unit())));
            }
        }
    }
    edges
}

/// Returns W by its definition.
fn symmetrized(n: usize, edges: &Edges, rule: Symmetrization) -> DMatrix<f64> {
    let mut a = DMatrix::<f64>::zeros(n, n);
    edges.iter().for_each(|&(i, j, w)| a[(i as usize, j as usize)] = w);
    DMatrix::from_fn(n, n, |i, j| {
        let (x, y) = (a[(i, j)], a[(j, i)]);
        match rule {
            Symmetrization::Sum => x + y,
            Symmetrization::Mean => (x + y) / 2.0,
            _ if x.abs() == y.abs() => x.max(y),
            _ if x.abs() > y.abs() => x,
            _ => y,
        }
    })
}

/// Returns the Laplacian by its definition.
fn formula(w: &DMatrix<f64>, kind: Normalization, isolated: f64) -> DMatrix<f64> {
    let n = w.nrows();
    let d: Vec<f64> = (0..n).map(|i| w.row(i).iter().map(|x| x.abs()).sum()).collect();
    DMatrix::from_fn(n, n, |i, j| {
        let one = if i == j { 1.0 } else { 0.0 };
        match kind {
            Normalization::Combinatorial => one * d[i] - w[(i, j)],
            _ if d[i] == 0.0 => one * isolated,
            _ if d[j] == 0.0 => 0.0,
            Normalization::Symmetric => one - w[(i, j)] / (d[i] * d[j]).sqrt(),
            Normalization::RandomWalk => one - w[(i, j)] / d[i],
        }
    })
}

fn spectrum(l: &DMatrix<f64>) -> Vec<f64> {
    let mut values = l.clone().symmetric_eigen().eigenvalues.as_slice().to_vec();
    values.sort_by(f64::total_cmp);
    values
}

fn norm_1(l: &DMatrix<f64>) -> f64 {
    l.column_iter().map(|column| column.iter().map(|x| x.abs()).sum()).fold(f64::MIN_POSITIVE, f64::max)
}

fn truth(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(31);
    let rules = [Symmetrization::Max, Symmetrization::Mean, Symmetrization::Sum];
    for (rule, isolated) in
        rules.into_iter().zip([IsolatedDiagonal::Zero, IsolatedDiagonal::One, IsolatedDiagonal::Zero])
    {
        let conventions = Conventions { symmetrization: rule, isolated, ..SIGNED() };
        let lists: Vec<(usize, Edges)> = (0..24).map(|i| 1 + i).map(|n| (n, random_edges(n, &mut random))).collect();
        let all = lists.iter().map(|(n, edges)| Graph::from_weighted_edges(*n, edges, &conventions));
        let graphs = GraphBatch::from_graphs(&all.collect::<Result<Vec<_>, _>>()?)?;
        let one = if isolated == IsolatedDiagonal::One { 1.0 } else { 0.0 };
        for kind in ALL {
            for which in [Which::Smallest, Which::Largest] {
                let encoding = SpectralEncoder::new(6).laplacian(kind).which(which).encode(ctx, &graphs)?;
                for (g, (n, edges)) in lists.iter().enumerate() {
                    let w = symmetrized(*n, edges, rule);
                    let name = format!("{n} nodes, {rule:?}, {kind:?}, {which:?}");
                    check(&encoding, g, &w, kind, which, one).map_err(|what| format!("{name}: {what}"))?;
                }
            }
        }
    }
    Ok(())
}

fn check(
    encoding: &Encoding,
    g: usize,
    w: &DMatrix<f64>,
    kind: Normalization,
    which: Which,
    isolated: f64,
) -> Result<(), String> {
    let n = w.nrows();
    let k = encoding.k.min(n);
    let solved = if kind == Normalization::RandomWalk { Normalization::Symmetric } else { kind };
    let want = spectrum(&formula(w, solved, isolated));
    let (l, start) = (formula(w, kind, isolated), if which == Which::Smallest { 0 } else { n - k });
    let norm = norm_1(&l);
    let (values, vectors) = (encoding.eigenvalues(g), encoding.eigenvectors(g).map(f64::from));
    let mut worst = 0.0_f64;
    for j in 0..k {
        let value = f64::from(values[j]);
        // What the design allows for n < 90, as of unsigned graphs.
        if (value - want[start + j]).abs() > 30.0 * EPS * norm {
            return Err(format!("value {j}: {value:e}, in truth {:e}", want[start + j]));
        }
        // The null space is known: its eigenvalues are exactly 0. The least other one of these graphs is 1e-4.
        if (value == 0.0) != (want[start + j].abs() < 1e-9) {
            return Err(format!("value {j} is {value:e}, in truth {:e}", want[start + j]));
        }
        let x = vectors.column(j);
        worst = worst.max((&l * x - x * value).norm() / norm);
    }
    // The certificate is that of the stored pairs, and is stored in f32.
    let certified = f64::from(encoding.residual[g]);
    if (certified - worst).abs() > 1e-6 * worst + 1e-12 || worst > 10.0 * n as f64 * EPS || encoding.status[g] != 0 {
        return Err(format!("{:?}, in truth a residual of {worst:e}", encoding.certificate(g)));
    }
    Ok(())
}

/// Returns an encoding with all pairs in T.
trait Precision: Real {
    fn encode(encoder: &SpectralEncoder, ctx: &Context, graphs: &GraphBatch) -> fiedler::Result<Encoding<Self>>;
}

impl Precision for f32 {
    fn encode(encoder: &SpectralEncoder, ctx: &Context, graphs: &GraphBatch) -> fiedler::Result<Encoding> {
        encoder.encode(ctx, graphs)
    }
}

impl Precision for f64 {
    fn encode(encoder: &SpectralEncoder, ctx: &Context, graphs: &GraphBatch) -> fiedler::Result<Encoding<f64>> {
        Ok(encoder.encode_f64(ctx, graphs, |_| ())?.0)
    }
}

/// A change of the signs of some nodes changes no eigenvalue, and changes the eigenvectors in the same way. Weights
/// span decades, and each value is compared relative to itself: both are promised to `4 n eps`.
fn balanced(ctx: &Context) -> Checked {
    let seeds: Vec<u64> = (1..9).collect();
    for seed in sample(ctx, seeds) {
        let mut random = SplitMix64::new(seed);
        let n = 4 + random.below(24);
        let signs: Vec<f64> = (0..n).map(|_| random.sign()).collect();
        let (mut plain, mut switched) = (Edges::new(), Edges::new());
        for i in 1..n {
            for j in 0..i {
                let joined = j + 1 == i && i != n / 2 || random.below(4) == 0 && (i < n / 2) == (j < n / 2);
                if !joined {
                    continue;
                }
                let weight = f64::from((random.unit() * 10.0_f64.powi(random.below(12) as i32 - 6)) as f32);
                plain.push((i as u32, j as u32, weight));
                switched.push((i as u32, j as u32, weight * signs[i] * signs[j]));
            }
        }
        let batch = |edges: &Edges| Graph::from_weighted_edges(n, edges, &SIGNED()).map(GraphBatch::from);
        let (plain, switched) = (batch(&plain)?, batch(&switched)?);
        for kind in ALL {
            alike_up_to_signs::<f32>(ctx, (&plain, &switched), kind, seed)?;
            if ctx.adapter().is_none() {
                alike_up_to_signs::<f64>(ctx, (&plain, &switched), kind, seed)?;
            }
        }
    }
    Ok(())
}

fn alike_up_to_signs<T: Precision>(
    ctx: &Context,
    (plain, switched): (&GraphBatch, &GraphBatch),
    kind: Normalization,
    seed: u64,
) -> Checked {
    let n = plain.nodes();
    let encoder = SpectralEncoder::new(n).laplacian(kind);
    let (a, b) = (T::encode(&encoder, ctx, plain)?, T::encode(&encoder, ctx, switched)?);
    assert_eq!((a.status[0], b.status[0]), (0, 0), "seed {seed}, {kind:?}: {:?}", b.certificate(0));
    assert_eq!((&a.tie_group, &a.components), (&b.tie_group, &b.components), "seed {seed}, {kind:?}");
    for (x, y) in a.eigenvalues(0).iter().zip(b.eigenvalues(0)) {
        let (x, y) = (x.to_f64(), y.to_f64());
        assert!((x - y).abs() <= 8.0 * n as f64 * T::EPSILON * x, "seed {seed}, {kind:?}: {x:e} and {y:e}");
    }
    Ok(())
}

fn unsigned_bits(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(3);
    let made = |conventions: &Conventions| {
        let mut state = SplitMix64::new(17);
        let all = (2..20).map(|n| {
            let edges: Edges = random_edges(n, &mut state).into_iter().map(|(a, b, w)| (a, b, w.abs())).collect();
            Graph::from_weighted_edges(n, &edges, conventions)
        });
        GraphBatch::from_graphs(&all.collect::<Result<Vec<_>, _>>()?)
    };
    let (plain, signed) = (made(&Conventions::default())?, made(&SIGNED())?);
    for kind in ALL {
        let encoder = SpectralEncoder::new(5).laplacian(kind).walk_steps(random.below(3) + 1);
        assert_eq!(all_bits(&encoder.encode(ctx, &plain)?), all_bits(&encoder.encode(ctx, &signed)?), "{kind:?}");
    }
    Ok(())
}

/// Dense Laplacians of every side against the formula. A degree of up to 12 weights is off by 6 eps of itself in f32,
/// and an entry by two inverse roots of degrees and two products: 16 eps are enough for both.
fn dense(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(8);
    for rule in [Symmetrization::Max, Symmetrization::Sum] {
        for n in [1, 2, 7, 65] {
            let conventions = Conventions { symmetrization: rule, isolated: IsolatedDiagonal::One, ..SIGNED() };
            let edges = random_edges(n, &mut random);
            let graphs: GraphBatch = Graph::from_weighted_edges(n, &edges, &conventions)?.into();
            for kind in ALL {
                let want = formula(&symmetrized(n, &edges, rule), kind, 1.0);
                let got = laplacian::<f32>(ctx, &graphs, kind)?.to_host(ctx)?;
                let host = Laplacian::new(graphs.graph(0), kind).to_dense();
                let most = want.amax();
                for ((got, host), want) in got.iter().zip(host.iter()).zip(want.iter()) {
                    assert!((f64::from(*got) - want).abs() <= 16.0 * EPS * most, "{n}, {kind:?}: {got:e}, {want:e}");
                    assert!((host - want).abs() <= 16.0 * f64::EPSILON * most, "{n}, {kind:?}: {host:e}, {want:e}");
                }
            }
        }
    }
    Ok(())
}

/// A connected graph with a single cycle, which is negative, has `det L = 4 prod w`: of the matrix-tree theorem of
/// signed graphs (Zaslavsky 1982), one term is left. The determinant of the symmetric one is that over the product of
/// the degrees. Weights span 30 decades, so the least eigenvalue has to be accurate relative to itself.
fn one_cycle(ctx: &Context) -> Checked {
    let seeds: Vec<u64> = (1..17).collect();
    for seed in sample(ctx, seeds) {
        let mut random = SplitMix64::new(seed);
        let n = 3 + random.below(12);
        let mut weight = || f64::from((0.5 + random.unit()) as f32) * 2.0_f64.powi(random.below(101) as i32 - 50);
        // A path, whose ends are joined by a negative edge.
        let mut edges: Edges = (1..n as u32).map(|i| (i - 1, i, weight())).collect();
        edges.push((n as u32 - 1, 0, -weight()));
        let graph = Graph::from_weighted_edges(n, &edges, &SIGNED())?;
        let degrees = graph.view().degrees();
        let product: f64 = edges.iter().map(|edge| edge.2.abs().ln()).sum::<f64>() + 4.0_f64.ln();
        let graphs = graph.into();
        for kind in ALL {
            let encoder = SpectralEncoder::new(n).laplacian(kind);
            let want = match kind {
                Normalization::Combinatorial => product,
                _ => product - degrees.iter().map(|d| d.ln()).sum::<f64>(),
            };
            let narrow = encoder.encode(ctx, &graphs)?;
            let logs = |values: &mut dyn Iterator<Item = f64>| values.map(f64::ln).sum::<f64>();
            let found = logs(&mut narrow.eigenvalues(0).iter().map(|&x| x.into()));
            // Each of n eigenvalues is off by at most 4 n eps of itself.
            let allowed = |eps: f64| 4.0 * (n * n) as f64 * eps;
            assert!((found - want).abs() <= allowed(EPS), "seed {seed}, {kind:?}: e^{found} instead of e^{want}");
            assert_eq!(narrow.status[0], 0, "seed {seed}, {kind:?}: {:?}", narrow.certificate(0));
            if ctx.adapter().is_none() {
                let (wide, _) = encoder.encode_f64(ctx, &graphs, |_| ())?;
                let found = logs(&mut wide.eigenvalues(0).iter().copied());
                // The logarithms themselves round to a few eps of up to 40, n times.
                let allowed = allowed(f64::EPSILON) + 40.0 * n as f64 * f64::EPSILON;
                assert!((found - want).abs() <= allowed, "seed {seed}, {kind:?}: e^{found} instead of e^{want} in f64");
                assert_eq!(wide.status[0], 0, "seed {seed}, {kind:?}: {:?}", wide.certificate(0));
            }
        }
    }
    Ok(())
}

/// Two nodes with an edge of weight 1, of which one has a self-loop of weight -e: the least eigenvalue of D - W is
/// `2 e / (1 + e + sqrt(1 + e^2))`.
fn weak_loop(ctx: &Context) -> Checked {
    let conventions = Conventions { self_loops: SelfLoops::Keep, ..SIGNED() };
    for e in [1.0_f64, 1e-3, 1e-9, 1e-20, 1e-30] {
        let graphs: GraphBatch = Graph::from_weighted_edges(2, &[(0, 1, 1.0), (0, 0, -e)], &conventions)?.into();
        let encoding = SpectralEncoder::new(2).laplacian(Normalization::Combinatorial).encode(ctx, &graphs)?;
        let (found, want) = (f64::from(encoding.eigenvalues(0)[0]), 2.0 * e / (1.0 + e + e.hypot(1.0)));
        assert!((found - want).abs() <= 8.0 * EPS * want, "{e:e}: {found:e} instead of {want:e}");
        assert_eq!(encoding.status[0], 0, "{e:e}: {:?}", encoding.certificate(0));
    }
    Ok(())
}

/// The eigenvalues of a cycle with one negative edge are `2 - 2 cos((2 k + 1) pi / n)`, each of them twice; those of
/// one with two are those of the cycle. Both by iteration, in f64 and in f32.
fn long_cycle(ctx: &Context) -> Checked {
    let n = 1200_u32;
    for negative in [1, 2] {
        let edges: Edges = (0..n).map(|i| (i, (i + 1) % n, if i < negative { -1.0 } else { 1.0 })).collect();
        let graphs: GraphBatch = Graph::from_weighted_edges(n as usize, &edges, &SIGNED())?.into();
        for method in [Method::Auto, Method::Fast] {
            let encoder = SpectralEncoder::new(6).laplacian(Normalization::Combinatorial).method(method);
            let (wide, _) = encoder.encode_f64(ctx, &graphs, |_| ())?;
            let narrow = encoder.encode(ctx, &graphs)?;
            let half = if negative == 1 { [1, 1, 3, 3, 5, 5] } else { [0, 2, 2, 4, 4, 6] };
            for (j, half) in half.into_iter().enumerate() {
                let want = 4.0 * (f64::from(half) * std::f64::consts::PI / f64::from(2 * n)).sin().powi(2);
                // The error of a Rayleigh quotient is that of its residual, squared, and rounding of the norm, 4.
                assert!((wide.eigenvalues(0)[j] - want).abs() <= 64.0 * f64::EPSILON, "{negative}, {method:?}, {j}");
                assert!(
                    (f64::from(narrow.eigenvalues(0)[j]) - want).abs() <= 30.0 * EPS,
                    "{negative}, {method:?}, {j}"
                );
            }
            let ties: &[i64] = if negative == 1 { &[0, 0, 1, 1, 2, 2] } else { &[0, 1, 1, 2, 2, 3] };
            assert_eq!((&wide.tie_group[..], wide.status[0], narrow.status[0]), (ties, 0, 0));
        }
    }
    // An unsigned one of the same size has the bits of the generator's.
    let plain: GraphBatch = cycle(n as usize)?.into();
    assert_eq!(plain.entries(), 2 * n as usize);
    Ok(())
}

fn cuts(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(5);
    let all = (0..60).map(|i| {
        let n = 1 + i % 23;
        Graph::from_weighted_edges(n, &random_edges(n, &mut random), &SIGNED())
    });
    let graphs = GraphBatch::from_graphs(&all.collect::<Result<Vec<_>, _>>()?)?;
    let encoder = SpectralEncoder::new(4).by_graph();
    let whole = encoder.encode(ctx, &graphs)?;
    let small = alike(ctx).memory_budget(1 << 20).threads(1).build()?;
    assert_eq!(all_bits(&whole), all_bits(&encoder.encode(&small, &graphs)?));
    let part = encoder.encode(ctx, &graphs.select(&[40, 7]))?;
    for (own, of_whole) in [(0, 40), (1, 7)] {
        assert_eq!(part.eigenvectors(own), whole.eigenvectors(of_whole));
    }
    Ok(())
}

fn lists(_: &Context) -> Checked {
    let made = |edges: &[(u32, u32, f64)], conventions: &Conventions| Graph::from_weighted_edges(3, edges, conventions);
    let weight =
        |edges: &[(u32, u32, f64)], conventions: &Conventions| made(edges, conventions).map(|g| g.view().weight(0, 1));
    // The weight of largest magnitude counts, in every order, and of w and -w the positive one.
    for edges in [[(0, 1, 2.0), (0, 1, -3.0), (1, 0, 1.0)], [(1, 0, 1.0), (0, 1, -3.0), (0, 1, 2.0)]] {
        assert_eq!(weight(&edges, &SIGNED())?, -3.0);
    }
    for edges in [[(0, 1, 2.0), (0, 1, -2.0)], [(0, 1, -2.0), (1, 0, 2.0)]] {
        assert_eq!(weight(&edges, &SIGNED())?, 2.0);
    }
    // Weights that cancel are no edge.
    let mean = Conventions { symmetrization: Symmetrization::Mean, ..SIGNED() };
    let cancelled = made(&[(0, 1, 2.0), (1, 0, -2.0), (1, 2, 1.0)], &mean)?;
    assert_eq!((cancelled.view().entries(), cancelled.view().components().count), (2, 2));
    let refused = |edges, conventions: &Conventions| made(edges, conventions).err().map(|error| error.to_string());
    let negative = refused(&[(0, 1, -1.0)], &Conventions::default()).unwrap_or_default();
    assert!(negative.contains("has the weight -1; expected a finite one that is not negative"), "{negative}");
    let nan = refused(&[(0, 1, f64::NAN)], &SIGNED()).unwrap_or_default();
    assert!(nan.contains("has the weight NaN; expected a finite one") && !nan.contains("negative"), "{nan}");
    Ok(())
}
