// Each workgroup computes `together` small products, and each invocation computes 4 x 4 elements of a result. Workgroup
// memory holds `depth` terms of every sum at a time. A result has at most 32 rows and 32 columns.
//
// Iterations of an invocation: ceil(k / depth) (1 + 2 ceil(ROOM / WIDTH) + depth).

// The common value of m, n and k if they are equal and compiled in, so that the compiler can divide by constants. If
// this is 0, m, n and k are parameters.
override ORDER: u32 = 0;
override WIDTH: u32 = 128;
override ROOM: u32 = 512;

var<workgroup> left: array<vec4<f32>, ROOM>;
var<workgroup> right: array<vec4<f32>, ROOM>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    var m = params.m;
    var n = params.n;
    var k = params.k;
    var depth = params.depth;
    if ORDER != 0u {
        m = ORDER;
        n = ORDER;
        k = ORDER;
        depth = ORDER;
    }
    let down = (m + 3u) / 4u;
    let across = (n + 3u) / 4u;
    let each = down * across;
    let first = (params.first + group.x) * params.together;
    let count = min(params.together, params.batch - min(first, params.batch));
    let of_left = depth * down;
    let of_right = depth * across;
    let own = index / each;
    let i = index % each % down;
    let j = index % each / down;
    let busy = own < count;

    var c0 = vec4<f32>(0.0);
    var c1 = c0;
    var c2 = c0;
    var c3 = c0;
    for (var begin = 0u; begin < k; begin += depth) {
        workgroupBarrier();
        for (var slot = index; slot < count * of_left; slot += WIDTH) {
            let which = slot / of_left;
            let rest = slot % of_left;
            let p = select(rest / down, rest % depth, A_ALONG);
            let four = select(rest % down, rest / depth, A_ALONG);
            var x = vec4<f32>(0.0);
            if begin + p < k { x = four_of_a((first + which) * params.a_stride, m, k, 4u * four, begin + p); }
            left[(which * depth + p) * down + four] = x;
        }
        for (var slot = index; slot < count * of_right; slot += WIDTH) {
            let which = slot / of_right;
            let rest = slot % of_right;
            let p = select(rest / across, rest % depth, B_ALONG);
            let four = select(rest % across, rest / depth, B_ALONG);
            var x = vec4<f32>(0.0);
            if begin + p < k { x = four_of_b((first + which) * params.b_stride, n, k, 4u * four, begin + p); }
            right[(which * depth + p) * across + four] = x;
        }
        workgroupBarrier();
        if busy {
            for (var p = 0u; p < depth; p += 1u) {
                let x = left[(own * depth + p) * down + i];
                let y = right[(own * depth + p) * across + j];
                c0 += x * y.x;
                c1 += x * y.y;
                c2 += x * y.z;
                c3 += x * y.w;
            }
        }
    }
    // The groups of four results are stored from workgroup memory, so that the code is compiled once (see
    // matmul/tile.wgsl).
    workgroupBarrier();
    left[index] = c0;
    left[index + WIDTH] = c1;
    left[index + 2u * WIDTH] = c2;
    left[index + 3u * WIDTH] = c3;
    if busy {
        for (var q = 0u; q < 4u; q += 1u) {
            store_tile(left[index + q * WIDTH], first + own, 0u, m, n, 4u * i, 4u * j + q);
        }
    }
}
