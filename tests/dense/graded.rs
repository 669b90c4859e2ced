//! Matrices whose rows or columns differ greatly in size: each singular value and each eigenvalue is accurate relative
//! to itself.

use common::random::SplitMix64;
use common::solve::{Checked, alike, bits};
use common::{Test, on_cpu, on_each, suite};
use fiedler::array::{Array, Real};
use fiedler::ops::svd::{Vectors, svd, svdvals};
use fiedler::ops::{Status, Which, eigh, eigh_subset, eigvalsh};
use fiedler::{Context, Shape};
use std::f64::consts::PI;

pub fn tests() -> Vec<Test> {
    suite(
        "graded",
        vec![
            on_each("golden values in f32", golden::<f32>),
            on_cpu("golden values in f64", golden::<f64>),
            on_each("orthogonal columns and rows in f32", orthogonal::<f32>),
            on_cpu("orthogonal columns and rows in f64", orthogonal::<f64>),
            on_each("determinants in f32", determinants::<f32>),
            on_cpu("determinants in f64", determinants::<f64>),
            on_cpu("columns whose squares underflow", underflow),
            on_each("among other matrices", among_others),
            on_each("an indefinite matrix", indefinite),
        ],
    )
}

/// Returns the elements of a matrix.
fn matrix<T: Real>(rows: usize, columns: usize, element: impl Fn(usize, usize) -> f64) -> Vec<T> {
    let element = &element;
    (0..columns).flat_map(|j| (0..rows).map(move |i| T::from_f64(element(i, j)))).collect()
}

fn array<T: Real>(rows: usize, columns: usize, elements: Vec<T>) -> fiedler::Result<Array<T>> {
    Array::from_vec(Shape::new(rows, columns, 1), elements)
}

/// Returns 2^-e with e below `below`.
fn power(random: &mut SplitMix64, below: u64) -> f64 {
    2.0_f64.powi(-((random.next_u64() % below) as i32))
}

/// Makes the matrices of golden/graded.py, whose elements are numbers of f32 unless they span 30 decades.
fn made(family: &str, decades: u64, n: usize) -> (usize, impl Fn(usize, usize) -> f64) {
    let mut random = SplitMix64::new(1000 * decades + n as u64);
    let definite = family == "DCD";
    let rows = if definite { n } else { n + n % 3 };
    let mut b = vec![0.0; rows * n];
    for i in 0..rows {
        for j in (0..n).filter(|&j| !definite || j <= i) {
            let noise = (random.next_u64() % (1 << 20)) as f64 - 524_288.0;
            b[i + j * rows] = f64::from(u8::from(i == j)) + noise / 8_388_608.0;
            if definite {
                b[j + i * rows] = b[i + j * rows];
            }
        }
    }
    let below = if decades == 12 { 41 } else { 101 };
    let mut left: Vec<f64> = (0..rows).map(|_| power(&mut random, below)).collect();
    let mut right: Vec<f64> = (0..n).map(|_| power(&mut random, below)).collect();
    match family {
        "BD" => left.fill(1.0),
        "DB" => right.fill(1.0),
        "DCD" => right.clone_from(&left),
        _ => {}
    }
    (rows, move |i: usize, j: usize| left[i] * b[i + j * rows] * right[j])
}

/// Every value is within `10 n eps cond(B)` of itself, or 25 instead of 10 if rows and columns are graded.
fn golden<T: Real>(ctx: &Context) -> Checked {
    for line in include_str!("golden/graded.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (family, decades, n): (_, u64, usize) = (words[0], words[1].parse()?, words[2].parse()?);
        if decades == 30 && T::ON_DEVICE {
            continue; // beyond the range of f32
        }
        let condition: f64 = words[3].parse()?;
        let truth = words[4..].iter().map(|x| x.parse()).collect::<Result<Vec<f64>, _>>()?;
        let (rows, element) = made(family, decades, n);
        let a = array(rows, n, matrix::<T>(rows, n, &element))?;
        let of = |values: &Array<T>| -> fiedler::Result<Vec<f64>> {
            Ok(values.to_host(ctx)?.as_slice().iter().map(|x| x.to_f64()).collect())
        };
        let mut ways = Vec::new();
        if family == "DCD" {
            let found = eigh(ctx, &a)?.ok(ctx)?;
            let least = eigh_subset(ctx, &a, Which::Smallest, 2)?.ok(ctx)?;
            ways.push(("eigh", of(&found.values)?));
            ways.push(("eigvalsh", of(&eigvalsh(ctx, &a)?.values)?));
            ways.push(("eigh_subset", of(&least.values)?));
            ways.iter_mut().for_each(|(_, values)| values.reverse());
        } else {
            let transposed = array(n, rows, matrix::<T>(n, rows, |i, j| element(j, i)))?;
            ways.push(("svd", of(&svd(ctx, &a, Vectors::Thin)?.ok(ctx)?.s)?));
            ways.push(("svdvals", of(&svdvals(ctx, &a)?.ok(ctx)?.s)?));
            ways.push(("svd of the transpose", of(&svd(ctx, &transposed, Vectors::Full)?.ok(ctx)?.s)?));
        }
        // If both sides are graded, the factors of an elimination of B count, whose condition may exceed that of B.
        // dgejsv is off by 22 n eps cond(B) in one of these matrices.
        let factor = if family == "DBE" { 25.0 } else { 10.0 };
        let bound = factor * rows as f64 * T::EPSILON * condition;
        for (way, found) in ways {
            for (got, want) in found.iter().rev().zip(truth.iter().rev()) {
                let away = (got - want).abs();
                assert!(away <= bound * want, "{way} of {family} {decades} {n}: {got:e} instead of {want:e}");
            }
        }
    }
    Ok(())
}

/// The orthonormal DCT-II, which is the well-conditioned factor of the matrices below.
fn cosine(n: usize, i: usize, j: usize) -> f64 {
    let scale = if i == 0 { 1.0 / n as f64 } else { 2.0 / n as f64 }.sqrt();
    scale * (PI / n as f64 * (j as f64 + 0.5) * i as f64).cos()
}

/// Returns n numbers from 1 down to about 2^-decades in a shuffled order.
fn shuffled(n: usize, decades: f64, random: &mut SplitMix64) -> Vec<f64> {
    let mut sizes: Vec<f64> = (0..n).map(|i| (-decades * i as f64 / n as f64).exp2()).collect();
    (1..n).rev().for_each(|i| sizes.swap(i, (random.next_u64() % (i as u64 + 1)) as usize));
    sizes
}

/// If the columns of B are orthonormal, the singular values of B D are the elements of D, and the left singular vectors
/// are the columns of B.
fn orthogonal<T: Real>(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(3);
    let decades = if T::ON_DEVICE { 40.0 } else { 100.0 };
    for n in [2, 3, 17, 64, 100, 200] {
        let sizes = shuffled(n, decades, &mut random);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| sizes[j].total_cmp(&sizes[i]));
        let bound = 10.0 * n as f64 * T::EPSILON;
        // Neighbors differ by this factor.
        let ratio = (-decades / n as f64).exp2();
        let gap = (1.0 - ratio) / (1.0 + ratio);
        for transposed in [false, true] {
            let element =
                |i: usize, j: usize| if transposed { cosine(n, j, i) * sizes[i] } else { cosine(n, i, j) * sizes[j] };
            let found = svd(ctx, &array(n, n, matrix::<T>(n, n, element))?, Vectors::Thin)?.ok(ctx)?;
            let (u, s, vh) = (found.u.to_host(ctx)?, found.s.to_host(ctx)?, found.vh.to_host(ctx)?);
            for (place, &own) in order.iter().enumerate() {
                let got = s.as_slice()[place].to_f64();
                let away = (got - sizes[own]).abs();
                assert!(away <= bound * sizes[own], "{n}, {transposed}: {got:e} instead of {:e}", sizes[own]);
                let of =
                    |i: usize| if transposed { vh.matrix(0)[(place, i)] } else { u.matrix(0)[(i, place)] }.to_f64();
                let along: f64 = (0..n).map(|i| of(i) * cosine(n, i, own)).sum();
                let away: f64 = (0..n).map(|i| (of(i) * along.signum() - cosine(n, i, own)).powi(2)).sum();
                assert!(away.sqrt() <= bound / gap, "{n}, {transposed}: vector {place} is off by {:e}", away.sqrt());
            }
        }
    }
    Ok(())
}

/// The product of the singular values of D B E is that of the elements of D and E if B is orthogonal.
fn determinants<T: Real>(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(4);
    let decades = if T::ON_DEVICE { 40.0 } else { 100.0 };
    for n in [2, 5, 33, 64, 120] {
        let (left, right) = (shuffled(n, decades, &mut random), shuffled(n, decades, &mut random));
        let a = array(n, n, matrix::<T>(n, n, |i, j| left[i] * cosine(n, i, j) * right[j]))?;
        let s = svd(ctx, &a, Vectors::Thin)?.ok(ctx)?.s.to_host(ctx)?;
        let found: f64 = s.as_slice().iter().map(|x| x.to_f64().log2()).sum();
        let wanted: f64 = left.iter().chain(&right).map(|x| x.log2()).sum();
        // n values, each within 10 n eps of itself.
        let bound = 10.0 * (n * n) as f64 * T::EPSILON / std::f64::consts::LN_2;
        assert!((found - wanted).abs() <= bound, "{n}: 2^{found} instead of 2^{wanted}");
    }
    Ok(())
}

/// A singular value whose square underflows is accurate or 0, and its vectors belong to orthonormal bases.
fn underflow(ctx: &Context) -> Checked {
    for size in [1e-140_f64, 1e-160, 1e-200, 1e-300] {
        for vectors in [Vectors::Thin, Vectors::Full] {
            let a = array(3, 2, vec![1.0, 0.0, 0.0, size, size, 0.0])?;
            let found = svd(ctx, &a, vectors)?.ok(ctx)?;
            let s = found.s.to_host(ctx)?;
            let least = s.as_slice()[1];
            assert!(
                least == 0.0 || (least - size).abs() <= 30.0 * f64::EPSILON * size,
                "{least:e} instead of {size:e}"
            );
            assert!(least > 0.0 || size < 1e-150, "{size:e} counts as 0");
        }
    }
    Ok(())
}

/// A batch in which some matrices are graded has the results of each matrix alone, to the last bit, and on the device
/// if it fits there.
fn among_others(ctx: &Context) -> Checked {
    for bytes in [1 << 30, 80 << 10] {
        among_others_within(&alike(ctx).memory_budget(bytes).build()?, bytes == 1 << 30)?;
    }
    Ok(())
}

fn among_others_within(ctx: &Context, fits: bool) -> Checked {
    const N: usize = 12;
    let mut random = SplitMix64::new(5);
    let noise: Vec<f64> = (0..N * N).map(|_| random.unit() - 0.5).collect();
    let sizes: Vec<f64> = (0..N).map(|_| power(&mut random, 41)).collect();
    let even = |i: usize, j: usize| noise[i + j * N] + noise[j + i * N] + if i == j { 4.0 } else { 0.0 };
    let graded = |i: usize, j: usize| sizes[i] * even(i, j) * sizes[j];
    let [even, graded] = [matrix::<f32>(N, N, even), matrix::<f32>(N, N, graded)];
    let all = [&even[..], &graded, &even, &even, &graded].concat().repeat(4);
    let all = Array::from_vec(Shape::new(N, N, 20), all)?;
    let many = (svd(ctx, &all, Vectors::Thin)?, eigh(ctx, &all)?, eigh_subset(ctx, &all, Which::Largest, 3)?);
    let resident = [many.0.u.is_resident(), many.1.vectors.is_resident(), many.2.vectors.is_resident()];
    assert_eq!(resident, [fits && ctx.adapter().is_some(); 3]);
    assert!(many.0.certificates(ctx)?.iter().all(|one| one.status == Status::Converged));
    assert!(many.1.certificates(ctx)?.iter().all(|one| one.status == Status::Converged));
    // Batches of fewer than six may be solved by other methods on the CPU.
    let pairs = [(&even, 0), (&graded, 1), (&graded, 14), (&even, 18)];
    for (own, at) in pairs {
        let own = Array::from_vec(Shape::new(N, N, 6), own.repeat(6))?;
        let alone = (svd(ctx, &own, Vectors::Thin)?, eigh(ctx, &own)?, eigh_subset(ctx, &own, Which::Largest, 3)?);
        for (one, of_many) in [
            (&alone.0.u, &many.0.u),
            (&alone.0.s, &many.0.s),
            (&alone.0.vh, &many.0.vh),
            (&alone.1.values, &many.1.values),
            (&alone.1.vectors, &many.1.vectors),
            (&alone.2.values, &many.2.values),
            (&alone.2.vectors, &many.2.vectors),
        ] {
            let len = one.shape().matrix_len();
            let (one, of_many) = (one.to_host(ctx)?, of_many.to_host(ctx)?);
            assert_eq!(bits(&one.as_slice()[..len]), bits(&of_many.as_slice()[at * len..][..len]), "matrix {at}");
        }
    }
    Ok(())
}

/// A matrix with a positive diagonal that is not positive definite is solved as any other.
fn indefinite(ctx: &Context) -> Checked {
    let a = array(2, 2, vec![1e6_f32, 2e3, 2e3, 1.0])?;
    let found = eigh(ctx, &a)?.ok(ctx)?;
    let values = found.values.to_host(ctx)?;
    let (trace, determinant): (f64, f64) = (1e6 + 1.0, 1e6 - 4e6);
    let largest = (trace + (trace * trace - 4.0 * determinant).sqrt()) / 2.0;
    for (got, want) in values.as_slice().iter().zip([determinant / largest, largest]) {
        assert!((f64::from(*got) - want).abs() <= 2.0 * f64::from(f32::EPSILON) * largest, "{got} instead of {want}");
    }
    Ok(())
}
