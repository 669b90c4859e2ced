//! Results that functions off by some units in the last place, or subnormal numbers that one operation flushes and
//! another does not, made wrong once.

use common::adversary::{open, with_sources};
use fiedler::array::Array;
use fiedler::features::Representation;
use fiedler::forms::{JacobiForm, KernelForm};
use fiedler::ops::eigen::{Eigh, eigh};
use fiedler::ops::series::{Program, SampleShape};
use fiedler::{Context, Result, Shape};
use wgpu_adversary::{Adversary, Profile};

/// A form of the kernels, and an order that it solves.
const FORMS: [(JacobiForm, usize); 5] = [
    (JacobiForm::Tiny, 4),
    (JacobiForm::Lane, 13),
    (JacobiForm::Register, 20),
    (JacobiForm::Workgroup, 20),
    (JacobiForm::Blocked, 70),
];

/// Decomposes a diagonal matrix by each form, on adapters with several seeds.
fn each_form(
    profile: &Profile,
    entry: fn(usize) -> f32,
    check: impl Fn(&Context, Eigh, usize) -> Result<()>,
) -> Result<()> {
    for (form, n) in FORMS {
        for seed in 0..6 {
            let adversary = with_sources(Adversary::new(profile.clone(), seed));
            let ctx = open(&adversary, &[KernelForm::Eigh(form)]);
            let data = (0..n * n).map(|at| if at % n == at / n { entry(at / n) } else { 0.0 }).collect();
            let solved = eigh(&ctx, &Array::from_vec(Shape::new(n, n, 1), data)?)?;
            check(&ctx, solved, n)?;
            assert!(adversary.report().is_clean(), "{}, seed {seed}: {}", form.name(), adversary.report());
        }
    }
    Ok(())
}

/// The eigenvalues of a zero matrix are 0, whatever the inverse square root of 1 is.
#[test]
fn zeros_have_eigenvalues_zero() -> Result<()> {
    let profile = Profile { contract: false, ..Profile::with_subgroups(32) };
    each_form(
        &profile,
        |_| 0.0,
        |ctx, solved, n| {
            assert_eq!(solved.values.to_host(ctx)?.as_slice(), vec![0.0; n]);
            Ok(())
        },
    )
}

/// Subnormal eigenvalues have different ranks, so each vector has a place.
#[test]
fn subnormal_eigenvalues_are_in_an_order() -> Result<()> {
    let exact = Profile::with_subgroups(32).exact();
    let profile = Profile { denormals: wgpu_adversary::Denormals::Seeded, ..exact };
    // The shift of the kernels, a twentieth of the norm, is a power of two: no rounding error hides what is small.
    let entry = |i: usize| if i == 0 { 1.25 } else { f32::from_bits((i * 7919 % 100 + 1) as u32) };
    each_form(&profile, entry, |ctx, solved, n| {
        let vectors = solved.vectors.to_host(ctx)?;
        for row in vectors.as_slice().chunks_exact(n).map(|column| column.iter().map(|x| x * x).sum::<f32>()) {
            assert!((row - 1.0).abs() < 1e-5, "{:?}", vectors.as_slice());
        }
        let mut peaks: Vec<usize> =
            vectors.as_slice().chunks_exact(n).filter_map(|column| column.iter().position(|x| x.abs() > 0.9)).collect();
        peaks.sort_unstable();
        assert_eq!(peaks, (0..n).collect::<Vec<_>>());
        Ok(())
    })
}

/// The spectrum of one to three numbers has a single frequency besides the mean, or is the mean.
#[test]
fn a_single_frequency_has_no_spread() -> Result<()> {
    for (n, list) in [(1, "spectrum(columns=['sd'], zero=true)"), (3, "spectral")] {
        let measures = Representation::parse_list(list)?.iter().flat_map(|one| one.measures().to_vec()).collect();
        let program = Program::new(measures, SampleShape::Vector(n))?;
        let names = program.names();
        let numbers: Vec<f32> = (0..60).map(|i| (i * i) as f32 * 0.1 - 3.3).collect();
        for seed in 0..6 {
            let ctx = open(&Adversary::new(Profile::nvidia(), seed), &[]);
            let found = program.run(&ctx, &numbers, [&[], &[]])?;
            for (at, x) in found.values.iter().enumerate() {
                let name = &names[at % found.width];
                assert!(!["sd", "spread"].contains(&name.as_str()) || *x == 0.0, "{name} is {x}");
            }
        }
    }
    Ok(())
}
