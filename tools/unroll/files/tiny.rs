//! Generates `shaders/generated/eigen/tiny_N.wgsl`: the eigendecomposition of a matrix of order N by one invocation.

use super::wgsl::{Wgsl, joined, largest, rounds};

pub const ORDERS: [usize; 5] = [2, 3, 4, 6, 8];

/// The type of a column of N values: a vector, or a matrix of two vectors.
#[derive(Clone, Copy)]
struct Column {
    vectors: usize,
    width: usize,
}

impl Column {
    fn of(n: usize) -> Self {
        let vectors = n.div_ceil(4);
        Self { vectors, width: n / vectors }
    }

    fn name(self) -> String {
        match self {
            Self { vectors: 1, width } => format!("vec{width}<f32>"),
            Self { vectors, width } => format!("mat{vectors}x{width}<f32>"),
        }
    }

    /// Returns vector `v` of the column `name`.
    fn vector(self, name: &str, v: usize) -> String {
        if self.vectors == 1 { name.to_owned() } else { format!("{name}[{v}]") }
    }

    fn element(self, name: &str, i: usize) -> String {
        format!("{}.{}", self.vector(name, i / self.width), ["x", "y", "z", "w"][i % self.width])
    }
}

/// Returns whether a kernel of order `n` may be given a matrix without row `i`. A matrix is given to the smallest
/// kernel that solves it, so its order is greater than that of the kernel before.
fn may_lack(n: usize, i: usize) -> bool {
    ORDERS.iter().rfind(|&&before| before < n).is_none_or(|&before| i > before)
}

pub fn file(n: usize) -> String {
    let column = Column::of(n);
    let mut out = Wgsl::file(&format!("Order {n} of the eigendecomposition in registers, see eigen/small.wgsl."));
    out.line("");
    out.line(format!("alias Column = {};", column.name()));
    out.line("");
    out.line("// Two columns count as orthogonal if their inner product is at most its rounding error, 4 eps.");
    out.line("const TOLERANCE: f32 = 4.7683716e-7;");
    out.line("");
    of_columns(&mut out, n, column);
    out.line("");
    out.line("@compute @workgroup_size(64)");
    out.block("fn main(@builtin(global_invocation_id) id: vec3<u32>)", |out| {
        prepare(out, n, column);
        sweeps(out, n);
        finish(out, n, column);
    });
    out.finish()
}

/// Writes the functions whose text depends on the type of a column.
fn of_columns(out: &mut Wgsl, n: usize, column: Column) {
    let (vectors, ones) = (column.vectors, format!("vec{}<f32>(1.0)", column.width));
    let part = |name: &str, v: usize| column.vector(name, v);
    out.short(
        "fn inner(x: Column, y: Column) -> f32",
        joined(vectors, " + ", |v| format!("dot({}, {})", part("x", v), part("y", v))),
    );
    out.line("// Returns the sum of the magnitudes of the elements.");
    out.short("fn size(x: Column) -> f32", joined(vectors, " + ", |v| format!("dot(abs({}), {ones})", part("x", v))));
    out.line("// Returns the bits of the largest magnitude of an element.");
    out.short("fn peak(x: Column) -> u32", largest(n, |i| format!("magnitude_bits({})", column.element("x", i))));
    out.short(
        "fn load(m: Matrix, j: u32) -> Column",
        format!("Column({})", joined(n, ", ", |i| format!("entry(m, {i}u, j)"))),
    );
    out.line("// Returns x times 2^-e for a matrix with the exponent e.");
    out.block("fn column_scaled_down(x: Column, e: i32) -> Column", |out| {
        out.line("var y = x * power_of_two(-max(e, NEAR_SUBNORMAL));");
        let raised = joined(n, ", ", |i| format!("raised({}, e)", column.element("x", i)));
        out.line(format!("if e < NEAR_SUBNORMAL {{ y = Column({raised}); }}"));
        out.line("return y;");
    });
    out.line(
        "// Makes two columns orthogonal and updates their squared norms. Returns whether they had to be rotated.",
    );
    let (pointer, norm) = ("ptr<function, Column>", "ptr<function, f32>");
    out.block(format!("fn turn(x: {pointer}, y: {pointer}, a: {norm}, b: {norm}) -> bool"), |out| {
        out.line("let z = inner(*x, *y);");
        out.line("let r = rotation(*a, *b, z, TOLERANCE);");
        out.line("let old = *x;");
        out.line("*x = old * r.x - *y * r.y;");
        out.line("*y = old * r.y + *y * r.x;");
        out.line("let squares = turned_squares(*a, *b, z, r);");
        out.line("*a = squares.x;");
        out.line("*b = squares.y;");
        out.line("return r.y != 0.0;");
    });
    out.block("fn store(m: Matrix, j: u32, x: Column)", |out| {
        out.line("let at = m.elements + j * m.order;");
        out.each(0..n, |i| {
            let store = format!("w[at + {i}u] = {};", column.element("x", i));
            if may_lack(n, i) { format!("if m.order > {i}u {{ {store} }}") } else { store }
        });
    });
}

/// Returns the head of a block that is for matrices with row `j` only.
fn if_there(n: usize, j: usize) -> String {
    if may_lack(n, j) { format!("if m.order > {j}u") } else { String::new() }
}

fn prepare(out: &mut Wgsl, n: usize, column: Column) {
    out.line("if id.x >= params.count { return; }");
    out.line("let m = matrix_of(table[params.first + id.x]);");
    out.each(0..n, |j| format!("let a{j} = load(m, {j}u);"));
    out.line(format!("let bits = {};", largest(n, |j| format!("peak(a{j})"))));
    out.line("let finite = bits < INFINITE;");
    out.line("let e = matrix_exponent(bits);");
    out.each(0..n, |j| format!("var w{j} = column_scaled_down(a{j}, e);"));
    let disc = |j: usize| format!("disc(size(w{j}), {})", column.element(&format!("w{j}"), j));
    out.line(format!("let discs = {};", largest(n, disc)));
    out.line("let norm = discs.x;");
    out.line("let shift = select(discs.y + 0.05 * norm, 1.0, bits == 0u);");
    out.each(0..n, |j| format!("{} += shift;", column.element(&format!("w{j}"), j)));
    out.line("");
}

fn sweeps(out: &mut Wgsl, n: usize) {
    out.line("var sweeps = 0u;");
    out.line("var turned = finite && m.order > 1u;");
    out.block("while turned && sweeps < params.sweeps", |out| {
        out.line("turned = false;");
        out.each(0..n, |j| format!("var g{j} = inner(w{j}, w{j});"));
        let pairs = rounds(n).concat();
        out.each(pairs, |(i, j)| format!("turned = turn(&w{i}, &w{j}, &g{i}, &g{j}) | turned;"));
        out.line("sweeps += 1u;");
    });
    out.line("");
}

fn finish(out: &mut Wgsl, n: usize, column: Column) {
    out.line("// v = w / |w|, and a first approximation g of each eigenvalue.");
    for j in 0..n {
        out.line(format!("let square{j} = inner(w{j}, w{j});"));
        out.line(format!("let inverse{j} = reciprocal_sqrt(square{j});"));
        out.line(format!("let v{j} = w{j} * inverse{j};"));
        out.line(format!("let g{j} = clamp(square{j} * inverse{j} - shift, -norm, norm);"));
        out.line(format!("var sums{j} = vec2<f32>();"));
    }
    out.line("// The residual A v - g v, row by row.");
    for i in 0..n {
        out.line(format!("let row{i} = column_scaled_down(load(m, {i}u), e);"));
        out.each(0..n, |j| {
            let v = column.element(&format!("v{j}"), i);
            format!("sums{j} += remainder(inner(row{i}, v{j}), g{j}, {v});")
        });
    }
    out.line("var residual = 0u;");
    out.line("var departure = 0u;");
    for j in 0..n {
        out.line(format!("let pair{j} = pair_of(g{j}, sums{j}, e);"));
        out.line(format!("var rank{j} = 0u;"));
        out.block(if_there(n, j), |out| {
            out.line(format!("residual = max(residual, pair{j}.residual);"));
            out.line(format!("departure = max(departure, magnitude_bits(inner(v{j}, v{j}) - 1.0));"));
            out.each(0..j, |i| format!("departure = max(departure, magnitude_bits(inner(v{i}, v{j})));"));
            for i in 0..j {
                out.line(format!("if pair{i}.key <= pair{j}.key {{ rank{j} += 1u; }} else {{ rank{i} += 1u; }}"));
            }
        });
    }
    out.line("certificate(m, finite, !turned, sweeps, norm, residual, departure);");
    out.line("");
    out.line("// If a matrix is not finite, its eigenvalues are NaN, made from bits at run time, and its eigenvectors are 0.");
    out.line("let nothing = bitcast<f32>(0x7fc00000u | min(params.first, 1u));");
    for j in 0..n {
        out.block(if_there(n, j), |out| {
            out.line(format!("let place = select({j}u, rank{j}, finite);"));
            out.line(format!("values[m.rows + place] = select(nothing, pair{j}.given, finite);"));
            out.block("if params.vectors != 0u", |out| {
                out.line(format!("if finite {{ store(m, place, v{j}); }} else {{ store(m, place, Column()); }}"));
            });
        });
    }
}
