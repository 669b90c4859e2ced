//! The split form of products, which splits each f32 into the sum of two f16, on every backend. Products have to be
//! within the documented bound for all scales of rows and columns and with every option, and bit-equal however they
//! are cut. Also f16 products on matrix units, which multiply the two f16 of the split form as well.

use common::products::{Operands, Product, TURNS, bits, judge_not_finite};
use common::solve::{Checked, alike};
use common::{Test, on_each, on_gpus, on_gpus_with, suite};
use fiedler::array::Array;
use fiedler::forms::{KernelForm, MatmulForm};
use fiedler::ops::matmul::{Activation, Gemm, Precision};
use fiedler::policy::Side;
use fiedler::{Backend, Context, ErrorKind, Shape};
use half::f16;

pub fn tests() -> Vec<Test> {
    suite(
        "matmul_split",
        vec![
            on_each("rows from 1e-30 to 1e30, all transposes", scales),
            on_each("values that two f16 hold are exact", exact),
            on_each("batches, one factor for all, and options", endings),
            on_each("values at the ends of f32", ends),
            on_each("input that is not finite, and input that is not read", not_finite),
            on_gpus("every form by name", forms),
            on_gpus_with("matrix-units", "matrix units by name", matrix_units),
            on_gpus("bit-equal when cut", cuts),
            on_each("f16 is not split", refused),
        ],
    )
}

fn run(ctx: &Context, operands: &Operands<f32>) -> fiedler::Result<Vec<f32>> {
    let (a, b) = operands.arrays()?;
    let found = operands.gemm()?.precision(Precision::SplitF16).run(ctx, &a, &b)?;
    assert_eq!(found.is_resident(), ctx.adapter().is_some() && !found.shape().is_empty());
    Ok(found.to_host(ctx)?.as_slice().to_vec())
}

/// Checks a product against the error allowed to the split form, which is 2^-20 |A||B| more than the error allowed
/// to f32.
fn judge(ctx: &Context, operands: &Operands<f32>) -> Result<f64, String> {
    let found = run(ctx, operands).map_err(|e| format!("{:?}: {e}", operands.product))?;
    operands.judge(&found, 2.0_f64.powi(-20))
}

/// Returns operands in which row i of op(A) is multiplied by 10^down(i) and column j of op(B) by 10^across(j). Rows
/// and columns are numbered through the batch.
fn scaled(product: Product, down: impl Fn(usize) -> i32, across: impl Fn(usize) -> i32) -> Operands<f32> {
    let mut operands = Operands::<f32>::random(product);
    let Product { m, n, k, transposed, .. } = product;
    let ten = |e: i32| 10.0_f64.powi(e);
    for (e, x) in operands.a.iter_mut().enumerate() {
        let row = if transposed.0 { e / k } else { e / (m * k) * m + e % m };
        *x = (f64::from(*x) * ten(down(row))) as f32;
    }
    for (e, x) in operands.b.iter_mut().enumerate() {
        let column = if transposed.1 { e / (n * k) * n + e % n } else { e / k };
        *x = (f64::from(*x) * ten(across(column))) as f32;
    }
    operands
}

fn scales(ctx: &Context) -> Checked {
    let mut worst = 0.0_f64;
    for (m, n, k) in [
        (1, 1, 1),
        (2, 2, 2),
        (5, 7, 9),
        (31, 31, 33),
        (33, 17, 64),
        (64, 64, 300),
        (65, 9, 513),
        (3, 2, 9001),
        (129, 130, 7),
        (0, 3, 2),
        (3, 2, 0),
    ] {
        for (a, b) in TURNS {
            let product = Product::new(m, n, k).transposed(a, b).batch(2, 2);
            // The scales are far above and far below f16's range, and neighboring rows have very different scales,
            // but no result is beyond f32.
            let operands = scaled(product, |i| (i * 23 % 61) as i32 - 30, |j| (j * 5 % 11) as i32 - 5);
            let found = judge(ctx, &operands)?;
            assert!(found > 0.0 || m * n * k < 2, "{product:?} is exact: nothing was split");
            worst = worst.max(found);
        }
    }
    // More terms than the loops of one dispatch may have on any software adapter, and an odd number of them.
    worst = worst.max(judge(ctx, &Operands::random(Product::new(2, 3, 140_001).transposed(true, false)))?);
    println!("at most {worst:.2} of what is allowed");
    Ok(())
}

/// Multiplies integers below 2^20, which have one sign and are scaled by a power of two, by integers of 6 bits. The
/// two f16 of each number, their products and their sums are exact. So if one f16 is missing, swapped or counted
/// twice, the result is off by at least one unit.
fn exact(ctx: &Context) -> Checked {
    for (wide_left, power) in [(true, 0), (false, 0), (true, -90), (false, 60)] {
        let mut operands = Operands::<f32>::random(Product::new(19, 21, 3));
        let wide = |x: &mut f32| *x = (x.abs() * 1_048_575.0).floor() * 2.0_f32.powi(power);
        let short = |x: &mut f32| *x = (*x * 63.0).floor();
        if wide_left {
            operands.a.iter_mut().for_each(wide);
            operands.b.iter_mut().for_each(short);
        } else {
            operands.a.iter_mut().for_each(short);
            operands.b.iter_mut().for_each(wide);
        }
        // There is only one term, because products have 26 bits, and f32 may not hold the sum of several of them
        // exactly.
        operands.a.truncate(19);
        operands.b = operands.b.chunks(3).map(|column| column[0]).collect();
        operands.product.k = 1;
        let found = run(ctx, &operands)?;
        for (at, &got) in found.iter().enumerate() {
            let want = (f64::from(operands.a[at % 19]) * f64::from(operands.b[at / 19])) as f32;
            assert_eq!(got.to_bits() << 1, want.to_bits() << 1, "{at}: {got:e}, in truth {want:e}");
        }
    }
    Ok(())
}

fn endings(ctx: &Context) -> Checked {
    for (m, n, k) in [(1, 1, 1), (5, 7, 9), (16, 16, 16), (33, 40, 65), (66, 70, 41)] {
        for (of_a, of_b) in [(1, 1), (3, 3), (1, 5), (5, 1)] {
            let product = Product::new(m, n, k).batch(of_a, of_b);
            let (a, b) = TURNS[(m + of_a) % 4];
            judge(ctx, &scaled(product.transposed(a, b), |i| (i % 7) as i32 - 3, |j| (j % 5) as i32 - 2))?;
            let count = product.count();
            let bias = (if of_b == 5 { 1 } else { count }, of_a == 5);
            let (alpha, beta, c) = if of_a == 3 { (-0.75, 1.0, 1) } else { (1.0, 0.5, count) };
            let ended = Product { alpha, beta, c, bias, ..product };
            judge(ctx, &Operands::random(ended))?;
            judge(ctx, &Operands::random(Product { activation: Activation::Tanh, ..ended }))?;
        }
    }
    Ok(())
}

/// The largest values of f32, and values so small that they would be rounded to 0 without their scale.
fn ends(ctx: &Context) -> Checked {
    for (of_a, of_b, want) in [
        (f32::MAX, 1.0, f32::MAX),
        (f32::MAX, f32::MIN_POSITIVE, f32::MAX * f32::MIN_POSITIVE),
        (f32::MIN_POSITIVE, 3.0, 3.0 * f32::MIN_POSITIVE),
        (3.0e38, 3.0e38, f32::INFINITY),
        (-3.0e38, 3.0e38, f32::NEG_INFINITY),
        (1e-30, 1e-30, 0.0),
        (0.0, 3.0e38, 0.0),
        (0.0, 0.0, 0.0),
    ] {
        for size in [1, 40] {
            let a = Array::from_vec(Shape::new(size, 1, 1), vec![of_a; size])?;
            let b = Array::from_vec(Shape::new(1, size, 1), vec![of_b; size])?;
            let found = Gemm::new().precision(Precision::SplitF16).run(ctx, &a, &b)?.to_host(ctx)?;
            for &got in found.as_slice() {
                // The product of the two low f16 is left out, which causes an error of up to 2^-22.
                assert!(got == want || (got - want).abs() <= want.abs() * 2.4e-7, "{of_a:e} {of_b:e}: {got:e}");
            }
        }
    }
    Ok(())
}

fn not_finite(ctx: &Context) -> Checked {
    for sides in [(6, 5, 7), (70, 66, 41)] {
        judge_not_finite(sides, |operands| run(ctx, operands))?;
    }
    Ok(())
}

fn forms(ctx: &Context) -> Checked {
    for (form, sides) in [
        (MatmulForm::Tiny, &[1, 13, 32][..]),
        (MatmulForm::Tile64, &[1, 63, 65, 130]),
        (MatmulForm::Tile128, &[1, 127, 129]),
    ] {
        let forced = alike(ctx).kernels(&[KernelForm::Matmul(form)]).build()?;
        for &n in sides {
            for (a, b) in TURNS {
                judge(&forced, &Operands::random(Product::new(n, n, n).transposed(a, b)))?;
            }
        }
    }
    Ok(())
}

/// f16 products, and f32 products split into f16, on matrix units. Only the form for matrix units is allowed, so no
/// other form can have computed the result.
fn matrix_units(ctx: &Context) -> Checked {
    let forced = alike(ctx).kernels(&[KernelForm::Matmul(MatmulForm::Cooperative)]).build()?;
    assert!(forced.adapter().is_some_and(|adapter| adapter.features.contains(&"matrix-units")));
    let plain = ctx.adapter().is_some_and(|adapter| adapter.features.contains(&"matrix-units"));
    assert!(!plain, "a device was opened for an experiment that was not requested");
    let mut worst = 0.0_f64;
    for (m, n, k) in [
        (1, 1, 1),
        (2, 2, 2),
        (8, 8, 8),
        (7, 9, 5),
        (16, 16, 16),
        (31, 33, 32),
        (32, 32, 31),
        (64, 64, 33),
        (65, 130, 97),
        (40, 70, 1500),
        (6, 5, 9001),
    ] {
        for (a, b) in TURNS {
            let product = Product::new(m, n, k).transposed(a, b);
            worst = worst.max(Operands::<f16>::random(product).check(&forced)?);
            let scales = scaled(product, |i| (i * 23 % 61) as i32 - 30, |j| (j * 5 % 11) as i32 - 5);
            worst = worst.max(judge(&forced, &scales)?);
        }
    }
    for (of_a, of_b) in [(3, 3), (1, 5), (5, 1)] {
        let product = Product::new(33, 40, 65).batch(of_a, of_b);
        let bias = (product.count(), true);
        let product = Product { alpha: -0.75, beta: 0.5, c: 1, bias, activation: Activation::Tanh, ..product };
        Operands::<f16>::random(product).check(&forced)?;
        judge(&forced, &Operands::random(product))?;
    }
    // Unsplit f32 has no such kernel.
    let error = Operands::<f32>::random(Product::new(8, 8, 8)).run(&forced).expect_err("f32 on matrix units of f16");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    println!("at most {worst:.2} of what is allowed");
    Ok(())
}

fn cuts(ctx: &Context) -> Checked {
    // Products that are computed whole, cut into batches of matrices, or cut into blocks of one matrix, with and
    // without transposed factors, and with odd numbers of terms.
    for ((m, n, k, batch), turned, budget) in [
        ((8, 8, 8, 2000), false, 512 << 10),
        ((33, 70, 65, 40), true, 512 << 10),
        ((401, 333, 21, 1), false, 1 << 20),
        ((300, 333, 21, 2), true, 1 << 20),
    ] {
        let product = Product {
            c: 1,
            beta: 0.5,
            bias: (batch, true),
            activation: Activation::Tanh,
            ..Product::new(m, n, k).batch(batch, batch).transposed(turned, turned)
        };
        let operands = scaled(product, |i| (i % 5) as i32 - 2, |j| (j % 3) as i32 - 1);
        let whole = run(ctx, &operands)?;
        operands.judge(&whole, 2.0_f64.powi(-20))?;
        assert!(bits(&run(ctx, &operands)?) == bits(&whole), "{product:?}: twice");
        let small = alike(ctx).memory_budget(budget).build()?;
        let (a, b) = operands.arrays()?;
        let cut = operands.gemm()?.precision(Precision::SplitF16).run(&small, &a, &b)?;
        assert!(!cut.is_resident(), "{product:?} was not cut in {budget} bytes");
        assert!(bits(cut.to_host(&small)?.as_slice()) == bits(&whole), "{product:?} in {budget} bytes");
        assert!(small.pool().peak <= budget, "{product:?}: {:?}", small.pool());
        let there = operands.gemm()?.precision(Precision::SplitF16);
        let there = there.run(ctx, &a.to_device(ctx)?, &b.to_device(ctx)?)?.to_host(ctx)?;
        assert!(bits(there.as_slice()) == bits(&whole), "{product:?}: resident");
    }
    // A scale belongs to a whole row or column, so a product is not cut by its terms.
    let small = alike(ctx).memory_budget(640 << 10).build()?;
    let error = run(&small, &Operands::random(Product::new(3, 2, 90_001))).expect_err("lines that do not fit");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    assert!(error.to_string().contains("FIEDLER_MEMORY_BUDGET"), "{error}");
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let halves = Array::from_vec(Shape::new(1, 1, 1), vec![f16::ONE])?;
    let error = Gemm::new().precision(Precision::SplitF16).run(ctx, &halves, &halves).expect_err("f16 split into f16");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("f16"), "{error}");
    // The policy counts three products of f16 for the split form, whether it runs on the CPU or on the device.
    if ctx.adapter().is_some() {
        let shape = Shape::new(300, 300, 1);
        let auto = ctx.with_backend(Backend::Auto);
        let seconds = |precision| Gemm::<f32>::new().precision(precision).choose(&auto, shape, shape, true);
        let (own, split) = (seconds(Precision::Own)?, seconds(Precision::SplitF16)?);
        assert_eq!(Gemm::<f32>::new().precision(Precision::SplitF16).choose(ctx, shape, shape, true)?.side, Side::Gpu);
        assert!(split.cpu_seconds > 2.0 * own.cpu_seconds, "{own} {split}");
    }
    Ok(())
}
