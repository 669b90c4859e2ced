// For each entry of the batch and all pairs of its n histograms: divergences[i + n j] = D(p_i, p_j). A workgroup
// computes a tile of 16 x 16 pairs, 16 bins at a time, and each invocation computes one pair. A symmetric divergence is
// computed once for each pair, and written twice. Loop iterations of an invocation: `end` - `begin`, and a 16th of that
// for the loop over the groups of 16 bins.

const TILE: u32 = 16;

struct Params {
    bins: u32, begin: u32, end: u32, histograms: u32, tiles: u32, first: u32, fresh: u32, last: u32, symmetric: u32, root: u32,
    factor: f32, smoothing: f32, spread: f32, unit: i32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> p: array<u32>;
@group(0) @binding(2) var<storage, read> totals: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> divergences: array<u32>;

// Each histogram takes 17 elements, so that the same bin of neighboring histograms is in different banks.
var<workgroup> rows: array<f32, 272>;
var<workgroup> columns: array<f32, 272>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
    let place = params.first + group.x;
    let entry = place / (params.tiles * params.tiles);
    let tile = place % (params.tiles * params.tiles);
    let row_tile = tile % params.tiles;
    let column_tile = tile / params.tiles;
    // The condition is uniform over the workgroup.
    if params.symmetric == 0u || row_tile <= column_tile {
        let n = params.histograms;
        let row = row_tile * TILE + lane.x;
        let column = column_tile * TILE + lane.y;
        let base = entry * n;
        let i = base + min(row, n - 1u);
        let j = base + min(column, n - 1u);
        let known = finite(totals[i].x) && finite(totals[j].x);
        let of_p = bitcast<f32>(select(0x3f800000u, totals[i].x, known));
        let of_q = bitcast<f32>(select(0x3f800000u, totals[j].x, known));
        let factor = balance(of_p, of_q);
        let smoothing = params.smoothing * of_p;
        // This invocation loads bin lane.x of histogram lane.y, for the rows and for the columns of the tile.
        let from_row = base + min(row_tile * TILE + lane.y, n - 1u);
        let from_column = base + min(column_tile * TILE + lane.y, n - 1u);
        let load_row = from_row * params.bins;
        let load_column = from_column * params.bins;
        let shift_row = params.unit - bitcast<i32>(totals[from_row].y);
        let shift_column = params.unit - bitcast<i32>(totals[from_column].y);
        // Sums of 16 bins are added to sums of 256 bins, which are added to the total, so that errors do not grow with
        // the number of bins.
        var sum = 0.0;
        var block = 0.0;
        var hole = false;
        for (var k = params.begin; k < params.end; k += TILE) {
            let bin = min(k + lane.x, params.bins - 1u);
            rows[lane.y * 17u + lane.x] = scaled(p[load_row + bin], shift_row);
            columns[lane.y * 17u + lane.x] = scaled(p[load_column + bin], shift_column);
            workgroupBarrier();
            var run = 0.0;
            for (var b = 0u; b < min(TILE, params.end - k); b += 1u) {
                let x = rows[lane.x * 17u + b] + smoothing;
                let y = columns[lane.y * 17u + b] * factor + smoothing;
                if absent(x, y) { hole = true; } else { run += term(x, y, params.unit); }
            }
            block += run;
            if ((k - params.begin) & 255u) == 240u {
                sum += block;
                block = 0.0;
            }
            workgroupBarrier();
        }
        sum += block;
        let mine = params.symmetric == 0u || row <= column;
        if row < n && column < n && mine {
            let there = entry * n * n + row + column * n;
            var before = 0u;
            if params.fresh == 0u { before = divergences[there]; }
            let all = select(NAN, added(before, sum, hole), known);
            let found = select(all, result_of(all, totals[i].x, params.factor, params.spread, params.root), params.last != 0u);
            divergences[there] = found;
            if params.symmetric != 0u { divergences[entry * n * n + column + row * n] = found; }
        }
    }
}
