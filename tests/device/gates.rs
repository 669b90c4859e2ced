//! Tests of the code that judges the other tests: the measures of accuracy have to be able to fail, the referee has
//! to agree with closed forms, the families of matrices have to have their stated properties, and the harness has
//! to notice failures.

use std::env;
use std::time::Duration;

use common::families::{Case, banded_types, glued_wilkinson, lapack_types};
use common::gates::{self, ALLOWED, EPS, allowed_values};
use common::graphs::{self, Kind};
use common::random::SplitMix64;
use common::{Test, device_free, referee, suite};

pub fn tests() -> Vec<Test> {
    suite(
        "gates",
        vec![
            device_free("good decompositions pass", good_ones_pass),
            device_free("each measure can fail", each_measure_can_fail),
            device_free("a NaN fails every measure", nan_fails),
            device_free("zero matrices", zero_matrices),
            device_free("subspaces", subspaces),
            device_free("the referee refuses wrong values", referee_refuses),
            device_free("closed forms agree with the referee", closed_forms),
            device_free("random graphs", random_graphs),
            device_free("families are f32, finite and symmetric", families),
            device_free("SplitMix64 is the published one", split_mix),
            device_free("the harness sees failures", harness_sees_failures),
        ],
    )
}

/// Matrix orders from DCHKST, and orders around the sizes of a workgroup and a subgroup.
const SIZES: [usize; 9] = [0, 1, 2, 3, 5, 20, 32, 33, 63];

fn every_case() -> Vec<Case> {
    let mut all: Vec<Case> =
        SIZES.into_iter().flat_map(|n| [lapack_types(n, 1), banded_types(n, 1)].concat()).collect();
    all.extend([glued_wilkinson(3, 10, 1e-3), glued_wilkinson(2, 5, f64::from(f32::EPSILON))]);
    let extreme: Vec<Case> = lapack_types(20, 2)
        .iter()
        .filter(|c| gates::norm(&c.a, 20) < 100.0)
        .flat_map(|c| [c.scaled(1e30), c.scaled(1e-30)])
        .collect();
    all.extend(extreme);
    all
}

/// The true eigenvalues, and the true eigenpairs rounded to f32. No f32 solver can return better eigenpairs.
type Rounded = (Vec<f64>, Vec<f32>, Vec<f32>);

fn rounded_pairs(case: &Case) -> Result<Rounded, String> {
    let (values, vectors) = referee::eigenpairs(&case.a, case.n).map_err(|e| format!("{}: {e}", case.name))?;
    let narrow = |x: &[f64]| x.iter().map(|&x| x as f32).collect();
    let (w, v) = (narrow(&values), narrow(&vectors));
    Ok((values, w, v))
}

fn good_ones_pass() -> Result<(), String> {
    let mut worst = [0.0_f64; 4];
    for case in every_case() {
        let (reference, w, v) = rounded_pairs(&case)?;
        let measured = gates::eigh(&case.a, &w, &v, &reference).map_err(|e| format!("{}: {e}", case.name))?;
        let pairs = gates::residual_of_pairs(&case.a, case.n, &w, &v)
            .within(ALLOWED)
            .map_err(|e| format!("{}: {e}", case.name))?;
        for (worst, measure) in
            worst.iter_mut().zip([measured.residual, measured.orthogonality, measured.values, pairs])
        {
            *worst = worst.max(measure.got);
        }
    }
    println!("worst residual, orthogonality, values, pairs of rounded truth: {worst:?}");
    // For each measure, the rounding to f32 alone has to give more than a thousandth in some case. Otherwise the
    // measure would measure nothing.
    if worst.iter().all(|&w| w > 1e-3 && w < 2.0) { Ok(()) } else { Err(format!("worst measures {worst:?}")) }
}

/// Checks that a decomposition with one fault fails, and that the error names the measure.
fn fails(what: &str, outcome: Result<gates::Measures, String>, word: &str) -> Result<(), String> {
    match outcome {
        Ok(measures) => Err(format!("{what} passed: {measures:?}")),
        Err(why) if why.contains(word) => Ok(()),
        Err(why) => Err(format!("{what} failed for another reason: {why}")),
    }
}

fn each_measure_can_fail() -> Result<(), String> {
    for n in [2, 3, 20, 63] {
        let case = &lapack_types(n, 3)[12]; // type 13, random symmetric
        let (reference, w, v) = rounded_pairs(case)?;
        let unit = EPS * gates::norm(&case.a, n);
        let judge = |w: &[f32], v: &[f32]| gates::eigh(&case.a, w, v, &reference);
        judge(&w, &v)?;

        // An eigenvalue with twice the allowed error. The residual allows an error of n times ALLOWED, so the
        // measure of the eigenvalues fails first only if n is small.
        let mut off = w.clone();
        off[n - 1] += (2.0 * allowed_values(n) * unit) as f32;
        gates::values(&off, &reference, gates::norm(&case.a, n)).within(allowed_values(n)).expect_err("a value off");
        fails("a value off by far", judge(&off.iter().map(|x| x + 1e-2).collect::<Vec<_>>(), &v), "residual")?;

        let mut swapped = w.clone();
        swapped.swap(0, n - 1);
        fails("values out of order", judge(&swapped, &v), "ascend at")?;

        let mut long = v.clone();
        long[..n].iter_mut().for_each(|x| *x *= 1.0 + (ALLOWED * n as f64 * EPS) as f32);
        gates::orthogonality(&long, n).within(ALLOWED).expect_err("a vector too long");

        let mut turned = v.clone();
        let angle = (4.0 * ALLOWED * n as f64 * EPS) as f32;
        for i in 0..n {
            turned[i] += angle * v[i + n * (n - 1)]; // V'V changes by the angle, and V L V' by the angle times the eigenvalue
        }
        gates::orthogonality(&turned, n).within(ALLOWED).expect_err("a vector turned");
        gates::residual_of_pairs(&case.a, n, &w, &turned).within(ALLOWED).expect_err("a vector turned");

        let mut exchanged = v.clone();
        (0..n).for_each(|i| exchanged.swap(i, i + n * (n - 1)));
        fails("vectors of other values", judge(&w, &exchanged), "residual")?;
    }
    // An eigenpair that occurs twice, in place of another one: each pair has a small residual, but the eigenvectors
    // are not orthogonal.
    let case = &lapack_types(5, 4)[12];
    let (_, mut w, mut v) = rounded_pairs(case)?;
    w[1] = w[0];
    v.copy_within(0..5, 5);
    gates::residual_of_pairs(&case.a, 5, &w, &v).within(ALLOWED)?;
    gates::orthogonality(&v, 5).within(ALLOWED).expect_err("one vector twice");
    gates::residual(&case.a, &w, &v).within(ALLOWED).expect_err("one pair twice");
    Ok(())
}

fn nan_fails() -> Result<(), String> {
    for n in [1, 2, 7] {
        let case = &lapack_types(n, 5)[12];
        let (reference, w, v) = rounded_pairs(case)?;
        for at in 0..n {
            let mut bad = w.clone();
            bad[at] = f32::NAN;
            fails("a NaN value", gates::eigh(&case.a, &bad, &v, &reference), "")?;
            gates::ascending(&bad).expect_err("a NaN value");
            gates::residual(&case.a, &bad, &v).within(f64::MAX).expect_err("a NaN value");
            gates::residual_of_pairs(&case.a, n, &bad, &v).within(f64::MAX).expect_err("a NaN value");
            gates::values(&bad, &reference, 1.0).within(f64::MAX).expect_err("a NaN value");
        }
        for at in 0..n * n {
            for value in [f32::NAN, f32::INFINITY] {
                let mut bad = v.clone();
                bad[at] = value;
                gates::residual(&case.a, &w, &bad).within(f64::MAX).expect_err("a vector that is not finite");
                gates::orthogonality(&bad, n).within(f64::MAX).expect_err("a vector that is not finite");
                assert!(gates::largest_sine(&bad, &v, n).is_nan());
            }
        }
        gates::values(&w, &vec![f64::NAN; n], 1.0).within(f64::MAX).expect_err("a NaN reference");
        gates::values(&w, &reference, f64::NAN).within(f64::MAX).expect_err("a NaN norm");
    }
    Ok(())
}

fn zero_matrices() -> Result<(), String> {
    let none: [f32; 0] = [];
    gates::eigh(&[], &none, &none, &[])?;
    for n in [1, 4] {
        let zero = vec![0.0; n * n];
        let unit: Vec<f32> = (0..n * n).map(|i| if i % n == i / n { 1.0 } else { 0.0 }).collect();
        gates::eigh(&zero, &vec![0.0; n], &unit, &vec![0.0; n])?;
        // Relative to a zero norm, even the smallest normal number is too large.
        fails(
            "a value of a zero matrix",
            gates::eigh(&zero, &vec![f32::MIN_POSITIVE; n], &unit, &vec![0.0; n]),
            "residual",
        )?;
    }
    Ok(())
}

fn subspaces() -> Result<(), String> {
    // A plane is compared with itself in another basis, and with a plane that is tilted by a known angle.
    let (s, c) = 0.3_f64.sin_cos();
    let plane = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let turned = [c, s, 0.0, -s, c, 0.0];
    let tilted = [1.0, 0.0, 0.0, 0.0, c, s];
    assert!(gates::largest_sine(&plane, &turned, 3) <= 1e-15); // rounding
    assert!((gates::largest_sine(&plane, &tilted, 3) - s).abs() <= 1e-15);
    assert!((gates::largest_sine(&plane[..3], &plane[3..], 3) - 1.0).abs() <= 1e-15);
    assert!(gates::largest_sine(&plane, &[0.0; 6], 3).is_nan(), "no basis");
    assert!(gates::largest_sine(&plane, &plane[..3], 3).is_nan(), "another dimension");

    let complete = graphs::complete(9).graph;
    let a = graphs::laplacian(&complete, Kind::Combinatorial, 0.0);
    let (values, vectors) = referee::eigenpairs(&a, 9)?;
    let mut other = vectors.clone();
    for i in 0..9 {
        let (x, y) = (vectors[i + 9], vectors[i + 18]); // two of the eight eigenvectors of eigenvalue 9
        (other[i + 9], other[i + 18]) = (c * x - s * y, s * x + c * y);
    }
    assert_eq!(gates::subspaces(&a, &other, &values, &vectors)?, 2);
    for i in 0..9 {
        let (x, y) = (vectors[i], vectors[i + 9]); // eigenvectors of different eigenvalues
        (other[i], other[i + 9]) = (c * x - s * y, s * x + c * y);
    }
    gates::subspaces(&a, &other, &values, &vectors).expect_err("vectors mixed across a gap");
    Ok(())
}

fn referee_refuses() -> Result<(), String> {
    for case in lapack_types(20, 6).iter().filter(|case| gates::norm(&case.a, 20) > 0.0) {
        let norm = gates::norm(&case.a, 20);
        let right = referee::eigenvalues(&case.a, 20).map_err(|e| format!("{}: {e}", case.name))?;
        for (at, shift) in [(0, 1e-9), (7, -1e-9), (19, 1e-9), (12, f64::NAN)] {
            let mut wrong = right.clone();
            wrong[at] += shift * norm; // a hundredth of f32's epsilon
            referee::confirm(&wrong, &case.a, 20).expect_err(&case.name);
        }
    }
    referee::confirm(&[0.0, 1e-300], &[0.0; 4], 2).expect_err("a zero matrix has zeros alone");
    referee::confirm(&[0.0, 0.0], &[0.0; 4], 2)
}

/// Checks that two spectra agree. The closed forms and the referee have rounding errors of a few f64 epsilons of
/// the norm. The bound 1e-13 is 450 epsilons.
fn agree(name: &str, got: &[f64], want: &[f64], norm: f64) -> Result<(), String> {
    assert_eq!(got.len(), want.len(), "{name}");
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        let near = (got - want).abs() <= 1e-13 * norm; // false for a NaN
        if !near {
            return Err(format!("{name}, value {i}: got {got:e}, want {want:e}"));
        }
    }
    Ok(())
}

fn closed_forms() -> Result<(), String> {
    let forms = graphs::closed_forms(64);
    assert!(forms.len() > 40, "only {} graphs", forms.len());
    for form in forms {
        let (n, name) = (form.graph.n, &form.graph.name);
        let a = graphs::laplacian(&form.graph, Kind::Combinatorial, 0.0);
        agree(name, &referee::eigenvalues(&a, n)?, &form.combinatorial, gates::norm(&a, n))?;
        let Some(symmetric) = form.symmetric else { continue };
        let a = graphs::laplacian(&form.graph, Kind::Symmetric, 0.0);
        agree(name, &referee::eigenvalues(&a, n)?, &symmetric, gates::norm(&a, n))?;
        // The random-walk Laplacian has the same spectrum, so the traces of its first two powers are equal.
        let b = graphs::laplacian(&form.graph, Kind::RandomWalk, 0.0);
        let trace: f64 = (0..n).map(|i| b[i + n * i]).sum();
        let square: f64 = (0..n * n).map(|i| b[i] * b[i / n + n * (i % n)]).sum();
        agree(name, &[trace, square], &[symmetric.iter().sum(), symmetric.iter().map(|x| x * x).sum()], n as f64)?;
    }
    Ok(())
}

fn random_graphs() -> Result<(), String> {
    let mut random = SplitMix64::new(7);
    let (mut isolated, mut dense) = (0, 0);
    for _ in 0..200 {
        let graph = graphs::random(&mut random);
        assert!((5..45).contains(&graph.n) && graph.edges.iter().all(|&(a, b)| a < b && (b as usize) < graph.n));
        let a = graphs::laplacian(&graph, Kind::Combinatorial, 0.0);
        isolated += usize::from((0..graph.n).any(|i| a[i + graph.n * i] == 0.0));
        dense += usize::from(graph.edges.len() * 4 > graph.n * (graph.n - 1));
        let values = referee::eigenvalues(&a, graph.n).map_err(|e| format!("{}: {e}", graph.name))?;
        let trace: f64 = (0..graph.n).map(|i| a[i + graph.n * i]).sum();
        agree(&graph.name, &[values.iter().sum()], &[trace], trace.max(1.0))?;
    }
    assert!(isolated > 60 && dense > 20, "{isolated} with isolated nodes, {dense} dense, of 200");
    let seven = graphs::seven_nodes();
    let values = referee::eigenvalues(&graphs::laplacian(&seven, Kind::Combinatorial, 0.0), 7)?;
    agree(&seven.name, &values, &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 3.0], 4.0)
}

fn families() {
    let cases = every_case();
    assert!(cases.len() > 9 * 24, "only {} cases", cases.len());
    for Case { name, n, a } in &cases {
        for (i, &x) in a.iter().enumerate() {
            assert!(x.is_finite() && f64::from(x as f32) == x, "{name}, entry {i}: {x:e} is no f32");
            assert_eq!(x, a[i / n + n * (i % n)], "{name}: not symmetric at {i}");
        }
        assert!(f32::MAX as f64 > gates::norm(a, *n), "{name}: its norm is beyond f32");
    }
    // Type 8: up to random signs, the eigenvalues are the requested ones, and the largest magnitude is 1.
    let values = referee::eigenvalues(&lapack_types(33, 8)[7].a, 33).expect("type 8");
    let mut sizes: Vec<f64> = values.iter().map(|x| x.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    // Rounding the entries to f32 moved the eigenvalues by at most n eps / 2.
    assert!(sizes.iter().enumerate().all(|(i, x)| (x - i as f64 / 32.0).abs() <= 33.0 * EPS), "{sizes:?}");
    assert!(values[0] < 0.0 && values[32] > 0.0, "random signs");
}

/// Compares with the numbers of the reference implementation for seed 1234567 (Vigna, prng.di.unimi.it).
fn split_mix() {
    let mut random = SplitMix64::new(1_234_567);
    let got = [(); 3].map(|()| random.next_u64());
    assert_eq!(got, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
}

/// Runs this binary again with a trial that fails in each of the ways in which a driver can fail.
fn harness_sees_failures() -> Result<(), String> {
    const MISBEHAVE: &str = "FIEDLER_TEST_MISBEHAVE";
    match env::var(MISBEHAVE).as_deref() {
        Ok("panic") => panic!("a panic on purpose"),
        Ok("error") => return Err("an error on purpose".into()),
        Ok("abort") => std::process::abort(),
        Ok("sleep") => std::thread::sleep(Duration::from_secs(30)),
        Ok("behave") => println!("well"),
        _ => {
            let run = |how, seconds| {
                common::run_trial("gates::the harness sees failures", &[(MISBEHAVE, how)], Duration::from_secs(seconds))
            };
            for (how, limit, words) in [
                ("panic", 60, "a panic on purpose"),
                ("error", 60, "an error on purpose"),
                ("abort", 60, ""),
                ("sleep", 1, "killed after 1 s"),
            ] {
                let why = run(how, limit).expect_err(how);
                assert!(why.contains(words), "{how}: {why}");
            }
            assert_eq!(run("behave", 60)?, "well\n");
            common::run_trial("gates::no such test@cpu", &[], Duration::from_secs(60)).expect_err("an unknown test");
        }
    }
    Ok(())
}
