//! Sorting of the numbers of several samples together, one sample in each lane.
//!
//! A sorting network compares the same places whatever the numbers are, so the lanes can be sorted together. This one
//! is Batcher's bitonic sorter (Knuth, The Art of Computer Programming 5.3.4) in the form in which every comparison
//! puts the lesser number first: sorted halves are compared in opposite directions, and then parts at half the
//! distance. Places beyond the end would hold the greatest numbers and stay where they are, so comparisons with them
//! are left out, which serves every length. Loads and stores take longer than comparisons, so two or three distances
//! are compared while the numbers are in registers.

use crate::lanes::Vector;

/// The most numbers that a network sorts. For longer samples, a lane at a time is sorted by the standard library.
const LONGEST: usize = 4096;
/// The numbers that are sorted in registers first.
const FIRST: usize = 8;

/// Sorts the numbers in each lane in ascending order.
#[inline(always)]
pub(super) fn sort<V: Vector<Scalar = f64>>(x: &mut [V]) {
    let n = x.len();
    if n > LONGEST {
        return by_lanes(x);
    }
    for block in x.chunks_mut(FIRST) {
        match <&mut [V; FIRST]>::try_from(&mut *block) {
            Ok(block) => eight(block),
            Err(_) => few(block),
        }
    }
    let mut half = FIRST;
    while half < n {
        // The comparisons of halves in opposite directions, and after them the distances half / 2, ..., 1.
        let mut left = half.ilog2();
        let with = if left == 3 { 1 } else { 2 };
        for block in x.chunks_mut(2 * half) {
            if with == 2 { opposite_of_eight(block, half) } else { opposite_of_four(block, half) }
        }
        left -= with;
        let mut distance = half >> (with + 1);
        while left > 0 {
            let together = if left == 2 || left == 4 { 2 } else { 3 };
            for block in x.chunks_mut(2 * distance) {
                if together == 3 { halves_of_eight(block, distance) } else { halves_of_four(block, distance) }
            }
            left -= together;
            distance >>= together;
        }
        half *= 2;
    }
}

/// Puts the lesser of two numbers first.
macro_rules! order {
    ($($a:ident $b:ident),+) => { $(($a, $b) = ($a.min($b), $a.max($b));)+ };
}

/// Sorts eight numbers by the network of 19 comparisons.
#[inline(always)]
fn eight<V: Vector<Scalar = f64>>(x: &mut [V; FIRST]) {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *x;
    order!(a c, b d, e g, f h);
    order!(a e, b f, c g, d h);
    order!(a b, c d, e f, g h);
    order!(c e, d f);
    order!(b e, d g);
    order!(b c, d e, f g);
    *x = [a, b, c, d, e, f, g, h];
}

/// Sorts fewer than eight numbers.
#[inline(always)]
fn few<V: Vector<Scalar = f64>>(x: &mut [V]) {
    for end in 1..x.len() {
        for i in (0..end).rev() {
            compare(x, i, i + 1);
        }
    }
}

/// Puts the lesser of the numbers at two places first, unless the second one is beyond the end.
#[inline(always)]
fn compare<V: Vector<Scalar = f64>>(x: &mut [V], i: usize, j: usize) {
    if j < x.len() {
        (x[i], x[j]) = (x[i].min(x[j]), x[i].max(x[j]));
    }
}

/// Compares numbers at a distance, in blocks of twice the distance.
#[inline(always)]
fn halves<V: Vector<Scalar = f64>>(x: &mut [V], distance: usize) {
    let mut begin = 0;
    while begin + distance < x.len() {
        for i in begin..begin + distance {
            compare(x, i, i + distance);
        }
        begin += 2 * distance;
    }
}

/// Compares the sorted halves of a block in opposite directions.
#[inline(always)]
fn opposite<V: Vector<Scalar = f64>>(x: &mut [V], half: usize) {
    for i in 0..half {
        compare(x, i, 2 * half - 1 - i);
    }
}

/// Compares at a distance and at half of it, in a block of twice the distance.
#[inline(always)]
fn halves_of_four<V: Vector<Scalar = f64>>(x: &mut [V], distance: usize) {
    if x.len() < 2 * distance {
        halves(x, distance);
        return halves(x, distance / 2);
    }
    let q = distance / 2;
    let (p, x) = x.split_at_mut(q);
    let (r, x) = x.split_at_mut(q);
    let (s, t) = x.split_at_mut(q);
    let t = &mut t[..q];
    for i in 0..q {
        let (mut a, mut b, mut c, mut d) = (p[i], r[i], s[i], t[i]);
        order!(a c, b d);
        order!(a b, c d);
        (p[i], r[i], s[i], t[i]) = (a, b, c, d);
    }
}

/// Compares at a distance, half of it, and a quarter of it, in a block of twice the distance.
#[inline(always)]
fn halves_of_eight<V: Vector<Scalar = f64>>(x: &mut [V], distance: usize) {
    if x.len() < 2 * distance {
        halves(x, distance);
        halves(x, distance / 2);
        return halves(x, distance / 4);
    }
    let q = distance / 4;
    let (p0, x) = x.split_at_mut(q);
    let (p1, x) = x.split_at_mut(q);
    let (p2, x) = x.split_at_mut(q);
    let (p3, x) = x.split_at_mut(q);
    let (p4, x) = x.split_at_mut(q);
    let (p5, x) = x.split_at_mut(q);
    let (p6, p7) = x.split_at_mut(q);
    let p7 = &mut p7[..q];
    for i in 0..q {
        let (mut a, mut b, mut c, mut d) = (p0[i], p1[i], p2[i], p3[i]);
        let (mut e, mut f, mut g, mut h) = (p4[i], p5[i], p6[i], p7[i]);
        order!(a e, b f, c g, d h);
        order!(a c, b d, e g, f h);
        order!(a b, c d, e f, g h);
        (p0[i], p1[i], p2[i], p3[i]) = (a, b, c, d);
        (p4[i], p5[i], p6[i], p7[i]) = (e, f, g, h);
    }
}

/// Compares the sorted halves of a block in opposite directions, and then at half their length.
#[inline(always)]
fn opposite_of_four<V: Vector<Scalar = f64>>(x: &mut [V], half: usize) {
    if x.len() < 2 * half {
        opposite(x, half);
        return halves(x, half / 2);
    }
    let q = half / 2;
    let (p, x) = x.split_at_mut(q);
    let (r, x) = x.split_at_mut(q);
    let (s, t) = x.split_at_mut(q);
    let t = &mut t[..q];
    for i in 0..q {
        let j = q - 1 - i;
        let (mut a, mut b, mut c, mut d) = (p[i], r[i], s[j], t[j]);
        order!(a d, b c);
        order!(a b, c d);
        (p[i], r[i], s[j], t[j]) = (a, b, c, d);
    }
}

/// Compares the sorted halves of a block in opposite directions, and then at a half and a quarter of their length.
#[inline(always)]
fn opposite_of_eight<V: Vector<Scalar = f64>>(x: &mut [V], half: usize) {
    if x.len() < 2 * half {
        opposite(x, half);
        halves(x, half / 2);
        return halves(x, half / 4);
    }
    let q = half / 4;
    let (p0, x) = x.split_at_mut(q);
    let (p1, x) = x.split_at_mut(q);
    let (p2, x) = x.split_at_mut(q);
    let (p3, x) = x.split_at_mut(q);
    let (p4, x) = x.split_at_mut(q);
    let (p5, x) = x.split_at_mut(q);
    let (p6, p7) = x.split_at_mut(q);
    let p7 = &mut p7[..q];
    for i in 0..q {
        let j = q - 1 - i;
        let (mut a, mut b, mut c, mut d) = (p0[i], p1[i], p2[i], p3[i]);
        let (mut e, mut f, mut g, mut h) = (p4[j], p5[j], p6[j], p7[j]);
        order!(a h, b g, c f, d e);
        order!(a c, b d, e g, f h);
        order!(a b, c d, e f, g h);
        (p0[i], p1[i], p2[i], p3[i]) = (a, b, c, d);
        (p4[j], p5[j], p6[j], p7[j]) = (e, f, g, h);
    }
}

#[inline(always)]
fn by_lanes<V: Vector<Scalar = f64>>(x: &mut [V]) {
    let mut one = vec![0.0; x.len()];
    for lane in 0..V::LANES {
        one.iter_mut().zip(&*x).for_each(|(one, x)| *one = x.as_slice()[lane]);
        one.sort_unstable_by(f64::total_cmp);
        x.iter_mut().zip(&one).for_each(|(x, &one)| x.as_mut_slice()[lane] = one);
    }
}
