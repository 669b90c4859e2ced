// A tile of 64 x 64 elements of a product: a workgroup of 256 invocations computes it, each of them 4 x 4 elements in
// registers. 16 terms at a time are in workgroup memory, and the next ones are loaded while these are multiplied. The
// order of a sum's terms is that of their numbers.
//
// A factor is stored by rows of vectors of four numbers. The vectors lie either along the terms of the sums or along
// the result, and are stored in workgroup memory as they come; invocations transpose 4 x 4 numbers in registers.
//
// Iterations of an invocation: 5 ceil(terms / 16).
//
// A kernel that uses this file declares `left_vector(at)` and `right_vector(at)`.

const TILE: u32 = 64;
const TILE_QUADS: u32 = 16;
const DEPTH: u32 = 16;
const DEPTH_QUADS: u32 = 4;

// Whether the vectors of a factor lie along the terms.
override LEFT_ALONG: bool = true;
override RIGHT_ALONG: bool = false;

// `rows` rows of `quads` vectors each.
struct Factor { at: u32, pitch: u32, rows: u32, quads: u32 }

// A row of a factor along the terms has an odd number of vectors, so that invocations that read neighboring rows use
// different banks.
const PITCH: u32 = 5;
var<workgroup> left: array<vec4<f32>, TILE * PITCH>;
var<workgroup> right: array<vec4<f32>, TILE * PITCH>;

// Returns the number of tiles along a side of a result.
fn tiles(len: u32) -> u32 { return (len + TILE - 1u) / TILE; }

// Returns where the vector that an invocation brings is stored. Rows along the terms are in such an order that the
// first ones of all groups of four come first.
fn stored_at(along: bool) -> u32 {
    let line = lane / DEPTH_QUADS;
    return select(lane, (line % 4u * TILE_QUADS + line / 4u) * PITCH + lane % DEPTH_QUADS, along);
}

// Returns (row, vector) in a factor of the vector that an invocation brings for a step. `first` is the first row or
// column of the tile.
fn brought(along: bool, first: u32, step: u32) -> vec2<u32> {
    let across = vec2<u32>(step * DEPTH + lane / TILE_QUADS, first / 4u + lane % TILE_QUADS);
    return select(across, vec2<u32>(first + lane / DEPTH_QUADS, step * DEPTH_QUADS + lane % DEPTH_QUADS), along);
}

fn of_left(a: Factor, first: u32, step: u32) -> vec4<f32> {
    let place = brought(LEFT_ALONG, first, step);
    var found = vec4<f32>(0.0);
    if place.x < a.rows && place.y < a.quads { found = left_vector(a.at + place.x * a.pitch + place.y); }
    return found;
}

fn of_right(b: Factor, first: u32, step: u32) -> vec4<f32> {
    let place = brought(RIGHT_ALONG, first, step);
    var found = vec4<f32>(0.0);
    if place.x < b.rows && place.y < b.quads { found = right_vector(b.at + place.x * b.pitch + place.y); }
    return found;
}

// Returns where vector `k` of four is for four terms and the four rows or columns of an invocation.
fn read_at(along: bool, own: u32, terms: u32, k: u32) -> u32 {
    return select((4u * terms + k) * TILE_QUADS + own, (k * TILE_QUADS + own) * PITCH + terms, along);
}

// Returns the invocation's elements of a tile, whose first row and column are given: four rows of four columns.
fn sums_of(a: Factor, b: Factor, row: u32, column: u32, terms: u32) -> mat4x4<f32> {
    let down = lane / TILE_QUADS;
    let across = lane % TILE_QUADS;
    let steps = (terms + DEPTH - 1u) / DEPTH;
    var next_a = of_left(a, row, 0u);
    var next_b = of_right(b, column, 0u);
    var c0 = vec4<f32>(0.0); var c1 = c0; var c2 = c0; var c3 = c0;
    for (var step = 1u; step <= steps; step += 1u) {
        left[stored_at(LEFT_ALONG)] = next_a;
        right[stored_at(RIGHT_ALONG)] = next_b;
        workgroupBarrier();
        // After the last step, the vectors are beyond the ends of the factors.
        next_a = of_left(a, row, step);
        next_b = of_right(b, column, step);
        for (var q = 0u; q < DEPTH_QUADS; q += 1u) {
            // Rows of the left factor and their terms; terms of the right factor and their columns.
            var m = mat4x4<f32>(
                left[read_at(LEFT_ALONG, down, q, 0u)], left[read_at(LEFT_ALONG, down, q, 1u)],
                left[read_at(LEFT_ALONG, down, q, 2u)], left[read_at(LEFT_ALONG, down, q, 3u)],
            );
            var n = mat4x4<f32>(
                right[read_at(RIGHT_ALONG, across, q, 0u)], right[read_at(RIGHT_ALONG, across, q, 1u)],
                right[read_at(RIGHT_ALONG, across, q, 2u)], right[read_at(RIGHT_ALONG, across, q, 3u)],
            );
            if !LEFT_ALONG { m = transpose(m); }
            if RIGHT_ALONG { n = transpose(n); }
            c0 += m[0].x * n[0]; c1 += m[1].x * n[0]; c2 += m[2].x * n[0]; c3 += m[3].x * n[0];
            c0 += m[0].y * n[1]; c1 += m[1].y * n[1]; c2 += m[2].y * n[1]; c3 += m[3].y * n[1];
            c0 += m[0].z * n[2]; c1 += m[1].z * n[2]; c2 += m[2].z * n[2]; c3 += m[3].z * n[2];
            c0 += m[0].w * n[3]; c1 += m[1].w * n[3]; c2 += m[2].w * n[3]; c3 += m[3].w * n[3];
        }
        workgroupBarrier();
    }
    return mat4x4<f32>(c0, c1, c2, c3);
}

// Returns row `i` of an invocation's elements. Registers cannot be indexed.
fn row_of(sums: mat4x4<f32>, i: u32) -> vec4<f32> {
    return select(select(sums[0], sums[1], i == 1u), select(sums[2], sums[3], i == 3u), i > 1u);
}
