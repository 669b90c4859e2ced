// divergences[i] = D(p_i, q_j), where j = i / share: each q serves `share` consecutive histograms p. A team of TEAM
// invocations computes a pair, as in totals.wgsl. Sums are computed in a fixed order.

override TEAM: u32 = 64;
override WIDTH: u32 = 64;

struct Params {
    bins: u32, begin: u32, end: u32, count: u32, first: u32, fresh: u32, last: u32, share: u32, root: u32,
    factor: f32, smoothing: f32, spread: f32, unit: i32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> p: array<u32>;
@group(0) @binding(2) var<storage, read> q: array<u32>;
@group(0) @binding(3) var<storage, read> p_totals: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> q_totals: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> divergences: array<u32>;

var<workgroup> sums: array<f32, WIDTH>;
var<workgroup> holes: array<u32, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let part = lane % TEAM;
    let place = (params.first + group.x) * (WIDTH / TEAM) + lane / TEAM;
    let inside = place < params.count;
    let i = select(0u, place, inside);
    let j = i / params.share;
    let known = inside && finite(p_totals[i].x) && finite(q_totals[j].x);
    let of_p = bitcast<f32>(select(0x3f800000u, p_totals[i].x, known));
    let of_q = bitcast<f32>(select(0x3f800000u, q_totals[j].x, known));
    let factor = balance(of_p, of_q);
    let smoothing = params.smoothing * of_p;
    let shift_p = params.unit - bitcast<i32>(p_totals[i].y);
    let shift_q = params.unit - bitcast<i32>(q_totals[j].y);
    let end = select(params.begin, params.end, known);
    var sum = 0.0;
    var hole = 0u;
    var k = params.begin + part;
    while k < end {
        let stop = min(end, k + RUN * TEAM);
        var run = 0.0;
        for (; k < stop; k += TEAM) {
            let x = scaled(p[i * params.bins + k], shift_p) + smoothing;
            let y = scaled(q[j * params.bins + k], shift_q) * factor + smoothing;
            if absent(x, y) { hole = 1u; } else { run += term(x, y, params.unit); }
        }
        sum += run;
    }
    sums[lane] = sum;
    holes[lane] = hole;
    workgroupBarrier();
    for (var span = TEAM / 2u; span > 0u; span /= 2u) {
        if part < span {
            sums[lane] += sums[lane + span];
            holes[lane] |= holes[lane + span];
        }
        workgroupBarrier();
    }
    if part == 0u && inside {
        var before = 0u;
        if params.fresh == 0u { before = divergences[i]; }
        let all = select(NAN, added(before, sums[lane], holes[lane] != 0u), known);
        divergences[i] = select(all, result_of(all, p_totals[i].x, params.factor, params.spread, params.root), params.last != 0u);
    }
}
