//! Divergences compared with their definitions in f64: of histograms that are close to each other or far apart,
//! with zeros, of every size, and of samples. Also the mathematical laws of divergences.

use common::divergences::{COUNTS, DEFAULT, check, column, compare, truth};
use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, on_each, on_gpus, suite};
use fiedler::array::{Array, Real};
use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence, divergence_matrix, divergence_of_samples};
use fiedler::ops::histogram;
use fiedler::{Backend, Context, ErrorKind, Shape};
use std::slice::from_ref;

pub fn tests() -> Vec<Test> {
    suite(
        "divergence",
        vec![
            on_each("every kind, far and near", kinds),
            on_each("every number of bins", sizes),
            on_each("all pairs", pairs),
            on_each("many bins", many),
            on_each("laws", laws),
            on_each("zeros and smoothing", zeros),
            on_each("bases", bases),
            on_each("one histogram for all", one_for_all),
            on_each("samples", samples),
            on_each("shapes and entries", errors),
            on_gpus("resident histograms, valid and invalid", resident),
            on_each("a part of a batch has the same bits", cut),
            on_cpu("f64", wide),
        ],
    )
}

/// Returns a histogram with the sum 1 in f64, rounded to f32.
fn random(random: &mut SplitMix64, bins: usize) -> Vec<f32> {
    let raw: Vec<f64> = (0..bins).map(|_| random.unit().powi(3) + 1e-6).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|x| (x / sum) as f32).collect()
}

/// Returns the histogram with each bin changed by at most the relative `distance`.
fn close(random: &mut SplitMix64, p: &[f32], distance: f64) -> Vec<f32> {
    let raw: Vec<f64> = p.iter().map(|&x| f64::from(x) * (1.0 + distance * random.signed())).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|x| (x / sum) as f32).collect()
}

fn kinds(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(1);
    let (mut p, mut q) = (Vec::new(), Vec::new());
    // Unrelated histograms, and pairs of histograms whose bins differ by relative distances down to 1e-3, which
    // have divergences down to 1e-7.
    for i in 0..40 {
        let one = random(&mut numbers, 60);
        q.push(if i < 10 {
            random(&mut numbers, 60)
        } else {
            close(&mut numbers, &one, 10_f64.powf(-f64::from(i % 10) / 3.0))
        });
        p.push(one);
    }
    // One bin has nearly all of the sum, and one bin has almost none.
    let mut peak = vec![1e-7; 60];
    (peak[7], peak[8]) = (1.0 - 58.0 * 1e-7, 1e-30);
    p.push(peak.clone());
    q.push(random(&mut numbers, 60));
    p.push(random(&mut numbers, 60));
    q.push(peak);
    compare(ctx, &p, &q, &DEFAULT)?;
    compare(ctx, &p, &q, &COUNTS)?;
    // Histograms of counts, which are exact in f32 and have different totals.
    let counts = |numbers: &mut SplitMix64| (0..60).map(|_| 1.0 + numbers.below(100_000) as f32).collect::<Vec<_>>();
    let (p, q): (Vec<_>, Vec<_>) = (0..20).map(|_| (counts(&mut numbers), counts(&mut numbers))).unzip();
    compare(ctx, &p, &q, &COUNTS)
}

fn sizes(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(2);
    for bins in [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 2049] {
        let (p, q): (Vec<_>, Vec<_>) = (0..9).map(|_| (random(&mut numbers, bins), random(&mut numbers, bins))).unzip();
        compare(ctx, &p, &q, &DEFAULT).map_err(|e| format!("{bins} bins: {e}"))?;
    }
    Ok(())
}

fn pairs(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(3);
    for (bins, count, batch) in
        [(1, 1, 1), (5, 2, 3), (16, 15, 2), (17, 16, 1), (40, 17, 2), (300, 33, 1), (0, 0, 3), (7, 0, 2), (7, 3, 0)]
    {
        let each: Vec<Vec<f32>> = (0..count * batch).map(|_| random(&mut numbers, bins)).collect();
        let p = Array::from_vec(Shape::new(bins, count, batch), each.concat())?;
        for kind in Divergence::ALL {
            let found = divergence_matrix(ctx, kind, &p, &COUNTS)?.to_host(ctx)?;
            assert_eq!(found.shape(), Shape::new(count, count, batch));
            for entry in 0..batch {
                let matrix = found.matrix(entry);
                for i in 0..count {
                    for j in 0..count {
                        let got = matrix[(i, j)];
                        if i == j {
                            assert_eq!(got, 0.0, "{kind:?}: the diagonal at {i}");
                            continue;
                        }
                        check(kind, &each[entry * count + i], &each[entry * count + j], got, &COUNTS)
                            .map_err(|e| format!("entry {entry} at ({i}, {j}) of {count}: {e}"))?;
                        if kind.is_symmetric() {
                            assert_eq!(got, matrix[(j, i)], "{kind:?} is not symmetric at ({i}, {j})");
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Histograms with more bins than one dispatch for all pairs takes. A second dispatch continues where the first
/// one ended.
fn many(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(4);
    let bins = 100_000;
    let one = random(&mut numbers, bins);
    let each = [close(&mut numbers, &one, 1e-2), random(&mut numbers, bins), one];
    let p = column(bins, 3, each.concat())?;
    let q = column(bins, 3, [&each[1], &each[2], &each[0]].map(Clone::clone).concat())?;
    for kind in [Divergence::KullbackLeibler, Divergence::JensenShannon, Divergence::TotalVariation] {
        let found = divergence(ctx, kind, &p, &q, &COUNTS)?.to_host(ctx)?;
        let matrix = divergence_matrix(ctx, kind, &p, &COUNTS)?.to_host(ctx)?;
        for i in 0..3 {
            let j = (i + 1) % 3;
            check(kind, &each[i], &each[j], found.as_slice()[i], &COUNTS)?;
            check(kind, &each[i], &each[j], matrix.matrix(0)[(i, j)], &COUNTS)
                .map_err(|e| format!("all pairs: {e}"))?;
        }
    }
    Ok(())
}

/// Checks bounds, equality, symmetry, Pinsker's inequality and the triangle inequality. They hold exactly for
/// exact divergences, and up to 1e-6 for the computed ones.
fn laws(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(5);
    let (bins, count) = (24, 40);
    let mut each: Vec<Vec<f32>> = (0..count).map(|_| random(&mut numbers, bins)).collect();
    // Two histograms without a common nonzero bin.
    each[0] = (0..bins).map(|k| if k < 12 { 1.0 / 12.0 } else { 0.0 }).collect();
    each[1] = (0..bins).map(|k| if k < 12 { 0.0 } else { 1.0 / 12.0 }).collect();
    let p = column(bins, count, each.concat())?;
    let all = |kind| -> fiedler::Result<_> {
        Ok(divergence_matrix(ctx, kind, &p, &COUNTS)?.to_host(ctx)?.matrix(0).map(f64::from))
    };
    let (kl, js, tv) =
        (all(Divergence::KullbackLeibler)?, all(Divergence::JensenShannon)?, all(Divergence::TotalVariation)?);
    let (distance, chi, symmetric, hellinger) = (
        all(Divergence::JensenShannonDistance)?,
        all(Divergence::ChiSquare)?,
        all(Divergence::SymmetricChiSquare)?,
        all(Divergence::Hellinger)?,
    );
    let slack = 1e-6;
    for i in 0..count {
        for j in 0..count {
            let at = (i, j);
            assert!(kl[at] >= 0.0 && js[at] >= 0.0 && chi[at] >= 0.0);
            assert!(tv[at] <= 1.0 + slack && symmetric[at] <= 1.0 + slack && hellinger[at] <= 1.0 + slack);
            assert!(js[at] <= std::f64::consts::LN_2 + slack, "{}", js[at]);
            assert!(2.0 * tv[at].powi(2) <= kl[at] + slack, "Pinsker at {at:?}: {} and {}", tv[at], kl[at]);
            assert!(hellinger[at].powi(2) <= tv[at] + slack && tv[at] <= 2_f64.sqrt() * hellinger[at] + slack);
            assert!(kl[at] <= (1.0 + chi[at]).ln() + slack || kl[at].is_infinite(), "{} and {}", kl[at], chi[at]);
            assert!((distance[at].powi(2) - js[at]).abs() < slack);
            for k in 0..count {
                for metric in [&tv, &distance, &hellinger] {
                    assert!(metric[(i, k)] <= metric[at] + metric[(j, k)] + slack, "the triangle {i}, {j}, {k}");
                }
            }
        }
    }
    for (kind, want) in [(&tv, 1.0), (&symmetric, 1.0), (&hellinger, 1.0), (&js, std::f64::consts::LN_2)] {
        assert!((kind[(0, 1)] - want).abs() < slack, "nothing in common: {} for {want}", kind[(0, 1)]);
    }
    assert!(kl[(0, 1)].is_infinite() && chi[(1, 0)].is_infinite());
    Ok(())
}

fn zeros(ctx: &Context) -> Checked {
    let p = vec![vec![0.5, 0.5, 0.0, 0.0], vec![0.25, 0.25, 0.25, 0.25], vec![0.0, 1.0, 0.0, 0.0]];
    let q = vec![vec![0.25, 0.25, 0.25, 0.25], vec![0.5, 0.5, 0.0, 0.0], vec![0.0, 1.0, 0.0, 0.0]];
    compare(ctx, &p, &q, &DEFAULT)?;
    // Minus zero counts as zero.
    compare(ctx, &[vec![0.5, 0.5, -0.0]], &[vec![0.25, 0.75, -0.0]], &DEFAULT)?;
    for smoothing in [1e-3, 0.5] {
        for options in [DivergenceOptions { smoothing, ..DEFAULT }, DivergenceOptions { smoothing, ..COUNTS }] {
            compare(ctx, &p, &q, &options)?;
        }
        let scaled =
            |x: &[Vec<f32>], by: f32| x.iter().map(|x| x.iter().map(|x| x * by).collect()).collect::<Vec<Vec<_>>>();
        compare(ctx, &scaled(&p, 12.0), &scaled(&q, 64.0), &DivergenceOptions { smoothing, ..COUNTS })?;
    }
    Ok(())
}

fn bases(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(6);
    let (p, q) = (random(&mut numbers, 30), random(&mut numbers, 30));
    for base in [2.0, 10.0, 1.5] {
        compare(ctx, from_ref(&p), from_ref(&q), &DivergenceOptions { base, ..DEFAULT })?;
    }
    Ok(())
}

fn one_for_all(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(7);
    let (bins, count, batch) = (50, 7, 3);
    let each: Vec<Vec<f32>> = (0..count * batch).map(|_| random(&mut numbers, bins)).collect();
    let against: Vec<Vec<f32>> = (0..batch).map(|_| random(&mut numbers, bins)).collect();
    let p = Array::from_vec(Shape::new(bins, count, batch), each.concat())?;
    let q = Array::from_vec(Shape::new(bins, 1, batch), against.concat())?;
    for kind in Divergence::ALL {
        let found = divergence(ctx, kind, &p, &q, &DEFAULT)?.to_host(ctx)?;
        assert_eq!(found.shape(), Shape::new(count, 1, batch));
        for (i, &got) in found.as_slice().iter().enumerate() {
            check(kind, &each[i], &against[i / count], got, &DEFAULT)?;
        }
    }
    Ok(())
}

/// Samples of two normal distributions whose means are one standard deviation apart. The Kullback-Leibler
/// divergence of the distributions is 1/2, and that of the samples has to be near it. The samples are counted as
/// by `histogram`.
fn samples(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(8);
    let count = 200_000;
    let x: Vec<f32> = (0..count).map(|_| numbers.normal() as f32).collect();
    let y: Vec<f32> = (0..count / 2).map(|_| numbers.normal() as f32 + 1.0).collect();
    let (a, b) = (column(count, 1, x.clone())?, column(count / 2, 1, y.clone())?);
    let options = DivergenceOptions { smoothing: 1e-9, ..DEFAULT };
    let found = divergence_of_samples(ctx, Divergence::KullbackLeibler, &a, &b, 60, &options)?.to_host(ctx)?;
    let found = f64::from(found.as_slice()[0]);
    // Dividing into bins of width 0.15 reduces the divergence by less than 0.01, and the random error of 200,000
    // samples in 60 bins is less than 0.01.
    assert!((found - 0.5).abs() < 0.02, "{found}");
    let both = || x.iter().chain(&y).map(|&x| f64::from(x));
    let (low, high) = (both().fold(f64::INFINITY, f64::min), both().fold(f64::NEG_INFINITY, f64::max));
    let counted = |x: &[f32]| -> fiedler::Result<Vec<f32>> {
        let found = histogram(ctx, &column(x.len(), 1, x.to_vec())?, None, 60, Some((low, high)))?;
        Ok(found.counts.into_iter().map(|count| count as f32).collect())
    };
    let (p, q) = (counted(&x)?, counted(&y)?);
    assert_eq!((p.iter().sum::<f32>(), q.iter().sum::<f32>()), (count as f32, count as f32 / 2.0));
    check(Divergence::KullbackLeibler, &p, &q, found as f32, &DivergenceOptions { smoothing: 1e-9, ..COUNTS })?;
    // A series of equal samples, and a series without samples.
    let same = column(4, 1, vec![3.0; 4])?;
    assert_eq!(
        divergence_of_samples(ctx, Divergence::JensenShannon, &same, &same, 5, &DEFAULT)?.to_host(ctx)?.as_slice(),
        &[0.0]
    );
    let none = column(0, 1, vec![])?;
    for (x, y, bins) in [(&none, &same, 5), (&same, &none, 5), (&same, &same, 0)] {
        let error = divergence_of_samples(ctx, Divergence::JensenShannon, x, y, bins, &DEFAULT)
            .expect_err("no samples or bins");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    }
    let wrong = column(2, 1, vec![1.0, f32::NAN])?;
    let error = divergence_of_samples(ctx, Divergence::JensenShannon, &wrong, &same, 5, &DEFAULT).expect_err("NaN");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("NaN"), "{error}");
    let two = column(2, 2, vec![0.0; 4])?;
    let error = divergence_of_samples(ctx, Divergence::JensenShannon, &two, &same, 5, &DEFAULT).expect_err("sets");
    assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
    Ok(())
}

fn errors(ctx: &Context) -> Checked {
    let kind = Divergence::KullbackLeibler;
    let good = column(2, 2, vec![0.5, 0.5, 0.25, 0.75])?;
    for (shape, len) in
        [(Shape::new(3, 2, 1), 6), (Shape::new(2, 3, 1), 6), (Shape::new(2, 2, 2), 8), (Shape::new(2, 0, 1), 0)]
    {
        let other = Array::from_vec(shape, vec![1.0 / shape.rows as f32; len])?;
        let error = divergence(ctx, kind, &good, &other, &DEFAULT).expect_err("shapes that do not fit");
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }) && error.to_string().contains("(2, 2)"), "{error}");
    }
    let empty = column(0, 2, vec![])?;
    let error = divergence(ctx, kind, &empty, &empty, &DEFAULT).expect_err("no bins");
    assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
    // Arrays without histograms are allowed.
    for shape in [Shape::new(3, 0, 2), Shape::new(3, 2, 0), Shape::new(0, 0, 1)] {
        let none = Array::<f32>::from_vec(shape, vec![])?;
        assert!(divergence(ctx, kind, &none, &none, &COUNTS)?.to_host(ctx)?.as_slice().is_empty());
    }
    for (what, wrong) in [
        ("-0.5", vec![0.5, 0.5, -0.5, 1.5]),
        ("NaN", vec![0.5, 0.5, f32::NAN, 1.0]),
        ("inf", vec![f32::INFINITY, 0.5, 0.5, 0.5]),
    ] {
        for options in [DEFAULT, COUNTS] {
            let wrong = column(2, 2, wrong.clone())?;
            for error in [
                divergence(ctx, kind, &wrong, &good, &options).expect_err(what),
                divergence(ctx, kind, &good, &wrong, &options).expect_err(what),
                divergence_matrix(ctx, kind, &wrong, &options).expect_err(what),
            ] {
                assert!(
                    matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains(what),
                    "{error}"
                );
            }
        }
    }
    let counts = column(2, 2, vec![3.0, 4.0, 5.0, 6.0])?;
    let error = divergence(ctx, kind, &good, &counts, &DEFAULT).expect_err("a sum of 7");
    assert!(
        matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("7.0 of histogram 0"),
        "{error}"
    );
    let nothing = column(2, 2, vec![1.0, 1.0, 0.0, 0.0])?;
    let error = divergence(ctx, kind, &good, &nothing, &COUNTS).expect_err("a sum of 0");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("histogram 1"), "{error}");
    for options in [
        DivergenceOptions { base: 1.0, ..DEFAULT },
        DivergenceOptions { base: f64::NAN, ..DEFAULT },
        DivergenceOptions { smoothing: -1.0, ..DEFAULT },
        DivergenceOptions { smoothing: f64::INFINITY, ..DEFAULT },
    ] {
        let error = divergence(ctx, kind, &good, &good, &options).expect_err("an option that makes no sense");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("found"), "{error}");
    }
    let many = Array::from_vec(Shape::new(1, 1 << 16, 1), vec![1.0_f32; 1 << 16])?;
    let error = divergence_matrix(ctx, kind, &many, &DEFAULT).expect_err("16 GiB");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    if ctx.adapter().is_some() {
        let wide = Array::from_vec(Shape::new(2, 1, 1), vec![0.5_f64; 2])?;
        let error = divergence(ctx, kind, &wide, &wide, &DEFAULT).expect_err("f64 on a device");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    }
    Ok(())
}

/// Resident data is not validated. The divergence of an invalid histogram is NaN, and the divergences of the other
/// histograms are correct.
fn resident(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(9);
    let (bins, count) = (37, 20);
    let good: Vec<Vec<f32>> = (0..count).map(|_| random(&mut numbers, bins)).collect();
    let mut each = good.clone();
    (each[3][36], each[7][0], each[11][5]) = (-1e-3, f32::NAN, f32::INFINITY);
    each[13] = vec![0.0; bins];
    let (p, q) =
        (column(bins, count, each.concat())?.to_device(ctx)?, column(bins, count, good.concat())?.to_device(ctx)?);
    for kind in Divergence::ALL {
        let rows = divergence(ctx, kind, &p, &q, &COUNTS)?;
        assert!(rows.is_resident());
        let (rows, turned) = (rows.to_host(ctx)?, divergence(ctx, kind, &q, &p, &COUNTS)?.to_host(ctx)?);
        let matrix = divergence_matrix(ctx, kind, &p, &COUNTS)?.to_host(ctx)?;
        for i in 0..count {
            let bad = [3, 7, 11, 13].contains(&i);
            assert_eq!(rows.as_slice()[i].is_nan(), bad, "{kind:?}, pair {i}: {}", rows.as_slice()[i]);
            assert_eq!(turned.as_slice()[i].is_nan(), bad, "{kind:?}, turned pair {i}");
            for j in 0..count {
                let bad = bad || [3, 7, 11, 13].contains(&j);
                assert_eq!(matrix.matrix(0)[(i, j)].is_nan(), bad, "{kind:?}, ({i}, {j})");
            }
        }
        // Data from the host gives the same bits.
        let (p, q) = (column(bins, count, good.concat())?, column(bins, count, good.concat())?);
        let there = divergence(ctx, kind, &q.to_device(ctx)?, &p, &COUNTS)?.to_host(ctx)?;
        assert_eq!(there.as_slice(), divergence(ctx, kind, &q, &p, &COUNTS)?.to_host(ctx)?.as_slice());
    }
    let beyond = ctx.adapter().map(|adapter| adapter.limits.storage_binding / 4).ok_or("no adapter")?;
    let count = usize::try_from(beyond)?.isqrt() + 1;
    if let Ok(large) = Context::builder()
        .adapter(&ctx.adapter().ok_or("no adapter")?.name)
        .backend(Backend::Gpu)
        .memory_budget(1 << 50)
        .build()
    {
        let many = Array::from_vec(Shape::new(1, count, 1), vec![1.0_f32; count])?;
        let error = divergence_matrix(&large, Divergence::Hellinger, &many, &DEFAULT).expect_err("more than a binding");
        assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    }
    Ok(())
}

fn cut(ctx: &Context) -> Checked {
    let mut numbers = SplitMix64::new(10);
    let (bins, count) = (130, 301);
    let [p, q] = [(); 2].map(|()| (0..count).map(|_| random(&mut numbers, bins)).collect::<Vec<_>>());
    for kind in [Divergence::KullbackLeibler, Divergence::Hellinger] {
        let of = |range: std::ops::Range<usize>| -> fiedler::Result<Vec<u32>> {
            let (a, b) =
                (column(bins, range.len(), p[range.clone()].concat())?, column(bins, range.len(), q[range].concat())?);
            Ok(divergence(ctx, kind, &a, &b, &COUNTS)?.to_host(ctx)?.as_slice().iter().map(|x| x.to_bits()).collect())
        };
        let whole = of(0..count)?;
        assert_eq!(whole, [of(0..1)?, of(1..150)?, of(150..count)?].concat());
        // The call for all pairs sums the terms of a pair in another order than the call for single pairs, but
        // always in the same order.
        let matrix = |n: usize| divergence_matrix(ctx, kind, &column(bins, n, p[..n].concat())?, &COUNTS)?.to_host(ctx);
        let (small, large) = (matrix(20)?, matrix(70)?);
        for i in 0..20 {
            for j in 0..20 {
                assert_eq!(small.matrix(0)[(i, j)].to_bits(), large.matrix(0)[(i, j)].to_bits());
            }
        }
    }
    Ok(())
}

/// In f64, divergences keep their digits even if they are only 1e-16 of the terms in the definition.
fn wide(ctx: &Context) -> Checked {
    // KL of (1/2 + d, 1/2 - d) from (1/2, 1/2) is 2 d^2 + 4 d^4 / 3 + 32 d^6 / 15 + ...; the Jensen-Shannon
    // divergence starts with a quarter of the first term, 2 d^2 / 4.
    for power in [10, 20, 26] {
        let d = 2_f64.powi(-power);
        let p = Array::from_vec(Shape::new(2, 1, 1), vec![0.5 + d, 0.5 - d])?;
        let q = Array::from_vec(Shape::new(2, 1, 1), vec![0.5; 2])?;
        let found =
            |kind| -> fiedler::Result<f64> { Ok(divergence(ctx, kind, &p, &q, &DEFAULT)?.to_host(ctx)?.as_slice()[0]) };
        let want = 2.0 * d * d + 4.0 / 3.0 * d.powi(4) + 32.0 / 15.0 * d.powi(6);
        let got = found(Divergence::KullbackLeibler)?;
        assert!((got - want).abs() <= 20.0 * f64::EPSILON * want, "{got:e}, in truth {want:e}");
        let (chi, got) = (4.0 * d * d, found(Divergence::ChiSquare)?);
        assert!((got - chi).abs() <= 20.0 * f64::EPSILON * chi, "{got:e}, in truth {chi:e}");
        assert!((found(Divergence::TotalVariation)? - d).abs() <= 4.0 * f64::EPSILON * d);
        assert!(f64::from_f64(0.0) == 0.0);
    }
    let mut numbers = SplitMix64::new(11);
    let raw: Vec<f64> = (0..500).map(|_| numbers.unit()).collect();
    let other: Vec<f64> = (0..500).map(|_| numbers.unit()).collect();
    let shape = Shape::new(500, 1, 1);
    for kind in Divergence::ALL {
        let (p, q) = (Array::from_vec(shape, raw.clone())?, Array::from_vec(shape, other.clone())?);
        let got = divergence(ctx, kind, &p, &q, &COUNTS)?.to_host(ctx)?.as_slice()[0];
        let want = truth(kind, &raw, &other, &COUNTS);
        // The error of the definition comes from summing 500 terms of both signs.
        assert!((got - want).abs() <= 1e-13 * want.max(1.0), "{kind:?}: {got}, in truth {want}");
    }
    Ok(())
}
