//! `shaders/fft/butterflies.wgsl`: the Fourier transforms of a few points in registers.

use super::wgsl::{Wgsl, joined};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// The radices that the kernels have.
const RADICES: [usize; 9] = [2, 3, 4, 5, 7, 8, 11, 13, 16];

/// Those that may be compiled in.
const KNOWN: [usize; 6] = [2, 3, 4, 5, 8, 16];

/// How many points an invocation may hold.
const SLOTS: [usize; 3] = [8, 16, 26];

/// What is done with every slot; each has a function `NAME_slot` in fft/pass.wgsl, which is called for all of them by `NAME`.
const PHASES: [&str; 10] = [
    "load",
    "gather",
    "gather_real",
    "gather_imaginary",
    "scatter",
    "scatter_real",
    "scatter_imaginary",
    "turn",
    "filter",
    "store",
];

pub fn butterflies() -> String {
    let mut out = Wgsl::file(
        "The transforms of 2, 3, 4, 5, 7, 8, 11, 13 and 16 points that lie side by side in x, from slot i on. Those of odd length take the\n\
         sums and the differences of points that mirror each other. Then what fft/pass.wgsl, to which this is joined, does with every slot.",
    );
    for radix in RADICES {
        out.line("");
        out.block(format!("fn points_{radix}(i: u32)"), |out| match radix {
            2 => two(out),
            4 => four(out),
            8 => eight(out),
            16 => sixteen(out),
            odd => of_odd(out, odd),
        });
    }
    for radix in RADICES {
        out.line("");
        out.block(format!("fn every_{radix}()"), |out| {
            of_every_slot(out, radix, |i| format!("points_{radix}({i}u);"));
        });
    }
    out.line("");
    out.comment("The transforms of a stage: of any, or of one whose radix is compiled in.");
    out.block("fn transform_all(radix: u32)", |out| {
        out.block("switch radix", |out| {
            out.each(RADICES, |radix| format!("case {radix}u: {{ every_{radix}(); }}"));
            out.line("default: {}");
        });
    });
    for stage in 0..4 {
        out.line("");
        out.block(format!("fn transform_{stage}()"), |out| {
            out.each(KNOWN, |radix| format!("if RADIX_{stage} == {radix}u {{ every_{radix}(); }}"));
        });
    }
    for phase in PHASES {
        out.line("");
        let name = match phase {
            "load" | "turn" | "filter" | "store" => format!("{phase}_all"),
            _ => phase.to_owned(),
        };
        out.block(format!("fn {name}(s: Stage)"), |out| {
            of_every_slot(out, 1, |slot| format!("{phase}_slot(s, {slot}u);"));
        });
    }
    out.finish()
}

/// A line for every so many slots that there are.
fn of_every_slot(out: &mut Wgsl, radix: usize, line: impl Fn(usize) -> String) {
    let mut begin = 0;
    for slots in SLOTS {
        let here: Vec<usize> =
            (begin..=slots - radix.min(slots)).step_by(radix).filter(|i| i + radix <= slots).collect();
        let Some(&last) = here.last() else { continue };
        begin = last + radix;
        let lines = |out: &mut Wgsl| here.iter().for_each(|&i| out.line(line(i)));
        if slots == SLOTS[0] {
            lines(out);
        } else {
            out.block(format!("if SLOTS >= {slots}u"), lines);
        }
    }
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

/// Four times four: transforms over every fourth point, turned by the roots of 16, then over those.
fn sixteen(out: &mut Wgsl) {
    points(out, 16);
    for r in 0..4 {
        let names = [0, 4, 8, 12].map(|j| format!("x{}", r + j));
        four_of(out, names.each_ref().map(String::as_str), ["a", "b", "c", "d"][r]);
    }
    for k in 0..4 {
        let turned = ["a", "b", "c", "d"].iter().enumerate().map(|(r, name)| {
            let from = format!("{name}{k}");
            match r * k {
                0 => from,
                4 => format!("vec2<f32>({from}.y, -{from}.x)"),
                power => {
                    let angle = TAU * power as f64 / 16.0;
                    let (c, s) = (number(angle.cos()), number(angle.sin()));
                    let to = format!("t{k}{r}");
                    out.line(format!(
                        "let {to} = vec2<f32>({c} * {from}.x + {s} * {from}.y, {c} * {from}.y - {s} * {from}.x);"
                    ));
                    to
                }
            }
        });
        let turned: Vec<String> = turned.collect();
        let names = [0, 1, 2, 3].map(|r| turned[r].as_str());
        four_of(out, names, &format!("y{k}"));
        out.each(0..4, |j| format!("x[i + {}u] = y{k}{j};", k + 4 * j));
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
