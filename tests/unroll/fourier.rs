//! `shaders/fft/butterflies.wgsl`: the Fourier transforms of a few points in registers.

use super::wgsl::{Wgsl, joined};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// The radices that the kernels have.
const RADICES: [usize; 8] = [2, 3, 4, 5, 7, 8, 11, 13];

pub fn butterflies() -> String {
    let mut out = Wgsl::file(
        "The transforms of 2, 3, 4, 5, 7, 8, 11 and 13 points that lie side by side in x, from slot i on. Those of odd length take the\n\
         sums and the differences of points that mirror each other. Joined to fft/pass.wgsl.",
    );
    for radix in RADICES {
        out.line("");
        out.block(format!("fn transform_{radix}(i: u32)"), |out| match radix {
            2 => two(out),
            4 => four(out),
            8 => eight(out),
            odd => of_odd(out, odd),
        });
    }
    out.line("");
    out.comment("The transform of every `radix` slots.");
    out.block("fn transform()", |out| {
        out.block("switch radix", |out| {
            for radix in RADICES {
                let each = format!("for (var i = 0u; i + {radix}u <= SLOTS; i += {radix}u)");
                out.line(format!("case {radix}u: {{ {each} {{ transform_{radix}(i); }} }}"));
            }
            out.line("default: {}");
        });
    });
    out.finish()
}

fn points(out: &mut Wgsl, radix: usize) {
    out.each(0..radix, |j| format!("let x{j} = x[i + {j}u];"));
}

fn two(out: &mut Wgsl) {
    points(out, 2);
    out.line("x[i] = x0 + x1;");
    out.line("x[i + 1u] = x0 - x1;");
}

/// Four points named `from` into four named `to`.
fn four_of(out: &mut Wgsl, from: [&str; 4], to: &str) {
    let [a, b, c, d] = from;
    out.line(format!("let {to}p = {a} + {c};"));
    out.line(format!("let {to}m = {a} - {c};"));
    out.line(format!("let {to}q = {b} + {d};"));
    out.line(format!("let {to}n = {b} - {d};"));
    out.line(format!("let {to}0 = {to}p + {to}q;"));
    out.line(format!("let {to}1 = vec2<f32>({to}m.x + {to}n.y, {to}m.y - {to}n.x);"));
    out.line(format!("let {to}2 = {to}p - {to}q;"));
    out.line(format!("let {to}3 = vec2<f32>({to}m.x - {to}n.y, {to}m.y + {to}n.x);"));
}

fn four(out: &mut Wgsl) {
    points(out, 4);
    four_of(out, ["x0", "x1", "x2", "x3"], "y");
    out.each(0..4, |k| format!("x[i + {k}u] = y{k};"));
}

fn eight(out: &mut Wgsl) {
    points(out, 8);
    four_of(out, ["x0", "x2", "x4", "x6"], "e");
    four_of(out, ["x1", "x3", "x5", "x7"], "o");
    let half = number(FRAC_1_SQRT_2);
    out.line(format!("let t1 = {half} * vec2<f32>(o1.x + o1.y, o1.y - o1.x);"));
    out.line("let t2 = vec2<f32>(o2.y, -o2.x);");
    out.line(format!("let t3 = {half} * vec2<f32>(o3.y - o3.x, -o3.x - o3.y);"));
    for (k, turned) in ["o0", "t1", "t2", "t3"].iter().enumerate() {
        out.line(format!("x[i + {k}u] = e{k} + {turned};"));
        out.line(format!("x[i + {}u] = e{k} - {turned};", k + 4));
    }
}

fn of_odd(out: &mut Wgsl, radix: usize) {
    let half = radix / 2;
    points(out, radix);
    for j in 1..=half {
        out.line(format!("let p{j} = x{j} + x{};", radix - j));
        out.line(format!("let m{j} = x{j} - x{};", radix - j));
    }
    out.line(format!("x[i] = x0 + {};", joined(half, " + ", |j| format!("p{}", j + 1))));
    for k in 1..=half {
        let angle = |j: usize| TAU * ((j * k) % radix) as f64 / radix as f64;
        let even = joined(half, " + ", |j| format!("{} * p{}", number(angle(j + 1).cos()), j + 1));
        let odd = joined(half, " + ", |j| format!("{} * m{}", number(angle(j + 1).sin()), j + 1));
        out.line(format!("let a{k} = x0 + ({even});"));
        out.line(format!("let b{k} = {odd};"));
        out.line(format!("x[i + {k}u] = vec2<f32>(a{k}.x + b{k}.y, a{k}.y - b{k}.x);"));
        out.line(format!("x[i + {}u] = vec2<f32>(a{k}.x - b{k}.y, a{k}.y + b{k}.x);", radix - k));
    }
}

/// The nearest f32, in the fewest digits that tell it, in brackets where it is negative.
fn number(x: f64) -> String {
    let x = x as f32;
    if x < 0.0 { format!("({x:?})") } else { format!("{x:?}") }
}
