//! How often tests are wrong, in simulations with fixed seeds.

use common::random::SplitMix64;
use fiedler::experiment::statistics::*;

/// Returns the share of draws for which `hit` holds, of which there are `draws`.
fn share(draws: usize, mut hit: impl FnMut() -> bool) -> f64 {
    (0..draws).filter(|_| hit()).count() as f64 / draws as f64
}

fn normals(random: &mut SplitMix64, count: usize, mean: f64) -> Vec<f64> {
    (0..count).map(|_| mean + random.normal()).collect()
}

/// At a difference equal to the margin, settings are called equivalent in at most 5 %, and in hardly fewer. The
/// standard error of 2000 draws is 0.49 points, and three of them are allowed.
#[test]
fn equivalence_is_rarely_claimed_wrongly() {
    let mut random = SplitMix64::new(11);
    let paired = share(2000, || Equivalence::tost(&normals(&mut random, 20, 1.5), 1.5, 0.05).unwrap().equivalent);
    assert!((0.035..0.065).contains(&paired), "{paired}");
    let apart = share(2000, || {
        let (a, b) = (normals(&mut random, 15, -2.0), normals(&mut random, 25, 0.0));
        Equivalence::welch(&a, &b, 2.0, 0.05).unwrap().equivalent
    });
    assert!((0.035..0.065).contains(&apart), "{apart}");
}

/// The runs that are needed are enough, and half of them are not.
#[test]
fn equivalence_is_found_with_its_power() {
    let mut random = SplitMix64::new(12);
    let n = runs_needed(1.0, 0.8, 0.05, 0.9).unwrap() as usize;
    let mut found = |n| share(2000, || Equivalence::tost(&normals(&mut random, n, 0.0), 0.8, 0.05).unwrap().equivalent);
    let (enough, half) = (found(n), found(n / 2));
    assert!(enough > 0.88 && enough < 0.95 && half < 0.7, "{n}: {enough} {half}");
}

/// Under the null hypothesis, p is at most 0.05 in about 5 %. Of 2^10 signs, 51 are at most 0.05, so the true share is
/// 0.0488 or a little less, as signs come in pairs.
#[test]
fn sign_flips_keep_their_level() {
    let mut random = SplitMix64::new(13);
    let zeros = [0.0; 10];
    let exact =
        share(2000, || Paired::of(&normals(&mut random, 10, 0.0), &zeros, 0.95, 1).unwrap().sign_flip.p <= 0.05);
    assert!((0.034..0.064).contains(&exact), "{exact}");
    // Drawn signs, of values whose distribution is far from normal but symmetric. The standard error of 400 draws is
    // 1.1 points.
    let zeros = [0.0; 16];
    let drawn = share(400, || {
        let values: Vec<f64> = (0..16).map(|_| random.normal().powi(3)).collect();
        let seed = random.next_u64();
        Paired::of(&values, &zeros, 0.95, seed).unwrap().sign_flip.p <= 0.05
    });
    assert!((0.02..0.085).contains(&drawn), "{drawn}");
}

/// Of independent values. The standard error of 400 draws is 1.1 points.
#[test]
fn orders_keep_their_level() {
    let mut random = SplitMix64::new(14);
    let drawn = share(400, || {
        let (x, y) = (normals(&mut random, 12, 0.0), normals(&mut random, 12, 0.0));
        spearman(&x, &y, random.next_u64()).unwrap().permutation.p <= 0.05
    });
    assert!((0.02..0.085).contains(&drawn), "{drawn}");
}

#[test]
fn ranks_keep_their_level() {
    let mut random = SplitMix64::new(15);
    for n in [7, 30] {
        let found = share(2000, || {
            mann_whitney(&normals(&mut random, n, 0.0), &normals(&mut random, n, 0.0)).unwrap().p <= 0.05
        });
        // The exact distribution of 7 and 7 has no p between 0.038 and 0.053.
        assert!((0.025..0.065).contains(&found), "{n}: {found}");
    }
}

/// Of ten true null hypotheses, any is rejected in at most 5 %; without the adjustment, in 1 - 0.95^10 = 40 %.
#[test]
fn families_keep_their_level() {
    let mut random = SplitMix64::new(16);
    let (mut plain, mut adjusted) = (0, 0);
    for _ in 0..2000 {
        let ps: Vec<f64> =
            (0..10).map(|_| Paired::of(&normals(&mut random, 6, 0.0), &[0.0; 6], 0.95, 1).unwrap().student_p).collect();
        let rejects = |ps: &[f64]| ps.iter().any(|&p| p <= 0.05);
        plain += u32::from(rejects(&ps));
        adjusted += u32::from(rejects(&holm(&ps).unwrap()));
    }
    assert!((720..890).contains(&plain) && (65..130).contains(&adjusted), "{plain} {adjusted}");
}
