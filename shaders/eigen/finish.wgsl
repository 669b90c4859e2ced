// Finishes a one-sided Jacobi of W = 2^-e A + s I (eigen/prepare.wgsl), whose column j is now w_j: computes the
// eigenvectors v_j = w_j / |w_j|, the eigenvalues as Rayleigh quotients of A itself, their ascending order, and the
// certificate. One workgroup per matrix, n <= CAPACITY, V in workgroup memory, PARTS invocations per column. They share
// the rows of the column, and then the rows of A.
//
// Let B = 2^-e A, let g_j = |w_j| - s be a first approximation of eigenvalue j of B, and let r = B v_j - g_j v_j and
// d = v_j' r. Then the Rayleigh quotient of B is g_j + d, and the residual of this eigenpair is sqrt(|r|^2 - d^2).
// This takes one pass over A, and no large numbers cancel. |g_j| is at most the norm of B, so that all eigenvalues of
// the zero matrix are 0 even where `reciprocal_sqrt(1)` is not 1.
//
// w:            on input W, on output V.
// certificates: residual max_j |A v_j - lambda_j v_j| / |A|_1, orthogonality max |V'V - I|, sweeps, status
//               (0 Converged, 1 NotConverged, 2 NonFinite).

override CAPACITY: u32 = 32;
override STRIDE: u32 = 9;
override PARTS: u32 = 4;
override WIDTH: u32 = PARTS * CAPACITY;

// vectors: 0 if only the eigenvalues are wanted.
struct Params { first: u32, vectors: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> w: array<f32>;
@group(0) @binding(5) var<storage, read_write> values: array<f32>;
@group(0) @binding(6) var<storage, read_write> certificates: array<vec4<f32>>;

var<workgroup> columns: array<vec4<f32>, CAPACITY * STRIDE>;
var<workgroup> rows_of_a: array<vec4<f32>, PARTS * STRIDE>;
var<workgroup> partial: array<vec2<f32>, PARTS * CAPACITY>;
var<workgroup> quotients: array<f32, CAPACITY>;
var<workgroup> shared_order: u32;
// Maxima of nonnegative numbers, computed on their bits.
var<workgroup> residual: atomic<u32>;
var<workgroup> departure: atomic<u32>;

// Returns component `i` (a row) of a column in workgroup memory.
fn at(column: u32, i: u32) -> f32 { return columns[column * STRIDE + i / 4u][i % 4u]; }

// Returns the sum over the invocations of a column.
fn sum_of(column: u32) -> vec2<f32> {
    var sum = vec2<f32>();
    for (var part = 0u; part < PARTS; part += 1u) { sum += partial[part * CAPACITY + column]; }
    return sum;
}

@compute @workgroup_size(PARTS * CAPACITY)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let m = matrix_of(table[params.first + group.x]);
    let word = state[m.place].x;
    let e = bitcast<i32>(state[m.place].y);
    let shift = bitcast<f32>(state[m.place].z);
    let norm = bitcast<f32>(state[m.place].w);
    if lane == 0u {
        shared_order = min(m.order, CAPACITY);
        atomicStore(&residual, 0u);
        atomicStore(&departure, 0u);
    }
    let n = workgroupUniformLoad(&shared_order);
    let quads = (n + 3u) / 4u;

    let own = lane % CAPACITY;
    let part = lane / CAPACITY;

    // v_j = w_j / |w_j|, and a first approximation of its eigenvalue.
    var square = 0.0;
    if own < n {
        for (var q = part; q < quads; q += PARTS) {
            var x = vec4<f32>();
            for (var i = 0u; i < 4u; i += 1u) {
                if q * 4u + i < n { x[i] = w[m.elements + q * 4u + i + own * n]; }
            }
            square += dot(x, x);
            columns[own * STRIDE + q] = x;
        }
    }
    partial[lane] = vec2<f32>(square, 0.0);
    workgroupBarrier();
    var guess = 0.0;
    if own < n {
        square = sum_of(own).x;
        let inverse = reciprocal_sqrt(square);
        for (var q = part; q < quads; q += PARTS) { columns[own * STRIDE + q] *= inverse; }
        guess = clamp(square * inverse - shift, -norm, norm);
    }

    var remainder = 0.0;
    var correction = 0.0;
    for (var first = 0u; first < n; first += PARTS) {
        workgroupBarrier();
        for (var slot = lane; slot < PARTS * quads; slot += WIDTH) {
            let row = first + slot / quads;
            let q = slot % quads;
            var x = vec4<f32>();
            for (var i = 0u; i < 4u; i += 1u) {
                let column = q * 4u + i;
                if max(row, column) < n { x[i] = scaled_down(a[m.elements + max(row, column) + min(row, column) * n], e); }
            }
            rows_of_a[slot / quads * STRIDE + q] = x;
        }
        workgroupBarrier();
        let row = first + part;
        if own < n && row < n {
            let v = at(own, row);
            var r = -guess * v;
            for (var q = 0u; q < quads; q += 1u) { r += dot(rows_of_a[part * STRIDE + q], columns[own * STRIDE + q]); }
            remainder += r * r;
            correction += r * v;
        }
    }
    partial[lane] = vec2<f32>(remainder, correction);
    workgroupBarrier();
    if own < n {
        if part == 0u {
            let sums = sum_of(own);
            let value = guess + sums.y;
            quotients[own] = value;
            // An eigenvalue may overflow in f32 although no element of A does.
            if magnitude_bits(times_power_of_two(bitcast<u32>(value), e)) >= INFINITE { atomicMax(&residual, INFINITE); }
            atomicMax(&residual, magnitude_bits(sqrt(max(sums.x - sums.y * sums.y, 0.0))));
        }
        for (var other = own + part; other < n; other += PARTS) {
            var product = select(0.0, -1.0, other == own);
            for (var q = 0u; q < quads; q += 1u) {
                product += dot(columns[own * STRIDE + q], columns[other * STRIDE + q]);
            }
            atomicMax(&departure, magnitude_bits(product));
        }
    }
    // V takes the place of W, which other invocations have read.
    storageBarrier();
    workgroupBarrier();

    let finite = (word & FLAG_NON_FINITE) == 0u;
    if own < n {
        let value = quotients[own];
        let key = key_of(value);
        var rank = 0u;
        for (var other = 0u; other < n; other += 1u) {
            let x = key_of(quotients[other]);
            if x < key || (x == key && other < own) { rank += 1u; }
        }
        // If the matrix is not finite, its eigenvalues are NaN and its eigenvectors are 0. The NaN is made from bits at
        // run time, because WGSL has no constant NaN.
        if part == 0u {
            if finite { values[m.rows + rank] = times_power_of_two(bitcast<u32>(value), e); }
            else { values[m.rows + own] = bitcast<f32>(0x7fc00000u | min(params.first, 1u)); }
        }
        for (var row = part; row < n && params.vectors != 0u; row += PARTS) {
            w[m.elements + row + select(own, rank, finite) * n] = select(0.0, at(own, row), finite);
        }
    }
    if lane == 0u {
        let orthogonal = (word & FLAG_ORTHOGONAL) != 0u;
        let worst = vec2<u32>(atomicLoad(&residual), atomicLoad(&departure));
        certificates[m.place] = judge(n, PROMISE, norm, worst.x, worst.y, sweeps_of(word), orthogonal, finite);
    }
}
