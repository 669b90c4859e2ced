enable f16;
enable wgpu_cooperative_matrix;
// Each workgroup computes 4 x 4 fragments of a product of f16 on matrix units, with sums in f32. Each of its four
// subgroups has 2 x 2 fragments. Workgroup memory holds DEPTH terms of every sum at a time. There, the elements of
// op(A) that belong to the same term are contiguous, and so are those of op(B). Fragments of op(A) are therefore loaded
// by columns, and fragments of op(B) by rows. Needs matmul/fragment_8.wgsl or matmul/fragment_16.wgsl.
//
// Iterations of an invocation:
// ceil(span / DEPTH) (1 + 2 DEPTH SIDE / WIDTH + DEPTH / FRAGMENT) + CORNER / LANES + 4 (1 + FOURS / LANES).

// A_ALONG: whether the k elements of a row of op(A) are contiguous. B_ALONG: the same for a column of op(B).
override A_ALONG: bool = false;
override B_ALONG: bool = true;

override LANES: u32 = 32;
override WIDTH: u32 = 4u * LANES;
const SIDE: u32 = 4u * FRAGMENT;
const DEPTH: u32 = 32;
// Eight elements of padding, so that the terms start in different banks.
const PITCH: u32 = SIDE + 8u;
// The number of elements in a fragment, and the number of groups of four elements in it.
const CORNER: u32 = FRAGMENT * FRAGMENT;
const FOURS: u32 = CORNER / 4u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f16>;
@group(0) @binding(2) var<storage, read> b: array<f16>;
@group(0) @binding(3) var<storage, read> c: array<u32>;
@group(0) @binding(4) var<storage, read> bias: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<u32>;

var<workgroup> left: array<f16, DEPTH * PITCH>;
var<workgroup> right: array<f16, DEPTH * PITCH>;
// One fragment of each subgroup at a time, column-major.
var<workgroup> made: array<f32, 4u * CORNER>;

@compute @workgroup_size(WIDTH)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
    @builtin(subgroup_id) team: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let m = params.m;
    let n = params.n;
    let k = params.k;
    let down = (m + SIDE - 1u) / SIDE;
    let across = (n + SIDE - 1u) / SIDE;
    let unit = params.first + group.x;
    let tile = unit % (down * across);
    let rest = unit / (down * across);
    let part = rest % params.parts;
    let matrix = rest / params.parts;
    let strip = tile / (8u * across) * 8u;
    let height = min(8u, down - strip);
    let within = tile - strip * across;
    let row = (strip + within % height) * SIDE;
    let column = within / height * SIDE;
    let base_a = matrix * params.a_stride;
    let base_b = matrix * params.b_stride;
    let begin = part * params.span;
    let end = min(begin + params.span, k);
    let own_row = team % 2u * 2u * FRAGMENT;
    let own_column = team / 2u * 2u * FRAGMENT;
    let corner = team * CORNER;

    for (var e = index; e < 4u * CORNER; e += WIDTH) { made[e] = 0.0; }
    workgroupBarrier();
    var c00 = coopLoad<Sums>(&made[corner], FRAGMENT);
    var c01 = c00;
    var c10 = c00;
    var c11 = c00;
    for (var first = begin; first < end; first += DEPTH) {
        workgroupBarrier();
        for (var slot = index; slot < SIDE * DEPTH; slot += WIDTH) {
            let p = select(slot / SIDE, slot % DEPTH, A_ALONG);
            let i = select(slot % SIDE, slot / DEPTH, A_ALONG);
            var x = f16(0.0);
            if first + p < end && row + i < m {
                x = a[base_a + select((first + p) * m + row + i, (row + i) * k + first + p, A_ALONG)];
            }
            left[p * PITCH + i] = x;
        }
        for (var slot = index; slot < SIDE * DEPTH; slot += WIDTH) {
            let p = select(slot / SIDE, slot % DEPTH, B_ALONG);
            let j = select(slot % SIDE, slot / DEPTH, B_ALONG);
            var x = f16(0.0);
            if first + p < end && column + j < n {
                x = b[base_b + select((first + p) * n + column + j, (column + j) * k + first + p, B_ALONG)];
            }
            right[p * PITCH + j] = x;
        }
        workgroupBarrier();
        for (var p = 0u; p < DEPTH; p += FRAGMENT) {
            let a0 = coopLoad<Left>(&left[p * PITCH + own_row], PITCH);
            let a1 = coopLoad<Left>(&left[p * PITCH + own_row + FRAGMENT], PITCH);
            let b0 = coopLoadT<Right>(&right[p * PITCH + own_column], PITCH);
            let b1 = coopLoadT<Right>(&right[p * PITCH + own_column + FRAGMENT], PITCH);
            c00 = coopMultiplyAdd(a0, b0, c00);
            c01 = coopMultiplyAdd(a0, b1, c01);
            c10 = coopMultiplyAdd(a1, b0, c10);
            c11 = coopMultiplyAdd(a1, b1, c11);
        }
    }
    // The four fragments of a subgroup are stored one after another, through the subgroup's share of workgroup memory.
    for (var fragment = 0u; fragment < 4u; fragment += 1u) {
        workgroupBarrier();
        if fragment == 0u { coopStore(c00, &made[corner], FRAGMENT); }
        if fragment == 1u { coopStore(c10, &made[corner], FRAGMENT); }
        if fragment == 2u { coopStore(c01, &made[corner], FRAGMENT); }
        if fragment == 3u { coopStore(c11, &made[corner], FRAGMENT); }
        workgroupBarrier();
        for (var four = lane; four < FOURS; four += LANES) {
            let at = corner + 4u * four;
            let sums = vec4<f32>(made[at], made[at + 1u], made[at + 2u], made[at + 3u]);
            let r = row + own_row + fragment % 2u * FRAGMENT + four % (FRAGMENT / 4u) * 4u;
            let q = column + own_column + fragment / 2u * FRAGMENT + four / (FRAGMENT / 4u);
            store_tile(sums, matrix, part, m, n, r, q);
        }
    }
}
