// Each workgroup computes a tile of 8 SIDE x 8 SIDE elements of a product, and each invocation computes 8 x 8 elements
// of the tile in registers. Workgroup memory has two halves, which hold DEPTH terms each. While the terms of one half
// are multiplied, the next terms are loaded through registers into the other half. There is one barrier per step.
//
// Iterations of an invocation: ceil(span / DEPTH) (1 + DEPTH).

override SIDE: u32 = 16;
override DEPTH: u32 = 8;

// FOURS: the number of groups of four rows (or columns) in a tile. STEP: the number of groups of four elements that a
// step loads from each factor. STORED: twice STEP, the length of the array of each factor with its two halves.
override FOURS: u32 = 2u * SIDE;
override STEP: u32 = DEPTH * 2u * SIDE;
override STORED: u32 = 2u * DEPTH * 2u * SIDE;
// The number of groups of four elements of each factor that an invocation loads per step: one or two.
override LOADS: u32 = DEPTH * 2u / SIDE;

var<workgroup> left: array<vec4<f32>, STORED>;
var<workgroup> right: array<vec4<f32>, STORED>;

// Returns the position in workgroup memory of term p of a group of four rows or columns. Because of the XOR,
// invocations that load different terms of one group write to different banks. Invocations that read neighboring groups
// of one term still read contiguous memory.
fn place_of(p: u32, four: u32) -> u32 { return p * FOURS + (four ^ (p & 7u)); }

// Returns the (term, group of four) that an invocation loads. Adjacent invocations load elements that are adjacent in
// memory.
fn brought(slot: u32, along: bool) -> vec2<u32> {
    if along { return vec2<u32>(slot % DEPTH, slot / DEPTH); }
    return vec2<u32>(slot / FOURS, slot % FOURS);
}

@compute @workgroup_size(SIDE, SIDE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) place: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let m = params.m;
    let n = params.n;
    let k = params.k;
    // The rows of tiles are divided into strips of eight rows. Tiles are numbered strip by strip, and column by column
    // within a strip, so that tiles that run at the same time share their factors in the cache.
    let down = (m + 8u * SIDE - 1u) / (8u * SIDE);
    let across = (n + 8u * SIDE - 1u) / (8u * SIDE);
    let unit = params.first + group.x;
    let tile = unit % (down * across);
    let rest = unit / (down * across);
    let part = rest % params.parts;
    let matrix = rest / params.parts;
    let strip = tile / (8u * across) * 8u;
    let height = min(8u, down - strip);
    let within = tile - strip * across;
    let row = (strip + within % height) * 8u * SIDE;
    let column = within / height * 8u * SIDE;
    let base_a = matrix * params.a_stride;
    let base_b = matrix * params.b_stride;
    let begin = part * params.span;
    let end = min(begin + params.span, k);
    let steps = (max(end, begin) - begin + DEPTH - 1u) / DEPTH;

    let of_a = brought(index, A_ALONG);
    let of_b = brought(index, B_ALONG);
    let also_a = brought(index + SIDE * SIDE, A_ALONG);
    let also_b = brought(index + SIDE * SIDE, B_ALONG);

    var c00 = vec4<f32>(0.0); var c01 = c00; var c02 = c00; var c03 = c00;
    var c04 = c00; var c05 = c00; var c06 = c00; var c07 = c00;
    var c10 = c00; var c11 = c00; var c12 = c00; var c13 = c00;
    var c14 = c00; var c15 = c00; var c16 = c00; var c17 = c00;
    var next_a = c00; var next_b = c00; var more_a = c00; var more_b = c00;

    for (var step = 0u; step <= steps; step += 1u) {
        let ahead = begin + step * DEPTH;
        // The factors for step `step`, or zeros after the last step.
        next_a = vec4<f32>(0.0); next_b = next_a; more_a = next_a; more_b = next_a;
        if ahead + of_a.x < end { next_a = four_of_a(base_a, m, k, row + 4u * of_a.y, ahead + of_a.x); }
        if ahead + of_b.x < end { next_b = four_of_b(base_b, n, k, column + 4u * of_b.y, ahead + of_b.x); }
        if LOADS == 2u {
            if ahead + also_a.x < end { more_a = four_of_a(base_a, m, k, row + 4u * also_a.y, ahead + also_a.x); }
            if ahead + also_b.x < end { more_b = four_of_b(base_b, n, k, column + 4u * also_b.y, ahead + also_b.x); }
        }
        if step > 0u {
            let from_half = ((step - 1u) & 1u) * STEP;
            for (var p = 0u; p < DEPTH; p += 1u) {
                let a0 = left[from_half + place_of(p, place.x)];
                let a1 = left[from_half + place_of(p, place.x + SIDE)];
                let b0 = right[from_half + place_of(p, place.y)];
                let b1 = right[from_half + place_of(p, place.y + SIDE)];
                c00 += a0 * b0.x; c01 += a0 * b0.y; c02 += a0 * b0.z; c03 += a0 * b0.w;
                c10 += a1 * b0.x; c11 += a1 * b0.y; c12 += a1 * b0.z; c13 += a1 * b0.w;
                c04 += a0 * b1.x; c05 += a0 * b1.y; c06 += a0 * b1.z; c07 += a0 * b1.w;
                c14 += a1 * b1.x; c15 += a1 * b1.y; c16 += a1 * b1.z; c17 += a1 * b1.w;
            }
        }
        let to_half = (step & 1u) * STEP;
        left[to_half + place_of(of_a.x, of_a.y)] = next_a;
        right[to_half + place_of(of_b.x, of_b.y)] = next_b;
        if LOADS == 2u {
            left[to_half + place_of(also_a.x, also_a.y)] = more_a;
            right[to_half + place_of(also_b.x, also_b.y)] = more_b;
        }
        workgroupBarrier();
    }

    let r0 = row + 4u * place.x;
    let r1 = r0 + 4u * SIDE;
    let q0 = column + 4u * place.y;
    let q1 = q0 + 4u * SIDE;
    store_tile(c00, matrix, part, m, n, r0, q0); store_tile(c01, matrix, part, m, n, r0, q0 + 1u);
    store_tile(c02, matrix, part, m, n, r0, q0 + 2u); store_tile(c03, matrix, part, m, n, r0, q0 + 3u);
    store_tile(c04, matrix, part, m, n, r0, q1); store_tile(c05, matrix, part, m, n, r0, q1 + 1u);
    store_tile(c06, matrix, part, m, n, r0, q1 + 2u); store_tile(c07, matrix, part, m, n, r0, q1 + 3u);
    store_tile(c10, matrix, part, m, n, r1, q0); store_tile(c11, matrix, part, m, n, r1, q0 + 1u);
    store_tile(c12, matrix, part, m, n, r1, q0 + 2u); store_tile(c13, matrix, part, m, n, r1, q0 + 3u);
    store_tile(c14, matrix, part, m, n, r1, q1); store_tile(c15, matrix, part, m, n, r1, q1 + 1u);
    store_tile(c16, matrix, part, m, n, r1, q1 + 2u); store_tile(c17, matrix, part, m, n, r1, q1 + 3u);
}
