//! Generates `shaders/generated/eigen/lane_N.wgsl` and `shaders/generated/jacobi/register_N.wgsl`: one-sided Jacobi
//! with a pair of columns at each place of a ring, in registers, in the order of `shaders/shared/ring.wgsl`.

use super::wgsl::{Wgsl, joined, largest};
use std::ops::Range;

/// The orders N of the form that exchanges columns through a subgroup, with N / 2 lanes per matrix.
pub const LANES: [usize; 3] = [8, 16, 32];
/// The orders N of the form that exchanges columns through workgroup memory, with 2 N invocations per matrix.
pub const REGISTERS: [usize; 8] = [16, 32, 48, 64, 80, 96, 112, 128];

/// The number of invocations of a workgroup in the form for a subgroup.
const WIDTH: usize = 128;
/// The number of invocations at a place in the form for a workgroup. Each of them has every fourth group of four rows.
const PARTS: usize = 4;
/// The columns' share, in vec4s, of the 16 KiB of workgroup memory that WebGPU guarantees.
const MEMORY: usize = (16 << 10) / 16 - 96;

/// The column that moves to a neighbor.
#[derive(Clone, Copy)]
enum Goes {
    /// y, which comes from the next place.
    Y,
    /// x, which comes from the previous place. Place 0 exchanges its two columns.
    X,
}

impl Goes {
    /// Returns the names of the column, of its squared norm, and of its origin.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Y => ("y", "b", "after"),
            Self::X => ("x", "a", "before"),
        }
    }

    /// Writes the assignment that puts the value named `arrived` into the pair of values named `x` and `y`.
    fn settle(self, out: &mut Wgsl, x: &str, y: &str, arrived: &str) {
        match self {
            Self::Y => out.line(format!("{y} = {arrived};")),
            Self::X => {
                out.line(format!("{x} = select({arrived}, {y}, swaps);"));
                out.line(format!("{y} = select({y}, {arrived}, swaps);"));
            }
        }
    }
}

/// The pair of columns at a place. Each invocation has `count` groups of four rows of both columns.
#[derive(Clone, Copy)]
struct Groups {
    count: usize,
}

impl Groups {
    fn all(self) -> Range<usize> {
        0..self.count
    }

    fn product(self, x: &str, y: &str) -> String {
        joined(self.count, " + ", |q| format!("dot({x}{q}, {y}{q})"))
    }

    /// Returns both columns of the pair: the name, its component in a vec2, and the group of rows.
    fn both(self) -> impl Iterator<Item = (&'static str, &'static str, usize)> {
        ["x", "y"].into_iter().flat_map(move |x| self.all().map(move |q| (x, x, q)))
    }

    /// Writes the rotation of the pair, whose inner product is `product`. The variable named `steepest` is updated with
    /// the cosine that the columns have before the rotation.
    fn turn(self, out: &mut Wgsl, product: &str, steepest: Option<&str>) {
        out.line(format!("let z = {product};"));
        out.line("let r = select(vec2<f32>(1.0, 0.0), rotation(a, b, z, tolerance), plays);");
        out.line("turned = turned | (r.y != 0.0);");
        if let Some(name) = steepest {
            out.line(format!("{name} = max({name}, select(0.0, cosine(a, b, z), plays));"));
        }
        out.line("let squares = turned_squares(a, b, z, r);");
        out.line("a = squares.x;");
        out.line("b = squares.y;");
        for q in self.all() {
            out.line(format!("let t{q} = x{q} * r.x - y{q} * r.y;"));
            out.line(format!("y{q} = x{q} * r.y + y{q} * r.x;"));
            out.line(format!("x{q} = t{q};"));
        }
    }

    /// Writes the loads of the pair from memory; `row` names the group of rows.
    fn load(self, out: &mut Wgsl, row: impl Fn(usize) -> String) {
        out.line("let columns = columns_at(place, pairs, 0u);");
        out.each(self.all(), |q| format!("var x{q} = quad(m, columns.x, {});", row(q)));
        out.each(self.all(), |q| format!("var y{q} = quad(m, columns.y, {});", row(q)));
    }

    /// Writes the stores of the pair, at the positions to which the sweeps have moved the columns.
    fn store(self, out: &mut Wgsl, row: impl Fn(usize) -> String) {
        out.line("let now = columns_at(place, pairs, select(0u, pairs, made % 2u == 1u));");
        out.each(self.all(), |q| format!("put(m, now.x, {}, x{q});", row(q)));
        out.each(self.all(), |q| format!("put(m, now.y, {}, y{q});", row(q)));
    }
}

/// Returns the form for a subgroup: a place is a lane, and the matrix never leaves the registers.
pub fn lane(n: usize) -> String {
    let (lanes, groups) = (n / 2, Groups { count: n / 4 });
    let mut out = Wgsl::file(&format!(
        "Order {n} of the eigendecomposition in the registers of {lanes} lanes, see eigen/small.wgsl and eigen/lane.wgsl."
    ));
    out.line("");
    out.line(format!("const LANES: u32 = {lanes}u;"));
    out.line("");
    out.line("// Returns the largest x of the lanes of a matrix.");
    out.block("fn most(x: u32) -> u32", |out| {
        out.line("var largest = x;");
        let doublings = (0..lanes.ilog2()).map(|k| 1 << k);
        out.each(doublings, |d| format!("largest = max(largest, subgroupShuffleXor(largest, {d}u));"));
        out.line("return largest;");
    });
    out.line("");
    out.line(format!("@compute @workgroup_size({WIDTH})"));
    out.line("fn main(");
    out.line("    @builtin(workgroup_id) group: vec3<u32>, @builtin(subgroup_id) subgroup: u32,");
    out.line("    @builtin(subgroup_size) size_of_subgroup: u32, @builtin(subgroup_invocation_id) lane: u32,");
    out.block(")", |out| {
        out.line("let place = lane % LANES;");
        out.line("let base = lane - place;");
        out.line(format!("let index = group.x * {}u + (subgroup * size_of_subgroup + lane) / LANES;", WIDTH / lanes));
        out.line("let here = index < params.count;");
        out.line("var m = Matrix(0u, 0u, 0u, 0u);");
        out.line("if here { m = matrix_of(table[params.first + index]); }");
        out.line("let pairs = max((m.order + 1u) / 2u, 1u);");
        lane_prepare(out, n, groups);
        lane_sweeps(out, groups);
        lane_finish(out, n, groups);
    });
    out.finish()
}

fn lane_prepare(out: &mut Wgsl, n: usize, groups: Groups) {
    out.line("// A lane without a pair has columns beyond the order.");
    out.line(format!("var columns = select(vec2<u32>({n}u), columns_at(place, pairs, 0u), place < pairs);"));
    out.each(groups.both(), |(x, c, q)| format!("var {x}{q} = quad(m, columns.{c}, {q}u);"));
    let peaks = |x: &str| largest(groups.count, |q| format!("peak({x}{q})"));
    out.line(format!("let bits = most(max({}, {}));", peaks("x"), peaks("y")));
    out.line("let finite = bits < INFINITE;");
    out.line("let e = matrix_exponent(bits);");
    out.each(groups.both(), |(x, _, q)| format!("{x}{q} = quad_scaled_down({x}{q}, e);"));
    for x in ["x", "y"] {
        let sizes = joined(groups.count, " + ", |q| format!("size({x}{q})"));
        let center = joined(groups.count, " + ", |q| format!("dot({x}{q}, unit(columns.{x}, {q}u))"));
        out.line(format!("let disc_{x} = disc({sizes}, {center});"));
    }
    out.line("let norm = most_of(max(disc_x.x, disc_y.x));");
    out.line("let shift = select(most_of(max(disc_x.y, disc_y.y)) + 0.05 * norm, 1.0, bits == 0u);");
    out.each(groups.both(), |(x, c, q)| format!("{x}{q} += shift * unit(columns.{c}, {q}u);"));
    out.line("");
}

fn lane_sweeps(out: &mut Wgsl, groups: Groups) {
    out.line("// Two columns count as orthogonal if their inner product is at most its rounding error.");
    out.line("let tolerance = 1.1920929e-7 * max(4.0, sqrt(f32(m.order)));");
    out.line("let rounds = subgroupMax(pairs);");
    out.line("var made = 0u;");
    out.line("var goes_on = finite && m.order > 1u;");
    out.line("// The largest cosine of a sweep. In the last sweep, which rotates nothing, this is max |v_i'v_j|.");
    out.line("var steepest = 0.0;");
    out.block("for (var sweep = 0u; sweep < params.sweeps; sweep += 1u)", |out| {
        out.line("if !subgroupAny(goes_on) { break; }");
        out.line("steepest = select(steepest, 0.0, goes_on);");
        out.line(format!("var a = {};", groups.product("x", "x")));
        out.line(format!("var b = {};", groups.product("y", "y")));
        out.line("var turned = false;");
        out.block("for (var k = 0u; k < rounds; k += 1u)", |out| {
            out.line("let plays = goes_on && k < pairs && place < pairs;");
            out.line("let swaps = plays && place == 0u;");
            out.line("let after = select(lane, base + select(place + 1u, 0u, place + 1u == pairs), plays);");
            out.line("let before = select(lane, base + select(place - 1u, pairs - 1u, place == 0u), plays);");
            for goes in [Goes::Y, Goes::X] {
                out.block("", |out| {
                    groups.turn(out, &groups.product("x", "y"), Some("steepest"));
                    let (column, square, from) = goes.names();
                    for q in groups.all() {
                        out.line(format!("let in{q} = subgroupShuffle({column}{q}, {from});"));
                        goes.settle(out, &format!("x{q}"), &format!("y{q}"), &format!("in{q}"));
                    }
                    out.line(format!("let in_square = subgroupShuffle({square}, {from});"));
                    goes.settle(out, "a", "b", "in_square");
                });
            }
        });
        out.line("made += select(0u, 1u, goes_on);");
        out.line("goes_on = goes_on & (most(select(0u, 1u, turned)) == 1u);");
    });
    out.line("");
}

fn lane_finish(out: &mut Wgsl, n: usize, groups: Groups) {
    out.line("// v = w / |w|, and a first approximation g of each eigenvalue.");
    out.line("let now = columns_at(place, pairs, select(0u, pairs, made % 2u == 1u));");
    out.line(format!("columns = select(vec2<u32>({n}u), now, place < pairs);"));
    for x in ["x", "y"] {
        out.line(format!("let real_{x} = columns.{x} < m.order;"));
        out.line(format!("let square_{x} = select(1.0, {}, real_{x});", groups.product(x, x)));
        out.line(format!("let inverse_{x} = reciprocal_sqrt(square_{x});"));
        out.each(groups.all(), |q| format!("{x}{q} *= inverse_{x};"));
        out.line(format!("let g_{x} = clamp(square_{x} * inverse_{x} - shift, -norm, norm);"));
        out.line(format!("var sums_{x} = vec2<f32>();"));
    }
    out.line("// The residual A v - g v, four rows at a time.");
    out.block("for (var q = 0u; 4u * q < m.order; q += 1u)", |out| {
        out.line("var x = vec4<f32>();");
        out.line("var y = vec4<f32>();");
        out.each(groups.all(), |q| format!("if q == {q}u {{ x = x{q}; y = y{q}; }}"));
        for i in 0..4 {
            out.block("", |out| {
                out.each(groups.all(), |q| format!("let row{q} = quad_scaled_down(quad(m, 4u * q + {i}u, {q}u), e);"));
                for x in ["x", "y"] {
                    let product = joined(groups.count, " + ", |q| format!("dot(row{q}, {x}{q})"));
                    out.line(format!("sums_{x} += remainder({product}, g_{x}, {x}[{i}]);"));
                }
            });
        }
    });
    out.line("var residual = 0u;");
    out.line("var departure = magnitude_bits(steepest);");
    for x in ["x", "y"] {
        out.line(format!("let pair_{x} = pair_of(g_{x}, sums_{x}, e);"));
        let away = format!("magnitude_bits({} - 1.0)", groups.product(x, x));
        out.block(format!("if real_{x}"), |out| {
            out.line(format!("residual = max(residual, pair_{x}.residual);"));
            out.line(format!("departure = max(departure, {away});"));
        });
        out.line(format!("let key_{x} = select(KEY_OF_NAN, pair_{x}.key, real_{x});"));
        out.line(format!("var rank_{x} = 0u;"));
    }
    out.line("residual = most(residual);");
    out.line("departure = most(departure);");
    out.line("// Equal eigenvalues keep their order.");
    out.block("for (var other = 0u; other < LANES; other += 1u)", |out| {
        out.line("let x = subgroupShuffle(key_x, base + other);");
        out.line("let y = subgroupShuffle(key_y, base + other);");
        out.line("rank_x += select(0u, 1u, x < key_x || (x == key_x && other < place));");
        out.line("rank_x += select(0u, 1u, y < key_x || (y == key_x && other < place));");
        out.line("rank_y += select(0u, 1u, x < key_y || (x == key_y && other <= place));");
        out.line("rank_y += select(0u, 1u, y < key_y || (y == key_y && other < place));");
    });
    out.line("if here && place == 0u { certificate(m, finite, !goes_on, made, norm, residual, departure); }");
    out.line("");
    out.line("// If a matrix is not finite, its eigenvalues are NaN, made from bits at run time, and its eigenvectors are 0.");
    out.line("let nothing = bitcast<f32>(0x7fc00000u | min(params.first, 1u));");
    for x in ["x", "y"] {
        out.block(format!("if real_{x}"), |out| {
            out.line(format!("let rank = select(columns.{x}, rank_{x}, finite);"));
            out.line(format!("values[m.rows + rank] = select(nothing, pair_{x}.given, finite);"));
            out.block("if params.vectors != 0u", |out| {
                out.each(groups.all(), |q| format!("put(m, rank, {q}u, select(vec4<f32>(), {x}{q}, finite));"));
            });
        });
    }
}

/// Returns the form for a workgroup: a place is four invocations, each with every fourth group of four rows.
pub fn register(n: usize) -> String {
    let (places, groups) = (n / 2, Groups { count: n / 4 / PARTS });
    let width = places * PARTS;
    let at_once = groups.count.div_ceil(groups.count.div_ceil(MEMORY / width));
    let mut out = Wgsl::file(&format!(
        "Sweeps of one-sided Jacobi up to order {n} in the registers of a workgroup, see jacobi/register.wgsl. Each matrix has\n\
         a workgroup, and each pair of columns has four invocations. Columns are exchanged through workgroup memory, {at_once} of {} groups of\n\
         rows at a time.\n\
         Loop iterations of an invocation and sweep: {}.",
        groups.count,
        n / 2 + 1,
    ));
    out.line("");
    out.line(format!("const PLACES: u32 = {places}u;"));
    out.line(format!("const WIDTH: u32 = {width}u;"));
    out.line("");
    out.line(format!("var<workgroup> moving: array<vec4<f32>, WIDTH * {at_once}u>;"));
    out.line("var<workgroup> squares_moving: array<f32, PLACES>;");
    out.line("var<workgroup> partial: array<f32, WIDTH>;");
    out.line("var<workgroup> shared_order: u32;");
    out.line("var<workgroup> shared_word: u32;");
    out.line("var<workgroup> rotations: atomic<u32>;");
    out.line("var<workgroup> shared_rotations: u32;");
    out.line("");
    out.line(
        "// Returns the sum of x over the invocations of a pair of columns. A barrier must precede the next write to `partial`.",
    );
    out.block("fn total(lane: u32, x: f32) -> f32", |out| {
        out.line("partial[lane] = x;");
        out.line("workgroupBarrier();");
        out.line("let first = lane / 4u * 4u;");
        out.line("return (partial[first] + partial[first + 1u]) + (partial[first + 2u] + partial[first + 3u]);");
    });
    out.line("");
    out.line("@compute @workgroup_size(WIDTH)");
    out.block("fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32)", |out| {
        out.line("var m = matrix_of(table[params.first + group.x]);");
        out.block("if lane == 0u", |out| {
            out.line(format!("shared_order = min(m.order, {n}u);"));
            out.line("shared_word = state[m.place].x;");
        });
        out.line("m.order = workgroupUniformLoad(&shared_order);");
        out.line("var word = workgroupUniformLoad(&shared_word);");
        out.line("let pairs = max((m.order + 1u) / 2u, 1u);");
        out.line("let place = lane / 4u;");
        out.line("let part = lane % 4u;");
        groups.load(out, |q| format!("part + {}u", q * PARTS));
        out.line("// At the end, columns take the places of others, which are read here.");
        out.line("storageBarrier();");
        out.line("");
        out.line("let plays = place < pairs;");
        out.line("let swaps = place == 0u;");
        out.line("let after = select(lane, select(place + 1u, 0u, place + 1u == pairs) * 4u + part, plays);");
        out.line("let before = select(lane, select(place - 1u, pairs - 1u, place == 0u) * 4u + part, plays);");
        out.line("// Two columns count as orthogonal if their inner product is at most its rounding error.");
        out.line("let tolerance = 1.1920929e-7 * max(4.0, sqrt(f32(m.order)));");
        // The other kernels are given larger matrices.
        if n == REGISTERS[0] {
            out.line("if m.order <= 1u { word |= FLAG_ORTHOGONAL; }");
        }
        out.line("var made = 0u;");
        out.block(
            "for (; made < params.sweeps && (word & (FLAG_ORTHOGONAL | FLAG_NON_FINITE)) == 0u; made += 1u)",
            |out| {
                out.line("if lane == 0u { atomicStore(&rotations, 0u); }");
                out.line(format!("var a = total(lane, {});", groups.product("x", "x")));
                out.line("workgroupBarrier();");
                out.line(format!("var b = total(lane, {});", groups.product("y", "y")));
                out.line("workgroupBarrier();");
                out.line("var turned = false;");
                out.block("for (var k = 0u; k < pairs; k += 1u)", |out| {
                    for goes in [Goes::Y, Goes::X] {
                        out.block("", |out| {
                            groups.turn(out, &format!("total(lane, {})", groups.product("x", "y")), None);
                            exchange(out, groups, at_once, goes);
                        });
                    }
                });
                out.line("if turned { atomicMax(&rotations, 1u); }");
                out.line("workgroupBarrier();");
                out.line("if lane == 0u { shared_rotations = atomicLoad(&rotations); }");
                out.line("word += SWEEP;");
                out.line("if workgroupUniformLoad(&shared_rotations) == 0u { word |= FLAG_ORTHOGONAL; }");
            },
        );
        out.line("");
        out.block("if plays && made > 0u", |out| groups.store(out, |q| format!("part + {}u", q * PARTS)));
        out.line("if lane == 0u { state[m.place].x = word; }");
    });
    out.finish()
}

/// Writes the exchange of a column with the neighbor through workgroup memory. The barrier in the function `total`
/// separates this exchange from the previous one.
fn exchange(out: &mut Wgsl, groups: Groups, at_once: usize, goes: Goes) {
    let (column, square, from) = goes.names();
    out.line(format!("if part == 0u {{ squares_moving[place] = {square}; }}"));
    let all: Vec<usize> = groups.all().collect();
    for (step, some) in all.chunks(at_once).enumerate() {
        if step > 0 {
            out.line("workgroupBarrier();");
        }
        let slot = |q: usize, who: &str| format!("moving[{who} + {}u * WIDTH]", q - some[0]);
        out.each(some, |&q| format!("{} = {column}{q};", slot(q, "lane")));
        out.line("workgroupBarrier();");
        for &q in some {
            out.line(format!("let in{q} = {};", slot(q, from)));
            goes.settle(out, &format!("x{q}"), &format!("y{q}"), &format!("in{q}"));
        }
    }
    out.line(format!("let in_square = squares_moving[{from} / 4u];"));
    goes.settle(out, "a", "b", "in_square");
}
