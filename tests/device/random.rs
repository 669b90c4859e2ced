//! Random numbers: the published test vectors, the same bits on the CPU and the device, and statistics. The
//! statistics use fixed seeds, so that they always pass or always fail.
//!
//! A statistic may deviate by five standard deviations of its distribution. A correct generator with a random seed
//! would fail one time in two million.

use common::solve::Checked;
use common::{Test, on_cpu, on_each, on_gpus, suite};
use fiedler::array::Array;
use fiedler::ops::random::{Stream, bernoulli, normal, uniform, words};
use fiedler::{Backend, Context, ErrorKind, Shape};

pub fn tests() -> Vec<Test> {
    suite(
        "random",
        vec![
            on_each("the published vectors", published),
            on_each("golden values", golden),
            on_gpus("the same bits as on the CPU", same_bits),
            on_each("consecutive draws equal one draw", cut),
            on_each("moments", moments),
            on_each("tails", tails),
            on_each("equally probable cells", cells),
            on_each("streams are independent", independent),
            on_each("bernoulli", bernoullis),
            on_each("ranges and scales", ranges),
            on_each("sizes and errors", errors),
            on_cpu("f64", wide),
        ],
    )
}

fn vector(len: usize) -> Shape {
    Shape::new(len, 1, 1)
}

fn words_of(ctx: &Context, stream: &mut Stream, len: usize) -> Result<Vec<u32>, fiedler::Error> {
    Ok(words(ctx, stream, vector(len))?.to_host(ctx)?.as_slice().to_vec())
}

fn bits(ctx: &Context, array: &Array<f32>) -> Result<Vec<u32>, fiedler::Error> {
    Ok(array.to_host(ctx)?.as_slice().iter().map(|x| x.to_bits()).collect())
}

fn normals(ctx: &Context, stream: &mut Stream, len: usize) -> Result<Vec<f32>, fiedler::Error> {
    Ok(normal(ctx, stream, vector(len), 0.0, 1.0)?.to_host(ctx)?.as_slice().to_vec())
}

/// Compares with the `kat_vectors` (known answers) of the authors' Random123 1.09 for philox4x32 with 10 rounds.
fn published(ctx: &Context) -> Checked {
    for (counter, key, want) in [
        ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ] {
        let found = words_of(ctx, &mut Stream::of_key(key, counter), 4)?;
        assert_eq!(found, want, "counter {counter:x?}, key {key:x?}: {found:x?}");
    }
    // The carry from the lower to the upper word of the counter, and the end of the period.
    for (low, high) in [(u32::MAX - 1, 5), (u32::MAX, u32::MAX)] {
        let mut stream = Stream::of_key([3, 4], [low, high, 8, 9]);
        let all = words_of(ctx, &mut stream, 40)?;
        let mut one = Stream::of_key([3, 4], [low, high, 8, 9]);
        for (i, word) in all.iter().enumerate() {
            assert_eq!(*word, words_of(ctx, &mut one, 1)?[0], "word {i} from block {high:x} {low:x}");
        }
    }
    Ok(())
}

/// Compares with numbers that other programs computed (Philox as in the paper, BLAKE3 by its authors, the quantile
/// with 40 digits). This keeps the numbers of a named stream the same in all versions.
fn golden(ctx: &Context) -> Checked {
    let mut stream = Stream::new(7, "weights");
    assert_eq!(words_of(ctx, &mut stream.clone(), 4)?, [0x5841_c937, 0xffb4_61e9, 0xb8ed_6b0c, 0xb8c2_8fee]);
    let found = normals(ctx, &mut stream, 4)?;
    for (x, want) in found.iter().zip([0.3995233401, -0.0028922318, -0.7642044297, -0.7664012855]) {
        assert!((f64::from(*x) - want).abs() < 3e-7, "{found:?}");
    }
    Ok(())
}

fn same_bits(ctx: &Context) -> Checked {
    let cpu = Context::cpu();
    for (name, len, skipped) in
        [("a", 0, 0), ("b", 1, 1), ("c", 5, 2), ("d", 70_001, 3), ("e", 1_000_003, (1_u128 << 34) - 9)]
    {
        let mut here = Stream::new(11, name);
        here.skip(skipped);
        let mut there = here.clone();
        assert_eq!(words_of(ctx, &mut there, len)?, words_of(&cpu, &mut here, len)?, "{len} words");
        assert_eq!(here, there);
        let made = |ctx: &Context, stream: &mut Stream| -> Result<[Vec<u32>; 4], fiedler::Error> {
            let shape = vector(len);
            Ok([
                bits(ctx, &uniform(ctx, stream, shape, 0.0..1.0)?)?,
                bits(ctx, &normal(ctx, stream, shape, 0.0, 1.0)?)?,
                bits(ctx, &normal(ctx, stream, shape, 0.0, 0.3)?)?,
                bits(ctx, &bernoulli(ctx, stream, shape, 0.3)?)?,
            ])
        };
        let (a, b) = (made(ctx, &mut there)?, made(&cpu, &mut here)?);
        for (law, (a, b)) in ["uniform", "normal", "scaled normal", "bernoulli"].iter().zip(a.iter().zip(&b)) {
            let first = a.iter().zip(b).position(|(a, b)| a != b);
            assert!(first.is_none(), "{law}, {len} numbers: the first that differs is {first:?}");
        }
    }
    // The draws do not reach every row of the quantile's table, because some words are expected only once in 2^32
    // draws. A test of the CPU code evaluates all rows at both of their ends. This test compares the arithmetic of
    // the two sides.
    Ok(())
}

fn cut(ctx: &Context) -> Checked {
    let mut stream = Stream::new(3, "cut");
    stream.skip(2);
    let mut parts = stream.clone();
    let whole = bits(ctx, &normal(ctx, &mut stream, Shape::new(61, 7, 47), 1.0, 2.0)?)?;
    let mut found = Vec::new();
    for len in [0, 1, 2, 3, 4, 5, 64, 255, 257, 4096, 1, 7] {
        found.extend(bits(ctx, &normal(ctx, &mut parts, vector(len), 1.0, 2.0)?)?);
    }
    let rest = whole.len() - found.len();
    found.extend(bits(ctx, &normal(ctx, &mut parts, vector(rest), 1.0, 2.0)?)?);
    assert!(found == whole, "cut, the stream is another");
    assert_eq!(parts, stream);
    // A stream may start at any position.
    let mut place = Stream::new(3, "cut");
    place.skip(2 + 10_000);
    assert_eq!(bits(ctx, &normal(ctx, &mut place, vector(100), 1.0, 2.0)?)?, whole[10_000..10_100]);
    Ok(())
}

/// Checks the first four moments of a million numbers x. The standard deviations of the moments are those of x,
/// x^2, x^3 and x^4, divided by a thousand.
fn moments(ctx: &Context) -> Checked {
    const COUNT: usize = 1_000_000;
    let moment = |xs: &[f32], k: i32| xs.iter().map(|&x| f64::from(x).powi(k)).sum::<f64>() / COUNT as f64;
    let mut stream = Stream::new(5, "moments");
    let x = normals(ctx, &mut stream, COUNT)?;
    // The variance of x^k is E x^2k - (E x^k)^2, and the expectations of x^2, x^4, x^6 and x^8 are 1, 3, 15 and
    // 105.
    for (k, (want, variance)) in [(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0_f64)].into_iter().enumerate() {
        let (found, allowed) = (moment(&x, k as i32 + 1), 5.0 * variance.sqrt() / (COUNT as f64).sqrt());
        assert!((found - want).abs() < allowed, "normal, moment {}: {found}, in truth {want} to {allowed}", k + 1);
    }
    let x = uniform::<f32>(ctx, &mut stream, vector(COUNT), 0.0..1.0)?.to_host(ctx)?;
    for k in 1..=4_i32 {
        let (want, square) = (1.0 / f64::from(k + 1), 1.0 / f64::from(2 * k + 1));
        // The upper 24 bits are truncated, not rounded, which lowers the mean by 2^-25.
        let (found, allowed) = (moment(x.as_slice(), k), 5.0 * (square - want * want).sqrt() / 1e3 + 1e-7);
        assert!((found - want).abs() < allowed, "uniform, moment {k}: {found}, in truth {want} to {allowed}");
    }
    Ok(())
}

/// Counts how many of four million normal numbers are above 1, 2, ..., 5 or below -1, -2, ..., -5. The counts have
/// binomial distributions with known probabilities.
fn tails(ctx: &Context) -> Checked {
    const COUNT: usize = 4_000_000;
    let x = normals(ctx, &mut Stream::new(6, "tails"), COUNT)?;
    for (beyond, probability) in [
        (1.0, 0.158_655_253_931_457_05),
        (2.0, 0.022_750_131_948_179_21),
        (3.0, 0.001_349_898_031_630_094_6),
        (4.0, 3.167_124_183_311_998_6e-5),
        (4.5, 3.397_673_124_730_053e-6),
        (5.0, 2.866_515_718_791_933e-7),
    ] {
        for sign in [1.0, -1.0] {
            let found = x.iter().filter(|&&x| sign * x > beyond).count() as f64;
            let want = COUNT as f64 * probability;
            // A Poisson count of mean 1.1 is 10 or more once in three million times.
            let allowed = 5.0 * want.sqrt() + 3.0;
            assert!(
                (found - want).abs() <= allowed,
                "beyond {}: {found}, expected {want:.1} +- {allowed:.1}",
                sign * beyond
            );
        }
    }
    let largest = x.iter().fold(0.0, |most: f32, x| most.max(x.abs()));
    assert!((4.5..6.338).contains(&largest), "{largest}");
    Ok(())
}

/// Returns the probability that a standard normal number is below x, computed from the series in odd powers of x.
fn below(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for k in 1..200 {
        term *= -x * x / (2.0 * f64::from(k));
        sum += term / f64::from(2 * k + 1);
    }
    0.5 + sum / (2.0 * std::f64::consts::PI).sqrt()
}

/// Checks Pearson's statistic for cells of equal probability. Its mean is the number of cells minus 1, and its
/// variance is twice that. For 1023 degrees of freedom its distribution is practically normal.
fn equally_full(name: &str, counts: &[u64]) {
    let (cells, total) = (counts.len() as f64, counts.iter().sum::<u64>() as f64);
    let want = total / cells;
    let found: f64 = counts.iter().map(|&count| (count as f64 - want).powi(2) / want).sum();
    let (mean, deviation) = (cells - 1.0, (2.0 * (cells - 1.0)).sqrt());
    assert!((found - mean).abs() < 5.0 * deviation, "{name}: {found:.1} of {mean} +- {deviation:.1}");
}

fn cells(ctx: &Context) -> Checked {
    const COUNT: usize = 1 << 20;
    let mut stream = Stream::new(8, "cells");
    let drawn = words_of(ctx, &mut stream, COUNT)?;
    for shift in [0, 11, 22] {
        let mut counts = [0_u64; 1024];
        drawn.iter().for_each(|word| counts[(word >> shift) as usize & 1023] += 1);
        equally_full(&format!("ten bits from {shift} on"), &counts);
    }
    // Pairs of neighboring words: five bits of each word select one of 1024 cells.
    let mut counts = [0_u64; 1024];
    drawn.windows(2).step_by(2).for_each(|w| counts[(w[0] >> 27 << 5 | w[1] >> 27) as usize] += 1);
    equally_full("pairs", &counts);
    let mut counts = [0_u64; 1024];
    let u = uniform::<f32>(ctx, &mut stream, vector(COUNT), -1.0..1.0)?.to_host(ctx)?;
    u.as_slice().iter().for_each(|u| counts[((u + 1.0) * 512.0) as usize] += 1);
    equally_full("uniform", &counts);
    let mut counts = [0_u64; 1024];
    normals(ctx, &mut stream, COUNT)?
        .iter()
        .for_each(|&x| counts[((below(x.into()) * 1024.0) as usize).min(1023)] += 1);
    equally_full("normal", &counts);
    Ok(())
}

/// Streams with neighboring seeds, names and numbers are uncorrelated, and so are a stream and its shifted copy.
/// They have no equal words except by chance.
fn independent(ctx: &Context) -> Checked {
    const COUNT: usize = 100_000;
    let base = Stream::new(1, "s");
    let mut later = base.clone();
    let mut jumped = later.jump();
    assert_eq!(jumped, base);
    let mut streams =
        [base.clone(), later, Stream::new(2, "s"), Stream::new(1, "t"), base.substream(0), base.substream(1), {
            jumped.skip(COUNT as u128);
            jumped
        }];
    let drawn: Vec<Vec<f32>> = streams.iter_mut().map(|s| normals(ctx, s, COUNT)).collect::<Result<_, _>>()?;
    for i in 0..drawn.len() {
        for j in 0..i {
            let products = drawn[i].iter().zip(&drawn[j]).map(|(&a, &b)| f64::from(a) * f64::from(b));
            let correlation = products.sum::<f64>() / COUNT as f64;
            assert!(correlation.abs() < 5.0 / (COUNT as f64).sqrt(), "streams {i} and {j}: {correlation}");
        }
    }
    // A stream and itself shifted by a lag.
    for lag in [1, 2, 3, 4, 16, 64] {
        let x = &drawn[0];
        let sum: f64 = x.iter().zip(&x[lag..]).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
        let correlation = sum / (COUNT - lag) as f64;
        assert!(correlation.abs() < 5.0 / (COUNT as f64).sqrt(), "{lag} later: {correlation}");
    }
    Ok(())
}

fn bernoullis(ctx: &Context) -> Checked {
    const COUNT: usize = 200_000;
    for p in [0.0, 1e-4, 0.25, 0.5, 0.9, 1.0] {
        let x = bernoulli::<f32>(ctx, &mut Stream::new(9, "coins"), vector(COUNT), p)?.to_host(ctx)?;
        assert!(x.as_slice().iter().all(|&x| x == 0.0 || x == 1.0));
        let found: f64 = x.as_slice().iter().map(|&x| f64::from(x)).sum();
        let (want, allowed) = (p * COUNT as f64, 5.0 * (COUNT as f64 * p * (1.0 - p)).sqrt());
        assert!((found - want).abs() <= allowed, "p = {p}: {found}, expected {want} +- {allowed}");
    }
    Ok(())
}

/// The last product and sum are rounded, so there the CPU and the device may differ by an ulp of the larger number.
/// The upper end of a range is never reached.
fn ranges(ctx: &Context) -> Checked {
    let cpu = Context::cpu();
    let shape = vector(100_000);
    // The last range has two f32 numbers in it, and most of the numbers before rounding are nearer to its upper end
    // than to its lower end.
    let one = f64::from(1.0_f32);
    for (low, high) in
        [(-3.0, 7.0), (1e-3, 2e-3), (-1e30, 1e30), (one, one + 2.0 * f64::from(f32::EPSILON)), (0.0, 0.1)]
    {
        let made = |ctx: &Context| uniform::<f32>(ctx, &mut Stream::new(2, "r"), shape, low..high)?.to_host(ctx);
        let (found, want) = (made(ctx)?, made(&cpu)?);
        let ulp = f64::from(f32::EPSILON) * f64::max(f64::abs(low), f64::abs(high));
        for (a, b) in found.as_slice().iter().zip(want.as_slice()) {
            let (a, b) = (f64::from(*a), f64::from(*b));
            assert!(a >= f64::from(low as f32) && a < f64::from(high as f32), "{a} is not in {low}..{high}");
            assert!((a - b).abs() <= ulp, "{a}, on the CPU {b}");
        }
    }
    for (mean, deviation) in [(5.0, 2.0), (-1e6, 1e-3), (1.0, 0.0)] {
        let made = |ctx: &Context| normal::<f32>(ctx, &mut Stream::new(2, "n"), shape, mean, deviation)?.to_host(ctx);
        let (found, want) = (made(ctx)?, made(&cpu)?);
        let ulp = f64::from(f32::EPSILON) * (f64::abs(mean) + 6.4 * deviation);
        let near = found.as_slice().iter().zip(want.as_slice()).all(|(a, b)| f64::from((a - b).abs()) <= ulp);
        assert!(near, "mean {mean}, deviation {deviation}: farther apart than {ulp:e}");
    }
    Ok(())
}

fn errors(ctx: &Context) -> Checked {
    let mut stream = Stream::new(1, "errors");
    let at = stream.clone();
    for shape in [Shape::new(0, 3, 5), Shape::new(4, 3, 0)] {
        assert_eq!(normal::<f32>(ctx, &mut stream, shape, 0.0, 1.0)?.to_host(ctx)?.as_slice(), &[] as &[f32]);
    }
    let shape = vector(10);
    let wrong = [
        uniform::<f32>(ctx, &mut stream, shape, 1.0..1.0),
        uniform(ctx, &mut stream, shape, 2.0..1.0),
        uniform(ctx, &mut stream, shape, 0.0..f64::NAN),
        uniform(ctx, &mut stream, shape, 0.0..1e39),
        uniform(ctx, &mut stream, shape, -3e38..3e38),
        // This range is not empty in f64, but it is empty in f32.
        uniform(ctx, &mut stream, shape, 1.0..1.0 + 1e-9),
        normal(ctx, &mut stream, shape, f64::INFINITY, 1.0),
        normal(ctx, &mut stream, shape, 0.0, -1.0),
        normal(ctx, &mut stream, shape, 0.0, f64::NAN),
        bernoulli(ctx, &mut stream, shape, -0.1),
        bernoulli(ctx, &mut stream, shape, 1.1),
        bernoulli(ctx, &mut stream, shape, f64::NAN),
    ];
    for (i, made) in wrong.into_iter().enumerate() {
        let error = made.expect_err("numbers of no law");
        assert!(
            matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("found"),
            "{i}: {error}"
        );
    }
    let error = words(ctx, &mut stream, Shape::new(1 << 20, 1 << 20, 1)).expect_err("4 TiB");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    if let Some(adapter) = ctx.adapter() {
        assert_eq!(ctx.explain(&Default::default(), true).side, fiedler::policy::Side::Gpu);
        let beyond = usize::try_from(adapter.limits.storage_binding / 4)? + 4;
        let large = Context::builder().adapter(&adapter.name).backend(Backend::Gpu).memory_budget(1 << 50).build()?;
        let error = words(&large, &mut stream, vector(beyond)).expect_err("more than a binding");
        assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
        let error = normal::<f64>(ctx, &mut stream, shape, 0.0, 1.0).expect_err("f64 on a device");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
        assert!(normal::<f32>(ctx, &mut at.clone(), shape, 0.0, 1.0)?.is_resident());
    }
    assert_eq!(stream, at, "an error moved the stream");
    Ok(())
}

/// f64 numbers have more digits than f32. Each takes two words of the stream, whatever the position of the stream
/// at the start.
fn wide(ctx: &Context) -> Checked {
    let (shape, mut stream) = (vector(50_001), Stream::new(4, "wide"));
    let whole = normal::<f64>(ctx, &mut stream, shape, 0.0, 1.0)?.to_host(ctx)?;
    assert_eq!(stream.position(), 100_002);
    // The numbers have 53 random bits, not 24, so hardly any number is an f32.
    assert!(whole.as_slice().iter().filter(|&&x| x == f64::from(x as f32)).count() < 10);
    let mean: f64 = whole.as_slice().iter().sum::<f64>() / 50_001.0;
    let variance: f64 = whole.as_slice().iter().map(|x| x * x).sum::<f64>() / 50_001.0;
    assert!(mean.abs() < 5.0 / 50_001_f64.sqrt() && (variance - 1.0).abs() < 5.0 * (2.0 / 50_001_f64).sqrt());
    for skipped in [0, 1, 2, 3] {
        let mut here = Stream::new(4, "wide");
        here.skip(skipped);
        let mut words = here.clone();
        let u = uniform::<f64>(ctx, &mut here, vector(1000), 0.0..1.0)?.to_host(ctx)?;
        let words = words_of(ctx, &mut words, 2000)?;
        for (u, pair) in u.as_slice().iter().zip(words.chunks(2)) {
            let bits = (u64::from(pair[1]) << 32 | u64::from(pair[0])) >> 11;
            assert_eq!(*u, bits as f64 / (1_u64 << 53) as f64, "after {skipped} words");
        }
    }
    let coins = bernoulli::<f64>(ctx, &mut Stream::new(9, "coins"), vector(1000), 0.5)?.to_host(ctx)?;
    let same = bernoulli::<f32>(ctx, &mut Stream::new(9, "coins"), vector(1000), 0.5)?.to_host(ctx)?;
    assert!(coins.as_slice().iter().zip(same.as_slice()).all(|(&a, &b)| a == f64::from(b)));
    Ok(())
}
