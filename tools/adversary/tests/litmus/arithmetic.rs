//! Integers and floats: results, errors within WGSL's bounds, and what is reported.

use super::common::{Litmus, garbage, words};
use wgpu_adversary::{Accuracy, Denormals, Kind, Profile};

fn litmus(types: &str, body: &str, input: &[u32], profile: Profile) -> Litmus {
    let source = format!(
        "@group(0) @binding(0) var<storage, read> a: array<{types}>;
@group(0) @binding(1) var<storage, read_write> out: array<{types}>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = id.x; let n = arrayLength(&a); let x = a[i]; let y = a[(i + 1u) % n]; let z = a[(i + 2u) % n];
    out[i] = {body};
}}"
    );
    let count = input.len() as u32;
    Litmus::new(&source, profile, vec![words(input), garbage(count.into())]).groups(count)
}

const INTEGERS: [i32; 12] = [0, 1, -1, 2, 7, -13, 31, 255, -65536, i32::MAX, i32::MIN, 1_234_567];

#[track_caller]
fn integers(body: &str, expected: impl Fn(i32, i32) -> i32) {
    let input = INTEGERS.map(i32::cast_unsigned);
    let found = litmus("i32", body, &input, Profile::with_subgroups(4)).finds(&[]).words(1);
    let expected: Vec<u32> = (0..12).map(|i| expected(INTEGERS[i], INTEGERS[(i + 1) % 12]).cast_unsigned()).collect();
    assert_eq!(found, expected, "{body}");
}

#[test]
fn integer_operations() {
    integers("x + y", i32::wrapping_add);
    integers("x - y", i32::wrapping_sub);
    integers("x * y", i32::wrapping_mul);
    integers("x / (y | 3) + x % (y | 3)", |x, y| x / (y | 3) + x % (y | 3));
    integers("(x << 3u) ^ (x >> 5u)", |x, _| x << 3 ^ x >> 5);
    integers("max(x, y) - min(x, y)", |x, y| x.max(y).wrapping_sub(x.min(y)));
    integers("clamp(x, -5, 40)", |x, _| x.clamp(-5, 40));
    integers("abs(x) + sign(x)", |x, _| x.wrapping_abs().wrapping_add(x.signum()));
    integers("countOneBits(x) + countLeadingZeros(x)", |x, _| (x.count_ones() + x.leading_zeros()).cast_signed());
    integers("countTrailingZeros(x) ^ reverseBits(x)", |x, _| x.trailing_zeros().cast_signed() ^ x.reverse_bits());
    integers("firstLeadingBit(x)", |x, _| match if x < 0 { !x } else { x } {
        0 => -1,
        bits => 31 - bits.leading_zeros().cast_signed(),
    });
    integers("firstTrailingBit(x)", |x, _| if x == 0 { -1 } else { x.trailing_zeros().cast_signed() });
    integers("extractBits(x, 3u, 9u)", |x, _| x << 20 >> 23);
    integers("insertBits(x, y, 8u, 8u)", |x, y| x & !0xff00 | y << 8 & 0xff00);
    integers("select(x, y, x < y)", i32::max);
    integers("i32(x >= y) + i32(all(vec2(x, y) == vec2(y, x))) * 2", |x, y| i32::from(x >= y) + 2 * i32::from(x == y));
    integers("bitcast<i32>(u32(x) / 3u)", |x, _| (x.cast_unsigned() / 3).cast_signed());
    integers("dot(vec3(x, y, 2), vec3(y, 1, 5))", |x, y| x.wrapping_mul(y).wrapping_add(y).wrapping_add(10));
    integers("bitcast<i32>(pack4xU8(vec4(u32(x), u32(y), 3u, 4u)))", |x, y| x & 255 | (y & 255) << 8 | 0x0403_0000);
    integers("dot4I8Packed(u32(x), u32(y))", |x, y| {
        x.to_le_bytes()
            .into_iter()
            .zip(y.to_le_bytes())
            .map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed()))
            .sum()
    });
}

#[test]
fn integers_without_result() {
    let one = |body: &str, input: i32| litmus("i32", body, &[input.cast_unsigned(), 5], Profile::with_subgroups(8));
    one("y / x", 0).finds(&[Kind::DivisionByZero]);
    one("y % x", 0).finds(&[Kind::DivisionByZero]);
    one("select(x, x / (y - 6), x < 0)", i32::MIN).finds(&[Kind::DivisionOverflow]);
    one("x << u32(y + 27)", 1).finds(&[Kind::Shift]);
    one("x + y", i32::MAX).finds(&[]);
    let mut overflow = one("x + y", i32::MAX);
    overflow.setup.profile.report_overflow = true;
    overflow.finds(&[Kind::Overflow]);
}

#[test]
fn floats_that_no_integer_has() {
    let one = |body: &str, input: f32| litmus("f32", body, &[input.to_bits()], Profile::with_subgroups(8));
    for (input, wrong) in [(2_147_483_648.0, true), (-2_147_483_648.0, false), (f32::NAN, true), (1e9, false)] {
        one("f32(i32(x))", input).finds(if wrong { &[Kind::Conversion] } else { &[] });
    }
    for (input, wrong) in [(4_294_967_296.0, true), (-1.0, true), (-0.5, false), (4e9, false)] {
        one("f32(u32(x))", input).finds(if wrong { &[Kind::Conversion] } else { &[] });
    }
    let mut infinite = one("x * x", 1e30);
    infinite.setup.profile.report_nonfinite = true;
    infinite.finds(&[Kind::NonFinite]);
    let mut handled = one("x * x", f32::INFINITY);
    handled.setup.profile.report_nonfinite = true;
    handled.finds(&[]);
}

fn samples() -> Vec<f32> {
    (0..200).map(|i| 0.013 * f32::powi(1.07, i) * if i % 3 == 1 { 0.11 } else { 1.0 }).collect()
}

/// Returns the largest error over all samples and seeds, in ULP of the exact result and absolute.
fn errors(body: &str, exact: impl Fn(f64, f64) -> f64, accuracy: Accuracy) -> (f64, f64) {
    let input = samples();
    let bits: Vec<u32> = input.iter().map(|x| x.to_bits()).collect();
    let mut profile = Profile::with_subgroups(8);
    profile.accuracy = accuracy;
    let mut litmus = litmus("f32", body, &bits, profile);
    let (mut ulps, mut absolute) = (0f64, 0f64);
    for seed in 0..16 {
        assert!(litmus.run(seed).is_empty());
        for (i, found) in litmus.floats(1).into_iter().enumerate() {
            let exact = exact(input[i].into(), input[(i + 1) % input.len()].into());
            let magnitude = (exact as f32).abs().max(f32::MIN_POSITIVE);
            let ulp = f64::from(f32::from_bits(magnitude.to_bits() + 1) - magnitude);
            let error = (f64::from(found) - exact).abs();
            (ulps, absolute) = (ulps.max(error / ulp), absolute.max(error));
        }
    }
    (ulps, absolute)
}

#[test]
fn errors_stay_within_their_bounds_and_use_them() {
    let specification = |body, exact: fn(f64, f64) -> f64| errors(body, exact, Accuracy::Specification);
    for (body, exact, bound) in [
        ("x / y", (|x, y| x / y) as fn(f64, f64) -> f64, 2.5),
        ("inverseSqrt(x)", |x, _| 1.0 / x.sqrt(), 2.0),
        ("sqrt(x)", |x, _| x.sqrt(), 4.5),
        ("exp(min(x, 2.0))", |x, _| x.min(2.0).exp(), 7.0),
        ("exp2(min(x, 2.0))", |x, _| x.min(2.0).exp2(), 7.0),
        ("log(x + 2.0)", |x, _| f64::from(x as f32 + 2.0).ln(), 3.0),
        ("log2(x + 2.0)", |x, _| f64::from(x as f32 + 2.0).log2(), 3.0),
    ] {
        let (found, _) = specification(body, exact);
        assert!(found <= bound * 1.001 && found > bound * 0.6, "{body}: {found} of {bound} ULP");
    }
    let (_, sine) = specification("sin(min(x, 3.0))", |x, _| x.min(3.0).sin());
    assert!(sine <= f64::powi(2.0, -11) && sine > f64::powi(2.0, -12), "{sine}");
    let (typical, _) = errors("x / y", |x, y| x / y, Accuracy::Typical);
    assert!(typical > 1.5 && typical <= 2.5, "{typical}");
    for body in ["x + y", "x * y", "x - y", "abs(x)", "floor(x)"] {
        let exact = |x: f64, y: f64| match body {
            "x + y" => x + y,
            "x * y" => x * y,
            "x - y" => x - y,
            "abs(x)" => x.abs(),
            _ => x.floor(),
        };
        assert!(errors(body, exact, Accuracy::Specification).0 <= 0.5, "{body}");
    }
}

#[test]
fn exact_profiles_round_correctly() {
    let input = samples();
    let bits: Vec<u32> = input.iter().map(|x| x.to_bits()).collect();
    let profile = Profile::with_subgroups(8).exact();
    for (body, expected) in [
        ("x / y", (|x, y, _| x / y) as fn(f32, f32, f32) -> f32),
        ("sqrt(x)", |x, _, _| x.sqrt()),
        ("x * y + z", |x, y, z| x * y + z),
        ("z - x * y", |x, y, z| z - x * y),
        ("dot(vec2(x, y), vec2(z, x))", |x, y, z| y * x + x * z),
        ("x % y", |x, y, _| x % y),
        ("round(x) + fract(y) + trunc(z)", |x, y, z| x.round_ties_even() + y.fract() + z.trunc()),
        ("length(vec2(x, y))", |x, y, _| (y * y + x * x).sqrt()),
        ("(mat2x2(x, y, z, 1.0) * vec2(x, y)).y", |x, y, _| x * y + y),
        ("(vec2(x, y) * mat2x3(vec3(x, y, z), vec3(y, z, x))[0].xy).x", |x, _, _| x * x),
        ("modf(x).fract + frexp(y).fract * f32(1 << u32(abs(frexp(y).exp)))", |x, y, _| {
            let exponent = (y.to_bits() >> 23) as i32 - 126;
            x.fract() + y / f32::powi(2.0, exponent) * f32::powi(2.0, exponent.abs())
        }),
        ("unpack2x16float(pack2x16float(vec2(x, y))).y", |_, y, _| half::f16::from_f32(y).to_f32()),
    ] {
        let found = litmus("f32", body, &bits, profile.clone()).finds(&[]).floats(1);
        let at = |i: usize| input[i % input.len()];
        let expected: Vec<f32> = (0..input.len()).map(|i| expected(at(i), at(i + 1), at(i + 2))).collect();
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn products_and_sums_are_contracted_by_seed() {
    let input = [1.000_000_1f32.to_bits(), 0.999_999_9f32.to_bits(), (-1f32).to_bits()];
    let mut litmus = litmus("f32", "x * y + z", &input, Profile::with_subgroups(8));
    let mut results: Vec<u32> = (0..16)
        .map(|seed| {
            litmus.run(seed);
            litmus.words(1)[0]
        })
        .collect();
    results.sort_unstable();
    results.dedup();
    let [x, y, z] = input.map(f32::from_bits);
    let mut expected = [(x * y + z).to_bits(), x.mul_add(y, z).to_bits()];
    expected.sort_unstable();
    assert_eq!(results, expected);
}

#[test]
fn subnormals_are_kept_or_flushed() {
    for (denormals, expected) in [(Denormals::Keep, 1e-40), (Denormals::Flush, 0.0)] {
        let mut profile = Profile::with_subgroups(8);
        profile.denormals = denormals;
        let litmus = litmus("f32", "x * 1e-20", &[1e-20f32.to_bits()], profile).finds(&[]);
        assert_eq!(litmus.floats(1)[0], expected);
    }
}

#[test]
fn equal_operands_give_equal_results() {
    let input = [3.7f32.to_bits(); 32];
    let mut litmus = litmus("f32", "sqrt(x) / y", &input, Profile::mali());
    for seed in 0..8 {
        litmus.run(seed);
        assert!(litmus.words(1).iter().all(|&word| word == litmus.words(1)[0]));
    }
}
