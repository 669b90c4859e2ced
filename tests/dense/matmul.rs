//! Products on every backend. They have to be within the allowed error at every size around the tile sizes, for
//! all combinations of transposed factors, batched and broadcast, and with every option (scaling, addition, bias,
//! activation). They have to be bit-equal however they are cut, and unusual inputs have to give typed errors or
//! the documented results.

use common::products::{Number, Operands, Product, TURNS, activated, bits, judge_not_finite};
use common::random::SplitMix64;
use common::solve::{Checked, alike};
use common::{Test, on_cpu, on_each, on_gpus, sample, suite};
use fiedler::array::Array;
use fiedler::forms::{KernelForm, MatmulForm};
use fiedler::ops::matmul::{Activation, Bias, Gemm, matmul};
use fiedler::policy::Side;
use fiedler::{Backend, Context, ErrorKind, Shape};
use half::f16;

pub fn tests() -> Vec<Test> {
    suite(
        "matmul",
        vec![
            on_each("squares, all transposes", squares),
            on_each("sides of every kind", sides),
            on_gpus("every form by name", forms),
            on_each("batches, one factor for all", batches),
            on_each("65,536 matrices", many),
            on_each("options after the product", endings),
            on_each("activations at their ends", ends),
            on_each("f16", halves),
            on_each("f16 beyond its range", overflow),
            on_each("conversions", conversions),
            on_cpu("f64", in_f64),
            on_each("input that is not finite, and input that is not read", not_finite),
            on_each("empty sides and batches", empty),
            on_each("bit-equal when repeated, resident and cut", cuts),
            on_each("shapes that do not fit", misfits),
            on_gpus("f64 and arrays of another device are refused", beyond),
        ],
    )
}

const SIDES: [usize; 21] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 31, 32, 33, 36, 63, 64, 65, 97, 129];

fn check<T: Number>(ctx: &Context, product: Product) -> Result<f64, String> {
    Operands::<T>::random(product).check(ctx)
}

fn squares(ctx: &Context) -> Checked {
    let mut worst = 0.0_f64;
    for n in SIDES {
        // Every combination of transposes is a separate kernel, which a driver takes a while to compile.
        let turns = if n % 2 == 0 && n > 8 { &TURNS[n / 2 % 2..n / 2 % 2 + 1] } else { &TURNS[..] };
        for &(a, b) in turns {
            worst = worst.max(check::<f32>(ctx, Product::new(n, n, n).transposed(a, b))?);
        }
    }
    println!("at most {worst:.2} of what is allowed");
    Ok(())
}

fn sides(ctx: &Context) -> Checked {
    let all = [
        (1, 1, 1),
        (1, 1, 300),
        (1, 300, 1),
        (300, 1, 1),
        (5, 7, 300),
        (7, 5, 13),
        (31, 2, 200),
        (32, 32, 512),
        (32, 32, 513),
        (64, 64, 1024),
        (64, 64, 5000),
        (3, 2, 20_011),
        (200, 1, 1000),
        (1, 129, 64),
        (33, 128, 65),
        (130, 66, 1025),
        (257, 131, 31),
    ];
    for ((m, n, k), (a, b)) in sample(ctx, all.iter().flat_map(|&sides| TURNS.map(|turns| (sides, turns)))) {
        check::<f32>(ctx, Product::new(m, n, k).transposed(a, b))?;
    }
    // More terms than the loops of one dispatch may have on any software adapter.
    check::<f32>(ctx, Product::new(2, 3, 70_001).transposed(true, false))?;
    Ok(())
}

fn of_products(forms: &[MatmulForm]) -> Vec<KernelForm> {
    forms.iter().copied().map(KernelForm::Matmul).collect()
}

fn forms(ctx: &Context) -> Checked {
    for (form, sides) in [
        (&[MatmulForm::Tiny][..], &[1, 4, 13, 32][..]),
        (&[MatmulForm::Tile64], &[1, 8, 63, 64, 65, 130]),
        (&[MatmulForm::Tile128], &[1, 7, 127, 128, 129]),
        // `Direct`, with `Tile64` for products in which a row or column does not start at a multiple of four
        // elements.
        (&[MatmulForm::Direct, MatmulForm::Tile64], &[4, 32, 60, 64, 68, 132]),
    ] {
        let forced = alike(ctx).kernels(&of_products(form)).build()?;
        for (n, (a, b)) in sample(ctx, sides.iter().flat_map(|&n| TURNS.map(|turns| (n, turns)))) {
            check::<f32>(&forced, Product::new(n, n, n).transposed(a, b))?;
            check::<f16>(&forced, Product::new(n, n + n % 2, n).transposed(a, b))?;
        }
        if form != [MatmulForm::Tiny] {
            check::<f32>(&forced, Product::new(70, 40, 3001))?;
            check::<f32>(&forced, Product::new(20, 10, 40).batch(7, 1))?;
        }
    }
    // The form for small products refuses a product of 33 rows.
    let tiny = alike(ctx).kernels(&[KernelForm::Matmul(MatmulForm::Tiny)]).build()?;
    let error = check::<f32>(&tiny, Product::new(33, 4, 4)).expect_err("33 rows for a form of 32");
    assert!(error.contains("33 needed"), "{error}");
    Ok(())
}

fn batches(ctx: &Context) -> Checked {
    for (m, n, k) in
        [(1, 1, 1), (2, 3, 4), (8, 8, 8), (16, 16, 16), (17, 5, 9), (32, 32, 32), (40, 33, 20), (70, 65, 64)]
    {
        for (of_a, of_b) in [(1, 1), (3, 3), (1, 5), (5, 1), (37, 37)] {
            for (a, b) in [(false, false), (true, true)] {
                check::<f32>(ctx, Product::new(m, n, k).batch(of_a, of_b).transposed(a, b))?;
            }
        }
    }
    // One left factor serves all right factors, with every combination of C and bias.
    for (c, bias) in [(0, (0, true)), (6, (1, true)), (6, (6, false)), (1, (1, true)), (6, (6, true))] {
        check::<f32>(ctx, Product { c, bias, beta: 0.5, ..Product::new(40, 9, 50).batch(1, 6) })?;
    }
    Ok(())
}

fn many(ctx: &Context) -> Checked {
    let small = [Product::new(2, 3, 2).batch(65_536, 65_536), Product::new(4, 4, 4).batch(65_537, 1)];
    // More than the 65,535 workgroups of one dispatch.
    let beyond = [Product::new(33, 1, 1).batch(700, 1), Product::new(33, 1, 1).batch(66_000, 1)];
    for product in sample(ctx, small.into_iter().chain(beyond)) {
        check::<f32>(ctx, product)?;
    }
    Ok(())
}

const ACTIVATIONS: [Activation; 5] =
    [Activation::None, Activation::Relu, Activation::Gelu, Activation::Tanh, Activation::Sigmoid];

fn endings(ctx: &Context) -> Checked {
    for (m, n, k) in [(5, 7, 9), (16, 16, 16), (66, 70, 40), (6, 40, 3000)] {
        let sums = [(1.0, 0.0, 0), (-0.75, 1.0, 1), (2.5, -3.0, 3), (1.0, 0.0, 3), (0.0, 2.0, 3)];
        let biases = [(0, true), (1, true), (3, false), (3, true), (1, false)];
        for ((alpha, beta, c), bias) in sample(ctx, sums.iter().flat_map(|&sum| biases.map(|bias| (sum, bias)))) {
            let product = Product { alpha, beta, c, bias, ..Product::new(m, n, k).batch(3, 3) };
            check::<f32>(ctx, product)?;
            if bias.0 == 1 {
                check::<f16>(ctx, product)?;
            }
        }
        let products = ACTIVATIONS.map(|activation| Product { activation, ..Product::new(m, n, k).batch(3, 3) });
        let others = products.map(|product| Product { alpha: 0.5, beta: 2.0, c: 3, bias: (1, true), ..product });
        for product in sample(ctx, products.into_iter().chain(others)) {
            check::<f32>(ctx, product)?;
        }
        for product in sample(ctx, products) {
            check::<f16>(ctx, Product { bias: (3, false), ..product })?;
        }
    }
    Ok(())
}

/// Multiplies single values by 1, which shows the result of each activation for extreme arguments.
fn ends(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(7);
    let mut x: Vec<f32> = (0..4000).map(|i| (random.signed() * 2.0_f64.powi(i % 40 - 30)) as f32).collect();
    x.extend([0.0, -0.0, 1e-30, 0.29999, 0.3, -0.3, 9.0, -9.0, 88.0, -88.0, 104.0, -104.0, 1e20, -1e20, 3e38, -3e38]);
    let count = x.len();
    x.extend([f32::INFINITY, f32::NEG_INFINITY, f32::NAN]);
    let column = Array::from_vec(Shape::new(x.len(), 1, 1), x.clone())?;
    let one = Array::from_vec(Shape::new(1, 1, 1), vec![1.0_f32])?;
    for activation in ACTIVATIONS {
        let found = Gemm::new().activation(activation).run(ctx, &column, &one)?.to_host(ctx)?;
        let found = found.as_slice();
        for (&x, &got) in x.iter().zip(found).take(count) {
            let want = activated(activation, x.into());
            let allowed = 32.0 * f64::from(f32::EPSILON) * (1.0 + f64::from(x).abs());
            assert!((f64::from(got) - want).abs() <= allowed, "{activation:?} of {x:e}: {got:e}, in truth {want:e}");
        }
        let [up, down, nan] = [0, 1, 2].map(|i| found[count + i]);
        let (high, low) = match activation {
            Activation::None => (f32::INFINITY, f32::NEG_INFINITY),
            Activation::Tanh => (1.0, -1.0),
            Activation::Sigmoid => (1.0, 0.0),
            _ => (f32::INFINITY, 0.0),
        };
        assert!(up == high && down == low && nan.is_nan(), "{activation:?}: {up} {down} {nan}");
    }
    Ok(())
}

fn halves(ctx: &Context) -> Checked {
    for n in [1, 2, 3, 4, 5, 8, 15, 16, 17, 32, 33, 63, 64, 65, 130] {
        let turns = if [3, 16, 65].contains(&n) { &TURNS[..] } else { &TURNS[n % 2..n % 2 + 1] };
        for &(a, b) in turns {
            check::<f16>(ctx, Product::new(n, n, n).transposed(a, b))?;
        }
    }
    for (m, n, k) in [(1, 1, 301), (7, 2, 3), (2, 7, 5), (31, 5, 2000), (66, 3, 2000), (129, 70, 33)] {
        for (of_a, of_b) in [(3, 3), (1, 3), (3, 1)] {
            check::<f16>(ctx, Product::new(m, n, k).batch(of_a, of_b))?;
        }
    }
    Ok(())
}

/// f16 has no finite values beyond 65,504, so such results become infinity, and results smaller than half of
/// 2^-24 become 0. But partial sums may pass through values that f16 cannot hold.
fn overflow(ctx: &Context) -> Checked {
    for (m, n) in [(1, 1), (4, 4), (3, 5), (40, 33)] {
        let of = |rows, cols, x: Vec<f64>| {
            Array::from_vec(Shape::new(rows, cols, 1), x.into_iter().map(f16::from_f64).collect::<Vec<_>>())
        };
        let numbers = |terms: &[(f64, f64)]| -> fiedler::Result<Vec<f16>> {
            let k = terms.len();
            let a = of(m, k, terms.iter().flat_map(|t| vec![t.0; m]).collect())?;
            let b = of(k, n, (0..n).flat_map(|_| terms.iter().map(|t| t.1)).collect())?;
            Ok(matmul(ctx, &a, &b)?.to_host(ctx)?.as_slice().to_vec())
        };
        for (terms, want) in [
            (&[(256.0, 255.0), (1.0, 224.0)][..], 65_504.0),
            (&[(256.0, 255.0), (1.0, 239.0)], 65_504.0),
            (&[(256.0, 255.0), (1.0, 240.0)], f64::INFINITY),
            (&[(-256.0, 256.0)], f64::NEG_INFINITY),
            (&[(60_000.0, 60_000.0), (60_000.0, -60_000.0), (3.0, 2.0)], 6.0),
            (&[(2.0_f64.powi(-12), 2.0_f64.powi(-12))], 2.0_f64.powi(-24)),
            (&[(2.0_f64.powi(-12), 2.0_f64.powi(-13))], 0.0),
            (&[(2.0_f64.powi(-12), 2.0_f64.powi(-13)), (2.0_f64.powi(-14), 2.0_f64.powi(-14))], 2.0_f64.powi(-24)),
            (&[(f64::INFINITY, 2.0)], f64::INFINITY),
        ] {
            let found = numbers(terms)?;
            assert!(found.iter().all(|x| x.to_f64() == want), "{m} x {n}, {terms:?}: {found:?}");
        }
        assert!(numbers(&[(f64::INFINITY, 0.0)])?.iter().all(|x| x.is_nan()), "{m} x {n}: infinity times 0");
    }
    Ok(())
}

/// All values of f16, and values around every boundary between two of them.
fn conversions(ctx: &Context) -> Checked {
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let mut near: Vec<f32> = Vec::new();
    for pair in all.windows(2) {
        let [x, y] = [pair[0].to_f32(), pair[1].to_f32()];
        if x.is_finite() {
            let middle = if y.is_finite() { (x + y) / 2.0 } else { x * (65_520.0 / 65_504.0) };
            near.extend([x, middle, f32::from_bits(middle.to_bits() + 1), f32::from_bits(middle.to_bits().max(1) - 1)]);
        }
    }
    near.extend([
        1e-30,
        -1e-30,
        1e-45,
        3e38,
        -3e38,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
        65_519.99,
        65_520.0,
    ]);
    // The number of values is odd, so that the last word is half empty.
    near.truncate((near.len() - 1) / 2 * 2 + 1);
    let put = |array: Array<f16>| if ctx.adapter().is_some() { array.to_device(ctx) } else { Ok(array) };
    let wide = put(Array::from_vec(Shape::new(1 << 16, 1, 1), all.clone())?)?.to_f32(ctx)?.to_host(ctx)?;
    for (from, &to) in all.iter().zip(wide.as_slice()) {
        assert!(to.to_bits() == from.to_f32().to_bits() || (to.is_nan() && from.is_nan()), "{from:?} became {to:e}");
    }
    let mut array = Array::from_vec(Shape::new(near.len(), 1, 1), near.clone())?;
    if ctx.adapter().is_some() {
        array = array.to_device(ctx)?;
    }
    let narrow = array.to_f16(ctx)?;
    assert_eq!(narrow.is_resident(), ctx.adapter().is_some());
    let narrow = narrow.to_host(ctx)?;
    for (&from, to) in near.iter().zip(narrow.as_slice()) {
        let want = f16::from_f32(from);
        assert!(
            to.to_bits() == want.to_bits() || (to.is_nan() && from.is_nan()),
            "{from:e} became {to:?}, not {want:?}"
        );
    }
    for shape in [Shape::new(0, 3, 2), Shape::new(3, 1, 1)] {
        let array = Array::from_vec(shape, vec![1.5_f32; shape.len()])?.to_f16(ctx)?.to_f32(ctx)?;
        assert_eq!(array.to_host(ctx)?.as_slice(), vec![1.5; shape.len()]);
    }
    Ok(())
}

fn in_f64(ctx: &Context) -> Checked {
    for n in SIDES {
        for (a, b) in TURNS {
            check::<f64>(ctx, Product::new(n, n, n).transposed(a, b).batch(3, 3))?;
        }
    }
    check::<f64>(ctx, Product::new(5, 3, 40_000))?;
    check::<f64>(
        ctx,
        Product { alpha: -2.0, beta: 3.0, c: 1, bias: (4, true), ..Product::new(20, 30, 10).batch(4, 4) },
    )?;
    Ok(())
}

fn not_finite(ctx: &Context) -> Checked {
    for (m, n, k) in [(6, 5, 7), (16, 16, 16), (70, 66, 40), (9, 8, 3000)] {
        judge_not_finite((m, n, k), |operands| operands.run(ctx))?;
        // An operand that is multiplied by 0 is not read.
        let mut hidden = Operands::<f32>::random(Product { c: 1, beta: 0.0, ..Product::new(m, n, k).batch(3, 3) });
        hidden.c.fill(f32::NAN);
        hidden.check(ctx)?;
    }
    Ok(())
}

fn empty(ctx: &Context) -> Checked {
    for (m, n, k) in [(0, 0, 0), (0, 3, 2), (3, 0, 2), (3, 2, 0), (40, 50, 0), (1, 1, 0)] {
        for (of_a, of_b) in [(0, 0), (1, 0), (0, 1), (1, 1), (3, 3), (3, 1)] {
            for c in [0, 1] {
                let product = Product { c, beta: 2.0, bias: (c, true), ..Product::new(m, n, k).batch(of_a, of_b) };
                check::<f32>(ctx, product)?;
                check::<f16>(ctx, product)?;
            }
        }
    }
    Ok(())
}

fn cuts(ctx: &Context) -> Checked {
    // Products that are cut into batches of small or of large matrices, into blocks of one matrix, and into parts
    // of the terms.
    cut_in::<f32>(
        ctx,
        &[
            ((8, 8, 8, 2000), false, 256 << 10),
            ((33, 70, 65, 40), false, 384 << 10),
            ((401, 333, 20, 1), false, 512 << 10),
            ((300, 333, 20, 2), true, 512 << 10),
            ((130, 60, 3000, 1), false, 1 << 20),
            ((3, 2, 90_001, 1), false, 640 << 10),
            ((3, 2, 90_001, 1), true, 640 << 10),
        ],
    )?;
    cut_in::<f16>(
        ctx,
        &[
            ((33, 70, 65, 40), true, 384 << 10),
            ((401, 333, 20, 1), true, 384 << 10),
            ((130, 60, 3000, 1), true, 640 << 10),
            ((3, 2, 90_001, 1), false, 512 << 10),
        ],
    )
}

/// The numbers of rows, columns, terms and matrices; whether both factors are transposed; and a memory budget
/// that is too small for the whole product.
type Cut = ((usize, usize, usize, usize), bool, u64);

fn cut_in<T: Number>(ctx: &Context, cuts: &[Cut]) -> Checked {
    for &((m, n, k, batch), turned, budget) in sample(ctx, cuts) {
        let product = Product {
            c: 1,
            beta: 0.5,
            bias: (batch, true),
            activation: Activation::Tanh,
            ..Product::new(m, n, k).batch(batch, batch).transposed(turned, turned)
        };
        let operands = Operands::<T>::random(product);
        let found = operands.run(ctx)?;
        operands.judge(&found, 0.0)?;
        let whole = bits(&found);
        assert!(bits(&operands.run(ctx)?) == whole, "{product:?}: twice");
        let small = alike(ctx).memory_budget(budget).build()?;
        let cut = operands.run(&small).map_err(|e| format!("{product:?} in {budget} bytes: {e}"))?;
        assert!(bits(&cut) == whole, "{product:?} in {budget} bytes");
        assert!(small.pool().peak <= budget, "{product:?}: {:?}", small.pool());
        if ctx.adapter().is_some() {
            let (a, b) = operands.arrays()?;
            let there = operands.gemm()?.run(ctx, &a.to_device(ctx)?, &b.to_device(ctx)?)?;
            assert!(there.is_resident() && bits(there.to_host(ctx)?.as_slice()) == whole, "{product:?}: resident");
            let (a, b) = (a.to_device(&small), b.to_device(&small));
            if let (Ok(a), Ok(b)) = (a, b) {
                // The caller's own arrays on the device may leave too little room.
                match operands.gemm()?.run(&small, &a, &b).and_then(|cut| cut.to_host(&small)) {
                    Ok(cut) => {
                        assert!(bits(cut.as_slice()) == whole, "{product:?} in {budget} bytes, resident");
                    }
                    Err(error) => assert!(error.is_out_of_memory(), "{error}"),
                }
            }
            // A matrix alone has the same result as in the batch.
            let mut alone = operands.clone();
            let size = (product.m * product.k, product.k * product.n, product.m);
            let last = product.count() - 1;
            alone.product.batches = (1, 1);
            alone.product.bias.0 = 1;
            alone.a = operands.a[last * size.0..].to_vec();
            alone.b = operands.b[last * size.1..].to_vec();
            alone.bias = operands.bias[last * size.2..].to_vec();
            let end = &found[last * product.m * product.n..];
            assert!(bits(&alone.run(ctx)?) == bits(end), "{product:?}: the last matrix alone");
        }
    }
    Ok(())
}

fn misfits(ctx: &Context) -> Checked {
    let of = |rows, cols, batch| Array::from_vec(Shape::new(rows, cols, batch), vec![1.0_f32; rows * cols * batch]);
    let refused = |found: fiedler::Result<Array>, words: &[&str]| {
        let error = found.map(drop).expect_err("shapes that do not fit");
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
        assert!(words.iter().all(|word| error.to_string().contains(word)), "{error}");
    };
    refused(matmul(ctx, &of(2, 3, 1)?, &of(2, 3, 1)?), &["A (2, 3)", "B (2, 3)"]);
    refused(matmul(ctx, &of(2, 3, 2)?, &of(3, 2, 3)?), &["x 2", "x 3"]);
    let (a, b) = (of(2, 3, 4)?, of(3, 5, 1)?);
    refused(Gemm::new().transpose_a(true).run(ctx, &a, &b), &["A' (3, 2)", "B (3, 5)"]);
    refused(Gemm::new().add(1.0, &of(5, 2, 1)?).run(ctx, &a, &b), &["(2, 5)", "(5, 2)"]);
    refused(Gemm::new().add(0.0, &of(2, 5, 3)?).run(ctx, &a, &b), &["one or 4"]);
    refused(Gemm::new().bias(Bias::Rows(of(5, 1, 1)?)).run(ctx, &a, &b), &["(2, 1)"]);
    refused(Gemm::new().bias(Bias::Columns(of(5, 1, 1)?)).run(ctx, &a, &b), &["(1, 5)", "(5, 1)"]);
    // An outer product whose result exceeds the memory budget.
    let small = alike(ctx).memory_budget(1 << 20).build()?;
    let error = matmul(&small, &of(4000, 1, 1)?, &of(1, 4000, 1)?).map(drop).expect_err("64 MB in one");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }) && error.to_string().contains("64000000"), "{error}");
    Ok(())
}

fn beyond(ctx: &Context) -> Checked {
    let wide = Array::from_vec(Shape::new(2, 2, 1), vec![1.0_f64; 4])?;
    let error = matmul(ctx, &wide, &wide).map(drop).expect_err("f64 on the device");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("f64"), "{error}");
    let narrow = Array::from_vec(Shape::new(2, 2, 1), vec![1.0_f32; 4])?;
    // Under the `Auto` policy, this product runs on the CPU.
    let auto = ctx.with_backend(Backend::Auto);
    assert_eq!(matmul(&auto, &wide, &wide)?.to_host(&auto)?.as_slice(), [2.0; 4]);
    let side = |ctx: &Context| Gemm::<f32>::new().choose(ctx, Shape::new(2, 2, 1), Shape::new(2, 2, 1), false);
    assert_eq!((side(ctx)?.side, side(&auto)?.side), (Side::Gpu, Side::Cpu));
    // An array of another device.
    let other = alike(ctx).build()?;
    let error = matmul(ctx, &narrow.to_device(&other)?, &narrow).map(drop).expect_err("another device's");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    Ok(())
}
