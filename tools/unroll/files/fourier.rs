//! Generates `shaders/generated/fft/butterflies.wgsl`: the Fourier transforms of a few points in registers.

use super::wgsl::{Wgsl, joined};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// The radices of the kernels, in the order of the stages.
const RADICES: [usize; 9] = [13, 11, 7, 5, 3, 2, 4, 8, 16];

/// The radices of the lengths whose stages are compiled in, which are the powers of two.
const KNOWN: [usize; 4] = [2, 4, 8, 16];

/// The radices that a middle stage has if it is compiled in (src/ops/fft/plan.rs: stages have similar radices).
const KNOWN_MIDDLE: [usize; 2] = [8, 16];

/// The radices that no convolution has (`check_plan` in src/ops/fft/plan.rs).
const NOT_MIRRORED: [usize; 2] = [2, 13];

pub fn butterflies() -> String {
    let mut out = Wgsl::file(
        "The transforms of a few points in registers, and the stages made of them. Transforms of odd length compute with the sums and differences\n\
         of points that mirror each other. Every index into x is a constant, so that points stay in registers. Needs fft/pass.wgsl.",
    );
    for radix in RADICES {
        out.line("");
        out.block(format!("fn points_{radix}()"), |out| match radix {
            2 => two(out),
            4 => four(out),
            8 => eight(out),
            16 => sixteen(out),
            odd => of_odd(out, odd),
        });
        let each_point = |out: &mut Wgsl, name: &str, line: &str| {
            out.line("");
            out.block(format!("fn {name}_{radix}(at: Place)"), |out| {
                out.each(0..radix, |q| line.replace("{}", &format!("{q}u")));
            });
        };
        each_point(&mut out, "take", "x[{}] = points[bank(at.begin + {} * at.stride)];");
        each_point(&mut out, "put", "points[bank(at.begin + {} * at.stride)] = x[{}];");
        out.line("");
        out.block(format!("fn turn_{radix}(at: Place)"), |out| {
            powers(out, radix, |power| format!("tables[at.twiddle + {}u * at.stride]", power - 1));
            out.each(1..radix, |q| format!("x[{q}u] = by(x[{q}u], w{q});"));
        });
        out.line("");
        out.block(format!("fn stage_{radix}(now: Stage, mirrored: bool)"), |out| stage(out, radix));
        out.line("");
        out.block(format!("fn every_{radix}(begin: Stage, mirrored: bool) -> Stage"), |out| every(out, radix));
    }
    let mirrored = RADICES.into_iter().rev().filter(|radix| !NOT_MIRRORED.contains(radix)).collect();
    for (name, radices) in [("every", RADICES.to_vec()), ("every_mirrored", mirrored)] {
        out.line("");
        out.comment(match name {
            "every" => "Runs all stages from stage `begin` on.",
            _ => "Runs all stages in reverse order, so that the result is in the order that the next transform takes.",
        });
        out.block(format!("fn {name}(begin: Stage)"), |out| {
            out.line("var now = begin;");
            out.each(radices, |radix| {
                // naga computes `|` of overrides when a pipeline is made, and makes a branch of `||`.
                match (name, KNOWN_MIDDLE.contains(&radix)) {
                    ("every", true) => {
                        format!("if (MIDDLE == 0u) | (MIDDLE == {radix}u) {{ now = every_{radix}(now, false); }}")
                    }
                    ("every", false) => format!("if MIDDLE == 0u {{ now = every_{radix}(now, false); }}"),
                    _ => format!("now = every_{radix}(now, true);"),
                }
            });
        });
    }
    out.line("");
    out.comment("The butterfly of the first stage, if its radix is compiled in: from the input into workgroup memory.");
    out.block("fn first_butterfly(lines: Lines, element: u32, each: u32, at: Place)", |out| {
        of_known(out, "FIRST", |q| format!("x[{q}u] = brought(lines, element + {q}u * each);"));
        out.each(KNOWN, |radix| format!("if FIRST == {radix}u {{ points_{radix}(); put_{radix}(at); }}"));
    });
    out.line("");
    out.comment(
        "Multiplies the points of `element` and of every `each`-th element after it by their roots between two passes.",
    );
    out.block("fn turn_between(element: u32, each: u32, digits: Digits)", |out| {
        out.line("let w0 = roots(element * digits);");
        out.line("x[0u] = by_each(x[0u], w0);");
        for q in 1..16_usize {
            let high = 1 << q.ilog2();
            if q == high {
                out.line(format!("let r{q} = roots({q}u * each * digits);"));
            }
            out.line(format!("let w{q} = by_each(w{}, r{high});", q - high));
            out.line(format!("x[{q}u] = by_each(x[{q}u], w{q});"));
            if KNOWN.contains(&(q + 1)) && q < 15 {
                out.line(format!("if LAST == {}u {{ return; }}", q + 1));
            }
        }
    });
    out.line("");
    out.comment("The butterfly of the last stage, if its radix is compiled in: from workgroup memory to the output.");
    out.block("fn last_butterfly(at: Place, lines: Lines, element: u32)", |out| {
        out.each(KNOWN, |radix| {
            format!("if LAST == {radix}u {{ take_{radix}(at); turn_{radix}(at); points_{radix}(); }}")
        });
        out.line("if TURN { turn_between(element, at.stride, digits_of(lines)); }");
        of_known(out, "LAST", |q| format!("put_out(lines, element + {q}u * at.stride, x[{q}u]);"));
    });
    out.finish()
}

/// Writes a line for each point of a radix that is compiled in.
fn of_known(out: &mut Wgsl, radix: &str, line: impl Fn(usize) -> String) {
    let mut begin = 0;
    for known in KNOWN {
        out.block(format!("if {radix} >= {known}u"), |out| out.each(begin..known, &line));
        begin = known;
    }
}

/// Writes the powers `w1`, `w2`, ... of a root. Those whose exponent is a power of two are read with `found`, and the
/// others are computed as products of at most four of these, because this needs fewer reads.
fn powers(out: &mut Wgsl, radix: usize, found: impl Fn(usize) -> String) {
    for q in 1..radix {
        let high = 1 << q.ilog2();
        out.line(if q == high {
            format!("let w{q} = {};", found(q))
        } else {
            format!("let w{q} = times(w{high}, w{});", q - high)
        });
    }
}

/// Writes the butterflies of one stage.
fn stage(out: &mut Wgsl, radix: usize) {
    out.line(format!("let each = params.length / {radix}u;"));
    out.line("let count = own_count * each;");
    out.line("var b = lane;");
    out.block("loop", |out| {
        out.block("if b < count", |out| {
            out.line(format!("let at = place(b, each, {radix}u, now.stride);"));
            out.line(format!("take_{radix}(at);"));
            out.line(format!("if !mirrored {{ turn_{radix}(at); }}"));
            out.line(format!("points_{radix}();"));
            out.line(format!("if mirrored {{ turn_{radix}(at); }}"));
            out.line(format!("put_{radix}(at);"));
        });
        out.line("continuing { b += WIDTH; break if b >= count; }");
    });
}

/// Writes all stages of a radix, which are consecutive.
fn every(out: &mut Wgsl, radix: usize) {
    out.line("var now = begin;");
    out.block(format!("if radix_of(now.number) == {radix}u"), |out| {
        out.block("loop", |out| {
            out.line(format!("stage_{radix}(now, mirrored);"));
            out.line("workgroupBarrier();");
            out.line("now = next(now, mirrored);");
            out.line(format!("continuing {{ break if radix_of(now.number) != {radix}u; }}"));
        });
    });
    out.line("return now;");
}

fn points(out: &mut Wgsl, radix: usize) {
    out.each(0..radix, |j| format!("let x{j} = x[{j}u];"));
}

fn two(out: &mut Wgsl) {
    points(out, 2);
    out.line("x[0u] = x0 + x1;");
    out.line("x[1u] = x0 - x1;");
}

/// Writes the transform of the four points named `from` into four named `to`.
fn four_of(out: &mut Wgsl, from: [&str; 4], to: &str) {
    let [a, b, c, d] = from;
    out.line(format!("let {to}p = {a} + {c};"));
    out.line(format!("let {to}m = {a} - {c};"));
    out.line(format!("let {to}q = {b} + {d};"));
    out.line(format!("let {to}n = {b} - {d};"));
    out.line(format!("let {to}0 = {to}p + {to}q;"));
    out.line(format!("let {to}1 = {to}m + quarter({to}n);"));
    out.line(format!("let {to}2 = {to}p - {to}q;"));
    out.line(format!("let {to}3 = {to}m - quarter({to}n);"));
}

fn four(out: &mut Wgsl) {
    points(out, 4);
    four_of(out, ["x0", "x1", "x2", "x3"], "y");
    out.each(0..4, |k| format!("x[{k}u] = y{k};"));
}

fn eight(out: &mut Wgsl) {
    points(out, 8);
    four_of(out, ["x0", "x2", "x4", "x6"], "e");
    four_of(out, ["x1", "x3", "x5", "x7"], "o");
    let half = number(FRAC_1_SQRT_2);
    out.line(format!("let t1 = {half} * (o1 + quarter(o1));"));
    out.line("let t2 = quarter(o2);");
    out.line(format!("let t3 = {half} * (quarter(o3) - o3);"));
    for (k, turned) in ["o0", "t1", "t2", "t3"].iter().enumerate() {
        out.line(format!("x[{k}u] = e{k} + {turned};"));
        out.line(format!("x[{}u] = e{k} - {turned};", k + 4));
    }
}

/// Writes the transform of 16 points as two steps of transforms of four points: first over every fourth point, then,
/// after multiplication by the 16th roots of unity, over the results.
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
                4 => format!("quarter({from})"),
                power => {
                    let angle = TAU * power as f64 / 16.0;
                    let (c, s) = (number(angle.cos()), number(angle.sin()));
                    let to = format!("t{k}{r}");
                    out.line(format!("let {to} = {c} * {from} + {s} * quarter({from});"));
                    to
                }
            }
        });
        let turned: Vec<String> = turned.collect();
        let names = [0, 1, 2, 3].map(|r| turned[r].as_str());
        four_of(out, names, &format!("y{k}"));
        out.each(0..4, |j| format!("x[{}u] = y{k}{j};", k + 4 * j));
    }
}

fn of_odd(out: &mut Wgsl, radix: usize) {
    let half = radix / 2;
    points(out, radix);
    for j in 1..=half {
        out.line(format!("let p{j} = x{j} + x{};", radix - j));
        out.line(format!("let m{j} = x{j} - x{};", radix - j));
    }
    out.line(format!("x[0u] = x0 + {};", joined(half, " + ", |j| format!("p{}", j + 1))));
    for k in 1..=half {
        let angle = |j: usize| TAU * ((j * k) % radix) as f64 / radix as f64;
        let even = joined(half, " + ", |j| format!("{} * p{}", number(angle(j + 1).cos()), j + 1));
        let odd = joined(half, " + ", |j| format!("{} * m{}", number(angle(j + 1).sin()), j + 1));
        out.line(format!("let a{k} = x0 + ({even});"));
        out.line(format!("let b{k} = {odd};"));
        out.line(format!("x[{k}u] = a{k} + quarter(b{k});"));
        out.line(format!("x[{}u] = a{k} - quarter(b{k});", radix - k));
    }
}

/// Returns the nearest f32 as text, with the fewest digits that identify it, and in parentheses if it is negative.
fn number(x: f64) -> String {
    let x = x as f32;
    if x < 0.0 { format!("({x:?})") } else { format!("{x:?}") }
}
